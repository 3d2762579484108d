"""The choices around Figure 1 of brutzkus2019."""

import numpy as np
import pytest
import xarray as xr

from tests.papers.brutzkus2019.figures.rows import verdicts
from tests.papers.brutzkus2019.toy_runs import sampled
from widenet.papers.brutzkus2019.figures.figure_1 import figure_1
from widenet.papers.brutzkus2019.figures.figure_1_laws import (
    CHOICES,
    DEFAULT,
    choice_settings,
    compare_figure_1_laws,
    figure_1_laws_numbers,
    smallest_p,
)
from widenet.papers.brutzkus2019.figures.figure_5 import figure_5
from widenet.records import Scale

FAR = "{1,2,4} or {2,3,4}"


@pytest.fixture(scope="module")
def numbers():
    return figure_1_laws_numbers([sampled(4), sampled(4, law=FAR)])


def test_choices_at_toy_size(numbers):
    """The default is that of Figure 1; counting 0 as + never counts fewer; one law is far off."""
    solved = numbers.solved.isel(channels=0)
    expected = int((sampled(4).train_error == 0).sum())
    assert int(solved.sel(choice=DEFAULT)) == expected
    assert int(solved.sel(choice="all 11 sets, N = 0 counts as +")) >= expected
    assert int(solved.sel(choice="all 11 sets, N = 0 counts as −")) >= expected
    assert verdicts(compare_figure_1_laws(numbers))["choices that agree at every width"] == "AS EXPECTED"
    p_values = dict(zip(numbers.choice.values, smallest_p(numbers), strict=True))
    assert p_values[FAR] < 0.01 <= p_values[DEFAULT]


def test_choices_are_those_whose_runs_are_there(numbers):
    assert numbers.choice.values.tolist() == [
        DEFAULT,
        FAR,
        "all 11 sets, N = 0 counts as +",
        "all 11 sets, N = 0 counts as −",
    ]
    assert len(CHOICES) == 11
    assert len(choice_settings(Scale.QUICK, 0)) == 9 * 4  # three choices count the same runs


def test_runs_are_shared_with_figures_1_and_5():
    own = set(choice_settings(Scale.QUICK, 0))
    for figure, n_shared in ((figure_1, 4), (figure_5, 8)):
        assert len(own & set(figure.reads[0].settings(Scale.QUICK, 0))) == n_shared


def test_control_no_choice_agrees():
    numbers = xr.Dataset(
        {"solved": (("choice", "channels"), np.zeros((2, 1), int))},
        coords={"choice": ["all 11 sets (figure_1)", "other"], "channels": [4]},
        attrs={"n_runs": 100},
    )
    assert set(verdicts(compare_figure_1_laws(numbers)).values()) == {"DIFFERS", "NOT AS EXPECTED"}
