"""Follow the perturbed leader, for losses chosen by an adversary, on any set with a linear oracle."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util import checks
from semibandits.draws import exponential
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels, best_of, score_items
from semibandits.rng import below
from semibandits.types import FeasibleSet, Game, Scalar, Weights

MOST_REDRAWS = 2**53
ETA, M, WORTH, SHIFT, LARGEST = range(5)


class FPLState(NamedTuple):
    """What was learned, and the constants of the game."""

    losses: Weights
    """L̂, the sums of the estimated losses 1 - x."""
    rounds: NDArray[np.int64]
    """One number: the rounds of which feedback came."""
    constants: Weights
    """ETA, M, what x = 1 is WORTH, the SHIFT taken from every perturbation, and the LARGEST weight of the oracle."""


@dataclass(frozen=True, repr=False)
class FPL(CompiledPolicy):
    """FPL with geometric resampling (Neu and Bartók 2013; theorem 1 of their JMLR paper of 2016).

    The solution that minimises the sum of ηL̂_e - Z_e, every Z_e drawn from Exp(1). The estimated loss of a chosen item
    is K_e (1 - x_e), 0 of others: K_e counts the redraws of all Z until the item is chosen again, and ends at M. For
    L items, at most K of them chosen, and n rounds

        η = sqrt((log(L/K) + 1) / (2 L n)),  M = ⌈1 / (2 e K η)⌉ = ⌈sqrt(L n) / (e K sqrt(2 log(L/K) + 2))⌉

    and then the expected regret is at most 3 K sqrt(2 L n (log(L/K) + 1)) against any sequence of losses, also one
    that reacts to what was chosen. `eta` and `most` replace η and M; without the horizon, `eta` must be given.
    There are at most L redraws a round on average.

    Where solutions differ in size and x = 1 is not worth 0 (rewards, say), ηt times that worth is added to every item
    after t rounds. This shift is known beforehand, so the estimates keep erring on the optimistic side, as the proof
    wants it; its constant is then no longer theirs.

    An oracle that needs weights <= 0 is given min(Z_e - B - ηL̂_e, 0) with B = log(L n), which is seldom 0. The first
    term of their bound becomes K B / η, so that B takes the place of log(L/K) + 1 in η. Without the horizon, B is
    log(1/η²).

    >>> FPL().needs_horizon, FPL(eta=0.01).needs_horizon
    (True, False)
    """

    needs = "the horizon, or eta"
    guarantee = "at most 3 K sqrt(2 L n (log(L/K) + 1)), whatever the losses (Neu and Bartók 2016)"
    use = "losses chosen by an adversary, on any set with an oracle"

    eta: float | None = None
    most: int | None = None

    needs_note = True
    own_set_only = False
    instead_of_horizon: ClassVar[str] = ": give eta=, such as sqrt((log(L/K) + 1) / (2 L n)) for some n rounds"
    by_item: ClassVar[tuple[str, ...]] = ("losses",)

    def __post_init__(self) -> None:
        if self.eta is not None:
            object.__setattr__(self, "eta", checks.check_positive("eta", self.eta))
        if self.most is not None:
            most = checks.check_rounds("most", self.most)
            if most > MOST_REDRAWS:
                raise BadArgument(f"most must be at most 2**53 redraws, got {self.most!r:.100}")
            object.__setattr__(self, "most", most)

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return self.eta is None

    def start(self, game: Game, feasible: FeasibleSet) -> FPLState:
        n_items, size = game.n_items, max(1, game.max_size)
        reach = math.log(n_items * max(game.horizon, 1)) if self.eta is None else -2.0 * math.log(self.eta)
        shift = 0.0 if game.signed else max(1.0, reach)
        width = math.log(n_items / size) + 1.0 if game.signed else shift
        if self.eta is not None:
            eta = self.eta
        elif game.horizon:
            eta = math.sqrt(width / (2.0 * n_items * game.horizon))
        else:
            raise BadArgument(f"{self!r} needs to know the horizon{self.instead_of_horizon}")
        most = float(self.most or min(max(1.0, math.ceil(1.0 / (2.0 * math.e * size * eta))), MOST_REDRAWS))
        constants = np.array([eta, most, 1.0 + game.offset, shift, math.inf if game.signed else 0.0])
        return FPLState(np.zeros(n_items), np.zeros(1, dtype=np.int64), constants)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        return PolicyKernels(_choose, _learn, note="chosen", score=_score, integers=feasible.max_size, solves=True)


def _score(state: Any, round: int, key: Scalar, item: Scalar, data: Any) -> Scalar:
    losses, rounds, constants = state
    estimate = losses[item] - constants[WORTH] * rounds[0]
    perturbed = exponential(key, item) - constants[SHIFT] - constants[ETA] * estimate
    return where(perturbed < constants[LARGEST], perturbed, constants[LARGEST])


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> int:
    """The note holds K of every item, negative for the first one, with whose feedback the round will be counted."""
    _, _, constants = state
    _, again, weights = work[:3]
    score_items(state, weights, round, key, data)
    size: int = best_of(weights, out, work)
    for i in range(size):
        note[i] = 0.0
    most = constants[M]
    redraws = 0
    waiting = size
    while waiting > 0 and redraws < most:
        redraws += 1
        score_items(state, weights, round, below(key, redraws), data)
        count = best_of(weights, again, work)
        j = 0
        for i in range(size):
            while j < count and again[j] < out[i]:
                j += 1
            if j < count and again[j] == out[i] and note[i] == 0.0:
                note[i] = redraws
                waiting -= 1
    for i in range(size):
        if note[i] == 0.0:
            note[i] = most
    if size > 0:
        note[0] = -note[0]
    return size


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    losses, rounds, _ = state
    if len(items) == 0:
        rounds[0] += 1
    for i in range(len(note)):
        losses[items[i]] += abs(note[i]) * (1.0 - x[i])
        if note[i] < 0.0:
            rounds[0] += 1
