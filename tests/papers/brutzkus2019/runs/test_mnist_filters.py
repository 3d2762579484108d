"""The whole experiment behind Figures 4, 7 and 8 at toy size."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from widenet.networks.conv_classifier import ConvClassifier, cut_patches, make_conv_classifier
from widenet.papers.brutzkus2019.runs import mnist_filters as runs
from widenet.papers.brutzkus2019.runs.mnist_filters import Bench, FilterSetting, filter_settings, run_mnist_filters
from widenet.records import Scale
from widenet.run.records import decode, encode
from widenet.training import Permutation
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


SIDE, N_SAMPLES, KEYS = 6, 20, jax.random.split(jax.random.key(7), 2)


def light() -> tuple[jax.Array, jax.Array]:
    """Three classes that differ in where the light is."""
    draw = np.random.default_rng(0)
    classes = draw.integers(0, 3, N_SAMPLES).astype(np.int32)
    images = 0.1 * draw.random((N_SAMPLES, SIDE, SIDE))
    images[np.arange(N_SAMPLES), 2 * classes] += 1
    return jnp.asarray(images), jnp.asarray(classes)


IMAGES, CLASSES = light()
NETWORKS = jax.vmap(lambda key: make_conv_classifier(key, 2, 3, 0.3, image_side=SIDE, dtype=jnp.float64))(KEYS)


def trained(epochs: int, step_size: float = 0.05, networks=NETWORKS, **others):
    patches = jnp.asarray(cut_patches(np.asarray(IMAGES), 3))
    return runs.train(networks, patches, CLASSES, epochs, step_size, KEYS, ConvClassifier.on_patches, **others)


def by_hand(run: int, epochs: int, step_size: float):
    """The same run, one step after the other, by equinox's convolution and optax's Adam; batches of two."""
    network, optimizer = jax.tree.map(lambda leaf: leaf[run], NETWORKS), optax.adam(step_size)
    state = optimizer.init(eqx.filter(network, eqx.is_array))

    @jax.jit
    def step(network, state, rows):
        def loss(network):
            outputs = jax.vmap(network)(IMAGES[rows])
            return -jax.nn.log_softmax(outputs)[jnp.arange(len(rows)), CLASSES[rows]].mean()

        updates, state = optimizer.update(jax.grad(loss)(network), state)
        return optax.apply_updates(network, updates), state

    for epoch in range(epochs):
        for rows in Permutation().epoch(KEYS[run], jnp.asarray(epoch), N_SAMPLES, 2):
            network, state = step(network, state, rows)
    return network


def largest_difference(run: int, theirs) -> float:
    mine = jax.tree.map(lambda leaf: leaf[run], trained(3).network)
    pairs = zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True)
    return max(float(jnp.abs(one - other).max()) for one, other in pairs)


def test_training_agrees_with_a_loop_by_hand():
    for run in range(2):
        assert largest_difference(run, by_hand(run, 3, 0.05)) < 1e-9


def test_control_another_step_is_noticed():
    assert largest_difference(0, by_hand(0, 3, 0.0501)) > 1e-5


def test_a_run_goes_on_for_two_epochs_after_the_fit():
    whole, long = trained(60, 0.01), trained(60, 0.01, until_fit=True)
    assert whole.epochs.tolist() == [60, 60]
    assert (long.status == RunStatus.CONVERGED).all()
    assert (long.train_error == 0).all()
    for run, epochs in enumerate(long.epochs):
        before, fit = trained(int(epochs) - 3, 0.01), trained(int(epochs) - 2, 0.01)
        assert before.train_error[run] > 0 == fit.train_error[run]
    assert (trained(1, 0.01).status == RunStatus.BUDGET_SPENT).all()


def test_a_network_that_is_no_longer_finite_has_diverged_and_is_wrong_everywhere():
    weights = NETWORKS.output.weight.at[1].set(jnp.nan)
    broken = trained(2, networks=eqx.tree_at(lambda net: net.output.weight, NETWORKS, weights))
    assert broken.status[1] == RunStatus.DIVERGED != broken.status[0]
    assert broken.train_error[1] == 1


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
