"""Six parts from five suppliers, of whom at most three are used: item 5 p + s is part p from supplier s."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from semibandits.environments import Custom

PARTS, SUPPLIERS, MOST = 6, 5, 3
TRIOS = [list(trio) for trio in combinations(range(SUPPLIERS), MOST)]
MEANS = [
    *(0.30, 0.45, 0.55, 0.40, 0.60),
    *(0.50, 0.25, 0.45, 0.55, 0.35),
    *(0.65, 0.50, 0.30, 0.45, 0.40),
    *(0.40, 0.55, 0.60, 0.35, 0.50),
    *(0.55, 0.40, 0.35, 0.60, 0.45),
    *(0.45, 0.35, 0.50, 0.30, 0.65),
]


def cheapest(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The best solution: for every three suppliers, the cheapest of them for each part; of all these, the cheapest."""
    table = costs.reshape(PARTS, SUPPLIERS)
    best = min(TRIOS, key=lambda trio: float(table[:, trio].min(axis=1).sum()))
    supplier = table[:, best].argmin(axis=1)
    return np.array([SUPPLIERS * part + best[supplier[part]] for part in range(PARTS)])


def allowed(items: NDArray[np.int64]) -> bool:
    """Every part once, from at most three suppliers."""
    parts, suppliers = np.divmod(items, SUPPLIERS)
    return parts.tolist() == list(range(PARTS)) and len(set(suppliers.tolist())) <= MOST


def prices(spread: float) -> Custom:
    """What each part would cost at each supplier: around its mean, and on dear days dear everywhere."""

    def draw(generator: np.random.Generator) -> NDArray[np.float64]:
        day = generator.uniform(-0.5, 0.5)
        own = generator.uniform(-0.5, 0.5, size=PARTS * SUPPLIERS)
        return MEANS + spread * (day + own) / 2.0

    return Custom(draw, MEANS)
