"""Who lost least, by how much, and how sure that is."""

import itertools
import math

from semibandits._util.html import Html, Number, number, paragraph, table
from semibandits.simulation import SimulationResult
from semibandits.simulation.result import Comparison

ERROR = 0.05
"""The chance that any of the comparisons of one simulation is wrong by luck."""
MOST_IN_PAIRS = 4
"""Of so many policies every two are compared; of more, all with the best."""


def ranking(result: SimulationResult) -> list[int]:
    """The policies, by number, from the least mean regret at the horizon to the largest."""
    means = result.regret[:, :, -1].mean(axis=1)
    return sorted(range(len(result.policies)), key=lambda policy: (means[policy], policy))


def short_names(result: SimulationResult) -> list[str]:
    """The policies' names with no more parameters than tell them apart."""
    alike: dict[str, list[str]] = {}
    for name in result.policies:
        alike.setdefault(name.partition("(")[0], []).append(name)
    short = [_short(name, alike[name.partition("(")[0]]) for name in result.policies]
    return short if len(set(short)) == len(short) else list(result.policies)


def _short(name: str, alike: list[str]) -> str:
    """Without what all names like it have in common.

    >>> alike = ["CombUCB1(alpha=0.5, init='paper')", "CombUCB1(alpha=1.5, init='paper')"]
    >>> _short(alike[0], alike)
    'CombUCB1(alpha=0.5)'
    """
    short, _, rest = name.partition("(")
    if len(alike) == 1:
        return short
    parts = [set(other.partition("(")[2].removesuffix(")").split(", ")) for other in alike]
    if not all(
        other.endswith(")") and all("=" in part for part in some) for other, some in zip(alike, parts, strict=True)
    ):
        return name
    common = set.intersection(*parts)
    return f"{short}({', '.join(part for part in rest.removesuffix(')').split(', ') if part not in common)})"


def confidence(result: SimulationResult) -> float:
    """Of one comparison, so that all pairs hold together (Bonferroni): the best is known only from the same runs."""
    return 1.0 - ERROR / max(1, math.comb(len(result.policies), 2))


def confidence_note(result: SimulationResult) -> str:
    """How sure the intervals of comparisons are.

    >>> import semibandits as sb
    >>> players = [sb.policies.CombUCB1(), sb.policies.CTS(), sb.policies.Random()]
    >>> confidence_note(sb.simulate(sb.problems.grid_path(2, 0.4), players, horizon=10, runs=2, seed=0))
    '98.33% each, so that all 3 pairs hold together with 95%'
    """
    pairs = math.comb(len(result.policies), 2)
    together = f"{100.0 * (1.0 - ERROR):g}%"
    return (
        f"{100.0 * confidence(result):.4g}% each, so that all {pairs} pairs hold together with {together}"
        if pairs > 1
        else together
    )


def comparisons(result: SimulationResult) -> list[Comparison]:
    """Each is of a policy with one that has more regret on average."""
    order = ranking(result)
    pairs = itertools.combinations(order, 2) if len(order) <= MOST_IN_PAIRS else ((order[0], b) for b in order[1:])
    return [result.compare(a, b, confidence=confidence(result)) for a, b in pairs]


def significant(comparison: Comparison) -> bool:
    """Whether the interval of the difference leaves 0 out. A single run tells nothing."""
    return comparison.low > 0.0 or comparison.high < 0.0


def sentence(result: SimulationResult, unit: str = "") -> str:
    """Who won, by how much, how sure."""
    runs, names, order = result.regret.shape[1], short_names(result), ranking(result)
    rows = result.summary()
    best, played = rows[order[0]], f"{result.rounds[-1]:,} rounds"
    mean = with_error(best.mean, best.error, unit)
    if len(order) == 1:
        lost = f"{names[0]} has a mean regret of {mean} after {played} ({runs} runs)."
        return lost if runs > 1 else f"{names[0]} has a regret of {mean} after a single run of {played}."
    second = rows[order[1]]
    if runs == 1:
        return (
            f"In a single run of {played} {names[order[0]]} has the least regret, {mean}, before {names[order[1]]} "
            f"with {with_unit(number(second.mean), unit)}: how sure that is, a single run cannot tell."
        )
    against = [result.compare(order[0], other, confidence=confidence(result)) for other in order[1:]]
    tied = [names[other] for other, one in zip(order[1:], against, strict=True) if not significant(one)]
    begin = f"{names[order[0]]} has the least mean regret after {played}, {mean}"
    if tied:
        others = len(order) - 1 - len(tied)
        rest = "; the others have significantly more" if others > 1 else "; the other one has significantly more"
        which = listed(tied) if len(tied) <= 4 else f"{len(tied)} others"
        return f"{begin}, but {which} cannot be told apart from it by {runs} paired runs{rest if others else ''}."
    one = against[0]
    less = f" ({100.0 * -one.difference / second.mean:.0f}%)" if second.mean > 0.0 else ""
    lost = with_error(-one.difference, one.error, unit)
    if len(order) == 2:
        return f"{begin}. That is {lost}{less} less than {names[order[1]]}, significantly so over {runs} paired runs."
    return (
        f"{begin}. That is {lost}{less} less than {names[order[1]]}, the next best. The difference to every other "
        f"policy is significant over {runs} paired runs."
    )


def standings(result: SimulationResult, unit: str = "") -> Html:
    """The table of regret, and of the differences between policies."""
    rows, runs, names = result.summary(), result.regret.shape[1], short_names(result)
    lines = []
    for policy in ranking(result):
        row = rows[policy]
        digits = decimals(row.error, row.mean)
        numbers = [number(x, digits) for x in (row.mean, row.error)]
        lines.append([names[policy], *numbers, _interval(row.low, row.high, digits), number(row.deviation, digits)])
    columns = ["policy", "mean regret", "standard error", "95% interval", "deviation of a run"]
    if runs == 1:
        columns, lines = columns[:2], [row[:2] for row in lines]
    caption = f"{result.kind.capitalize()} regret{in_unit(unit)} after {result.rounds[-1]:,} rounds, " + (
        "a single run." if runs == 1 else f"{runs} runs. Intervals are Student's, over runs."
    )
    body = table(columns, lines, caption)
    if len(rows) == 1:
        return body
    if runs == 1:
        said = "A single run gives no errors, and so no difference can be called significant: ask for more runs."
        return Html(body + paragraph(said))
    return Html(body + _differences(result, unit))


def _differences(result: SimulationResult, unit: str) -> Html:
    compared, short = comparisons(result), dict(zip(result.policies, short_names(result), strict=True))
    lines = []
    for one in compared:
        digits = decimals(one.error, one.difference)
        interval = _interval(one.low, one.high, digits)
        numbers = [number(one.difference, digits), number(one.error, digits), interval]
        verdict = "less regret" if significant(one) else "cannot be told apart"
        lines.append([short[one.a], short[one.b], *numbers, verdict])
    best = "" if len(result.policies) <= MOST_IN_PAIRS else " Every policy is compared with the best."
    caption = (
        f"The first policy's regret less the second's{in_unit(unit)}, run by run in the same worlds. Intervals are "
        f"Student's, {confidence_note(result)}.{best}"
    )
    columns = ["policy", "against", "difference", "standard error", "interval", "so the first has"]
    apart = sum(significant(one) for one in compared)
    verdict = f"{apart} of {len(compared)} differences are significant."
    if len(compared) == 1:
        verdict = f"The difference is {'' if apart else 'not '}significant."
    return Html(table(columns, lines, caption) + paragraph(verdict))


def decimals(error: float, value: float) -> int | None:
    """So many that the error has two digits; where there is none, that the value has four. None: too many to write."""
    size = abs(error) if math.isfinite(error) and error else abs(value) / 100.0
    digits = max(0, 1 - math.floor(math.log10(size))) if math.isfinite(size) and size else 0
    return None if digits > 9 else min(6, digits)


def with_error(mean: float, error: float, unit: str = "") -> str:
    """With as many digits as the error has a use for; an error that is not known is left out.

    >>> with_error(12.3456, 0.789, "ms"), with_error(12.3456, float("nan"))
    ('12.35 ± 0.79 ms', '12.35')
    """
    digits = decimals(error, mean)
    shown = number(mean, digits)
    return with_unit(f"{shown} ± {number(error, digits)}" if math.isfinite(error) else shown, unit)


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def in_unit(unit: str) -> str:
    """For captions."""
    return f" in {unit}" if unit else ""


def of_unit(unit: str) -> str:
    """For columns and axes."""
    return f" ({unit})" if unit else ""


def _interval(low: float, high: float, digits: int | None) -> Number:
    return Number(f"{number(low, digits)} to {number(high, digits)}")


def listed(names: list[str]) -> str:
    """In words: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
