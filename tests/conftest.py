"""Property tests are the same on every machine and every day: no clock, no random seed.

Machine code is kept beside pytest's own cache, for all workers and the next run.
"""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")

os.environ["SEMIBANDITS_CACHE"] = str(Path(__file__).parent.parent / ".pytest_cache" / "code")
