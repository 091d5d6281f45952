"""The table of all policies: what each needs and promises, and when to use it."""

import re
from typing import Any, NamedTuple

from semibandits import policies
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadArgument, SemiBanditError
from semibandits.types import IndexPolicy, Policy


class Entry(NamedTuple):
    """One policy."""

    policy: type[IndexPolicy] | type[Policy]
    needs: str
    guarantee: str
    use: str

    @property
    def name(self) -> str:
        return self.policy.__name__


CATALOGUE = tuple(
    Entry(one, one.needs, one.guarantee, one.use)
    for one in vars(policies).values()
    if isinstance(one, type) and issubclass(one, IndexPolicy | Policy)
)
POLICIES: dict[str, type[IndexPolicy] | type[Policy]] = {entry.name: entry.policy for entry in CATALOGUE}
"""By their names."""


def as_policy(given: Any) -> IndexPolicy | Policy:
    """A policy as users give it: itself, or by the name alone of one that needs no parameters.

    >>> as_policy("CTS")
    CTS()
    """
    if isinstance(given, IndexPolicy | Policy):
        return given
    if not isinstance(given, str):
        hint = f": an instance is wanted, {given.__name__}(), not the class" if isinstance(given, type) else ""
        raise BadArgument(f"policy must be an IndexPolicy or a Policy, or the name of one, got {given!r:.200}{hint}")
    if "(" in given or ":" in given:
        name = re.split("[(:]", given)[0]
        raise BadArgument(f"a policy is given by its name alone, or as policies.{name:.100}(...); got {given!r:.200}")
    if given not in POLICIES:
        raise BadArgument(f"no policy is called {given!r:.100}{did_you_mean(given, POLICIES)}")
    try:
        return POLICIES[given]()
    except (SemiBanditError, TypeError) as error:
        raise BadArgument(f"{given!r} is not made by its name alone: {error}") from error
