"""Drawings of sarussi2021: plus is blue and minus vermilion in points, regions, neurons and curves."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle, Wedge

from tests.papers.kept_numbers import kept_numbers
from widenet.papers.sarussi2021.drawings import figure_2, figure_3, figure_4, figure_8, figure_9
from widenet.papers.sarussi2021.drawings.planes import draw_neurons, draw_regions
from widenet.papers.sarussi2021.sources import split
from widenet.plots.axes import SPACE, percent
from widenet.plots.picture import Picture
from widenet.plots.style import CONTROL, MINUS, PLUS, SEQUENTIAL


def axes_of(picture: Picture, place: int) -> Axes:
    canvas = Drawing()
    picture.panels[place].draw(canvas)
    (axes,) = canvas.axes
    return axes


@pytest.mark.parametrize("start", [1e-3, 30.0])
def test_regions_have_the_colour_of_the_sign_everywhere(start: float) -> None:
    """Sectors between exact rays, against the network on random points."""
    one = kept_numbers("sarussi2021.figure_1").sel(start=start).isel(run=0)
    weights, slope = one["weights"].values, 0.1
    axes = Drawing().subplots()
    reach = draw_regions(axes, weights, slope, one["inputs"].values, one["labels"].values)
    sectors = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    assert len(sectors) >= 2
    points = np.random.default_rng(0).uniform(-reach, reach, (500, 2))
    signs = np.sign(split(weights, 1.0, slope).outputs(points)).ravel()
    angles = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
    for sector in sectors:
        inside = (angles - sector.theta1) % 360 < (sector.theta2 - sector.theta1) % 360
        assert set(signs[inside]) == {1.0 if to_hex(sector.get_facecolor()) == PLUS else -1.0}
    marked = {
        line.get_color(): len(np.asarray(line.get_xdata())) for line in axes.lines if line.get_marker() in ("o", "s")
    }
    assert marked == {PLUS: int((one["labels"] == 1).sum()), MINUS: int((one["labels"] == -1).sum())}


def test_neurons_and_curves_have_the_colours_of_their_signs() -> None:
    axes = Drawing().subplots()
    draw_neurons(axes, np.array([[3.0, 0.0], [0.0, -2.0]]))
    ends = {line.get_color(): (float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0]))
            for line in axes.lines}  # fmt: skip
    assert ends == {PLUS: (1.0, 0.0), MINUS: (0.0, -1.0)}
    for picture, place in (
        (figure_8.draw(kept_numbers("sarussi2021.figure_8")), 0),
        (figure_9.draw(kept_numbers("sarussi2021.figure_9")), 2),
    ):
        assert [line.get_color() for line in axes_of(picture, place).lines] == [PLUS, MINUS]


def test_the_prediction_is_a_line_and_open_diamonds_of_ink() -> None:
    numbers = kept_numbers("sarussi2021.figure_3")
    picture = figure_3.draw(numbers)
    diamonds = [line for line in axes_of(picture, 1).lines if line.get_marker() == "D"]
    pair = numbers["predicted"].isel(run=0).values
    for line, row in zip(diamonds, (pair[:2], pair[2:]), strict=True):
        found = float(np.asarray(line.get_xdata())[0]), float(np.asarray(line.get_ydata())[0])
        assert found == pytest.approx(tuple(row / np.linalg.norm(row)))
    rows = [line for line in axes_of(picture, 2).lines if line.get_marker() == "o"]
    assert [sorted(np.asarray(line.get_xdata())) for line in rows] == [
        sorted(numbers[name].values) for name in ("boundary", "neurons", "flow_boundary", "flow_neurons")
    ]


def test_nothing_is_drawn_where_the_output_is_zero() -> None:
    numbers = kept_numbers("sarussi2021.figure_4")
    leaky, relu = (axes_of(figure_4.draw(numbers), place) for place in (0, 1))
    for axes, zero in ((leaky, False), (relu, True)):
        texts = [text.get_text() for text in axes.texts]
        assert ("N = 0" in texts) == zero
        regions = [path for each in axes.collections for path in each.get_paths() if np.size(path.vertices)]
        assert any(path.contains_point((0.5, -0.5)) for path in regions)
        assert any(path.contains_point((-0.5, -0.6)) for path in regions) != zero


def test_a_panel_in_which_nothing_happens_is_a_sentence() -> None:
    numbers = kept_numbers("sarussi2021.figure_2")
    picture = figure_2.draw(numbers)
    assert f"from large weights it never falls below {percent(1.0)}" in picture.note
    colours = [line.get_color() for line in axes_of(picture, 1).lines]
    assert colours.count(CONTROL) == 3
    assert "99 of 99 points before training" in figure_9.draw(kept_numbers("sarussi2021.figure_9")).note


def test_perfect_agreement_is_shown_until_all_neurons_have_it() -> None:
    numbers = kept_numbers("sarussi2021.figure_8")
    picture = figure_8.draw(numbers)
    assert axes_of(picture, 0).get_xlim() == (0, 20)
    assert "From epoch 20 to 100 all neurons are." in picture.note
    never = numbers.assign(plus_right=numbers.plus_right * 0.9)
    other = figure_8.draw(never)
    assert axes_of(other, 0).get_xlim() == (0, 100)
    assert "all neurons" not in other.note


def test_cells_of_a_map_have_the_colour_and_the_words_of_their_share() -> None:
    numbers = kept_numbers("sarussi2021.figure_2")
    axes = axes_of(figure_2.draw(numbers), 2)
    cells = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    told = [text.get_text() for text in axes.texts if "%" in text.get_text()]
    shares = numbers.map_nonlinear.mean("trial").transpose("slope", "deviation", "step_size").values.ravel()
    assert len(cells) == len(told) == shares.size
    for cell, words, share in zip(cells, told, shares, strict=True):
        assert to_hex(cell.get_facecolor()) == to_hex(mpl.colormaps[SEQUENTIAL](share))
        assert float(words.removesuffix(f"{SPACE}%")) == pytest.approx(100 * share, rel=0.06)
