"""The base of baselines, which count and add up what they see, so that a learner has estimates, but do not use it."""

from typing import ClassVar

from semibandits.types import Clock, IndexPolicy, Init, Params, Scalar, Stats
from semibandits.types.policies import of_count_and_sum


class Counted(IndexPolicy):
    """Statistics (count, sum), and no clock."""

    prior: ClassVar[Stats] = (0.0, 0.0)
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    random: ClassVar[bool] = False

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return ()

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x)

    observe_many = staticmethod(of_count_and_sum(observe))
