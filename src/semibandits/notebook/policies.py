"""Policies, and what is recommended, in notebooks."""

from semibandits._util.html import escape
from semibandits.notebook.parts import card, cut, listed, written
from semibandits.policies.recommendation import Recommendation
from semibandits.types import IndexPolicy, Policy


@written.register
def _policy(policy: IndexPolicy | Policy) -> str:
    """When to use it, and what is known of it."""
    pairs = [
        ("when to use it", policy.use),
        ("needs", policy.needs),
        ("guarantee", policy.guarantee),
        ("score of an item", getattr(policy, "formula", "")),
    ]
    return card(f"{policy!r:.200}", listed(pairs))


@written.register
def _recommendation(advice: Recommendation) -> str:
    """The policy, the reasons, and when to take another."""
    reasons = "".join(f"<li>{escape(reason)}</li>\n" for reason in advice.reasons)
    others = cut(["or", "when"], [[f"{policy!r:.200}", when] for policy, when in advice.others])
    return card(
        f"Recommended: {advice.policy!r:.200}",
        f'<ul style="margin:.3em 0;padding-left:1.3em">\n{reasons}</ul>\n',
        listed([("needs", advice.needs), ("guarantee", advice.guarantee)]),
        others if advice.others else "",
    )
