"""Environments: the distributions the items' weights come from."""

from typing import TYPE_CHECKING

from semibandits._util.suggestions import explain_classes, suggesting
from semibandits.environments.adversarial import Adversarial
from semibandits.environments.base import Independent
from semibandits.environments.bernoulli import Bernoulli
from semibandits.environments.beta import Beta
from semibandits.environments.correlated_gaussian import CorrelatedGaussian
from semibandits.environments.custom import Custom
from semibandits.environments.drifting import Drifting
from semibandits.environments.gaussian import Gaussian
from semibandits.environments.requests import Requests
from semibandits.environments.scaled import Scaled
from semibandits.environments.table import Table
from semibandits.environments.uniform import Uniform

__all__ = [
    "Adversarial",
    "Bernoulli",
    "Beta",
    "CorrelatedGaussian",
    "Custom",
    "Drifting",
    "Gaussian",
    "Independent",
    "Requests",
    "Scaled",
    "Table",
    "Uniform",
]

explain_classes(__name__)

if not TYPE_CHECKING:
    __getattr__ = suggesting(__name__)
