"""Policies of a user's own whose items learn from each other: one that draws nothing, and one that does."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits.kernel import log, sqrt, where
from semibandits.rng import uniform
from semibandits.types import Clock, Game, IndexPolicy, Init, Params, Scalar, Stats


@dataclass(frozen=True)
class PooledUCB(IndexPolicy):
    """A radius of the standard deviation that all items have in common; draws nothing, and forgets if asked."""

    width: float = 1.0
    window: int = 0
    init: ClassVar[Init] = "optimistic"  # type: ignore[misc]
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0)
    random: ClassVar[bool] = False

    def params(self, game: Game) -> Params:
        return (self.width, 2.0 * game.max_size)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (p[0] * log(round),)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x, s[2] + x * x)

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        return (s[0] - 1.0, s[1] - x, s[2] - x * x)

    @staticmethod
    def share(s: Stats, round: int, p: Params) -> Stats:
        squares = s[2] - s[1] * s[1] / where(s[0] > 0.0, s[0], 1.0)
        return (where(s[0] > 1.0, s[0] - 1.0, 0.0), where(squares > 0.0, squares, 0.0))

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        return (c[0], sqrt(totals[1] / (totals[0] + p[1])))

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        some = where(s[0] > 0.0, s[0], 1.0)
        return where(s[0] > 0.0, s[1] / some, 1.0) + c[1] * sqrt(c[0] / some)


@dataclass(frozen=True)
class Leaning(IndexPolicy):
    """Leans towards the mean of all, by a share that is drawn; more totals than the clock has numbers, and one less."""

    init: ClassVar[Init] = "all"  # type: ignore[misc]
    prior: ClassVar[Stats] = (0.0, 0.0)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (uniform(key, 0, 1), 1.0 / round)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x)

    @staticmethod
    def share(s: Stats, round: int, p: Params) -> Stats:
        return (s[0], s[1], 1.0, s[1] / (s[0] + 1.0), 1.0 / round)

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        level = totals[1] / (totals[0] + 1.0) + totals[3] / totals[2] + totals[4]
        return (c[0] * level,)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return (s[1] + c[0]) / (s[0] + 1.0) + 0.1 * uniform(key, item)
