"""Pictures of panels: one sheet for files, and SVG elements for pages."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import FigureBase

from widenet.plots.marks import ramp
from widenet.plots.picture import EDGE, GUTTER, HALF, TITLE, WIDE, Panel, Picture
from widenet.plots.style import INK, LINE, MEASURED, ROLES, SEQUENTIAL, lay_out


def line(canvas: FigureBase) -> None:
    axes = canvas.subplots()
    axes.plot([0, 1, 2], [1, 3, 2], color=MEASURED, marker="o")
    axes.set_xlabel("step")


def heat(canvas: FigureBase) -> None:
    axes = canvas.subplots()
    axes.pcolormesh(np.arange(12.0).reshape(3, 4), cmap=SEQUENTIAL, rasterized=True)
    axes.set_ylabel("sideways", fontweight="bold")


PICTURE = Picture([Panel("A line", line), Panel("A map", heat), Panel("Wide", line, wide=True, height=150)], "A note.")


def test_half_panels_stand_side_by_side_at_their_own_size() -> None:
    sheet = lay_out(PICTURE.drawing())
    sizes = [tuple(np.round(np.array(part.bbox.size) * 96 / sheet.dpi).astype(int)) for part in sheet.subfigs]
    assert sizes == [(HALF, 230 + TITLE), (HALF, 230 + TITLE), (WIDE, 150 + TITLE)]
    lefts = [round(part.bbox.x0 / sheet.dpi * 96) for part in sheet.subfigs]
    assert lefts == [EDGE, EDGE + HALF + GUTTER, EDGE]
    assert sheet.subfigs[0].bbox.y0 > sheet.subfigs[2].bbox.y1
    assert [part.get_suptitle() for part in sheet.subfigs] == ["A line", "A map", "Wide"]


def test_a_lone_half_panel_makes_a_narrow_sheet() -> None:
    sheet = Picture([Panel("A line", line)]).drawing()
    assert sheet.get_size_inches()[0] * 96 == pytest.approx(HALF + 2 * EDGE)


def test_a_long_note_is_broken_and_stays_on_the_sheet() -> None:
    sheet = Picture([Panel("A line", line)], "words and words " * 20).drawing()
    assert len(sheet.texts) > 3
    sheet.draw_without_rendering()
    boxes = [text.get_window_extent() for text in sheet.texts]
    assert min(box.y0 for box in boxes) >= 0
    assert max(box.x1 for box in boxes) <= sheet.bbox.width


def test_panels_for_pages_have_the_pages_font_and_colours() -> None:
    found = PICTURE.on_page("toy2020.figure_1")
    assert found["note"] == "A note."
    assert [(each["title"], each["wide"], each["width"], each["height"]) for each in found["panels"]] == [
        ("A line", False, HALF, 230),
        ("A map", False, HALF, 230),
        ("Wide", True, WIDE, 150),
    ]
    for each in found["panels"]:
        svg = each["svg"]
        root = ET.fromstring(svg)
        assert (root.attrib["width"], root.attrib["height"]) == (str(each["width"]), str(each["height"]))
        assert root.attrib["aria-label"] == each["title"]
        texts = [node for node in root.iter() if node.tag.endswith("text")]
        assert texts
        styles = [dict(part.split(": ") for part in node.attrib["style"].split("; ")) for node in texts]
        assert {(style["font-size"], style["font-family"]) for style in styles} == {("8.25px", "inherit")}
        assert {style["fill"] for style in styles} <= {f"var(--{role})" for role in ROLES}
        assert not [colour for colour in ROLES.values() if colour in svg]
        assert "<style" not in svg
        assert "metadata" not in svg
    assert "var(--measured)" in found["panels"][0]["svg"]
    assert {INK, LINE} <= set(ROLES.values())


def test_nothing_lies_under_a_panel() -> None:
    root = ET.fromstring(PICTURE.on_page("a.b")["panels"][0]["svg"])
    filled = [node.attrib["fill"] for node in root.iter() if node.attrib.get("fill", "none") != "none"]
    assert "var(--page)" not in filled


def test_names_inside_are_each_drawings_own_and_all_are_found() -> None:
    """Two drawings on a page must not clip each other."""
    svgs = [each["svg"] for name in ("x.figure_1", "x.figure_2") for each in PICTURE.on_page(name)["panels"]]
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in svgs]
    everywhere = [name for own in ids for name in own]
    assert len(set(everywhere)) == len(everywhere)
    for svg, own in zip(svgs, ids, strict=True):
        referred = re.findall(r"url\(#([^)]+)\)", svg) + re.findall(r'href="#([^"]+)"', svg)
        assert set(referred) == set(own)


def test_equal_pictures_give_equal_panels() -> None:
    assert len({json.dumps(PICTURE.on_page("a.b")) for _ in range(4)}) == 1


def test_every_role_has_a_colour_of_its_own() -> None:
    assert len(set(ROLES.values())) == len(ROLES)


def test_more_ordered_things_than_the_ramp_has_steps_follow_the_pages_colours() -> None:
    def seven(canvas: FigureBase) -> None:
        axes = canvas.subplots()
        for height, colour in enumerate(ramp(7)):
            axes.plot([0, 1], [height, height], color=colour)

    (panel,) = Picture([Panel("Seven", seven)]).on_page("a.b")["panels"]
    assert not [colour for colour in ramp(7) if colour in panel["svg"]]
    assert "color-mix(in srgb, var(--w2) 67%, var(--w1))" in panel["svg"]
    assert "var(--w3)" in panel["svg"]
