"""The contracts of a policy: a formula per item, or whole solutions."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

from semibandits._util.arrays import Items, Scalar, Weights
from semibandits._util.ownership import ours
from semibandits._util.showing import Shown
from semibandits.errors import Unsupported
from semibandits.types.sets import FeasibleSet
from semibandits.types.words import Clock, FeedbackKind, Game, Init, Note, Params, State, Stats


class IndexPolicy(Shown, ABC):
    """A policy that is a formula per item: it scores every item by itself, and the oracle does the rest.

    The four functions are static and *array-safe*: nothing but arithmetic, the maths of `semibandits.kernel` and the
    random numbers of `semibandits.draws`, so that the same function serves one number, a whole array of items, and a
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
    common_scale: ClassVar[bool] = False
    """Whether x is on one scale for all items, that of the widest bounds, also where each item has bounds of its own.

    For scores that are no guesses of weights, but say what the oracle is to choose.
    """
    random: ClassVar[bool] = True
    """Whether the functions use their `key`; where not, they are given 0 and nothing is spent on it."""
    redraws: ClassVar[bool] = False
    """Whether a score may be NaN, which means: again, with the next key (rejection sampling)."""
    window: int = 0
    """Only observations of so many rounds count, older ones are taken back by `forget`; 0: all of them."""
    needs: ClassVar[str] = ""
    """What must be known or given, in a few words, for tables of policies."""
    guarantee: ClassVar[str] = ""
    """What is known of its regret."""
    use: ClassVar[str] = ""
    """When to use it."""
    formula: ClassVar[str] = ""
    """The score of an item, on one line."""

    def params(self, game: Game) -> Params:
        """Constants of the formula, worked out once per game."""
        return ()

    def check(self, feasible: FeasibleSet) -> None:
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

    observe_many: ClassVar[Callable[..., Stats] | None] = None
    """observe_many(s, counts, sums, squares, round, p): the statistics of items after many observations of each, at
    least one, of which number, sum and sum of squares of x are known. NumPy arrays; it is not compiled.

    Where the statistics follow from number and sum alone, `of_count_and_sum(observe)` is such a function.
    """

    @staticmethod
    @abstractmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        """The item's score, what the oracle adds up; finite also for an item nobody has seen."""

    glance: ClassVar[Callable[..., Scalar] | None] = None
    """Where scores may be NaN, the same function but cheaper: what `score` gives, or NaN where it cannot tell.

    Compiled runs call it first, and then `score`, with the same key, where it was NaN.
    """

    share: ClassVar[Callable[..., Stats] | None] = None
    """share(s, round, p), where items learn from each other: what an item says of all of them.

    Every round these numbers are added up over the items, in their order, and `pooled` is given the totals. Items whose
    weight is known, as their bounds meet, are left out.
    """

    @staticmethod
    def pooled(totals: Stats, c: Clock, p: Params) -> Clock:
        """The clock of the round for `score`, floats, made of that of `clock` and of the totals of `share`."""
        return c

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in getattr(self, "__dict__", {}).items() if name[0] != "_")
        return f"{type(self).__name__}({', '.join(shown)})"


class Policy(Shown, ABC):
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
    common_scale: ClassVar[bool] = True
    """Where items have bounds of their own, x is on the scale of the widest: what solutions are worth needs one."""
    needs_note: ClassVar[bool] = False
    """Whether it cannot learn without its note: then not from logged data either."""
    own_set_only: ClassVar[bool | None] = None
    """Whether what it learns is of the solutions of one set, so that it cannot choose from another now and then. None:
    it is taken to be so where it cannot learn without its note."""
    needs_horizon: bool = False
    instead_of_horizon: ClassVar[str] = ""
    """What to say to those who do not know it."""
    verified: ClassVar[bool] = False
    """True: what it chooses is feasible by construction, as for sets. Yours must say it: it is not inherited."""
    by_item: ClassVar[tuple[str, ...] | None] = None
    """The fields of a state, a named tuple, that hold a number for each item or each two of them, if the others do not
    depend on the order of the items: then a saved learner can be loaded onto the same items in another order."""
    needs: ClassVar[str] = ""
    """What must be known or given, in a few words, for tables of policies."""
    guarantee: ClassVar[str] = ""
    """What is known of its regret."""
    use: ClassVar[str] = ""
    """When to use it."""

    def check(self, feasible: FeasibleSet) -> None:
        """Raises where this policy cannot play on that set."""

    @abstractmethod
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        """What it knows before the first round."""

    @abstractmethod
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        """The solution for this round, ascending, and a note that is kept with the decision. Changes nothing.

        The note holds what `learn` will want to know of this moment, such as the chance that each item had: feedback
        may come when the state is another one. `feasible` may be a part of the set, where not all items are available,
        or (unless `own_set_only`) another set of the same items. `key` is the round's own, for `semibandits.rng` and
        `semibandits.draws`.
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

    def observe_many(self, state: State, counts: Weights, sums: Weights, squares: Weights) -> State | None:
        """The state after observations of which number, sum and sum of squares of x are known, for every item.

        None: it must see every observation by itself.
        """
        return None

    def scores(self, state: State, feasible: FeasibleSet, round: int, key: int) -> Weights:
        """U_t on the scale of x, where it scores items one by one."""
        raise Unsupported(f"{self!r} scores whole solutions, not items")

    def estimates(self, state: State) -> Weights | None:
        """What it expects each item's x to be, if it knows better than the mean of the item's own observations."""
        return None

    __repr__ = IndexPolicy.__repr__


def of_count_and_sum(observe: Callable[..., Stats]) -> Callable[..., Stats]:
    """`observe_many` of a policy whose statistics follow from the number of observations and their sum.

    All but one are put into count and sum; `observe` sees the last, and works out the rest.
    """

    def observe_many(s: Stats, counts: Scalar, sums: Scalar, squares: Scalar, round: int, p: Params) -> Stats:
        mean = sums / counts
        return observe((s[0] + (counts - 1.0), s[1] + (sums - mean), *s[2:]), mean, round, 0, 0, p)

    return observe_many


def constants_of(policy: object) -> str:
    """The field of a policy's state that is for constants: `facts`, or in policies of this package `constants`."""
    return "constants" if ours(policy) else "facts"
