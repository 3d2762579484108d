"""The numbers of Figures 4, 7 and 8 of brutzkus2019 from their cells."""

import numpy as np
import pytest

from tests.papers.brutzkus2019.figures.made_up_filters import cell
from widenet.papers.brutzkus2019.figures.figure_4 import figure_4
from widenet.papers.brutzkus2019.figures.figure_7 import figure_7
from widenet.papers.brutzkus2019.figures.figure_8 import figure_8
from widenet.papers.brutzkus2019.figures.mnist_filters import filter_numbers
from widenet.records import Scale


def test_sizes_stand_beside_each_other_and_one_is_clustered():
    cells = [cell(500), cell(1000)]
    numbers = filter_numbers(cells, 500)
    assert numbers["size"].values.tolist() == [500, 1000]
    assert numbers.learned_error.shape == (2, 2, 3)
    np.testing.assert_array_equal(numbers.frozen_error.sel(size=1000), cells[1].frozen_error)
    np.testing.assert_array_equal(numbers.trained_filters, cells[0].trained_filters)
    assert numbers.attrs["clustered_size"] == 500
    assert int(numbers.diverged) == 2


def test_without_the_asked_size_the_largest_is_clustered():
    numbers = filter_numbers([cell(500), cell(1000)], 6000)
    assert numbers.attrs["clustered_size"] == 1000
    np.testing.assert_array_equal(numbers.trained_cluster, cell(1000).trained_cluster)


@pytest.mark.parametrize(("figure", "side", "size"), [(figure_4, 3, 6000), (figure_7, 4, 2000), (figure_8, 7, 2000)])
def test_figures_have_their_sides_and_sizes(figure, side, size):
    settings = figure.reads[0].settings(Scale.PAPER, 0)
    assert {setting.filter_side for setting in settings} == {side}
    numbers = figure.reduce([cell(setting.n_train) for setting in settings])
    assert numbers.attrs["clustered_size"] == size
    assert figure.drawing == "mnist_filters"
