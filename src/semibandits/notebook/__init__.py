"""HTML for notebooks: small tables with styles of their own, which read on light and on dark pages.

Nothing here computes what takes long, and nothing raises: what cannot be shown is left out.
"""

from semibandits._util.html import escape
from semibandits.notebook import live, policies, problems, results, sets, theory  # noqa: F401 (they tell `written`)
from semibandits.notebook.parts import written


def html(thing: object) -> str:
    """The object as a notebook shows it: whatever goes wrong, at least what would be printed."""
    try:
        return written(thing)
    except Exception:
        try:
            return f"<pre>{escape(repr(thing))}</pre>"
        except Exception:
            return f"<pre>{escape(object.__repr__(thing))}</pre>"
