"""What all readers of our own JSON files share."""

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
DAMAGE = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What decoding raises on bytes that are no such file."""
