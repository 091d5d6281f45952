"""A policy at work on a set: what the live learner and the simulation share, so that both decide alike."""

from typing import Any

from semibandits.agent.base import Agent, Choice, Uncovered
from semibandits.agent.index import IndexAgent
from semibandits.agent.scale import Scale
from semibandits.agent.solution import PolicyAgent
from semibandits.errors import BadArgument, Unsupported
from semibandits.types import FeasibleSet, FeedbackKind, IndexPolicy, Policy

__all__ = [
    "Agent",
    "Choice",
    "IndexAgent",
    "PolicyAgent",
    "Scale",
    "Uncovered",
    "check_feedback",
    "check_policy",
    "make_agent",
]


def make_agent(
    feasible: FeasibleSet,
    policy: IndexPolicy | Policy,
    scale: Scale,
    *,
    seed: int,
    run: int = 0,
    horizon: int = 0,
    uncovered: Uncovered = "error",
) -> IndexAgent | PolicyAgent:
    kind: Any = IndexAgent if isinstance(check_policy(policy), IndexPolicy) else PolicyAgent
    agent: IndexAgent | PolicyAgent = kind(
        feasible, policy, scale, seed=seed, run=run, horizon=horizon, uncovered=uncovered
    )
    return agent


def check_policy(policy: Any) -> IndexPolicy | Policy:
    if isinstance(policy, IndexPolicy | Policy):
        return policy
    hint = ": an instance, such as CTS(), is wanted, not the class" if isinstance(policy, type) else ""
    raise BadArgument(f"policy must be an IndexPolicy or a Policy, got {policy!r:.200}{hint}")


def check_feedback(policy: IndexPolicy | Policy, feedback: FeedbackKind) -> None:
    """Whether this is enough for the policy to learn from."""
    if feedback == "bandit" and not (isinstance(policy, Policy) and policy.feedback == "bandit"):
        raise Unsupported(
            f"{policy!r} must see the weight of every chosen item; with feedback='bandit', where nothing but their sum "
            "is seen, use OFUL, LinUCB or COMBAND"
        )
