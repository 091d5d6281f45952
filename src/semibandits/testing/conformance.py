"""The form of every check of a contract: it demands, and whatever is raised is a breach."""

import functools
from collections.abc import Callable
from typing import ParamSpec

import numpy as np

from semibandits.errors import ConformanceError

Q = ParamSpec("Q")


def demand(holds: bool | np.bool_, message: str) -> None:
    if not holds:
        raise ConformanceError(message)


def conforming(check: Callable[Q, None]) -> Callable[Q, None]:
    """Whatever the object under test raises is a breach of its contract too."""

    @functools.wraps(check)
    def checked(*arguments: Q.args, **options: Q.kwargs) -> None:
        try:
            check(*arguments, **options)
        except ConformanceError:
            raise
        except Exception as error:
            raise ConformanceError(f"{type(error).__name__} was raised: {error!s:.500}") from error

    return checked
