"""The paper, reproduced: all that it plays and draws, with a verdict on every claim."""

from semibandits.experiments.paper.claims import PARTS as PARTS
from semibandits.experiments.paper.claims import Claim as Claim
from semibandits.experiments.paper.reproduction import Reproduction as Reproduction
from semibandits.experiments.paper.reproduction import reproduce as reproduce
