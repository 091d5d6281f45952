"""The check of a policy: its functions do the same in every form, and its choices are feasible."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from semibandits import rng
from semibandits._util.checks import check_choice, is_float
from semibandits.errors import ConformanceError
from semibandits.kernel import compiled, foreign
from semibandits.policies.solution import base
from semibandits.sets import TopK
from semibandits.testing.conformance import conforming, demand
from semibandits.types import Clock, FeasibleSet, FeedbackKind, Game, IndexPolicy, Params, Policy, State, Stats

Begin = Literal["all", "optimistic"]


@conforming
def check_policy(
    policy: IndexPolicy | Policy, *, trials: int = 200, seed: int = 0, feasible: FeasibleSet | None = None
) -> None:
    """Checks that a policy keeps its contract.

    An `IndexPolicy`: its functions are array-safe, finite and, where it says so, can take an observation back. They
    must give the same numbers, bit for bit, called on one item at a time, on all items at once as NumPy arrays, and
    compiled. `trials` is the number of items: for a policy made for a certain number, that one.

    A `Policy`: on the set given (default: `TopK(8, 3)`) its choices are feasible, depend on state, round and key alone,
    change nothing, and it learns from late feedback in parts. `trials` is the number of rounds.

    >>> import semibandits as sb
    >>> check_policy(sb.policies.CombUCB1())
    >>> check_policy(sb.policies.HYBRID(), trials=20)
    """
    demand(isinstance(policy, IndexPolicy | Policy), f"expected an IndexPolicy or a Policy, got {policy!r:.200}")
    demand(trials >= 1, f"trials must be at least 1, got {trials}")
    if isinstance(policy, IndexPolicy):
        _check_formula(policy, trials, seed)
    else:
        _check_choices(policy, TopK(8, 3) if feasible is None else feasible, trials, seed)


def _check_formula(policy: IndexPolicy, trials: int, seed: int) -> None:
    """Of a policy that is a formula per item."""
    forgets = type(policy).forget is not IndexPolicy.forget
    demand(forgets or policy.init != "paper", "init='paper' overwrites observations, so it needs forget()")
    demand(policy.random or not policy.redraws, "redraws=True asks for other keys, so it needs random=True")
    if policy.window:
        demand(forgets and policy.init == "optimistic", "a window needs forget() and init='optimistic'")
    pools = type(policy).share is not None
    demand(pools == (type(policy).pooled is not IndexPolicy.pooled), "share and pooled need each other")
    for name in (
        "clock",
        "observe",
        "score",
        *(["forget"] if forgets else []),
        *(["share", "pooled"] if pools else []),
    ):
        why = foreign(getattr(type(policy), name))
        demand(not why, f"{name} would not give the same bits in machine code: {why}")
    generator = np.random.default_rng(seed)
    p = policy.params(Game(n_items=trials, max_size=max(1, trials // 4), horizon=10_000))
    prior = policy.prior
    demand(len(prior) >= 2 and prior[0] == prior[1] == 0.0, f"prior must begin with count 0 and sum 0, got {prior}")
    stats: Stats = tuple(np.full(trials, value, dtype=np.float64) for value in prior)
    numbers = np.arange(trials, dtype=np.uint64)
    for round in (1, 2, 3, 10, 1000):
        key = rng.key(seed, 0, round, rng.POLICY) if policy.random else 0
        clock = _check_clock(policy, stats, round, key, p)
        scores = _call(policy.score, "on arrays", stats, clock, key, numbers, p)
        demand(np.shape(scores) == (trials,), f"score on arrays must return one number per item, got {scores!r:.200}")
        fine = np.isfinite(scores) | (np.isnan(scores) & policy.redraws)
        demand(not np.isnan(scores).all(), f"every score of round {round} is NaN")
        if not fine.all():
            at = int(np.argmin(fine))
            raise ConformanceError(
                f"scores must be finite, got {scores[at]} in round {round} for {[float(row[at]) for row in stats]} "
                "(NaN that asks for another draw needs redraws = True)"
            )
        _same(policy.score, scores, (stats, clock, key, numbers, p))
        glance = type(policy).glance
        if glance is not None:
            glanced = _call(glance, "on arrays", stats, clock, key, numbers, p)
            _same(glance, glanced, (stats, clock, key, numbers, p))
            demand(bool((np.isnan(glanced) | (glanced == scores)).all()), "glance must give what score gives, or NaN")
        if not policy.random:
            again = policy.score(stats, _check_clock(policy, stats, round, 1, p), 1, numbers, p)
            demand(np.array_equal(again, scores), "scores depend on the key: say random = True")
        x = generator.random(trials) if round > 2 else generator.integers(0, 2, trials).astype(np.float64)
        after = _call(policy.observe, "on arrays", stats, x, round, key, numbers, p)
        demand(len(after) == len(prior), f"observe must return {len(prior)} numbers, got {len(after)}")
        _same(policy.observe, after, (stats, x, round, key, numbers, p))
        if round == 1:
            first = np.array_equal(after[0], np.ones(trials)) and np.array_equal(after[1], x)
            demand(first, "after one observation the count must be 1 and the sum that observation")
        if forgets and (policy.window or policy.init != "optimistic"):  # else nobody calls it
            before = _call(policy.forget, "on arrays", after, x, round, p)
            _same(policy.forget, before, (after, x, round, p))
            for i, (old, new) in enumerate(zip(stats, before, strict=True)):
                demand(
                    bool(np.allclose(old, new, rtol=0.0, atol=1e-9)),
                    f"forget must undo observe, but number {i} differs",
                )
        stats = tuple(np.asarray(row, dtype=np.float64) for row in after)
    if policy.observe_many is not None and not policy.window:
        _check_totals(policy, stats, p, generator)


def _check_totals(policy: IndexPolicy, stats: Stats, p: Params, generator: np.random.Generator) -> None:
    """Clicks that were added up must be worth what they are one by one."""
    clicks = generator.integers(0, 2, (4, stats[0].size)).astype(np.float64)
    numbers, sums = np.arange(stats[0].size, dtype=np.uint64), clicks.sum(axis=0)
    expected = stats
    for x in clicks:
        expected = policy.observe(expected, x, 500, 1, numbers, p)  # late
    counts = np.full(sums.size, 4.0)
    assert policy.observe_many is not None
    after = _call(policy.observe_many, "on arrays", stats, counts, sums, sums, 500, p)
    demand(len(after) == len(stats), f"observe_many must return {len(stats)} numbers, got {len(after)}")
    for i, (one, other) in enumerate(zip(expected, after, strict=True)):
        same = np.shape(other) == counts.shape and bool(np.allclose(one, other, rtol=1e-6, atol=1e-9))
        demand(same, f"observe_many must give what observe gives for each click, but number {i} differs")


def _check_clock(policy: IndexPolicy, stats: Stats, round: int, key: int, p: Params) -> Clock:
    """The clock of a round, with what the items share, where they do."""
    clock = _check_numbers(policy.clock, "the clock of a random policy" if policy.random else "", round, key, p)
    share = type(policy).share
    if share is None:
        return clock
    shares = _call(share, "on arrays", stats, round, p)
    demand(isinstance(shares, tuple) and len(shares) > 0, f"share must return a tuple of numbers, got {shares!r:.200}")
    _same(share, tuple(np.broadcast_to(row, stats[0].shape) for row in shares), (stats, round, p))
    totals = tuple(float(np.sum(np.broadcast_to(row, stats[0].shape))) for row in shares)
    return _check_numbers(policy.pooled, "pooled", totals, clock, p)


def _check_numbers(function: Callable[..., Clock], floats: str, *arguments: Any) -> Clock:
    """`floats`: what must give floats, if it must."""
    clock: Clock = _call(function, "", *arguments)
    name = function.__name__
    demand(bool(np.isfinite(clock).all()), f"{name} must be finite, got {clock!r:.200} of {arguments!r:.200}")
    demand(not floats or all(map(is_float, clock)), f"{floats} must give floats, got {clock!r:.200}")
    if clock:
        _same(function, tuple(np.full(1, value) for value in clock), arguments)
    return clock


def _call(function: Callable[..., Any], how: str, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        name = getattr(function, "__name__", str(function))
        raise ConformanceError(
            f"{name} cannot be called {how}: {error!s:.300} (it must be a staticmethod of nothing but arithmetic and "
            "the functions of semibandits.kernel)"
        ) from error


def _same(function: Callable[..., Any], whole: object, arguments: tuple[object, ...]) -> None:
    """One item at a time, plain and compiled, must give what all items at once gave."""
    name = getattr(function, "__name__", str(function))
    rows = np.stack([np.asarray(row) for row in whole]) if isinstance(whole, tuple) else np.asarray(whole)[None]
    for how, call in (("called one item at a time", function), ("compiled", compiled(function))):
        for item in range(0, rows.shape[1], 7):
            one = (*(_pick(argument, item) for argument in arguments[:-1]), arguments[-1])  # the last are parameters
            try:
                got = call(*one)
            except Exception as error:
                raise ConformanceError(
                    f"{name} cannot be {how}: {error!s:.500} (functions must be called by their plain names, not "
                    "through their modules)"
                ) from error
            alone = np.array(got if isinstance(got, tuple) else (got,), dtype=np.float64)
            demand(
                np.array_equal(alone, rows[:, item], equal_nan=True),
                f"{name} gives {alone} {how} and {rows[:, item]} on arrays, for {one!r:.300}",
            )


def _pick(argument: object, item: int) -> object:
    if isinstance(argument, tuple):
        return tuple(_pick(part, item) for part in argument)
    if isinstance(argument, np.ndarray) and argument.ndim == 1:
        return argument[item]
    return np.uint64(argument) if isinstance(argument, int) and argument >= 1 << 63 else argument


def _check_choices(policy: Policy, feasible: FeasibleSet, trials: int, seed: int) -> None:
    """Of a policy that chooses whole solutions. Every third round is told a round later, and in two parts."""
    check_choice("feedback", policy.feedback, FeedbackKind)
    check_choice("init", policy.init, Begin)
    policy.check(feasible)
    state = policy.start(Game(feasible.n_items, feasible.max_size, trials, feasible.signed), feasible)
    generator = np.random.default_rng(seed)
    late: list[tuple[Any, ...]] = []
    for round in range(1, trials + 1):
        key = rng.key(seed, 0, round, rng.POLICY)
        before = _copied(state)
        choice: Any = policy.choose(state, feasible, round, key)
        demand(isinstance(choice, tuple) and len(choice) == 2, f"choose must return (items, note), got {choice!r:.200}")
        items, note = choice
        demand(
            isinstance(items, np.ndarray) and items.dtype == np.int64 and items.ndim == 1,
            f"items must be a vector of int64, got {items!r:.200}",
        )
        demand(bool((np.diff(items) > 0).all()), f"items must ascend without repeats, got {items.tolist()}")
        demand(feasible.contains(items), f"choose returned {items.tolist()}, which is not feasible")
        again, same_note = policy.choose(state, feasible, round, key)
        same = np.array_equal(items, again) and np.array_equal(note, same_note)
        demand(same, "choose must depend on state, round and key alone, and change nothing")
        x = generator.random(items.size)
        if policy.feedback == "bandit":
            x = np.array([x.sum()])
        demand(_equal(before, state), "choose must not change the state")
        late.append((round, items, x, note))
        if round % 3 != 0:
            for told in reversed(late):
                state = _told(policy, feasible, state, told, parts=len(late) > 1 and policy.feedback == "semi")
            late.clear()
    if isinstance(policy, base.CompiledPolicy) and policy.kernels(feasible) is not None:
        _same_compiled(policy, feasible, state, trials, seed)
    _check_totals_of_all(policy, feasible, state, trials)


def _check_totals_of_all(policy: Policy, feasible: FeasibleSet, state: State, round: int) -> None:
    """The same of a policy that chooses whole solutions: two clicks on each item, and one that was none."""
    ones = np.ones(feasible.n_items)
    before = _copied(state)
    after = policy.observe_many(state, 3.0 * ones, 2.0 * ones, 2.0 * ones)
    demand(_equal(before, state), "observe_many must return a new state and leave the old one as it was")
    if after is None:
        return
    expected = state
    for x in (1.0, 0.0, 1.0):
        for item in range(feasible.n_items):
            expected = policy.learn(expected, feasible, round, np.array([item]), np.array([x]), None, 1)
    same = len(after) == len(expected) and all(
        np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-6, atol=1e-9)
        for one, other in zip(expected, after, strict=True)
    )
    demand(same, "observe_many must give what learn gives for each click")


def _told(policy: Policy, feasible: FeasibleSet, state: State, told: tuple[Any, ...], parts: bool) -> State:
    round, items, x, note = told
    cuts = (slice(0, 1), slice(1, None)) if parts and items.size > 1 else (slice(None),)
    for cut in cuts:
        aligned = isinstance(note, np.ndarray) and note.shape[:1] == items.shape and policy.feedback == "semi"
        part, before = (note[cut] if aligned else note), _copied(state)
        some = items[cut] if policy.feedback == "semi" else items
        key = rng.key(0, 0, round, rng.FEEDBACK)
        after = policy.learn(state, feasible, round, some, x[cut], part, key)
        demand(isinstance(after, tuple), f"learn must return the new state, a tuple of arrays, got {after!r:.200}")
        demand(_equal(before, state), "learn must return a new state and leave the old one as it was")
        shapes = [np.shape(array) for array in after] == [np.shape(array) for array in state]
        demand(shapes, "the arrays of a state must keep their shapes")
        finite = all(not np.isnan(np.asarray(array, dtype=np.float64)).any() for array in after)
        demand(finite, f"the state holds NaN after {x[cut]} for items {some.tolist()}")
        state = after
    return state


def _same_compiled(policy: base.CompiledPolicy, feasible: FeasibleSet, state: State, round: int, seed: int) -> None:
    """Its kernel functions must do the same as machine code."""
    kernels = policy.kernels(feasible)
    assert kernels is not None
    results = []
    for patience in (np.inf, 0.0):
        live = base.WarmPolicy(kernels, feasible, patience)
        items, note = live.choose(state, round, rng.key(seed, 0, round, rng.POLICY))
        x = np.full(1 if policy.feedback == "bandit" else items.size, 0.25)
        results.append((items, note, *live.learn(state, round, items, x, note, 1)))
        agreed = not any(warm.refused for warm in live.warm)  # where they do not agree, plain code goes on
        demand(agreed, "the moves do not give the same bits in machine code, or cannot be compiled: see the log")
    same = all(np.array_equal(plain, machine) for plain, machine in zip(*results, strict=True))
    demand(same, "the moves do not give the same bits in machine code")


def _copied(state: State) -> list[Any]:
    arrays = isinstance(state, tuple) and all(
        isinstance(array, np.ndarray) and array.dtype in (np.int64, np.float64) for array in state
    )
    demand(arrays, f"a state must be a tuple of NumPy arrays of int64 or float64, got {state!r:.200}")
    return [np.copy(array) for array in state]


def _equal(before: list[Any], state: State) -> bool:
    return all(np.array_equal(old, new, equal_nan=True) for old, new in zip(before, state, strict=True))
