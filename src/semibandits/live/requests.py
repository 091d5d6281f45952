"""Another feasible set for one decision: is it one of the same items?"""

from typing import Any

import numpy as np

from semibandits._util.identity_cache import IdentityCache
from semibandits.errors import BadArgument
from semibandits.oracle import Span, probed
from semibandits.problem import check_same_items, check_signs
from semibandits.types import Bounds, FeasibleSet, Sense

PAIRS = 1
"""As many pairs of opposite weights a user's solver is asked the first time that it is seen."""
_PROBED: IdentityCache[set[bytes]] = IdentityCache()


def check_request(
    feasible: Any, own: FeasibleSet, bounds: Bounds, sense: Sense, labels: tuple[str, ...] | None
) -> None:
    """Raises unless it is a set of the same items, by number and name."""
    if not isinstance(feasible, FeasibleSet):
        raise BadArgument(f"feasible must be a FeasibleSet (wrap a solver in sets.Oracle), got {feasible!r:.200}")
    check_same_items(feasible, own, labels or ())
    check_signs(feasible, bounds, sense)
    if feasible.foreign:
        span, known = Span.of(sense, bounds), _PROBED.get(feasible, set())
        question = b"".join(np.asarray(side).tobytes() for side in span)
        if question not in known:
            probed(feasible, span, PAIRS)
            _PROBED[feasible] = {*known, question}
