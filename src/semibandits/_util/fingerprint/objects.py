"""Objects taken apart for the content hash: the names of their kinds, and what counts of them."""

import copyreg
import warnings
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cached_property
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from semibandits._util.ownership import PACKAGE, is_users_function, root


def kind_of(kind: type) -> str:
    """The name of a class: of this package's, with its room alone, so that it may move from file to file."""
    module = "__main__" if kind.__module__ == "__mp_main__" else kind.__module__
    if root(module) == PACKAGE:
        module = ".".join(module.split(".")[:2])
    return f"{module}.{kind.__qualname__}"


def patches(kind: type) -> Iterator[Any]:
    """What a user has put into classes of this package."""
    for one in kind.__mro__:
        if root(one.__module__) == PACKAGE:
            for name, value in sorted(vars(one).items()):
                function = getattr(value, "__func__", getattr(value, "fget", value))
                if isinstance(function, FunctionType) and is_users_function(function):
                    yield name, function


def made_of(value: Any) -> tuple[Any, ...] | None:
    """What counts of objects that pickling cannot take apart, or into what differs from use to use."""
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, _lru_cache_wrapper):
        return value.__wrapped__, sorted(value.cache_parameters().items())
    if isinstance(value, staticmethod | classmethod):
        return (value.__func__,)
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, cached_property):
        return (value.func,)
    if isinstance(value, np.vectorize):
        return value.pyfunc, value.otypes, value.signature, value.excluded
    if root(type(value).__module__) == "numba" and hasattr(value, "py_func"):
        return value.py_func, sorted(getattr(value, "targetoptions", {}).items(), key=repr)
    if type(value).__module__.partition(".")[0] == "pandas":
        return _table(value)
    return None


def reduced(value: Any) -> Any:
    """What pickling takes of it."""
    reduce: Any = copyreg.dispatch_table.get(type(value))
    if reduce is not None:
        return reduce(value)
    if type(value).__module__ != "itertools":
        return value.__reduce_ex__(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it will not always be so
        return value.__reduce_ex__(4)


def _table(value: Any) -> tuple[Any, ...] | None:
    """What is in a table, a column or an index of pandas."""
    name = type(value).__name__
    if name == "DataFrame":
        return value.columns, value.index, [value.iloc[:, column] for column in range(value.shape[1])]
    if name == "Series":
        return value.name, value.index, str(value.dtype), np.asarray(value)
    if name.endswith("Index"):
        return list(value.names), str(value.dtype), np.asarray(value)
    return None
