"""Drawings of the rooms, found by name, in every format."""

import importlib
import subprocess
import sys

import matplotlib as mpl
import pytest
import xarray as xr
from matplotlib.figure import Figure as Drawing

from tests.packages import TOY
from tests.packages.toy2020.drawings import figure_1 as drawing
from tests.packages.toy2020.drawings.moving import GIF
from tests.report.fake_outcomes import FIGURE, MOVING, drawn
from widenet import papers, plots
from widenet.papers import PAPERS
from widenet.plots.style import FORMATS, lay_out, render


@pytest.fixture
def toy_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "PAPERS", (TOY,))


@pytest.fixture(scope="module")
def numbers() -> xr.Dataset:
    return drawn().numbers


@pytest.mark.usefixtures("toy_papers")
def test_a_figure_is_drawn_by_the_module_of_its_name_or_the_one_it_names() -> None:
    assert plots.drawing_of(FIGURE) == "tests.packages.toy2020.drawings.figure_1"
    assert plots.drawing_of(MOVING) == "tests.packages.toy2020.drawings.moving"
    assert (plots.moves(FIGURE), plots.moves(MOVING)) == (False, True)


@pytest.mark.usefixtures("toy_papers")
def test_all_files_of_a_figure(numbers: xr.Dataset) -> None:
    still = plots.picture_files(plots.drawing_of(FIGURE), FIGURE.id, numbers, {"id": FIGURE.id})
    assert set(still) == {
        *(f"{FIGURE.id}.{form}" for form in (*FORMATS, "json", "panels.json")),
        *(f"{FIGURE.id}.{axes}.csv" for axes in ("width-run", "width-run-epoch")),
    }
    assert set(plots.beside_pages(still)) == set(still) - {f"{FIGURE.id}.panels.json"}
    assert plots.animation_files(plots.drawing_of(MOVING), MOVING.id, numbers) == {f"{MOVING.id}.gif": GIF}


def test_progress_is_told_format_by_format(numbers: xr.Dataset) -> None:
    heard = []
    plots.picture_files(TOY.drawing("figure_1"), "x", numbers, {}, lambda fraction, words: heard.append(fraction))
    assert heard == [1 / 4, 2 / 4, 3 / 4, 1.0]


@pytest.mark.parametrize("form", FORMATS)
def test_equal_numbers_give_equal_bytes(numbers: xr.Dataset, form: str) -> None:
    once, again = (render(lay_out(drawing.draw(numbers).drawing()), form) for _ in range(2))
    assert once == again
    assert once.startswith({"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[form])


def test_everything_is_placed_once_and_as_a_png_would_place_it() -> None:
    def make() -> Drawing:
        picture = Drawing(figsize=(3.0, 2.0), layout="constrained")
        picture.subplots().set_ylabel("a label that needs room")
        return picture

    placed = lay_out(make())
    assert placed.get_layout_engine() is None
    assert render(placed, "png") == render(make(), "png")
    assert lay_out(Drawing(figsize=(3.0, 2.0))).get_dpi() == Drawing().get_dpi()


def test_text_stays_text_and_nothing_is_stamped(numbers: xr.Dataset) -> None:
    svg = render(drawing.draw(numbers).drawing(), "svg").decode()
    assert ">width 100</text>" in svg
    assert "<dc:date>" not in svg


def test_the_callers_settings_are_left_alone(numbers: xr.Dataset) -> None:
    with mpl.rc_context({"lines.linewidth": 7.0}):
        picture = drawing.draw(numbers).drawing()
        assert mpl.rcParams["lines.linewidth"] == 7.0
    assert picture.axes[0].lines[0].get_linewidth() != 7.0


def test_every_figure_has_a_drawing() -> None:
    """A module with `draw`, in the room of its paper."""
    wrong = []
    for paper in PAPERS:
        for id in paper.figure_ids:
            try:
                figure = paper.load_figure(id)
                module = importlib.import_module(plots.drawing_of(figure))
            except Exception as error:
                wrong.append(f"{id}: {type(error).__name__}: {error}")
                continue
            wrong += [] if callable(getattr(module, "draw", None)) else [f"{id}: {module.__name__} has no draw"]
            if plots.moves(figure) != callable(getattr(module, "animate", None)):
                wrong.append(f"{id}: what the source of {module.__name__} binds is not what it has")
    assert wrong == [], "\n".join(wrong)


def test_whoever_plans_drawings_loads_no_matplotlib() -> None:
    code = "import sys, widenet.plots; sys.exit('matplotlib' in sys.modules or 'jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
