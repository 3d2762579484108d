"""The drawing of Figure 3, from numbers of the right shape."""

from tests.papers.brutzkus2018.drawings.plausible import WIDTHS, both_layers
from widenet.papers.brutzkus2018.drawings.figure_3 import draw
from widenet.plots.style import render


def test_it_shows_both_ratios_per_width() -> None:
    drawing = draw(both_layers())
    ratios = drawing.axes[2]
    assert len(ratios.lines) == 2 * len(WIDTHS)
    assert ratios.get_yscale() == "log"
    assert "η = 0.3, c = 0.5, C = 31" in render(drawing, "svg").decode()


def test_a_changed_sign_is_shown_below_zero() -> None:
    axes = draw(both_layers(lowest=-2.0)).axes[2]
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylim()[0] < -1
