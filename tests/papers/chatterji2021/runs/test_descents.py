"""The ledger of gradient descent against values computed apart, and against the engine."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.chatterji2021.toys import axes_run
from widenet.diagnostics.huberized import HuberNetwork, gradient, log_mean_loss
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, plus_minus
from widenet.papers.chatterji2021.formulas import rate_constant
from widenet.papers.chatterji2021.runs.descents import (
    LogisticDescentSetting,
    descend,
    descent_settings,
    run_descent,
)
from widenet.papers.chatterji2021.runs.starts import dual_start, isolating_start, stretched
from widenet.papers.chatterji2021.sources import Axes, Sphere
from widenet.progress import silent
from widenet.records import Scale
from widenet.training import GradientDescent, LogSquared, Recipe, Record, train
from widenet.types import Dataset, RunStatus


@pytest.mark.parametrize(
    ("given", "square", "scale", "rate", "step", "second", "last", "slacks", "bound"),
    [
        (
            (2, 2, 1e-7), 535.829107204, 0.0307877337455, 2.24420537004e-7, 7.9984379412, 3.99921777099e-7,
            2.35948715098e-5, (1.7820202303, 1.78202279478), 1.32406363665e-5,
        ),
        (
            (3, 5, 2e-8), 953.462857792, 0.0123150934982, 1.47643202348e-8, 3.87020835372, 2.58013881759e-8,
            1.52227975282e-6, (1.74755006877, 1.74755021629), 8.71094135049e-7,
        ),
    ],
)  # fmt: skip
def test_pinned_runs(given, square, scale, rate, step, second, last, slacks, bound):
    made = axes_run(*given)
    assert made.norms[0] ** 2 == pytest.approx(square, rel=1e-11)
    assert made.step_scale == pytest.approx(scale, rel=1e-11)
    allowed = rate_constant(made.step_scale, made.norms[0], made.losses[0])
    assert allowed == pytest.approx(rate, rel=1e-10)
    assert made.steps[0] == pytest.approx(step, rel=1e-11)
    assert -np.expm1(-made.gained[[1, 59]]) == pytest.approx([second, last], rel=1e-11)
    assert np.expm1(made.gained[[1, 59]]) / (allowed * np.array([1, 59])) == pytest.approx(slacks, rel=1e-10)
    assert 1 - 1 / (allowed * 59 + 1) == pytest.approx(bound, rel=1e-9)


def test_what_is_kept_is_what_happens():
    """Iterate by iterate, by adding steps to the weights, where the loss is large enough for that."""
    points, labels = Sphere(n_samples=4, dim=3).draw(0)
    start = isolating_start(points, labels, 3, 1e-3)
    assert start is not None
    made = descend(start, points, labels, n_steps=40)
    weights = start.weights
    for at in range(41):
        net = HuberNetwork(weights, start.bandwidth)
        slope = gradient(net, points, labels)
        margins = net.margins(points, labels)
        assert made.log_losses[at] == pytest.approx(float(log_mean_loss(margins)), rel=1e-12)
        assert made.norms[at] == pytest.approx(net.norm, rel=1e-12)
        assert made.gradient_norms[at] == pytest.approx(float(np.linalg.norm(slope)), rel=1e-10)
        assert made.alignments[at] == pytest.approx(-float((slope * weights).sum()), rel=1e-10)
        assert made.largest_margins[at] == pytest.approx(margins.max(), rel=1e-12)
        if at < 40:
            assert made.steps[at] == pytest.approx(made.step_scale * made.log_losses[at] ** 2, rel=1e-12)
            weights = weights - made.steps[at] * slope
    np.testing.assert_allclose(made.gains, -np.diff(made.log_losses), rtol=1e-9)
    np.testing.assert_allclose(made.stretches, np.diff(np.log(made.norms)), rtol=1e-7)


def engine(start, points, labels, scale, n_steps):
    """The same run by the engine, with the log of the loss at every step."""
    net = TwoLayer(
        jnp.asarray(start.weights), plus_minus(len(start.weights), 1.0), None, huberized_relu(start.bandwidth)
    )
    recipe = Recipe(logistic, method=GradientDescent(LogSquared(scale)), max_steps=n_steps)

    def weights(now):
        return now.network.hidden_weights

    record = Record((0, 1, n_steps), {"weights": weights})
    return train(net, Dataset(jnp.asarray(points), jnp.asarray(labels)), recipe, jax.random.key(0), record=record)


def test_the_engine_takes_the_same_path():
    points, labels = Sphere(n_samples=2, dim=2).draw(0)
    start = dual_start(points, labels, 4, 6e-7, spread=0.1, background=0.1, seed=0)
    made = descend(start, points, labels, n_steps=200)
    run = engine(start, points, labels, made.step_scale, 200)
    reached = HuberNetwork(np.asarray(run.records["weights"][-1]), start.bandwidth)
    went = float(log_mean_loss(reached.margins(points, labels))) - made.log_losses[0]
    assert went == pytest.approx(-made.gained[-1], rel=1e-8)
    assert np.linalg.norm(reached.weights) == pytest.approx(made.norms[-1], rel=1e-13)


def test_where_float64_ends_the_engine_says_so_and_the_ledger_goes_on():
    """At L = 1e-40 a step is far below the last digit of the weights."""
    points, labels = Axes(n_samples=2).draw(0)
    start = dual_start(points, labels, 2, 1e-40, spread=0.0, background=0.0, seed=0)
    made = descend(start, points, labels, n_steps=300)
    run = engine(start, points, labels, made.step_scale, 300)
    assert int(run.status) == RunStatus.FROZEN
    assert (made.gains > 0).all()
    # Every step of this run is the first one again, as far as float64 can tell.
    np.testing.assert_allclose(made.gains, made.gains[0], rtol=1e-12)


def test_a_loss_that_leaves_float64_ends_the_run():
    start = HuberNetwork(800.0 * np.eye(4, 2), 0.5)
    made = descend(start, np.eye(2), np.ones(2), n_steps=10, step_scale=1e-3)
    assert len(made.norms) == 1
    assert made.steps.shape == (0,)
    assert made.left_float64
    assert not axes_run().left_float64


@pytest.mark.parametrize(("spread", "background"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.1), (0.3, 0.3)])
def test_a_dual_start_has_the_loss_it_was_asked_for(spread, background):
    points, labels = Sphere(n_samples=4, dim=6).draw(3)
    start = dual_start(points, labels, 4, 9e-9, spread=spread, background=background, seed=1)
    assert float(log_mean_loss(start.margins(points, labels))) == pytest.approx(np.log(9e-9), rel=1e-12)
    margins = start.margins(points, labels)
    assert (np.ptp(margins) < 1e-9) == (spread == background == 0)


@pytest.mark.parametrize("seed", range(3))
def test_an_isolating_start_has_the_loss_it_was_asked_for(seed):
    points, labels = Sphere(n_samples=9, dim=2).draw(seed)
    start = isolating_start(points, labels, 5, 1e-9)
    assert start is not None
    assert float(log_mean_loss(start.margins(points, labels))) == pytest.approx(np.log(1e-9), rel=1e-12)
    assert isolating_start(points, labels, 4, 1e-9) is None


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit their data"):
        stretched(np.array([[1.0, 0.0], [0.0, 1.0]]), 1.0, np.eye(2), np.ones(2), 1e-6)


def test_a_setting_without_a_start_is_refused():
    points = Sphere(n_samples=9, dim=2)
    with pytest.raises(ValueError, match="too close"):
        run_descent(LogisticDescentSetting(points=points, half_width=1, start="isolating", start_loss=1e-9), silent)


def test_quick_settings_cover_what_the_theorem_is_about():
    settings = descent_settings(Scale.QUICK, 0)
    assert {setting.half_width for setting in settings} >= {1, 4, 50}
    assert any(setting.step_share < 1 for setting in settings)
    assert any(setting.rate_share < 1 for setting in settings)
    assert max(setting.n_steps for setting in settings) >= 10_000
    drawn = [setting.points.draw(0)[1] for setting in settings]
    assert {len(labels) for labels in drawn} >= {2, 3, 4, 8, 64}
    assert any((labels < 0).any() for labels in drawn)
