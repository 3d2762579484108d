"""What a user chooses is what is run, and what cannot be honoured is said."""

import numpy as np
import pytest

from tests.papers.sarussi2021 import toys
from widenet.claims.base import NotApplicable
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers import find_claim
from widenet.papers.sarussi2021.runs import flows
from widenet.papers.sarussi2021.runs.problems import draw_problem

CHOSEN = {"n_runs": 3, "n_neurons": 6, "slope": 0.4, "step_size": 0.7, "init_scale": 2.5, "seed": 11}
SGD = ("theorem_4_1", "equation_10", "theorem_5_1")
"""One claim of each experiment about SGD; the others read the same cells."""


def settings(name, points=toys.E1[0], **chosen):
    return find_claim(f"sarussi2021.{name}").on(UserData(from_arrays(points, toys.E1[1]), Choices(**chosen)))


@pytest.mark.parametrize("name", SGD)
def test_runs_of_sgd_are_those_that_were_chosen(name):
    (setting,) = settings(name, **CHOSEN)
    shape = (setting.n_runs, setting.half_width, setting.slope, setting.step_size, setting.seed)
    assert (*shape, setting.row_length) == (3, 3, 0.4, 0.7, 11, 2.5)


@pytest.mark.parametrize("name", SGD[:2])
def test_rows_start_with_the_chosen_length(name):
    (setting,) = settings(name, **CHOSEN)
    problem = draw_problem(setting)
    assert problem.networks.hidden.shape == (3, 6, 2)
    np.testing.assert_allclose(np.linalg.norm(problem.networks.hidden, axis=2), 2.5, rtol=1e-12)
    (free,) = settings(name)
    assert free.row_length is None
    assert free.deviations == (1e-3, 1.0)


def test_networks_that_are_asked_start_with_it_too(monkeypatch):
    from widenet.papers.sarussi2021.runs import clouds
    from widenet.progress import silent

    starts, honest = [], clouds.draw_problem
    monkeypatch.setattr(clouds, "draw_problem", lambda setting: starts.append(honest(setting)) or starts[0])
    (setting,) = settings("theorem_5_1", **CHOSEN, max_updates=2)
    clouds.run_clouds(setting, silent)
    np.testing.assert_allclose(np.linalg.norm(starts[0].networks.hidden, axis=2), np.full((3, 6), 2.5), rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_gradient_flow_starts_with_the_chosen_length_on_the_scale_of_the_data(scale):
    """It runs on points that are multiplied by `factor`, so rows are divided by it: ⟨w, x⟩ is what it was."""
    (setting,) = settings("smoothed_margin_order", scale * toys.E1[0], **CHOSEN)
    assert [case.seed for case in setting.cases] == [11, 12, 13]
    assert (setting.half_width, setting.cases[0].slope) == (3, 0.4)
    for case in setting.cases:
        rows = flows._start(case, case.factor * scale * toys.E1[0], toys.E1[1], 3, 0.4)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1) * case.factor, 2.5, rtol=1e-12)
    (free,) = settings("smoothed_margin_order")
    assert [case.row_length for case in free.cases] == [None]


@pytest.mark.parametrize("name", SGD)
def test_fewer_updates_than_an_epoch_has_are_too_few(name):
    said = settings(name, max_updates=1)
    assert isinstance(said, NotApplicable)
    assert said == "It is about whole epochs, of 2 updates here, and max_updates allows 1."


@pytest.mark.parametrize("name", SGD)
@pytest.mark.parametrize(("allowed", "epochs"), [(2, 1), (3, 1), (4, 2), (7, 3)])
def test_no_run_makes_more_updates_than_are_allowed(name, allowed, epochs):
    (setting,) = settings(name, max_updates=allowed)
    assert (setting.n_epochs if name == "equation_10" else setting.most_epochs) == epochs
