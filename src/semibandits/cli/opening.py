"""Problems and policies as they are written on the command line."""

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from semibandits.cli.base import Refused, completing
from semibandits.cli.lists import names_of

if TYPE_CHECKING:
    from semibandits.problem import Problem

complete_problem = completing(names_of("PROBLEMS"))
complete_policy = completing(names_of("POLICIES"))


class Opened(NamedTuple):
    """A problem, the table that describes it in an experiment file, and digests of the files it is made of."""

    problem: "Problem"
    table: dict[str, Any]
    files: dict[str, str]


def open_problem(text: str) -> Opened:
    """A named problem with its parameters, or that of an experiment file: the first one of a sweep."""
    from semibandits.experiments import document, named, sweep

    if not text.endswith(".toml"):
        name, parameters = named.parse_call(text)
        return Opened(named.make_problem(name, parameters), {"name": name, **parameters}, {})
    experiment = document.read(text)
    whole = tomllib.loads(experiment.text)
    first = next(sweep.variants(whole, sweep.read_axes(whole, _refuse)))
    return Opened(experiment.plans[0].problem, first.document["problem"], experiment.files)


def _refuse(path: object, message: str) -> Any:
    raise Refused(message)
