"""A policy at work on a set: what the live learner and the simulation share, so that both decide alike."""

from semibandits.agent.base import Agent, Learned, Setting, Uncovered
from semibandits.agent.choice import Choice, Request, Solving
from semibandits.agent.confidence import confidence_radii
from semibandits.agent.index import IndexAgent
from semibandits.agent.scale import Scale
from semibandits.agent.solution import PolicyAgent
from semibandits.errors import Unsupported
from semibandits.types import FeedbackKind, IndexPolicy, Policy

__all__ = [
    "Agent",
    "Choice",
    "IndexAgent",
    "Learned",
    "PolicyAgent",
    "Request",
    "Scale",
    "Setting",
    "Solving",
    "Uncovered",
    "check_feedback",
    "confidence_radii",
    "make_agent",
]


def make_agent(policy: IndexPolicy | Policy, setting: Setting) -> Agent:
    return IndexAgent(policy, setting) if isinstance(policy, IndexPolicy) else PolicyAgent(policy, setting)


def check_feedback(policy: IndexPolicy | Policy, feedback: FeedbackKind) -> None:
    """Whether this is enough for the policy to learn from."""
    if feedback == "bandit" and not (isinstance(policy, Policy) and policy.feedback == "bandit"):
        raise Unsupported(
            f"{policy!r} must see the weight of every chosen item; with feedback='bandit', where nothing but their sum "
            "is seen, use OFUL, LinUCB or COMBAND"
        )
