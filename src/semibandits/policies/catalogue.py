"""The table of all policies: what each needs and promises, and when to use it."""

from typing import NamedTuple

from semibandits import policies
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
