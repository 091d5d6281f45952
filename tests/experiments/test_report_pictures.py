"""Pictures for pages and as files; colours that can be read."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import semibandits as sb
from semibandits._util.html import Html
from semibandits.errors import BadArgument
from semibandits.experiments.report.page import Section, nested, page
from semibandits.experiments.report.pictures import LETTERS, NARROW, PHONE, figure, files_of, picture, save
from semibandits.plotting import axes, sets
from support import pages

CSS = files("semibandits.experiments.report").joinpath("style.css").read_text()


def drawn() -> Any:
    ax = Figure(figsize=(3, 2), layout="constrained").add_subplot()
    ax.plot([1, 10, 100], [1, 2, 3], color="#0072B2", marker="o", label="#333333 url(#x) <&>")
    ax.fill_between([1, 10, 100], [0, 1, 2], [2, 3, 4], color="black", alpha=0.2)
    ax.bar([5], [1], hatch="//", color="#b8b8b8", edgecolor="#e4e4e4")
    ax.axhline(1.0, color=axes.LOWER_COLOUR)
    ax.set_title("a title", color="#333333")
    ax.legend()
    return ax


def test_a_picture_for_a_page() -> None:
    one = picture("one", drawn(), 'what it "shows" <&>')
    read = pages.read(one.inline)
    assert one.inline.startswith("<svg ")
    assert ("role", "img") in read.attributes
    assert ("aria-label", 'what it "shows" <&>') in read.attributes
    assert "a title" in read.text
    assert "#333333 url(#x) <&>" in read.text  # text is left alone
    assert read.ids
    assert all(id.startswith("one-") for id in read.ids)
    assert not re.search("#([0-9a-f]{2})\\1\\1", re.sub(">[^<]*<", "><", one.inline))  # no grey but in variables
    assert set(re.findall(r"var\(--(\w+)\)", one.inline)) >= {"ink", "faint", "grid", "paper", "lower", "font"}
    assert "#0072b2" in one.inline
    for word in ("DejaVu", "<style", "<metadata", "xlink", "http", "<?xml", "<!"):
        assert word not in one.inline


def test_two_pictures_share_no_ids() -> None:
    first, second = picture("first", drawn(), ""), picture("second", drawn().figure, "")
    pages.read(figure([first, second], "two <b>"))
    pages.read(figure(first, Html("<b>one</b>")))


def test_a_phone_is_shown_a_picture_of_its_own() -> None:
    wide, narrow = drawn(), drawn()
    narrow.figure.set_figwidth(NARROW)
    one = picture("one", wide, "what it shows", narrow)
    read = pages.read(one.inline)
    assert [value for name, value in read.attributes if name == "class"] == ["wide", "narrow"]
    assert {id.startswith("one-narrow-") for id in read.ids} == {True, False}
    assert "class" not in dict(pages.read(picture("one", wide, "").inline).attributes)
    for kind in ("wide", "narrow"):
        assert re.search(rf"\.pictures > \.{kind} {{ display: none; }}", CSS)
    with pytest.raises(BadArgument, match="Matplotlib Axes or a Figure, got 'narrow'"):
        picture("one", wide, "", "narrow")  # type: ignore[arg-type]


def test_letters_are_never_too_small() -> None:
    ax = Figure(figsize=(9, 2)).add_subplot()
    ax.set_title("title", fontsize=4.0)
    ax.tick_params(labelsize=12.0)
    one = picture("one", ax, "")
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', one.inline)[1])  # type: ignore[index]
    least, most = map(int, re.search(r"min-width: (\d+)px; max-width: (\d+)px", one.inline).groups())  # type: ignore[union-attr]
    assert LETTERS <= 4.0 * least / width <= 1.01 * LETTERS
    assert most >= least == one.least > PHONE
    box = '<div class="pictures scroll" role="group" tabindex="0"'
    assert box in figure(one, "")
    assert box not in figure(picture("two", drawn(), ""), "")


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = picture("p", drawn(), "x"), picture("p", drawn(), "x")
    assert first.inline == second.inline
    written = save(tmp_path, [first])
    names = [path.relative_to(tmp_path).as_posix() for path in written]
    assert sorted(names) == ["figures/p.pdf", "figures/p.png", "figures/p.svg"]
    assert files_of([first]) == names
    for path in written:
        assert path.read_bytes() == second.file(path.suffix[1:])
    pdf = (tmp_path / "figures" / "p.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert not re.search(b"CreationDate|Matplotlib|/Subtype /Type3", pdf)  # journals refuse fonts of Type 3
    assert (tmp_path / "figures" / "p.png").read_bytes()[:4] == b"\x89PNG"
    svg = (tmp_path / "figures" / "p.svg").read_text()
    assert "var(--" not in svg
    assert "#ffffff" in svg


def test_matrices_let_the_page_through_and_keep_numbers_readable() -> None:
    feasible = sb.sets.Assignment(2, 2)
    ax = sets.draw(feasible, [0, 3], [0.9, np.nan, 0.1, 0.5])
    (image,) = ax.get_images()
    before = image.get_array().copy(), [text.get_color() for text in ax.texts]
    inline = picture("matrix", ax, "").inline
    np.testing.assert_array_equal(image.get_array(), before[0])
    assert [text.get_color() for text in ax.texts] == before[1]
    found = re.findall(r'<text style="[^"]*fill: ([^;"]+)[^"]*"[^>]*>([^<]*)<', inline)
    by_text = {text: colour for colour, text in found}
    assert by_text["?"] == "var(--ink)"  # on the page itself
    assert by_text["0.10"] == "#333334"  # on light blue, in both themes
    assert by_text["0.90"] == "#fffffe"


@pytest.mark.parametrize("name", ["", "Name", "1", "a b", "a/b", '"', "../x"])
def test_bad_names(name: str) -> None:
    with pytest.raises(BadArgument, match="the name of a picture"):
        picture(name, drawn(), "")


def test_what_is_no_picture() -> None:
    with pytest.raises(BadArgument, match="Matplotlib Axes or a Figure"):
        picture("x", "a picture", "")  # type: ignore[arg-type]


def test_odd_characters() -> None:
    ax = Figure(figsize=(2, 2)).add_subplot()
    ax.set_title("中文 \x01", parse_math=False)
    assert "中文 \ufffd" in pages.read(picture("odd", ax, "\x00").inline).text


# Pages


def test_a_page() -> None:
    sections = [Section("A & B", "<p>x</p>"), Section("A & B", nested([Section("<in>", "<p>y</p>")])), Section("!", "")]
    read = pages.read_document(page("<T>", sections, "lead <1>"))
    assert [link for link in read.links if link.startswith("#")] == ["#a-b", "#a-b-2", "#section"]
    assert "lead <1>" in read.text
    assert "nav" not in pages.read_document(page("T", sections[:1])).tags
    assert "<b>lead</b>" in page("T", sections, Html("<b>lead</b>"))


# Colours


def variables(css: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", css))


LIGHT = variables(CSS[: CSS.index("@media")])
DARK = {**LIGHT, **variables(CSS[CSS.index("@media") : CSS.index("* {")])}


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(theme: dict[str, str]) -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)
    for ink in ("ink", "dim", "link", "good", "bad"):
        for ground in ("paper", "card"):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
    assert contrast(theme["lower"], theme["paper"]) >= 4.5


def test_the_themes_differ() -> None:
    assert LIGHT["paper"] != DARK["paper"]
    assert LIGHT.keys() == DARK.keys()


@pytest.mark.parametrize("colour", [*axes.COLOURS[:-1], axes.CHOSEN])
def test_curves_stand_out_from_a_dark_page(colour: str) -> None:
    assert contrast(colour.lower(), DARK["paper"]) >= 3.0


def test_no_colour_is_written_outside_of_the_themes() -> None:
    rules = CSS[CSS.index("* {") :]
    assert not re.findall("#[0-9a-fA-F]{3,8}\\b", rules)
