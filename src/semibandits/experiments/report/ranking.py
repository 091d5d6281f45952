"""The ranking of policies: who lost least, by how much, and how sure that is."""

from semibandits._util.html import Html, Number, number, paragraph, table
from semibandits.experiments.report.wording import decimals, in_unit, listed, with_error, with_unit
from semibandits.simulation import SimulationResult
from semibandits.simulation.result import MOST_IN_PAIRS


def sentence(result: SimulationResult, unit: str = "") -> str:
    """Who won, by how much, how sure."""
    runs, names, order = result.regret.shape[1], result.short_names, result.ranking()
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
    against = result.comparisons()[: len(order) - 1]
    tied = [names[other] for other, one in zip(order[1:], against, strict=True) if not one.significant]
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


def answer(result: SimulationResult, unit: str = "") -> str:
    """Who won, in a few words."""
    names, order = result.short_names, result.ranking()
    best = result.summary()[order[0]]
    said = f"{names[order[0]]}, regret {with_error(best.mean, best.error, unit)}"
    tied = sum(not one.significant for one in result.comparisons()[: len(order) - 1])
    return f"{said} (not told apart from {tied} other{'s' if tied > 1 else ''})" if tied else said


def standings(result: SimulationResult, unit: str = "") -> Html:
    """The table of regret, and of the differences between policies."""
    rows, runs, names = result.summary(), result.regret.shape[1], result.short_names
    lines = []
    for policy in result.ranking():
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
    compared, short = result.comparisons(), dict(zip(result.policies, result.short_names, strict=True))
    lines = []
    for one in compared:
        digits = decimals(one.error, one.difference)
        interval = _interval(one.low, one.high, digits)
        numbers = [number(one.difference, digits), number(one.error, digits), interval]
        verdict = "less regret" if one.significant else "cannot be told apart"
        lines.append([short[one.a], short[one.b], *numbers, verdict])
    best = "" if len(result.policies) <= MOST_IN_PAIRS else " Every policy is compared with the best."
    caption = (
        f"The first policy's regret less the second's{in_unit(unit)}, run by run in the same worlds. Intervals are "
        f"Student's, {result.confidence_note}.{best}"
    )
    columns = ["policy", "against", "difference", "standard error", "interval", "so the first has"]
    apart = sum(one.significant for one in compared)
    verdict = f"{apart} of {len(compared)} differences are significant."
    if len(compared) == 1:
        verdict = f"The difference is {'' if apart else 'not '}significant."
    return Html(table(columns, lines, caption) + paragraph(verdict))


def _interval(low: float, high: float, digits: int | None) -> Number:
    return Number(f"{number(low, digits)} to {number(high, digits)}")
