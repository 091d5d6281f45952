"""The setup of a simulation: the game, its time, and what is needed to get it again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from semibandits._util.checks import widest
from semibandits._util.html import Html, Number, details, escape, facts, number, paragraph, several, table
from semibandits._util.item_bounds import are_per_item
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.wording import with_unit

REGRET = {
    "expected": "expected: the gaps of the chosen solutions, added up",
    "realised": "realised: what the optimum would have earned more with the weights as drawn",
    "ratio": "against what the approximate oracle promises, its ratio times the optimum",
    "dynamic": "dynamic: against the best solution of every round",
    "static": "static: against the one solution that is best over all rounds",
}
FEEDBACK = {
    "semi": "the weight of every chosen item",
    "bandit": "only the sum of the chosen items' weights",
}
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def played(point: Point) -> Html:
    """The problem and the game in words."""
    return facts(_played(point))


def _played(point: Point) -> Iterator[tuple[str, Any]]:
    problem, result = point.problem, point.result
    for name, value in point.settings.items():
        yield name, setting(value)
    yield "solutions", repr(problem.feasible)
    yield "items", f"{problem.n_items:,}, at most {problem.max_size:,} of them in a solution"
    if problem.feasible.ratio < 1.0:
        yield "oracle", f"approximate: its answers are worth at least {problem.feasible.ratio:g} times the best"
    yield "world", repr(problem.environment)
    kind = "rewards, to be maximised" if problem.sense == "max" else "costs, to be minimised"
    low, high = map(number, widest(problem.bounds))
    each = ", each item within bounds of its own" if are_per_item(problem.bounds) else ""
    yield "weights", with_unit(f"{kind}, from {low} to {high}", point.unit) + each
    if problem.environment.hindsight:
        yield "optimum", "none, as a sequence has no means: regret is against the best solution in hindsight"
    elif problem.environment.drifts:
        changes = "the feasible set does" if problem.environment.says_sets else "the means do"
        yield "optimum", f"changes from round to round, as {changes}"
    else:
        try:
            size, value = problem.optimum.size, problem.value(problem.optimum)
            name = "its answer on the means" if problem.feasible.ratio < 1.0 else "optimum"
            yield name, f"{size:,} items, worth {with_unit(number(value), point.unit)} a round"
        except SemiBanditError as error:
            yield "optimum", f"not known: {error}"
    yield "policies", Html("<br>".join(map(escape, result.policies)))
    if began := _began(point):
        yield "began", began
    runs = result.regret.shape[1]
    yield "played", f"{result.rounds[-1]:,} rounds, {f'{runs:,} times' if runs > 1 else 'once'}"
    yield "feedback", FEEDBACK.get(result.provenance.get("feedback", "semi"), "")
    yield "regret", REGRET.get(result.kind, result.kind)


def _began(point: Point) -> str:
    """Who did not begin as its parameters say."""
    known, names = point.result.provenance.get("parameters", []), point.result.short_names
    others = [
        name
        for name, whole, parameters in zip(names, point.result.policies, known, strict=False)
        if "init='" in whole and f"init='{parameters.get('init')}'" not in whole
    ]
    if not others:
        return ""
    return (
        f"{several(others)}: optimistically, whatever init says, as this set cannot be asked for a solution with "
        "items not seen yet"
    )


def _parameters(point: Point) -> Html:
    """The policies as they played."""
    known: list[dict[str, Any]] = list(point.result.provenance.get("parameters", []))
    if len(known) != len(point.result.policies):
        known = [{} for _ in point.result.policies]
    rows = []
    for name, parameters in zip(point.result.policies, known, strict=True):
        rest = {key: value for key, value in parameters.items() if key not in ("policy", "facts")}
        rows.append([name, several([f"{key} = {value}" for key, value in rest.items()])])
    return details("The policies' parameters, as they played", table(["policy", "parameters"], rows))


def timing(point: Point) -> Html:
    """Time per round of each policy."""
    seconds = point.result.provenance.get("seconds_per_round")
    if not seconds or len(seconds) != len(point.result.policies):
        return paragraph("Not known: this result was made by a version that did not measure it.")
    rows = [
        [name, duration(taken), number(float(f"{1.0 / taken:.3g}")) if taken else Number("–")]
        for name, taken in zip(point.result.short_names, seconds, strict=True)
    ]
    caption = (
        "What one round of one run takes on one core: drawing the world, deciding and learning, without the time to "
        "compile. The median of the runs, on the machine named below."
    )
    return table(["policy", "time per round", "rounds per second"], rows, caption)


def duration(seconds: float | None) -> Number:
    """
    >>> duration(0.0000123), duration(2.5), duration(None)
    ('12.3 µs', '2.5 s', '–')
    """
    if not seconds:
        return Number("–")
    unit, size = next(((unit, size) for unit, size in UNITS if seconds >= size), UNITS[-1])
    return Number(f"{seconds / size:.3g} {unit}")


def provenance(points: Sequence[Point], source: str = "") -> Html:
    """Versions, machine, seed, and the experiment's own text."""
    results = [point.result for point in points]
    versions = [one.provenance.get("versions", {"semibandits": one.version}) for one in results]
    pairs = [
        ("problem", _all(one.problem for one in results)),
        ("seed", _all(str(one.seed) for one in results)),
        ("engine", _all(one.engine for one in results)),
        ("took", duration(sum(one.seconds for one in results))),
        ("started", min(str(one.provenance.get("started", "not known")) for one in results)),
        ("machine", _all(_machine(one.provenance) for one in results)),
        ("versions", _all(", ".join(f"{name} {number}" for name, number in some.items()) for some in versions)),
    ]
    text = "The same problem, policies, seed and versions give the same numbers, however many cores play them."
    body = facts(pairs) + paragraph(text, "note")
    if len(points) == 1:
        body += _parameters(points[0])
    if source:
        body += details("The experiment's file", f"<pre>{escape(source)}</pre>\n", open=True)
    return Html(body)


def _machine(known: dict[str, Any]) -> str:
    said = [known.get("processor"), _cores(known.get("cores")), known.get("machine")]
    return ", ".join(str(part) for part in said if part) or "not known"


def _cores(count: int | None) -> str:
    """
    >>> _cores(1), _cores(2), _cores(None)
    ('1 core', '2 cores', '')
    """
    return f"{count} core{'' if count == 1 else 's'}" if count else ""


def _all(texts: Iterable[str]) -> str:
    """Each once."""
    return several(list(dict.fromkeys(texts)), 3)


def setting(value: Any) -> str:
    """A value of a sweep, as people write it."""
    if isinstance(value, float):
        return f"{value:g}"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
