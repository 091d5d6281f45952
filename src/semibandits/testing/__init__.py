"""Checks that a set, an environment or a policy keeps its contract: run them on your own.

Each raises `ConformanceError` with what was expected and what was found, and returns None where all is well.
"""

from typing import TYPE_CHECKING

from semibandits._util.suggestions import suggesting
from semibandits.testing.environments import check_environment
from semibandits.testing.policies import check_policy
from semibandits.testing.sets import check_set

__all__ = ["check_environment", "check_policy", "check_set"]

if not TYPE_CHECKING:
    __getattr__ = suggesting(__name__)
