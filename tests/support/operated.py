"""What may be done to a learner beside asking and telling: the learners of the tests of it."""

import msgspec

from semibandits import Learner, errors, policies, sets
from semibandits.types import IndexPolicy

TOP = sets.TopK(6, 2)
LABELS = list("abcdef")


def index_policies() -> dict[str, IndexPolicy]:
    """Those that can be made without arguments, and play live."""
    found = {}
    for name in policies.__all__:
        kind = getattr(policies, name)
        if isinstance(kind, type) and issubclass(kind, IndexPolicy) and kind is not IndexPolicy:
            try:
                policy = kind(anytime=True) if name == "CMOSS" else kind()
                Learner(TOP, policy)
            except (TypeError, errors.SemiBanditError):
                continue
            found[name] = policy
    made = {
        "PooledCTS, discounted": policies.PooledCTS(discount=0.9),
        "Discounted": policies.Discounted(0.9),
    }
    return found | made


WITHOUT_TOTALS = {"Clairvoyant", "Fixed", "RandomSolutions", "SlidingWindow"}
TOTALS = {name: policy for name, policy in index_policies().items() if name not in WITHOUT_TOTALS}


def everything(learner: Learner) -> bytes:
    return msgspec.json.encode(learner._snapshot())


class Clock:
    def __init__(self, learner: Learner) -> None:
        self.now = 1_000_000.0
        learner._log.clock = lambda: self.now
