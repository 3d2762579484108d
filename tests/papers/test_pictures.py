"""Pictures from kept numbers can be read: no words on top of each other or cut off, and no colour without a meaning."""

import importlib
import itertools
import re

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import FigureBase, SubFigure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from tests.papers.kept_numbers import kept_numbers
from widenet.figures.archive import archived
from widenet.papers import figures_of, find_figure
from widenet.plots import drawing_of
from widenet.plots.picture import Panel, Picture
from widenet.plots.style import lay_out

WITHOUT_ALL_NUMBERS = {f"brutzkus2019.figure_{number}" for number in (1, 2, 3, 5, 6)}
"""What the gallery keeps of them is too little to draw; `make test-report` looks at them on their pages."""
NAMES = sorted({each.id for each in figures_of()} - WITHOUT_ALL_NUMBERS)
NAMES += [f"{id}.paper" for id in NAMES if archived(id) is not None]
MAPS = {"sarussi2021.figure_2": 1, "sarussi2021.figure_9": 1, "brutzkus2018.relu_success": 1}
MAPS |= {f"brutzkus2019.figure_{number}": 2 for number in (4, 7, 8)}
"""How many panels are in the colours of a map, the last ones."""
SLACK = 1.5
"""Pixels by which the boxes of two words may meet: a box is a little larger than its letters."""


def picture_of(name: str) -> Picture:
    figure = find_figure(name.removesuffix(".paper"))
    return importlib.import_module(drawing_of(figure)).draw(kept_numbers(name))


def words(part: SubFigure) -> list[tuple[str, Bbox]]:
    """Everything that is written on a part of a sheet, upright words alone: boxes of turned ones are too large."""
    found, unseen = [], {text for axes in part.axes for text in beyond_the_ends(axes)}
    for text in part.findobj(Text):
        if not text.get_visible() or not text.get_text().strip():
            continue
        if text.get_rotation() % 90 == 0 and text not in unseen:
            found.append((text.get_text(), text.get_window_extent().padded(-SLACK)))
    return found


def beyond_the_ends(axes: Axes) -> list[Text]:
    """Labels of ticks outside the limits, which matplotlib keeps and does not draw."""
    unseen = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        unseen += [tick.label1 for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]
    return unseen


def test_all_figures_are_looked_at() -> None:
    assert len(NAMES) == 36 - 5 + 15


@pytest.mark.parametrize("name", NAMES)
def test_no_words_lie_on_top_of_each_other_or_leave_the_sheet(name: str) -> None:
    sheet = lay_out(picture_of(name).drawing())
    sheet.draw_without_rendering()  # axes of equal scales find their places now
    assert sheet.subfigs
    for part in sheet.subfigs:
        seen = words(part)
        touching = [(one, two) for (one, box), (two, other) in itertools.combinations(seen, 2) if box.overlaps(other)]
        assert touching == [], part.get_suptitle()
        outside = [word for word, box in seen if box.x0 < 0 or box.x1 > sheet.bbox.x1 or box.y0 < part.bbox.y0 - 4]
        assert outside == [], part.get_suptitle()
        (title,) = [box for word, box in seen if word == part.get_suptitle()]
        assert title.x1 <= part.bbox.x1


def test_control_words_on_top_of_each_other_are_seen() -> None:
    def twice(canvas: FigureBase) -> None:
        axes = canvas.subplots()
        for word in ("one", "two"):
            axes.annotate(word, (0.5, 0.5))

    (part,) = lay_out(Picture([Panel("Words", twice)]).drawing()).subfigs
    boxes = {word: box for word, box in words(part) if word in ("one", "two")}
    assert boxes["one"].overlaps(boxes["two"])


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(".paper")])
def test_every_colour_on_a_page_has_a_role(name: str) -> None:
    panels = picture_of(name).on_page(name)["panels"]
    for panel in panels[: len(panels) - MAPS.get(name, 0)]:
        assert re.findall(r"#[0-9a-fA-F]{6}\b", panel["svg"]) == [], panel["title"]
        assert "image/png" not in panel["svg"], panel["title"]
