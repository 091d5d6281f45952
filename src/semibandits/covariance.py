"""Covariance matrices, read and checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument

SINGULAR = 1e-12
"""A matrix counts as singular whose smallest eigenvalue is no larger, relative to its largest entry."""


def check_covariance(given: Any, instead: str) -> NDArray[np.float64]:
    """A symmetric positive definite matrix; for one that is not definite, what to do `instead`."""
    try:
        matrix = np.array(given)
    except ValueError as error:
        raise BadArgument(f"covariance must be a square matrix of numbers, got {given!r:.100}") from error
    if matrix.dtype.kind not in "iuf" or isinstance(given, np.ma.MaskedArray):
        raise BadArgument(f"covariance must be a square matrix of numbers, got {given!r:.100}")
    matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise BadArgument(f"covariance must be a square matrix, a row for each item, got the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise BadArgument(f"covariance must be finite, got {matrix[i, j]} for items {i} and {j}")
    largest = float(np.abs(matrix).max())
    off = np.abs(matrix - matrix.T)
    if off.max() > 1e-9 * largest:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise BadArgument(
            f"covariance must be symmetric, got {matrix[i, j]} for items {i} and {j} but {matrix[j, i]} for {j} and {i}"
        )
    matrix = 0.5 * matrix + 0.5 * matrix.T
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    if lowest <= SINGULAR * largest:
        kind = "singular" if lowest >= -SINGULAR * largest else "not positive definite"
        raise BadArgument(
            f"covariance must be positive definite, got one that is {kind}, of smallest eigenvalue {lowest:.3g}: "
            f"add a little to its diagonal{instead}"
        )
    return matrix
