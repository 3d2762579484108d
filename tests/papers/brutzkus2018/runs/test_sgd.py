"""One run in NumPy against the compiled engine, and what the record says about runs that fail."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2018.toys import three_points
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu
from widenet.networks.arrays import outputs_of
from widenet.papers.brutzkus2018.formulas import both_layers_bound, max_nonzero_updates, root_bound, start_bound
from widenet.papers.brutzkus2018.runs import sgd
from widenet.papers.brutzkus2018.runs.sgd import train_trial, train_trials
from widenet.papers.brutzkus2018.sources import ADVERSARIAL, BasisTrial, RandomTrials, SampleOrder
from widenet.training import SGD, Cyclic, Recipe, train
from widenet.training.small import Recorder
from widenet.types import Dataset, Layers, RunStatus


def drawn(seed, count):
    trials = RandomTrials(seed=seed, n_batches=1, per_batch=count, max_bound=1e3).draw()
    return [dataclasses.replace(trial, order=SampleOrder.CYCLIC) for trial in trials]


def basis(*arguments, **others):
    names = ("dim", "half_width", "slope", "step_size", "output_weight", "row_bound")
    return BasisTrial(**dict(zip(names, arguments, strict=False)), **others).draw()[0]


@pytest.mark.parametrize("layers", list(Layers))
def test_the_ledger_counts_as_the_training_engine_does(layers):
    """Same cyclic runs, once in NumPy and once in the compiled engine: the same T and the same final weights."""
    for trial in drawn(5, 4):
        network = TwoLayer(jnp.asarray(trial.hidden), jnp.asarray(trial.output), None, leaky_relu(trial.slope))
        data = Dataset(jnp.asarray(trial.inputs), jnp.asarray(trial.labels))
        recipe = Recipe(hinge, SGD(trial.step_size, Cyclic()), 20_000, layers=layers)
        trained = train(network, data, recipe, jax.random.key(0))
        kept = train_trial(trial, 20_000, layers)
        assert kept.updates == trained.updates
        assert kept.end is RunStatus.CONVERGED
        np.testing.assert_allclose(kept.hidden, trained.network.hidden_weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kept.output, trained.network.output_weights, rtol=1e-9)


@pytest.mark.parametrize("order", ADVERSARIAL)
def test_orders_that_look_take_active_samples_only(order):
    kept = train_trial(dataclasses.replace(drawn(2, 1)[0], order=order), 10_000)
    assert kept.end is RunStatus.CONVERGED
    assert kept.updates > 0
    assert (kept.margins < 1).all()


def test_hardest_and_easiest_are_what_they_say():
    trial = drawn(2, 1)[0]
    z = trial.inputs @ trial.hidden.T
    margins = trial.labels * (np.where(z >= 0, z, trial.slope * z) @ trial.output)
    hardest = train_trial(dataclasses.replace(trial, order=SampleOrder.HARDEST), 1)
    easiest = train_trial(dataclasses.replace(trial, order=SampleOrder.EASIEST), 1)
    assert hardest.margins[0] == pytest.approx(margins.min(), rel=1e-12)
    assert easiest.margins[0] == pytest.approx(margins[margins < 1].max(), rel=1e-12)


def test_slowest_leaves_the_smallest_cosine():
    trial = dataclasses.replace(drawn(2, 1)[0], order=SampleOrder.SLOWEST)
    chosen = train_trial(trial, 1)
    others = []
    for row in range(len(trial.labels)):
        alone = dataclasses.replace(
            trial, inputs=trial.inputs[[row]], labels=trial.labels[[row]], order=SampleOrder.CYCLIC
        )
        kept = train_trial(alone, 1)
        if kept.updates:
            others.append(kept.alignments[1] / kept.norms[1])
    assert chosen.alignments[1] / chosen.norms[1] == pytest.approx(min(others), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_slowest_takes_the_smallest_cosine_again_and_again(seed):
    """Short and long points, small and large margins: every choice of the run against all updates written out."""
    trial = dataclasses.replace(drawn(seed, 1)[0], order=SampleOrder.SLOWEST)
    stretch = np.where(np.arange(len(trial.labels)) % 2, 1.0, 0.2)[:, None]
    trial = dataclasses.replace(trial, inputs=stretch * trial.inputs, step_size=3.0)
    hidden, stacked = trial.hidden, np.outer(trial.votes, trial.separator)
    for sample in train_trial(trial, 12).samples:
        cosines = np.full(len(trial.labels), np.inf)
        for row, (x, y) in enumerate(zip(trial.inputs, trial.labels, strict=True)):
            z = hidden @ x
            if y * np.where(z >= 0, z, trial.slope * z) @ trial.output < 1:
                pulls = trial.step_size * y * trial.output * np.where(z >= 0, 1.0, trial.slope)
                after = hidden + np.outer(pulls, x)
                cosines[row] = (after * stacked).sum() / np.linalg.norm(after)
        assert cosines[sample] == pytest.approx(cosines.min(), rel=1e-9)
        x, y = trial.inputs[sample], trial.labels[sample]
        z = hidden @ x
        hidden = hidden + np.outer(trial.step_size * y * trial.output * np.where(z >= 0, 1.0, trial.slope), x)


def test_a_ratio_that_was_reached_once_stays():
    """One point and its opposite, k = 1, η = 1: the plus weight rises to 3/2 of itself, then falls again."""
    trial = three_points(
        0.5,
        1.0,
        inputs=np.array([[1.0, 0.0], [-1.0, 0.0]]),
        labels=np.array([1.0, 1.0]),
        separator=np.zeros(2),
        hidden=np.array([[0.5, 0.0], [0.5, 0.0]]),
        output=np.array([1.0, -1.0]),
    )
    kept = train_trial(trial, 2, Layers.BOTH)
    assert kept.samples.tolist() == [0, 1]
    # Row 1 is ½, then 3/2; the weights move by σ(½) = ½, and then by σ(−3/2) = −¾ and σ(½) = ½.
    assert (kept.largest_ratios.tolist(), kept.smallest_ratios.tolist()) == ([1, 1.5, 1.5], [1, 0.5, 0])


def test_a_run_that_blows_up_is_called_diverged_not_converged():
    """Both layers with a large step: margins become NaN, and a NaN is not below 1."""
    trial = basis(6, 4, 0.9, 1e6)
    assert train_trial(trial, 10_000, Layers.BOTH).end in (RunStatus.CONVERGED, RunStatus.DIVERGED)
    huge = dataclasses.replace(trial, hidden=np.full((8, 6), 1e200), output=1e200 * np.sign(trial.output))
    assert train_trial(huge, 100).end is RunStatus.DIVERGED


def test_samples_that_move_nothing_stall_the_run():
    """A point at the origin is never solved, and a ReLU network whose neurons are all off has nothing to move."""
    trial = basis(3, 1, 0.5, 1.0)
    with_origin = dataclasses.replace(trial, inputs=np.vstack([trial.inputs[:2], np.zeros(3)]))
    kept = train_trial(with_origin, 1000)
    assert kept.end is RunStatus.STALLED
    assert 0 < kept.updates < 1000
    dead = dataclasses.replace(trial, slope=0.0, hidden=-np.abs(trial.hidden))
    assert train_trial(dead, 1000).end is RunStatus.STALLED


def test_a_run_that_never_ends_does_not_write_for_ever(monkeypatch):
    monkeypatch.setattr(sgd, "Recorder", functools.partial(Recorder, limit=5))
    trial = dataclasses.replace(basis(2, 1, 0.5, 1.0), inputs=np.ones((2, 2)), labels=np.array([1.0, -1.0]))
    cut = train_trial(trial, 10**9)
    assert (cut.end, cut.updates, len(cut.norms)) == (RunStatus.BUDGET_SPENT, 5, 6)


def test_trials_of_several_shapes_come_back_in_their_order():
    trials = [*drawn(5, 2), basis(3, 2, 0.5, 1.0), *drawn(6, 2)]
    for trial, kept in zip(trials, train_trials(trials, [1000] * 5), strict=True):
        alone = train_trial(trial, 1000)
        assert kept.trial is trial
        assert np.array_equal(kept.samples, alone.samples)
        assert np.array_equal(kept.hidden, alone.hidden)


def test_the_identities_are_what_the_updates_do():
    kept = train_trial(drawn(7, 1)[0], 10_000)
    np.testing.assert_allclose(np.diff(kept.alignments), kept.alignment_gains, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.diff(kept.norms**2), kept.norm_gains, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("slope", "step_size", "samples", "after_one", "at_the_end", "margins", "bounds"),
    [
        (
            0.2,
            1.0,
            "12312",
            (-1 / 4, 53 / 80, 353 / 400),
            (469 / 80, 12197 / 2000),
            (3119 / 2500, 1337 / 1250, 2789 / 2500),
            (122.029252, 141.079972, 167.960777),
        ),
        (
            0.5,
            0.25,
            "123123123123122",
            (-13 / 40, -1 / 2, 3269 / 6400),
            (75 / 16, 12971 / 3200),
            (1751 / 1600, 109 / 100, 1961 / 1600),
            (64.4971263, 91.8973157, 109.79102),
        ),
    ],
)
def test_three_points_by_hand(slope, step_size, samples, after_one, at_the_end, margins, bounds):
    trial = three_points(slope, step_size)
    kept = train_trial(trial, 100)
    assert "".join(str(sample + 1) for sample in kept.samples) == samples
    assert (kept.alignments[0], kept.norms[0] ** 2) == pytest.approx((-15 / 16, 249 / 400), rel=1e-12)
    assert (kept.margins[0], kept.alignments[1], kept.norms[1] ** 2) == pytest.approx(after_one, rel=1e-12)
    assert (kept.alignments[-1], kept.norms[-1] ** 2) == pytest.approx(at_the_end, rel=1e-12)
    last = trial.labels * outputs_of(kept.hidden, kept.output, trial.inputs, slope)
    assert last == pytest.approx(margins, rel=1e-12)
    assert kept.last_margin == pytest.approx(min(margins), rel=1e-12)
    norm, _, eta, weight, _, half = trial.parameters
    start = start_bound(norm, slope, eta, weight, half, kept.alignments[0], kept.norms[0])
    found = (start, root_bound(*trial.parameters), max_nonzero_updates(*trial.parameters))
    assert found == pytest.approx(bounds, rel=1e-8)


def test_three_points_with_both_layers_by_hand():
    kept = train_trial(three_points(0.5, 0.25), 100, Layers.BOTH)
    assert "".join(str(sample + 1) for sample in kept.samples) == "1231231222"
    assert (kept.smallest_ratios[1], kept.largest_ratios[1]) == pytest.approx((19 / 25, 111 / 100), rel=1e-12)
    low, high = kept.smallest_ratios[-1], kept.largest_ratios[-1]
    assert (low, high) == pytest.approx((0.509352568594, 2.83461599977))
    assert kept.last_margin == pytest.approx(1.07715149)
    assert both_layers_bound(*kept.trial.parameters, low, high) == pytest.approx(548.713296)


def test_the_derivative_at_zero_is_one():
    """From W = 0 every neuron is at its kink: after one update F = 2 and G² = 1, with σ'(0) = α 2/5 and 1/25."""
    start = {"hidden": np.zeros((4, 2)), "row_bound": 0.0}
    kept = train_trial(three_points(0.2, 1.0, **start), 100)
    assert "".join(str(sample + 1) for sample in kept.samples) == "12312"
    assert (kept.alignments[1], kept.norms[1] ** 2) == pytest.approx((2, 1), rel=1e-12)
    assert kept.last_margin == pytest.approx(681 / 625, rel=1e-12)
    other = train_trial(three_points(0.2, 1.0, at_zero=0.2, **start), 100)
    assert (other.alignments[1], other.norms[1] ** 2) == pytest.approx((2 / 5, 1 / 25), rel=1e-12)
    assert max_nonzero_updates(*kept.trial.parameters) == pytest.approx(117.1875, rel=1e-12)
