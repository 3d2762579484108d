"""The whole experiment behind Figures 4, 7 and 8 at toy size."""

import jax
import numpy as np
import pytest

from widenet.papers.brutzkus2019.runs import mnist_filters as runs
from widenet.papers.brutzkus2019.runs.mnist_filters import Bench, FilterSetting, filter_settings, run_mnist_filters
from widenet.records import Scale
from widenet.run.records import decode, encode
from widenet.types import RunStatus

TOY = FilterSetting(
    seed=0,
    filter_side=3,
    n_train=60,
    pairs=((0.01, 0.05), (0.05, 0.05)),
    n_runs=3,
    n_wide=2,
    wide_epochs=8,
    narrow_epochs=2,
    n_test=100,
)


@pytest.fixture(scope="module")
def toy():
    seen = []
    return run_mnist_filters(TOY, lambda done, words: seen.append(done)), seen


def test_the_whole_experiment(toy):
    numbers, seen = toy
    assert numbers.learned_error.shape == (2, 3)
    assert numbers.frozen_error.shape == (4, 3)
    assert numbers.trained_angle.shape == (2, 120)
    assert numbers.trained_filters.shape == (120, 9)
    assert seen[0] == 0
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    for name in ("learned_error", "frozen_error", "wide_error"):
        assert ((numbers[name] >= 0) & (numbers[name] <= 1)).all()
    assert float(numbers.wide_error.mean()) < 0.6  # chance is 0.9
    assert int(numbers.diverged) == 0
    assert ((numbers.wide_status == RunStatus.CONVERGED) == (numbers.wide_train_error == 0)).all()
    np.testing.assert_allclose(np.linalg.norm(numbers.trained_filters, axis=1), 1, atol=1e-3)
    assert (np.diff(numbers.trained_cluster) >= 0).all()
    assert int(numbers["size"]) == 60


def test_a_cell_can_hold_it(toy):
    arrays, layout = encode(toy[0])
    assert decode(runs.mnist_filters.result_type, arrays, layout).identical(toy[0])


def test_training_moves_filters_towards_centres(toy):
    numbers, _ = toy
    assert float(numbers.trained_angle.mean()) < float(numbers.untrained_angle.mean()) - 3
    assert abs(float(numbers.other_untrained_angle.mean() - numbers.untrained_angle.mean())) < 3


def test_frozen_filters_are_those_of_the_small_network_to_the_end():
    """The head on responses is the network with these filters: same outputs on an image."""
    bench = Bench(TOY.model_copy(update={"dtype": "float64", "n_train": 10, "n_test": 1}))
    keys, _ = bench.keys(runs.FROZEN_RUNS, 2)
    networks = bench.networks(keys, 4, 0.05)
    image = bench.test.images
    responses = runs.responses_to(networks.filters, image)
    for run in range(2):
        network = jax.tree.map(lambda leaf, run=run: leaf[run], networks)
        np.testing.assert_allclose(network.head(responses[run, 0]), network(image[0]), rtol=1e-12)


def test_smaller_training_sets_are_the_beginnings_of_larger_ones():
    small, large = (runs.load_digits("train", count, 3, "float32") for count in (5, 9))
    np.testing.assert_array_equal(small.images, large.images[:5])
    np.testing.assert_array_equal(small.classes, large.classes[:5])
    with pytest.raises(ValueError, match="not 20000"):
        runs.load_digits("test", 20_000, 0, "float32")


@pytest.mark.parametrize("side", [3, 4, 7])
def test_scales(side):
    paper, quick = (filter_settings(scale, 0, side) for scale in (Scale.PAPER, Scale.QUICK))
    assert [setting.n_train for setting in paper] == [1000, 2000, 6000]
    assert {setting.filter_side for setting in (*paper, *quick)} == {side}
    assert all(len(setting.pairs) == 6 and setting.n_runs == 20 for setting in paper)
