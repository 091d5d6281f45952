"""Pictures as tests look at them."""

import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def render(ax: Axes) -> None:
    assert isinstance(ax.figure, Figure)
    with open(os.devnull, "wb") as nowhere:
        ax.figure.savefig(nowhere, format="png", dpi=40)


def band_edges(ax: Axes, at: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper edge of a band, from the outline that is drawn."""
    (path,) = ax.collections[at].get_paths()
    points: dict[float, list[float]] = {}
    for x, y in path.vertices:
        points.setdefault(float(x), []).append(float(y))
    xs = sorted(points)
    return np.array([min(points[x]) for x in xs]), np.array([max(points[x]) for x in xs])
