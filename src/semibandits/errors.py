"""Everything that can go wrong, by name.

Every error raised on purpose is a `SemiBanditError`, says what was received and what was expected, and leaves the
object it was raised from as it was before the call.
"""

from collections.abc import Sequence


class SemiBanditError(Exception):
    """The base of all errors of this package."""

    def say_where(self, where: str) -> None:
        """Puts where it happened before the message."""
        self.args = (f"{where}: {self}",)


class BadArgument(SemiBanditError, ValueError):
    """A parameter is not of the kind or in the range it must be."""


class InvalidSet(BadArgument):
    """The description of a feasible set makes no sense (no items, k > n_items, an item twice in a solution, ...)."""


class CyclicGraph(InvalidSet):
    """A graph that must be acyclic has a cycle."""


class BadSpecification(BadArgument):
    """A document is no specification of a set: of another kind or version, incomplete, damaged, or of absurd size."""


class BadExperiment(BadArgument):
    """An experiment file that cannot be played; the message begins with the file and the line."""


class EmptyFeasibleSet(SemiBanditError, ValueError):
    """No solution is feasible (a graph without a path, a restriction that leaves nothing, ...)."""


class UncoveredItems(SemiBanditError):
    """Items that no feasible solution contains, so that initialisation can never observe them.

    `searched` tells that the set did not know this of itself: its oracle was asked for such a solution and found none.
    """

    def __init__(self, items: Sequence[int], names: Sequence[str] | None = None, searched: bool = False) -> None:
        self.items = tuple(int(item) for item in items)
        self.searched = searched
        self._names = names
        shown = ", ".join(str(name) for name in (names or self.items)[:10])
        more = f" and {len(self.items) - 10} more" if len(self.items) > 10 else ""
        which = f"item{'s' if len(self.items) > 1 else ''} {shown}{more}"
        super().__init__(
            (
                f"the oracle found no solution with {which} when asked for one: is there one, and does it maximise?"
                if searched
                else f"no feasible solution contains {which}."
            )
            + " Initialisation must observe every item; if these do not matter, pass uncovered='ignore'"
        )

    def say_where(self, where: str) -> None:
        """It is the set's fault, in every run and round."""

    def __reduce__(self) -> tuple[type["UncoveredItems"], tuple[object, ...]]:
        return UncoveredItems, (self.items, self._names, self.searched)


class InfeasibleSolution(SemiBanditError, ValueError):
    """A solution is not feasible: an oracle's answer, or one given by the user."""


class OracleFailed(SemiBanditError, RuntimeError):
    """The user's solver raised an exception; it is this error's `__cause__`."""


class MinimisingOracle(SemiBanditError, ValueError):
    """A solver that must maximise answers as one that minimises; the message shows by which answers."""


class Unsupported(SemiBanditError):
    """What was asked for cannot be done with this set, policy or installation, for the reason given."""


class BadWeights(SemiBanditError, ValueError):
    """Weights that are not finite numbers, outside the declared bounds, or not as many as there should be."""


class UnknownItem(SemiBanditError, KeyError):
    """An item number or label that does not exist, or is not part of that decision."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class UnknownDecision(SemiBanditError, KeyError):
    """A decision this learner did not make, has cancelled, or finished too long ago to remember."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ContradictingFeedback(SemiBanditError, ValueError):
    """A weight for an item of a decision that already has another weight; the first one is kept."""


class BadState(SemiBanditError, ValueError):
    """A saved file is damaged, edited, of another kind or version, or does not fit the set it is loaded with."""


class FileChanged(SemiBanditError, FileExistsError):
    """A learner was to be saved to a file that it has neither loaded nor written: somebody else's would be lost."""


class EndOfTable(SemiBanditError, IndexError):
    """A table of recorded weights played in order has no more rows."""


class StoreFailed(SemiBanditError, OSError):
    """A store cannot be written to: the disk is full, or may not be written. What it holds already is kept."""


class ExecutorFailed(SemiBanditError, RuntimeError):
    """An executor gave up some runs: it was shut down, broke or lost its scheduler; what a store holds is kept."""


class WorkerDied(ExecutorFailed):
    """A worker process ended in the middle of its work."""


class UnseenCode(UserWarning):
    """A store cannot see all that its runs depend on; the message says what. A warning, not an error."""


class ConformanceError(SemiBanditError, AssertionError):
    """A set, environment or policy breaks its contract (raised by `semibandits.testing`)."""


def to_install(extra: str) -> str:
    """How an error about an optional package ends: what installs it. The package is not in an index yet."""
    return f'pip install ".[{extra}]" in a clone of semibandits'
