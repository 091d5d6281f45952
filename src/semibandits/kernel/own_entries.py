"""Whether a user's function reads nothing of arrays but the entry of an item: then no index of it needs a check."""

import dis
import re
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

from semibandits._util.fingerprint.bytecode import BESIDE
from semibandits.kernel.compiler import is_ours

ENTRY = ["LOAD_FAST", "LOAD_CONST", "BINARY_SUBSCR", "LOAD_FAST", "BINARY_SUBSCR"]
"""tables[0][item]"""


def reads_own_entries(function: object, item: int, tables: int) -> bool:
    """Whether it reads tables[0][item], tables[1][item] and so on, and nothing else of any array.

    `item` and `tables` say which of its parameters these are. What is not understood counts as something else.
    """
    if not isinstance(function, FunctionType) or function.__code__.co_argcount <= max(item, tables):
        return False
    code = function.__code__
    its_item, its_tables = code.co_varnames[item], code.co_varnames[tables]
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    if any(isinstance(value, FunctionType) and not is_ours(value) for value in values):
        return False
    steps = [step for step in _single_steps(code) if step.opname not in BESIDE]
    at = 0
    while at < len(steps):
        entry = steps[at : at + len(ENTRY)]
        if [step.opname for step in entry] == ENTRY and (entry[0].argval, entry[3].argval) == (its_tables, its_item):
            at += len(ENTRY)
        elif _may_index(function, steps[at], steps[at - 1], (its_item, its_tables)):
            return False
        else:
            at += 1
    return True


def _single_steps(code: CodeType) -> Iterator[dis.Instruction]:
    """Python 3.13 reads or writes two variables in one step: these are taken apart."""
    for step in dis.get_instructions(code):
        if isinstance(step.argval, tuple):
            for opname, name in zip(re.findall("(?:LOAD|STORE)_FAST", step.opname), step.argval, strict=True):
                yield step._replace(opname=opname, argval=name)
        else:
            yield step


def _may_index(function: FunctionType, step: dis.Instruction, before: dis.Instruction, names: tuple[str, str]) -> bool:
    """Whether a step may be part of reading an array, or of changing what item and tables are."""
    its_item, its_tables = names
    if "SUBSCR" in step.opname or "SLICE" in step.opname or step.argrepr == "[]" or isinstance(step.argval, CodeType):
        return True
    if "FAST" in step.opname and (step.argval == its_tables or ("STORE" in step.opname and step.argval == its_item)):
        return True
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return not isinstance(function.__globals__.get(str(before.argval)), ModuleType)
    return False
