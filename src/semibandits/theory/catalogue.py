"""All bounds with the conditions under which they were proved, so that one is offered only where it applies."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from semibandits.theory import chen2013, escb, kveton2015, matroid, tight
from semibandits.theory.facts import Facts
from semibandits.theory.ratio import by_ratios
from semibandits.theory.terms import PER_ITEM, beyond
from semibandits.types import Scalar, Weights

Found = TypeVar("Found")
Kind: TypeAlias = Literal["upper", "lower", "worst case"]


class Condition(NamedTuple):
    """Something that must be true of a problem."""

    name: str
    holds: Callable[[Facts], bool]


EXACT = Condition("exact oracle", lambda facts: facts.exact_oracle)
APPROXIMATE = Condition("approximate oracle", lambda facts: facts.approximate_oracle)
ROUNDS = Condition("independent rounds", lambda facts: facts.stationary)
ONE_PAIR = Condition("one pair of bounds for all items", lambda facts: facts.pair is not None)
GAPS = Condition("gaps within reach", lambda facts: facts.item_gaps is not None)
ONE_GAP = Condition("all suboptimal solutions have the same gap", lambda facts: facts.one_gap is not None)
SIGNED = Condition("oracle takes weights of either sign", lambda facts: facts.signed)
RATIOS = Condition(
    "ratios within reach",
    lambda facts: facts.ratios is not None or facts.item_gaps is None or not facts.signed,
)
REWARDS = Condition("rewards >= 0", lambda facts: facts.no_negative_rewards)
K_PATH = Condition("the K-path problem", lambda facts: facts.k_path_gap is not None)
GRID = Condition("the grid-path problem", lambda facts: facts.grid_path is not None)
CASCADE = Condition(f"K at most {tight.LARGEST_CASCADE:,}", lambda facts: facts.K <= tight.LARGEST_CASCADE)
SUBOPTIMAL = Condition("some solution is suboptimal", lambda facts: facts.min_gap != np.inf)
MATROID = Condition("bases of a matroid", lambda facts: matroid.is_matroid_bases(facts.problem.feasible))
COINS = Condition("weights 0 or 1", lambda facts: facts.coins)
INDEPENDENT = Condition("independent items", lambda facts: facts.independent_items)
QUICK = Condition(
    "at most 150 items and a quick oracle, or a formula",
    lambda facts: facts.quick_graves_lai or not facts.has_graves_lai,
)
WITHIN_REACH = Condition(
    "within reach of graves_lai_constant",
    lambda facts: facts.graves_lai is not None or not (facts.quick_graves_lai and facts.has_graves_lai),
)
PATHS_FIT = Condition("L a multiple of K, at least 2 K", lambda facts: facts.L % facts.K == 0 and facts.L > facts.K)

BY_GAPS = (GAPS, ONE_GAP, GRID, MATROID)
"""Conditions of bounds that know gaps, and so take nearly tied solutions for optima."""


class Entry(NamedTuple):
    name: str
    source: str
    policy: str
    kind: Kind
    conditions: tuple[Condition, ...]
    curve: Callable[[Facts, Any], Scalar]
    """The bound at rounds n, in the units of the weights."""
    asymptotic: bool = False
    regret: Literal["expected", "ratio"] = "expected"


def known(found: Found | None) -> Found:
    """What a condition has made sure of."""
    assert found is not None
    return found


def _scaled(facts: Facts, unit: Callable[[float], Scalar], per_item: float = PER_ITEM) -> Scalar:
    """A bound for weights in [0, 1], a function of their span's inverse, for the weights that there are.

    All that comes of confidence intervals scales with their span, the widest where items have spans of their own. The
    additive term counts rounds in which anything may have been lost.
    """
    return facts.span * unit(1.0 / facts.span) + beyond(per_item, facts.problem.bounds, facts.L, facts.K)


def _combucb1(
    name: str, source: str, conditions: tuple[Condition, ...], formula: Callable[[Facts, Any, float], Scalar]
) -> Entry:
    """An upper bound for CombUCB1; the formula is for weights in [0, 1] and multiplies gaps by its last argument.

    Where items have spans of their own it uses these, `Facts.spans`, as parts of the widest.
    """
    return Entry(
        name,
        source,
        "CombUCB1",
        "upper",
        (EXACT, ROUNDS, *conditions),
        lambda facts, n: _scaled(facts, lambda unit: formula(facts, n, unit)),
    )


def _grid_path_bound(facts: Facts, n: Any, unit: float) -> Scalar:
    m, sigma = known(facts.grid_path)
    return kveton2015.grid_path_bound(n, m, sigma) + PER_ITEM * facts.K * facts.L


def _chen(facts: Facts, n: Any, unit: float) -> Scalar:
    """Its additive term has the largest gap of all, whatever the bounds of the weights."""
    most = facts.most_a_round_can_lose * unit
    return chen2013.theorem_1(
        n, facts.L, facts.K, known(facts.item_gaps) * unit, known(facts.min_gap) * unit, most, spans=facts.spans
    )


def _chen_gap_free(facts: Facts, n: Any, unit: float) -> Scalar:
    return chen2013.theorem_2(n, facts.L, facts.K, facts.most_a_round_can_lose * unit, spans=facts.spans)


def _matroid_gaps(facts: Facts, unit: float) -> Weights:
    return matroid.exchange_gaps(facts.problem) * unit


PAPER, OURS, MATROIDS, CHEN = (
    "Kveton et al. 2015",
    "semibandits",
    "after Kveton et al. 2014",
    "Chen et al. 2013",
)
CATALOGUE = (
    _combucb1(
        "Theorem 2",
        PAPER,
        (ONE_GAP,),
        lambda f, n, unit: kveton2015.theorem_2(n, f.L, f.K, known(f.one_gap) * unit, spans=f.spans),
    ),
    _combucb1(
        "Theorem 3",
        PAPER,
        (GAPS,),
        lambda f, n, unit: kveton2015.theorem_3(n, f.L, f.K, known(f.item_gaps) * unit, spans=f.spans),
    ),
    _combucb1(
        "Theorem 4",
        PAPER,
        (ONE_GAP,),
        lambda f, n, unit: kveton2015.theorem_4(n, f.L, f.K, known(f.one_gap) * unit, spans=f.spans),
    ),
    _combucb1(
        "Theorem 5",
        PAPER,
        (GAPS,),
        lambda f, n, unit: kveton2015.theorem_5(n, f.L, f.K, known(f.item_gaps) * unit, spans=f.spans),
    ),
    _combucb1("Theorem 6", PAPER, (), lambda f, n, unit: kveton2015.theorem_6(n, f.L, f.K, spans=f.spans)),
    _combucb1("Section 7", PAPER, (ONE_PAIR, GRID), _grid_path_bound),
    _combucb1(
        "B, amortised",
        OURS,
        (ONE_GAP,),
        lambda f, n, unit: tight.one_gap(
            n, f.L, f.K, known(f.one_gap) * unit, f.optimal_size, spans=f.spans, optimum=f.optimum
        ),
    ),
    _combucb1(
        "A, exact cascade",
        OURS,
        (ONE_GAP, CASCADE),
        lambda f, n, unit: tight.cascade_one_gap(
            n, f.L, f.K, known(f.one_gap) * unit, f.optimal_size, spans=f.spans, optimum=f.optimum
        ),
    ),
    Entry(
        "C, ratio form",
        OURS,
        "CombUCB1",
        "upper",
        (EXACT, ROUNDS, GAPS, SIGNED, RATIOS),
        lambda f, n: by_ratios(f.problem, known(f.ratios), n),
    ),
    _combucb1(
        "C, item gaps",
        OURS,
        (GAPS,),
        lambda f, n, unit: tight.item_gap_form(n, f.L, f.K, known(f.item_gaps) * unit, spans=f.spans),
    ),
    _combucb1(
        "B, item gaps",
        OURS,
        (GAPS,),
        lambda f, n, unit: tight.amortised_item_gaps(n, f.L, f.K, known(f.item_gaps) * unit, spans=f.spans),
    ),
    _combucb1(
        "D, gap-free",
        OURS,
        (),
        lambda f, n, unit: tight.gap_free(n, f.L, f.K, f.optimal_size, spans=f.spans, optimum=f.optimum),
    ),
    Entry(
        "D, gap-free, approximate oracle",
        OURS,
        "CombUCB1",
        "upper",
        (APPROXIMATE, ROUNDS, REWARDS),
        lambda f, n: _scaled(f, lambda unit: tight.gap_free(n, f.L, f.K, 0, spans=f.spans)),
        regret="ratio",
    ),
    _combucb1(
        "matroid",
        MATROIDS,
        (MATROID,),
        lambda f, n, unit: matroid.combucb1(n, f.L, f.K, _matroid_gaps(f, unit), spans=f.spans),
    ),
    Entry(
        "OMM on a matroid",
        MATROIDS,
        "OMM",
        "upper",
        (EXACT, ROUNDS, MATROID),
        lambda f, n: _scaled(
            f, lambda unit: matroid.omm(n, f.L, f.K, _matroid_gaps(f, unit), spans=f.spans), matroid.OMM_PER_ITEM
        ),
    ),
    Entry(
        "OMM, gap-free",
        MATROIDS,
        "OMM",
        "upper",
        (EXACT, ROUNDS, MATROID),
        lambda f, n: _scaled(f, lambda unit: matroid.omm_gap_free(n, f.L, f.K, spans=f.spans), matroid.OMM_PER_ITEM),
    ),
    Entry(
        "Theorem 1",
        CHEN,
        "CombUCB1",
        "upper",
        (EXACT, ROUNDS, GAPS, SUBOPTIMAL),
        lambda f, n: f.span * _chen(f, n, 1.0 / f.span),
    ),
    Entry(
        "Theorem 2",
        CHEN,
        "CombUCB1",
        "upper",
        (EXACT, ROUNDS, SUBOPTIMAL),
        lambda f, n: f.span * _chen_gap_free(f, n, 1.0 / f.span),
    ),
    Entry(
        "ESCB-2, one gap",
        OURS,
        "ESCB",
        "upper",
        (EXACT, ROUNDS, INDEPENDENT, ONE_GAP),
        lambda f, n: f.common_span**2 * escb.one_gap(f.L, f.K, known(f.one_gap)) * escb.exploration(n, f.K),
        asymptotic=True,
    ),
    Entry(
        "ESCB-2, item gaps",
        OURS,
        "ESCB",
        "upper",
        (EXACT, ROUNDS, INDEPENDENT, GAPS, SUBOPTIMAL),
        lambda f, n: (
            f.common_span**2
            * escb.item_gap_form(f.L, f.K, known(f.item_gaps), known(f.min_gap))
            * escb.exploration(n, f.K)
        ),
        asymptotic=True,
    ),
    Entry(
        "Proposition 1",
        PAPER,
        "any consistent",
        "lower",
        (ONE_PAIR, K_PATH),
        lambda f, n: kveton2015.proposition_1(f.L, f.K, known(f.k_path_gap)) * np.log(n),
        asymptotic=True,
    ),
    Entry(
        "Proposition 1, exact",
        PAPER,
        "any consistent",
        "lower",
        (ONE_PAIR, K_PATH),
        lambda f, n: kveton2015.proposition_1(f.L, f.K, known(f.k_path_gap), exact=True) * np.log(n),
        asymptotic=True,
    ),
    Entry(
        "lower bound",
        "Graves and Lai 1997",
        "any consistent",
        "lower",
        (EXACT, ROUNDS, ONE_PAIR, COINS, INDEPENDENT, QUICK, WITHIN_REACH),
        lambda f, n: known(f.graves_lai) * np.log(n),
        asymptotic=True,
    ),
    Entry(
        "Proposition 2",
        PAPER,
        "any",
        "worst case",
        (ONE_PAIR, PATHS_FIT),
        lambda f, n: f.span * kveton2015.proposition_2(n, f.L, f.K),
    ),
)
