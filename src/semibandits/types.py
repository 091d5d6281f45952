"""The contract on one page: what a set, an environment and a policy are, and the words they share.

| paper | here |
|---|---|
| item e in E, L | `item`, `n_items` |
| solution A | `items`: int64, ascending, no repeats |
| feasible set Θ, K, the oracle | `FeasibleSet`, `max_size`, `FeasibleSet.argmax` |
| weights w_t, distribution P, w̄ | `weights`, `Environment`, `means` |
| T(e), ŵ(e), U_t(e) | `counts`, `estimates`, `scores` |
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import showing
from semibandits.effort import CALL, spend
from semibandits.errors import BadArgument, BadWeights, EmptyFeasibleSet, Unsupported
from semibandits.forks import cached_property
from semibandits.structure import Arrays as Arrays
from semibandits.structure import Quotas as Quotas
from semibandits.structure import Solver as Solver
from semibandits.structure import TradeOffs as TradeOffs
from semibandits.structure import listed_by_oracle
from semibandits.whose import up_to_date as up_to_date

Items: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float64]
Bounds: TypeAlias = tuple[float, float]
Sense: TypeAlias = Literal["max", "min"]
Init: TypeAlias = Literal["paper", "all", "optimistic"]
FeedbackKind: TypeAlias = Literal["semi", "bandit"]
"""What is seen of a decision: the weight of every chosen item, or only their sum."""
State: TypeAlias = Any
Note: TypeAlias = Any

Scalar: TypeAlias = Any
"""A number, or an array of numbers: the functions of a policy are written so that both work."""
Stats: TypeAlias = tuple[Scalar, ...]
Clock: TypeAlias = tuple[Scalar, ...]
Params: TypeAlias = tuple[Any, ...]
"""Numbers, and arrays that are read at an item."""


@dataclass(frozen=True, eq=False, slots=True)
class Decision:
    """What a learner decided: choose `items`, then tell it their weights under `id`."""

    id: str
    round: int
    items: Items
    labels: tuple[str, ...] = ()
    """The items' names, where the learner has labels."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Decision) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def _repr_html_(self) -> str:
        return showing.decision_html(self)


class Game(NamedTuple):
    """What a policy may know in advance; `horizon` 0 means unknown. Where a set is not `signed`, scores end at 1."""

    n_items: int
    max_size: int
    horizon: int = 0
    signed: bool = True
    offset: float = 0.0
    """A solution is worth the sum of x + offset over its items: other than 0 where the bounds are not (0, 1)."""


class FeasibleSet(ABC):
    """A set Θ of feasible solutions over items 0..n_items-1, and the oracle that finds the best of them.

    A subclass sets `n_items` and `max_size` (an upper bound on the size of a solution) and writes `argmax`, `contains`
    and `restrict`. A set has no sense: costs are handed to it negated.
    """

    n_items: int
    max_size: int
    signed: bool = True
    """False: the oracle needs weights <= 0 (shortest paths in general graphs)."""
    matroid: bool = False
    """True: the solutions are the bases, or the independent sets, of a matroid by construction."""
    ratio: float = 1.0
    """The oracle's answer is worth at least `ratio` times the best; or costs at most the best divided by `ratio`."""
    promised: bool = True
    """Whether `ratio` holds for all weights to come. False: it is what the answers so far were worth (a cut search)."""
    verified: bool = False
    """True: answers are feasible by construction, so nobody asks `contains`. Yours must say it: it is not inherited."""
    labels: tuple[str, ...] = ()
    """The items' names, where the set knows any: a learner uses them unless it is given others."""

    @property
    def foreign(self) -> bool:
        """Whether code from outside of this package finds the solutions: then it is tried out before it is used."""
        owner = next(one for one in type(self).__mro__ if "argmax" in vars(one))
        return "argmax" in vars(self) or owner.__module__.partition(".")[0] != __name__.partition(".")[0]

    @abstractmethod
    def argmax(self, weights: ArrayLike) -> Items:
        """The feasible solution of largest total weight; ties are broken the same way every time."""

    @abstractmethod
    def contains(self, items: Iterable[int]) -> bool:
        """Whether these items, in any order, are a feasible solution."""

    @abstractmethod
    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "FeasibleSet":
        """The solutions that contain all of `include` and none of `exclude`, items keeping their numbers.

        Raises `EmptyFeasibleSet` where there are none.
        """

    def best_with_each(self, weights: ArrayLike) -> Weights:
        """For every item the value of the best solution that contains it; -inf where none does.

        One restricted call of the oracle per item; sets that know better override it.
        """
        w = np.asarray(weights, dtype=np.float64)
        best = np.full(self.n_items, -np.inf)
        for item in range(self.n_items):
            spend(CALL + self.n_items)
            try:
                best[item] = total(w, self.restrict(include=(item,)).argmax(w))
            except EmptyFeasibleSet:
                continue
        return best

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights | None:
        """As `best_with_each`, but among the solutions that are worse than the best.

        An exchange of items that loses no more than `tolerance` counts as a tie, also if there are several. None where
        the set knows no quick way; a `Problem` then searches through the tied solutions.
        """
        return None

    def uncovered(self) -> Items:
        """Items that no solution contains, as far as the set knows without searching."""
        return np.empty(0, dtype=np.int64)

    def solver(self) -> Solver | None:
        """The oracle for the compiler; None: simulations call `argmax`, in a plain loop."""
        return None

    def single(self) -> Solver | None:
        """The same for one run at a time; None: there is none."""
        solver = self.solver()
        return None if solver is None or solver.in_lanes else solver

    def quotas(self) -> Quotas | None:
        """So many items of each group, if that is what the solutions are; None: they are not, or it is not known."""
        return None

    def trade_offs(self) -> TradeOffs | None:
        """The dynamic program that trades two totals off against each other; None: there is none."""
        return None

    def listed(self, limit: int) -> list[Items] | None:
        """All solutions, always in the same order; None where there are more than `limit` that are not listed yet."""
        quotas = self.quotas() if up_to_date(self, "quotas", "argmax") else None
        if quotas is not None:
            return quotas.listed(limit)
        if self.ratio < 1.0 or not self.promised:
            raise Unsupported(f"the oracle of {self!r} is approximate, so that it may overlook solutions")
        return listed_by_oracle(self, limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items)"


DrawFunction: TypeAlias = Callable[[int, Scalar, Scalar, Arrays], Scalar]


class Environment(ABC):
    """A distribution P of the items' weights.

    The weights of a round are a pure function of the round's `key` (see `semibandits.rng`), so that only the items
    that were chosen need to be drawn, and every policy plays in the same world.

    A subclass sets `n_items`, `bounds` and `means` and writes either a static function

        draw(round, key, item, tables) -> weight

    of one item, made like a policy's functions (it may read `tables`, a tuple of arrays, at the item), which then
    serves everything, compiled too; or `weights`, any Python code.

    Where the means change from round to round, it sets `drifts`, `means` is a method, `means(round)`, and a static
    function `mean(round, item, tables)` beside `draw` serves the compiler.
    """

    n_items: int
    bounds: Bounds
    means: Weights
    independent: bool = False
    """Whether the items' weights are known to be independent of each other."""
    drifts: bool = False
    """True: the means change from round to round, and `means(round)` is a method."""
    hindsight: bool = False
    """True: a sequence by no law, recorded or an adversary's. Regret is against the best solution in hindsight."""
    batched: bool = False
    """True: `weights` also takes a column of keys, shape (rounds, 1), and returns one row of weights per key."""
    tables: Arrays = ()
    labels: tuple[str, ...] = ()
    """The items' names, where it was made of data that has any: they must be the set's."""
    last_round: int | None = None
    """The last round that can be drawn; None: there is none."""

    def __init_subclass__(cls) -> None:
        """What a class above says of its own functions does not hold for others in their place."""
        super().__init_subclass__()
        if "draw" in vars(cls) and "drawing" not in vars(cls):
            cls.drawing = Environment.drawing  # type: ignore[method-assign]
        if not {"draw", "drawing", "weights"}.isdisjoint(vars(cls)) and "batched" not in vars(cls):
            cls.batched = False

    def drawing(self) -> DrawFunction | None:
        """The function that draws one item; None where there is but `weights`."""
        return getattr(self, "draw", None)

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        """The weights of `items` (None: of all) in that round."""
        draw = self.drawing()
        if draw is None:
            raise Unsupported(f"{type(self).__name__} must define draw() or weights()")
        chosen = self._numbers if items is None else items
        drawn: Weights = draw(round, key, chosen, self.tables)
        if np.shape(drawn)[-1:] != chosen.shape:
            raise BadWeights(
                f"draw() must work on arrays of items (where() instead of if): of {chosen.size} it made {drawn!r:.100}"
            )
        return drawn

    def at(self, round: int) -> "Environment":
        """The world that is in every round as this one is in `round`: itself, unless it drifts."""
        if self.drifts:
            raise Unsupported(f"{type(self).__name__} drifts, so that it must define at(round)")
        return self

    @cached_property
    def _numbers(self) -> Items:
        return np.arange(self.n_items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items)"


class IndexPolicy(ABC):
    """A policy that is a formula per item: it scores every item by itself, and the oracle does the rest.

    The four functions are static and *array-safe*: nothing but arithmetic, the maths of `semibandits.kernel` and the
    random numbers of `semibandits.draws`, so that the same text serves one number, a whole array of items, and a
    compiler. Policies see weights scaled to x in [0, 1], larger is better. `Stats` are (count, sum of x, whatever else
    the policy keeps).
    """

    prior: ClassVar[Stats]
    """The statistics of an item nobody has seen."""
    init: Init = "all"
    """How to begin: the paper's Init, Init that keeps every observation, or no separate phase."""
    needs_horizon: bool = False
    instead_of_horizon: ClassVar[str] = ""
    """What to say to those who do not know it."""
    random: ClassVar[bool] = True
    """Whether the functions use their `key`; where not, they are given 0 and nothing is spent on it."""
    redraws: ClassVar[bool] = False
    """Whether a score may be NaN, which means: again, with the next key (rejection sampling)."""
    window: int = 0
    """Only observations of so many rounds count, older ones are taken back by `forget`; 0: all of them."""

    def params(self, game: Game) -> Params:
        """Constants of the formula, worked out once per game."""
        return ()

    def check(self, feasible: FeasibleSet) -> None:  # noqa: B027 (most have nothing to check)
        """Raises where this policy cannot play on that set."""

    @staticmethod
    @abstractmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        """What all items share in a round, worked out once."""

    @staticmethod
    @abstractmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        """The statistics of an item after one more observation x."""

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        """The statistics without the observation x: for `init="paper"`, which overwrites, and for a `window`.

        `round` is today's.
        """
        raise Unsupported("this policy cannot take an observation back: use init='all' or init='optimistic'")

    @staticmethod
    @abstractmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        """The item's score, what the oracle adds up; finite also for an item nobody has seen."""

    glance: ClassVar[Callable[..., Scalar] | None] = None
    """Where scores may be NaN, the same function but cheaper: what `score` gives, or NaN where it cannot tell.

    Compiled runs call it first, and then `score`, with the same key, where it was NaN.
    """

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in getattr(self, "__dict__", {}).items() if name[0] != "_")
        return f"{type(self).__name__}({', '.join(shown)})"


class Policy(ABC):
    """A policy that is more than a formula per item: it chooses whole solutions, and keeps what state it likes.

    Policies see weights scaled to x in [0, 1], larger is better; a solution is worth the sum of x + `Game.offset`. They
    keep nothing themselves: all that is learned is in the state, so that one policy serves many learners and runs.

    A state, to be saved, is a tuple of NumPy arrays whose shapes never change; a note is one such array, or None. If it
    is a named tuple, its field `facts` is for constants: a learner that is loaded takes them from `start`.
    """

    feedback: ClassVar[FeedbackKind] = "semi"
    """"bandit": it needs only the sum of the chosen items' x, and is given an array with just that."""
    init: Literal["all", "optimistic"] = "optimistic"
    """"all": before it is asked, solutions are chosen until every item was observed."""
    needs_note: ClassVar[bool] = False
    """Whether it cannot learn without its note: then not from logged data either."""
    needs_horizon: bool = False
    instead_of_horizon: ClassVar[str] = ""
    """What to say to those who do not know it."""
    verified: ClassVar[bool] = False
    """True: what it chooses is feasible by construction, as for sets. Yours must say it: it is not inherited."""
    by_item: ClassVar[tuple[str, ...] | None] = None
    """The fields of a state, a named tuple, that hold a number for each item or each two of them, if the others do not
    depend on the order of the items: then a saved learner can be loaded onto the same items in another order."""

    def check(self, feasible: FeasibleSet) -> None:  # noqa: B027 (most have nothing to check)
        """Raises where this policy cannot play on that set."""

    @abstractmethod
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        """What it knows before the first round."""

    @abstractmethod
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        """The solution for this round, ascending, and a note that is kept with the decision. Changes nothing.

        The note holds what `learn` will want to know of this moment, such as the chance that each item had: feedback
        may come when the state is another one. `feasible` may be a part of the set, where not all items are available.
        `key` is the round's own, for `semibandits.rng` and `semibandits.draws`.
        """

    @abstractmethod
    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        """The state after this feedback on the decision of that round; the old one stays as it was.

        `items` may be a part of the decision's where their weights come in parts; a note with one entry (or row) for
        each of the decision's items is then cut to this part. None is the note of items that were not chosen by
        `choose`: by the initialisation, or elsewhere. `feasible` is the whole set.
        """

    def scores(self, state: State, feasible: FeasibleSet, round: int, key: int) -> Weights:
        """U_t on the scale of x, where it scores items one by one."""
        raise Unsupported(f"{self!r} scores whole solutions, not items")

    def estimates(self, state: State) -> Weights | None:
        """What it expects each item's x to be, if it knows better than the mean of the item's own observations."""
        return None

    __repr__ = IndexPolicy.__repr__


def check_choice(name: str, value: Any, choices: Any) -> Any:
    """One of the words of a `Literal` type, as a plain string."""
    for known in get_args(choices):
        if isinstance(value, str) and value == known:
            return known
    raise BadArgument(f"{name} must be {' or '.join(map(repr, get_args(choices)))}, got {value!r:.100}")


def total(weights: Weights, items: Items | slice) -> float:
    """The sum of these items' weights, added one by one in item order so that equal solutions have equal totals."""
    picked = weights[items]
    return float(np.add.accumulate(picked)[-1]) if picked.size else 0.0


def means_in(environment: Environment, round: int) -> Weights:
    """The means of the weights of this round, also where they drift."""
    means: Any = environment.means
    return means(round) if environment.drifts else means  # type: ignore[no-any-return]
