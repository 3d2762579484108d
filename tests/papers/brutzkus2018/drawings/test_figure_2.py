"""The drawing of Figure 2, from numbers of the right shape."""

from tests.papers.brutzkus2018.drawings.plausible import RUNS_PER_WIDTH, both_layers
from widenet.papers.brutzkus2018.drawings.figure_2 import draw
from widenet.plots.style import render


def test_it_names_the_errors_of_figure_1() -> None:
    picture = draw(both_layers())
    svg = render(picture.drawing(), "svg").decode()
    assert ">both layers<" in svg
    assert ">first layer<" in svg
    assert f"{sum(RUNS_PER_WIDTH)} of {sum(RUNS_PER_WIDTH)} reached zero training loss" in picture.note
    assert "Step size 1 here, 10 in Figure 1" in picture.note
