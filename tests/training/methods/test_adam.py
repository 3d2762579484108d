"""Adam against a loop in NumPy that writes out its moments."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.training.methods.by_hand import train_by_hand
from tests.training.problems import networks, run_keys, toy
from widenet.losses import logistic
from widenet.training import Adam, Cyclic, Permutation, Recipe, Record, ensemble

STEPS, BATCH = 25, 5


def by_hand(nets, run, key, order, step_size, decay=(0.9, 0.999)):
    """W ← W − η m̂/(√v̂ + ε), with m and v running means of the gradient and its square."""
    length = order.steps_per_epoch(toy().n_samples, BATCH)
    epochs = range(-(-STEPS // length))
    rows = np.concatenate([order.epoch(key, jnp.asarray(epoch), toy().n_samples, BATCH) for epoch in epochs])[:STEPS]
    moments = {}

    def change(gradients, log_loss, taken):
        changes = []
        for place, gradient in enumerate(gradients):
            mean, square = moments.get(place, (np.zeros_like(gradient), np.zeros_like(gradient)))
            mean = decay[0] * mean + (1 - decay[0]) * gradient
            square = decay[1] * square + (1 - decay[1]) * gradient**2
            moments[place] = mean, square
            corrected = mean / (1 - decay[0] ** (taken + 1)), square / (1 - decay[1] ** (taken + 1))
            changes.append(step_size * corrected[0] / (np.sqrt(corrected[1]) + 1e-8))
        return changes

    batches = [(np.asarray(toy().inputs)[chosen], np.asarray(toy().labels)[chosen]) for chosen in rows]
    path, _ = train_by_hand(nets, run, batches, change, both=True)
    return np.stack([np.concatenate([part.ravel() for part in parts]) for parts in path])


def trained(nets, n_runs, order, step_size=0.02):
    def weights(now):
        return jnp.concatenate([now.network.hidden_weights.ravel(), now.network.output_weights, now.network.bias])

    recipe = Recipe(logistic, method=Adam(step_size, order, BATCH), max_steps=STEPS, layers="both")
    record = Record(range(STEPS + 1), {"weights": weights})
    return ensemble(nets, toy(), recipe, run_keys(n_runs), record=record)


@pytest.mark.parametrize("order", [Permutation(), Cyclic()], ids=lambda order: type(order).__name__)
def test_agrees_with_the_loop_by_hand_at_every_step(order):
    nets, keys = networks(2, bias=True), run_keys(2)
    runs = trained(nets, 2, order)
    for run in range(2):
        expected = by_hand(nets, run, keys[run], order, 0.02)
        np.testing.assert_allclose(runs.records["weights"][run], expected, rtol=0, atol=1e-12)
    assert (runs.updates == STEPS).all()


@pytest.mark.parametrize("wrong", [{"decay": (0.9, 0.99)}, {"decay": (0.8, 0.999)}, {"step_size": 0.02001}])
def test_control_another_adam_is_noticed(wrong):
    nets, keys = networks(2, bias=True), run_keys(2)
    expected = by_hand(nets, 0, keys[0], Permutation(), **{"step_size": 0.02, **wrong})
    assert np.abs(trained(nets, 2, Permutation()).records["weights"][0] - expected).max() > 1e-6
