"""The base of all commands: options, endings, JSON."""

import difflib
import errno
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from semibandits.cli.tables import printable
from semibandits.errors import SemiBanditError, to_install

F = TypeVar("F", bound=Callable[..., Any])
BAD_INPUT, INTERRUPTED, CLOSED_PIPE = 2, 130, 141


class Whole(click.ParamType):  # type: ignore[type-arg]
    """A whole number, also written 1e5."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        with suppress(ValueError, OverflowError):
            return int(value)
        number = math.nan
        with suppress(ValueError):
            number = float(value)
        if not number.is_integer():
            self.fail(f"{value!r} is no whole number, such as 100000 or 1e5", param, ctx)
        return int(number)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
no_report_option = click.option("--no-report", is_flag=True, help="Write the data only; needs no Matplotlib.")
seed_option = click.option("--seed", default=0, show_default=True, metavar="N", help="Seed of all runs.")


def folder_option(name: str, help: str, **more: Any) -> Callable[[F], F]:
    """An option that names a folder."""
    return click.option(name, type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help=help, **more)


class Refused(click.ClickException):
    """What the user asked for cannot be done."""

    exit_code = BAD_INPUT

    def show(self, file: Any = None) -> None:
        with suppress(OSError):  # nobody listens: the exit status tells
            click.echo(f"error: {printable(self.message, lines=True)}", file=file, err=True)


class Commands(click.Group):
    """The commands in the order they were added; errors become messages and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is None:  # closed before we began
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
            elif hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # where "±" cannot be printed, "?" is
        with _ending():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _ending():
            return super().invoke(ctx)


@contextmanager
def _ending() -> Iterator[None]:
    """What was foreseen ends with a message or in silence; all else keeps its traceback."""
    try:
        yield
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _print_no_more()
        raise click.exceptions.Exit(CLOSED_PIPE) from None
    except SemiBanditError as error:
        raise Refused(str(error)) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _print_no_more()
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        raise Refused(f"{name}{error.strerror or error}") from error


def _print_no_more() -> None:
    """What is still waiting to be printed is dropped, or Python would try once more, and complain, when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def need_matplotlib() -> None:
    """Before any work is done."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise Refused(f"the report needs Matplotlib: {to_install('plot')}, or do without it: --no-report") from None
    except Exception as error:  # a backend that does not exist, say
        raise Refused(f"Matplotlib does not start ({error}); without it: --no-report") from error


@contextmanager
def users_code() -> Iterator[None]:
    """Where the user's own code may run: what it prints goes to standard error, and it does not end the program."""
    from semibandits.experiments.files.user_code import no_sys_exit

    with redirect_stdout(sys.stderr), no_sys_exit():
        yield


def note(text: str) -> None:
    """A line for people, on standard error where that is a terminal."""
    if sys.stderr.isatty():
        click.echo(text, err=True)


def print_json(document: Any) -> None:
    """Strict JSON: numbers that are not finite are null."""
    click.echo(json.dumps(plain(document), indent=2, allow_nan=False))


def plain(value: Any) -> Any:
    """As JSON can say it."""
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # of NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value
