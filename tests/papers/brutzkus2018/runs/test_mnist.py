"""The runs on MNIST: what they record, and that a run is the same whoever else runs beside it."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.papers.brutzkus2018.runs import mnist
from widenet.papers.brutzkus2018.runs.mnist import (
    MnistSetting,
    epochs_looked_at,
    load_split,
    mnist_both_layers_settings,
    mnist_reference_settings,
    mnist_settings,
    run_mnist,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.training import Permutation
from widenet.types import Layers, RunStatus


def test_runs_reach_zero_loss_and_their_errors_say_so():
    for runs in toys.first_layer():
        assert runs.finished.all()
        assert (runs.train_error[:, -1] == 0).all()
        assert (runs.train_error[:, 0] > 0.2).any()
        assert runs.ratios is None


def test_progress_grows_to_one():
    seen = []
    setting = MnistSetting(width=4, n_runs=2, step_size=10.0, layers=Layers.HIDDEN, max_epochs=200, **toys.IMAGES)
    run_mnist(setting, lambda done, words: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)


@pytest.mark.parametrize(("layers", "step_size"), [(Layers.HIDDEN, 10.0), (Layers.BOTH, 1.0)])
def test_a_run_does_not_depend_on_how_many_there_are_beside_it(layers, step_size):
    """Figures read the first runs of each other's cells, so this must hold bit for bit."""
    few = toys.mnist_runs(4, layers, step_size, n_runs=2)
    first = toys.mnist_runs(4, layers, step_size, n_runs=3).first(2)
    assert first.setting == few.setting
    looks = min(len(few.epochs), len(first.epochs))
    for name in ("updates", "zero_loss_epoch", "status"):
        np.testing.assert_array_equal(getattr(first, name), getattr(few, name))
    for name in ("train_error", "test_error"):
        np.testing.assert_array_equal(getattr(first, name)[:, :looks], getattr(few, name)[:, :looks])
        np.testing.assert_array_equal(getattr(first, name)[:, -1], getattr(few, name)[:, -1])
    if few.ratios is not None and first.ratios is not None:
        np.testing.assert_array_equal(first.ratios.smallest_ever, few.ratios.smallest_ever)
        np.testing.assert_array_equal(first.ratios.largest[:, :looks], few.ratios.largest[:, :looks])


def test_numbers_count_from_the_first_run():
    late = run_mnist(
        MnistSetting(
            width=4, n_runs=1, step_size=10.0, layers=Layers.HIDDEN, max_epochs=200, first_run=1, **toys.IMAGES
        ),
        silent,
    )
    np.testing.assert_array_equal(late.updates, toys.mnist_runs(4, Layers.HIDDEN, 10.0).updates[1:])


def test_c_and_C_are_at_least_as_extreme_as_the_looks():
    for runs in toys.both_layers():
        ratios = runs.ratios
        assert ratios is not None
        # A compiler may divide by multiplying with the reciprocal, so 1 in float32 need not be exact.
        np.testing.assert_allclose(ratios.smallest[:, 0], 1, rtol=1e-6)
        np.testing.assert_allclose(ratios.largest[:, 0], 1, rtol=1e-6)
        assert (ratios.smallest_ever <= ratios.smallest.min(axis=1)).all()
        assert (ratios.largest_ever >= ratios.largest.max(axis=1)).all()
        assert (ratios.smallest_ever < 1).all()
        assert (ratios.largest_ever > 1).all()


def test_both_layers_follow_the_rule_written_out():
    """One epoch from the same start in the same order, in NumPy, one update after the other: T, c and C agree."""
    setting = toys.mnist_runs(4, Layers.BOTH, 0.3).setting.model_copy(update={"max_epochs": 1, "n_runs": 1})
    runs = run_mnist(setting, silent)
    images = load_split(setting.n_train, setting.n_test, setting.dtype).train
    network, key = mnist._start(0, 4 * mnist.RUNS_OF_A_WIDTH, 4, images.dim, 0.2, setting.dtype)
    inputs, labels = np.asarray(images.inputs, np.float64), np.asarray(images.labels, np.float64)
    hidden, output = (np.asarray(each, np.float64) for each in (network.hidden_weights, network.output_weights))
    first, updates, low, high = output, 0, 1.0, 1.0
    for row in np.asarray(Permutation().epoch(key, jnp.int32(0), setting.n_train, 1)).ravel():
        z = hidden @ inputs[row]
        features, slopes = np.where(z >= 0, z, 0.2 * z), np.where(z >= 0, 1.0, 0.2)
        if labels[row] * (features @ output) < 1:
            push = 0.3 * labels[row]
            hidden, output = hidden + push * np.outer(output * slopes, inputs[row]), output + push * features
            updates, low = updates + 1, min(low, (output / first).min())
            high = max(high, (output / first).max())
    assert runs.ratios is not None
    assert runs.updates[0] == updates > 50
    assert runs.status[0] == RunStatus.BUDGET_SPENT
    assert runs.ratios.smallest_ever[0] == pytest.approx(low, rel=1e-4)
    assert runs.ratios.largest_ever[0] == pytest.approx(high, rel=1e-4)


def test_images_lie_in_the_unit_ball_and_are_separated():
    found = toys.separator()
    assert found.separable
    assert found.largest_input <= 1
    assert found.smallest_margin == pytest.approx(1, abs=1e-6)


def test_the_last_epoch_is_looked_at():
    assert epochs_looked_at(12) == [*range(11), 12]
    assert epochs_looked_at(20) == [*range(11), 15, 20]


@pytest.mark.parametrize("scale", list(Scale))
def test_figures_share_their_cells(scale):
    own = mnist_settings(scale, 0)
    assert all(setting in own for setting in mnist_reference_settings(scale, 0))
    assert [setting.width for setting in mnist_reference_settings(scale, 0)] == [
        setting.width for setting in mnist_both_layers_settings(scale, 0)
    ]


def test_paper_scale_has_forty_runs_of_each_width():
    for settings in (mnist_settings, mnist_both_layers_settings):
        assert [setting.n_runs for setting in settings(Scale.PAPER, 0)] == [40, 40, 40]
