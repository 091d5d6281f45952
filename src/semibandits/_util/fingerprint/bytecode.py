"""Bytecode of functions, read without being run: the names it uses, what it imports, the words in it."""

import dis
import functools
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

BESIDE = ("CACHE", "PUSH_NULL", "EXTENDED_ARG", "RESUME", "COPY_FREE_VARS")
"""Instructions that do nothing to what was loaded."""
NAMES = ("LOAD_GLOBAL", "LOAD_NAME")
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
CALLS = ("PRECALL", "CALL")
BUILDERS = ("format", "format_map", "join", "joinpath", "with_name", "with_suffix", "with_stem")
WRITES = {mode + kind for mode in "wax" for kind in ("", "b", "t")}
"""Modes of `open` in which nothing is read."""


class Import(NamedTuple):
    """`import name`, or `from name import these`, with as many dots before it as `level` says."""

    name: str
    level: int
    these: tuple[str, ...]
    alias: str
    """What it is called here, if it was not imported from."""


class Reading(NamedTuple):
    chains: dict[tuple[str, ...], int]
    """Names that are not local, each with the attributes that are asked of it, ("config", "BONUS"), and how often."""
    bare_calls: frozenset[tuple[str, ...]]
    """Those that are called without arguments."""
    attributes: dict[str, int]
    """Of anything that is not such a name, and how often."""
    imports: tuple[Import, ...]
    words: tuple[str, ...]
    builds_words: bool
    """Whether words are put together."""
    written: frozenset[str]
    """Words, and names that are not local, of files that are opened to be written: open("log.txt", "a")."""
    writes: int
    """How many calls of `open` are such ones."""


@functools.lru_cache(4096)
def read(code: CodeType) -> Reading:
    """Of the code and of all functions and classes that are written in it."""
    chains: dict[tuple[str, ...], int] = {}
    bare: set[tuple[str, ...]] = set()
    attributes: dict[str, int] = {}
    imports: list[Import] = []
    builds = False
    written: list[str] = []
    for part in parts(code):
        chain: tuple[str, ...] = ()
        constants: list[Any] = []
        steps = [step for step in dis.get_instructions(part) if step.opname not in BESIDE]
        for at, (step, after) in enumerate(zip(steps, [*steps[1:], None], strict=True)):
            if step.opname in NAMES:
                chain = (str(step.argval),)
            elif step.opname in ATTRIBUTES and chain:
                chain = (*chain, str(step.argval))
            elif step.opname in ATTRIBUTES:
                attributes[str(step.argval)] = attributes.get(str(step.argval), 0) + 1
            if chain and (after is None or after.opname not in ATTRIBUTES):
                chains[chain] = chains.get(chain, 0) + 1
                if after is not None and after.opname in CALLS and after.arg == 0:
                    bare.add(chain)
                chain = ()
            if step.opname == "LOAD_CONST":
                constants.append(step.argval)
            elif step.opname == "IMPORT_NAME":
                level, these = constants[-2:] if len(constants) > 1 else (0, None)
                alias = str(after.argval) if after is not None and after.opname in STORES else ""
                imports.append(Import(str(step.argval), int(level or 0), tuple(these or ()), alias))
            written += _written(steps[max(0, at - 3) : at + 1])
            builds |= step.opname == "BUILD_STRING" or step.argrepr in ("+", "+=", "%")
            builds |= step.opname in ATTRIBUTES and step.argval in BUILDERS
    words = tuple(dict.fromkeys(word for part in parts(code) for word in _words(part.co_consts)))
    return Reading(
        chains,
        frozenset(bare),
        attributes,
        tuple(imports),
        words,
        builds,
        frozenset(written),
        len(written),
    )


def _written(steps: list[dis.Instruction]) -> Iterator[str]:
    """The file of `open(file, mode)`, where these are its last steps and the mode is one of writing."""
    if len(steps) == 4 and steps[0].opname in NAMES and steps[0].argval == "open" and steps[3].opname in CALLS:
        file, mode = steps[1:3]
        if steps[3].arg == 2 and mode.opname == "LOAD_CONST" and mode.argval in WRITES:
            yield str(file.argval)


def parts(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of what is defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from parts(constant)


def _words(constants: Any) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple | frozenset):
            yield from _words(sorted(constant, key=repr) if isinstance(constant, frozenset) else constant)


def code_of(code: CodeType) -> tuple[Any, ...]:
    """What code does: not on which lines it stands, nor what its functions are called."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, code.co_consts, names, counts)


def stated(code: CodeType) -> dict[str, Any]:
    """The numbers, words and functions that a module's text gives names to: for functions, their code."""
    found: dict[str, Any] = {}
    steps = [step for step in dis.get_instructions(code) if step.opname not in BESIDE]
    for first, before, step in zip([None, *steps], steps, steps[1:], strict=False):
        if step.opname != "STORE_NAME":
            continue
        if before.opname == "LOAD_CONST":
            found[str(step.argval)] = before.argval
        elif before.opname == "MAKE_FUNCTION" and first is not None and isinstance(first.argval, CodeType):
            found[str(step.argval)] = first.argval
        else:
            found.pop(str(step.argval), None)
    return found
