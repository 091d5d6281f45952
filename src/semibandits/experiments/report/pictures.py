"""Matplotlib's pictures for pages and as files.

In a page a picture is SVG whose inks are the page's variables, so that it reads on light and on dark: every grey
becomes one of `--ink`, `--dim`, `--faint`, `--grid` and `--paper`, other colours stay. Text stays text.
"""

import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from semibandits._util.files import make_folders, replace_file
from semibandits._util.html import Html, escape, scrolling
from semibandits.errors import BadArgument
from semibandits.plotting.axes import LOWER_COLOUR, check_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INKS = ((0x55, "ink"), (0x9F, "dim"), (0xCC, "faint"), (0xF7, "grid"), (0xFF, "paper"))
"""Greys up to a lightness, and the variable that takes their place."""
NAMED = {LOWER_COLOUR.lower(): "lower"}
"""Colours that are too dark for a dark page."""
FORMS: dict[str, dict[str, Any]] = {"svg": {}, "png": {"dpi": 200}, "pdf": {}}
"""The files of a picture, by their endings, and how they are written."""
METADATA = {
    "svg": ("Date", "Creator", "Format", "Type"),
    "png": ("Software",),
    "pdf": ("CreationDate", "Creator", "Producer"),
}
"""What is left out of files, as it would change from day to day or with the version of Matplotlib."""
NARROW = 3.2
"""Inches: the width of a picture that is made for a phone."""
LETTERS = 10.0
"""Pixels of the smallest letters: a picture is not made smaller than that, but scrolls."""
MOST = 1.15
"""How much a picture may be enlarged."""
PHONE = 300
"""Pixels that a phone has for a picture."""
_COLOUR = re.compile("#[0-9a-f]{6}")
_SIZE = re.compile(r"font(?:-size)?: [^;\"]*?(\d+(?:\.\d+)?)px")
_FONT = re.compile("(font|font-family): ([^;]*?)'[^;]*")
_DECIMALS = re.compile(r"(\.\d\d)\d+")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@contextmanager
def own_style() -> Iterator[None]:
    """Matplotlib as it comes, whatever its user has set, so that the same figures are the same everywhere."""
    check_axes(None)
    from matplotlib import rc_context, rcdefaults

    with rc_context():
        rcdefaults()
        yield


class Picture:
    """A picture, for a page (`inline`) and as a file, which has a white background.

    `narrow` is what a page shows in its place where there is little room.
    """

    def __init__(self, name: str, alt: str, figure: "Figure", narrow: "Figure | None" = None) -> None:
        self.name = name
        self.alt = alt
        """What it shows, for those who do not see it."""
        self._figure = figure
        self.inline, self.least = _inline(name, alt, figure, "" if narrow is None else "wide")
        """`least` are the pixels that it takes on a phone."""
        if narrow is not None:
            small, self.least = _inline(f"{name}-narrow", alt, narrow, "narrow")
            self.inline = Html(f"{self.inline}\n{small}")

    def file(self, form: str) -> bytes:
        """In one of `FORMS`. Everything is in its place since it was drawn for the page, which takes a while."""
        engine = self._figure.get_layout_engine()
        self._figure.set_layout_engine("none")
        try:
            return _render(self._figure, form, self.name, facecolor="white", **FORMS[form])
        finally:
            self._figure.set_layout_engine(engine)


def picture(name: str, axes_or_figure: "Axes | Figure", alt: str, narrow: "Axes | Figure | None" = None) -> Picture:
    """What is drawn there now. `name` is for files and links: lower-case letters, digits and hyphens."""
    check_axes(None)
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    if not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise BadArgument(f"the name of a picture is lower-case letters, digits and hyphens, got {name!r:.100}")
    for one in (axes_or_figure, narrow):
        if not (isinstance(one, Axes | Figure) or one is narrow is None):
            raise BadArgument(f"a picture is made of Matplotlib Axes or a Figure, got {one!r:.200}")
    return Picture(name, alt, axes_or_figure.figure.figure, None if narrow is None else narrow.figure.figure)


class Gallery:
    """The pictures of a page, or of a part of it: the names of those begin alike."""

    def __init__(self, prefix: str = "", pictures: list[Picture] | None = None) -> None:
        self._prefix = prefix
        self.pictures = [] if pictures is None else pictures

    def part(self, prefix: str) -> "Gallery":
        return Gallery(self._prefix + prefix, self.pictures)

    def picture(
        self, name: str, axes_or_figure: "Axes | Figure", alt: str, narrow: "Axes | Figure | None" = None
    ) -> Picture:
        self.pictures.append(picture(self._prefix + name, axes_or_figure, alt, narrow))
        return self.pictures[-1]


def figure(pictures: Picture | Sequence[Picture], caption: str) -> Html:
    """One or more pictures, side by side where there is room, with a caption (text, or `Html`)."""
    shown = [pictures] if isinstance(pictures, Picture) else pictures
    inner = "\n".join(one.inline for one in shown)
    scrolls = any(one.least > PHONE for one in shown)
    box = scrolling("Wide picture") if scrolls else ""
    return Html(
        f'<figure>\n<div class="pictures{" scroll" if scrolls else ""}"{box}>\n{inner}\n</div>\n'
        f"<figcaption>{escape(caption)}</figcaption>\n</figure>\n"
    )


def files_of(pictures: Iterable[Picture]) -> list[str]:
    """What `save` writes."""
    return [f"figures/{one.name}.{form}" for one in pictures for form in FORMS]


def save(folder: Path, pictures: Iterable[Picture]) -> list[Path]:
    """Writes every picture to the folder figures in all of `FORMS`."""
    inside = Path(folder) / "figures"
    make_folders(inside)
    written = []
    for one in pictures:
        for form in FORMS:
            written.append(inside / f"{one.name}.{form}")
            replace_file(written[-1], one.file(form))
    return written


def _render(figure: "Figure", form: str, salt: str, **options: Any) -> bytes:
    """The same bytes for the same figure."""
    from matplotlib import rc_context

    file = io.StringIO() if form == "svg" else io.BytesIO()
    fonts = options.pop("fonts", "path")
    metadata = dict.fromkeys(METADATA[form])
    with rc_context({"svg.hashsalt": salt, "svg.fonttype": fonts, "pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a browser has more fonts
        figure.savefig(file, format=form, metadata=metadata, bbox_inches="tight", pad_inches=0.06, **options)
    data = file.getvalue()
    return data if isinstance(data, bytes) else data.encode("utf-8", "replace")


def _inline(name: str, alt: str, figure: "Figure", kind: str) -> tuple[Html, int]:
    """The picture, and how narrow it may be in pixels."""
    with _transparent_greys(figure):
        drawn = _render(figure, "svg", name, fonts="none", facecolor="none").decode()
    root = ElementTree.fromstring(_NO_XML.sub("\ufffd", drawn))
    width = float(root.attrib["width"].removesuffix("pt")) * 4.0 / 3.0
    smallest = min((float(size) * 4.0 / 3.0 for size in _SIZE.findall(drawn)), default=math.inf)
    least = math.ceil(width * LETTERS / smallest)
    view = root.attrib["viewBox"]
    for definitions in root.iter("{http://www.w3.org/2000/svg}defs"):
        for style in definitions.findall("{http://www.w3.org/2000/svg}style"):
            definitions.remove(style)  # it would be the whole page's
    used = set(_REFERENCE.findall(drawn)) | set(re.findall('href="#([^"]+)"', drawn))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag not in ("tspan", "text"):  # whose spaces are to be seen
            element.text = element.tail = None
        own = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        if own.get("id") not in used:
            own.pop("id", None)
        element.attrib = {key: _attribute(name, key, value) for key, value in own.items()}
    root.attrib = {
        "viewBox": view,
        "role": "img",
        "aria-label": _NO_XML.sub("\ufffd", alt),
        "style": f"min-width: {least}px; max-width: {max(MOST * width, least):.0f}px; fill: var(--ink); "
        "stroke-linejoin: round; stroke-linecap: butt",
        **({"class": kind} if kind else {}),
    }
    return Html(ElementTree.tostring(root, encoding="unicode")), least


def _attribute(name: str, key: str, value: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value[1:]}" if value.startswith("#") else value
    value = _REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value)
    if key in ("d", "x", "y", "transform", "points"):
        return " ".join(_DECIMALS.sub(r"\1", value).split())
    if key in ("style", "fill", "stroke"):
        value = _FONT.sub(r"\1: \2var(--font)", _COLOUR.sub(_ink, value))
    return value


def _ink(found: re.Match[str]) -> str:
    """The variable for a grey; any other colour as it is."""
    colour = found[0]
    if colour in NAMED:
        return f"var(--{NAMED[colour]})"
    if not colour[1:3] == colour[3:5] == colour[5:7]:
        return colour
    lightness = int(colour[1:3], 16)
    return f"var(--{next(name for end, name in INKS if lightness <= end)})"


@contextmanager
def _transparent_greys(figure: "Figure") -> Iterator[None]:
    """While a figure is drawn for a page: in images white lets the page through, and so do light greys in part.

    Text on what is left keeps its colour, by not being quite grey.
    """
    from matplotlib.colors import to_hex

    changed: list[tuple[Any, Any]] = []
    for ax in figure.get_axes():
        for image in ax.get_images():
            original: Any = image.get_array()
            pixels = np.array(image.to_rgba(original), dtype=np.float64)
            light = (np.ptp(pixels[..., :3], axis=-1) < 1e-6) & (pixels[..., 0] >= 0.5)
            see_through = pixels.copy()
            see_through[light, 3] *= 2.0 * (1.0 - pixels[light, 0])
            see_through[light, :3] = 0.5
            changed.append((image.set_data, original))
            image.set_data(see_through)
            for text in ax.texts:
                column, row = np.rint(text.get_position()).astype(np.int64)
                colour = to_hex(text.get_color())
                if 0 <= row < light.shape[0] and 0 <= column < light.shape[1] and not light[row, column]:
                    changed.append((text.set_color, text.get_color()))
                    text.set_color(colour[:-1] + ("e" if colour[-1] == "f" else f"{int(colour[-1], 16) + 1:x}"))
    try:
        yield
    finally:
        for restore, value in changed:
            restore(value)
