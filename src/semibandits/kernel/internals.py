"""Everything that rests on numba's internals: the lane pipeline, the keyed cache and its locks (numba 0.61 to 0.68).

The first two only make things faster. Where numba has changed so that one of them cannot be had, `pipeline` gives None
and functions are compiled by plain njit, with the same results bit for bit; a cache that fails is not used. Locks
that cannot be found are not minded when a process forks.

**The lane pipeline.** A lane loop runs over the runs of a block, which never touch each other's numbers, but LLVM
cannot see that: the items a run has chosen are known only at run time, so two lanes might store to one place. The
pipeline makes two promises that LLVM takes on trust: the arrays of a function do not overlap, and no iteration of an
innermost loop depends on another through memory. Then LLVM turns the loop into gathers, vector arithmetic and scatters.
Both promises must be *true*: only functions whose innermost loops are all lane loops may be compiled this way.
"""

import contextlib
import functools
import hashlib
import sys
import threading
from pathlib import Path
from typing import Any

from semibandits._util import forks
from semibandits.errors import Unsupported
from semibandits.kernel import cache_folder, mends
from semibandits.kernel.interrupts import held_back
from semibandits.kernel.meanings import can_be_kept


@functools.cache
def pipeline(lanes: bool, outermost: bool) -> Any:
    """The compiler class to hand to njit as `pipeline_class`; None where this numba does not let us.

    `lanes`: for a function whose innermost loops are all lane loops. `outermost`: for one that Python calls.
    """
    try:
        return _pipeline(lanes, outermost)
    except (ImportError, AttributeError, Unsupported):
        return None


def _pipeline(lanes: bool, outermost: bool) -> Any:
    load_numba()
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.environment import lookup_environment
    from numba.core.lowering import Lower
    from numba.core.typed_passes import BaseNativeLowering, NativeLowering

    lower, part = _lane_lower() if lanes else Lower, _part()

    @register_pass(mutates_CFG=True, analysis_only=False)
    class Lowering(BaseNativeLowering):  # type: ignore[misc]
        _name = f"semibandits_{'lane' if lanes else 'plain'}_{'outermost' if outermost else 'inner'}_lowering"

        @property
        def lowering_class(self) -> Any:
            return lower

        def run_pass(self, state: Any) -> bool:
            if not outermost:
                state.library = part(state.targetctx.codegen(), state.func_id.func_qualname)
            super().run_pass(state)
            if outermost:
                for variable in state.library._final_module.global_variables:
                    if (environment := lookup_environment(variable.name)) is not None:
                        state.library.codegen.set_env(variable.name, environment)
            return True

    class Compiler(CompilerBase):  # type: ignore[misc]
        def define_pipelines(self) -> list[Any]:
            if lanes:
                self.state.flags.noalias = True
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            if not any(step is NativeLowering for step, _ in passes.passes):
                raise AttributeError("numba lowers functions in another way")
            passes.passes = [(Lowering if step is NativeLowering else step, text) for step, text in passes.passes]
            passes.finalize()
            return [passes]

    return Compiler


@functools.cache
def _lane_lower() -> Any:
    from llvmlite import ir
    from numba.core import lowering

    class Distinct(ir.values.MDValue):  # type: ignore[misc]
        """A metadata node that is equal to none but itself; llvmlite would merge equal ones."""

        def __init__(self, module: Any) -> None:
            super().__init__(module, (), name=str(len(module.metadata)))

        def descr(self, buffer: Any) -> None:
            operands = ", ".join(operand.get_reference() for operand in self.operands)
            buffer += ("distinct !{ " + operands + " }", "\n")

        __eq__ = object.__eq__
        __hash__ = object.__hash__

    class LaneLower(lowering.Lower):  # type: ignore[misc]
        def lower_normal_function(self, fndesc: Any) -> None:
            super().lower_normal_function(fndesc)
            for latches, body in _innermost_loops(self.function, ir.Block):
                # https://llvm.org/docs/LangRef.html#llvm-loop-parallel-accesses-metadata
                group, loop = Distinct(self.module), Distinct(self.module)
                loop.operands = (loop, self.module.add_metadata(["llvm.loop.parallel_accesses", group]))
                for latch in latches:
                    latch.terminator.set_metadata("llvm.loop", loop)
                for block in body:
                    for instruction in block.instructions:
                        # A call's group passes to the instructions that are inlined for it.
                        if instruction.opname in ("load", "store", "call"):
                            instruction.set_metadata("llvm.access.group", group)

    return LaneLower


@functools.cache
def _part() -> Any:
    from numba.core.codegen import JITCodeLibrary

    class Nowhere:
        @staticmethod
        def set_env(name: str, environment: object) -> None: ...

    class Part(JITCodeLibrary):  # type: ignore[misc]
        """The code of an inner function: linked into the outermost, never run by itself, nor made machine code."""

        codegen = Nowhere

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

    return Part


def _innermost_loops(function: Any, block_type: type) -> list[tuple[list[Any], set[Any]]]:
    """The loops of an LLVM function that contain no other: for each the blocks that jump back, and all its blocks."""
    after = {block: [o for o in block.terminator.operands if isinstance(o, block_type)] for block in function.blocks}
    before: dict[Any, list[Any]] = {block: [] for block in after}
    for block, successors in after.items():
        for successor in successors:
            before[successor].append(block)
    # A depth-first search meets a loop's header again while it is still inside the loop.
    back: dict[Any, list[Any]] = {}
    entry = function.blocks[0]
    open_blocks, seen, stack = {entry}, {entry}, [(entry, iter(after[entry]))]
    while stack:
        block, successors_left = stack[-1]
        successor = next(successors_left, None)
        if successor is None:
            open_blocks.discard(block)
            stack.pop()
        elif successor in open_blocks:
            back.setdefault(successor, []).append(block)
        elif successor not in seen:
            seen.add(successor)
            open_blocks.add(successor)
            stack.append((successor, iter(after[successor])))
    loops = {}
    for header, latches in back.items():
        body, todo = {header}, list(latches)
        while todo:
            block = todo.pop()
            if block not in body:
                body.add(block)
                todo.extend(before[block])
        loops[header] = (latches, body)
    return [loop for header, loop in loops.items() if not any(other in loop[1] for other in loops if other != header)]


@functools.cache
def scipy_function(name: str) -> Any:
    """A function of `scipy.special` for compiled code: the very one that the ufunc of this name calls.

    It is linked by name, so that machine code from an earlier process finds it where it is today.
    """
    load_numba()
    from llvmlite import binding
    from numba import types
    from numba.extending import get_cython_function_address
    from scipy.special import cython_special

    for exported, capsule in cython_special.__pyx_capi__.items():
        kinds = repr(capsule).partition("(")[2].partition(")")[0].split(", ")
        if exported.removeprefix("__pyx_fuse_0").removeprefix("__pyx_fuse_1") == name and kinds[0] == "double":
            symbol = f"semibandits_{name}"
            binding.add_symbol(symbol, get_cython_function_address("scipy.special.cython_special", exported))
            return types.ExternalFunction(symbol, types.float64(*[types.float64] * kinds.count("double")))
    raise ImportError(f"scipy.special has no {name} for compiled code")


IMPORTING = forks.awaited(threading.RLock())
"""Held while numba is imported."""


over = ""
"""Why nothing can be compiled any more."""


def holds_llvm() -> bool:
    """Whether this thread is in the midst of a call of LLVM, which none may call beside it."""
    if "llvmlite.binding.ffi" not in sys.modules:
        return False
    try:
        from llvmlite.binding import ffi

        return bool(ffi.lib._lock._lock._is_owned())
    except (ImportError, AttributeError):
        return False


def load_numba() -> None:
    """Imports what we use of it, one thread at a time; raises `Unsupported` where nothing can be compiled.

    Forks wait for that, and until nobody compiles: a child that is forked meanwhile could never compile.
    """
    if why := over or _no_numba():
        raise Unsupported(why)
    from numba import config

    if config.DISABLE_JIT:
        raise Unsupported("numba is told not to compile (NUMBA_DISABLE_JIT)")


@functools.cache
def _no_numba() -> str:
    """Why it cannot be imported; "": it can. One that failed is not tried again."""
    with held_back(), IMPORTING:
        try:
            import numba
            import numba.extending
        except Exception as error:
            return f"numba cannot be imported ({type(error).__name__}: {error!s:.200})"
        with contextlib.suppress(ImportError, AttributeError):
            import numba.core.caching
            import numba.core.compiler
            import numba.core.compiler_machinery
            import numba.core.lowering
            import numba.core.serialize
            import numba.core.typed_passes  # noqa: F401
            from llvmlite.binding import ffi
            from numba.core.compiler_lock import global_compiler_lock
            from numba.core.registry import cpu_target

            _ = cpu_target.typing_context, cpu_target.target_context  # made once, under locks of their own
            for one in vars(type(cpu_target)).values():
                if hasattr(one, "_lock"):
                    forks.awaited(one._lock)
            forks.awaited(global_compiler_lock._lock)
            forks.awaited(ffi.lib._lock._lock)
        mends.mend()
    return ""


def keep_on_disk(dispatcher: Any, token: str, ours: bool) -> None:
    """Keeps what this dispatcher compiles for later processes; where not all of it is `ours`, unless numba has learned
    from others what functions mean (`numba.extending`), of which the token does not tell.

    `token` says what the function is made of; together with the signature, the processor and the versions it names the
    file. numba's own `cache=True` knows a function by its file and line, so that it never finds functions put together
    at run time, and may find stale ones.
    """
    place = cache_folder.cache_folder()
    if place is None:
        return
    with contextlib.suppress(ImportError, AttributeError):
        dispatcher._cache = _keyed_cache()(place, token, ours)


def _checksum(name: str, code: bytes) -> bytes:
    """Of machine code under its name: a copy under another one is worth nothing."""
    return hashlib.sha256(name.encode() + code).digest()


@functools.cache
def _keyed_cache() -> Any:
    import pickle

    load_numba()
    import llvmlite
    import numba
    import numpy as np
    from numba.core.caching import _Cache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version_info[:3])

    def described(kind: Any) -> Any:
        """A type and, which its own name leaves out, how the fields of named tuples are called."""
        return str(kind), getattr(kind, "fields", ()), [described(one) for one in getattr(kind, "types", ())]

    class KeyedCache(_Cache):  # type: ignore[misc]
        def __init__(self, place: Path, token: str, ours: bool = True) -> None:
            self._place, self._token, self._ours = place, token, ours

        @property
        def cache_path(self) -> str:
            return str(self._place)

        def _name(self, signature: Any, codegen: Any) -> str:
            key = repr((self._token, [described(one) for one in signature], codegen.magic_tuple(), versions))
            return f"{hashlib.sha256(key.encode()).hexdigest()}.code"

        def load_overload(self, signature: Any, context: Any) -> Any:
            context.refresh()
            try:
                if not (self._ours or can_be_kept(signature)):
                    return None
                name = self._name(signature, context.codegen())
                data = cache_folder.read(self._place, name)
                checksum, code = data[:32], data[32:]
                if _checksum(name, code) != checksum:
                    return None
                return CompileResult._rebuild(context, *pickle.loads(code))
            except Exception:  # whatever is wrong with the file, compiling puts it right
                return None

        def save_overload(self, signature: Any, result: Any) -> None:
            try:
                if not (self._ours or can_be_kept(signature)):
                    return
                code = dumps(result._reduce())
                name = self._name(signature, result.codegen)
                cache_folder.write(self._place, name, _checksum(name, code) + code)
            except Exception:  # a full disk, a read-only one, something that cannot be pickled: no cache then
                return

        def enable(self) -> None: ...

        def disable(self) -> None: ...

        def flush(self) -> None: ...

    return KeyedCache
