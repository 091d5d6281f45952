"""Live use: a learner that is asked what to choose, and told what came of it."""

from semibandits.live.events import Event
from semibandits.live.learner import Learner

__all__ = ["Event", "Learner"]
