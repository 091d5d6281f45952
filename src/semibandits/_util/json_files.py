"""JSON files of ours: a type for counts, and the errors that damaged ones raise."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
DAMAGE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What decoding raises on bytes that are no such file."""
