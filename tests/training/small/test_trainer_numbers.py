"""What the small trainer keeps between updates, against what it would be computed afresh."""

import numpy as np
import pytest

from widenet.losses import cross_entropy, hinge, logistic
from widenet.training.small import SmallNetworks, cyclic, train_small, trainer
from widenet.types import RunStatus

from .test_trainer import INPUTS, labels, parts, starts


def followed(networks, inputs, n_runs=1, order=None, max_updates=9):
    """(pre-activations as they were kept, and computed afresh) after each update."""
    kept, afresh = [], []

    def keep(update):
        kept.append(update.preactivations.copy())
        z = update.networks.preactivations(inputs if inputs.ndim == 2 else inputs[update.runs])
        afresh.append(z)

    train_small(
        networks, inputs, labels(n_runs), step_size=0.3, max_updates=max_updates, order=order or cyclic(), watch=keep
    )
    return kept, afresh


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("most", [0, 2**23])
@pytest.mark.parametrize("own", [False, True])
def test_preactivations_follow_the_weights(monkeypatch, bias, most, own):
    """With biases and without, products kept or not, points of all runs or of each."""
    monkeypatch.setattr(trainer, "PRODUCTS", most)
    inputs = np.stack([INPUTS, 2 * INPUTS]) if own else INPUTS
    kept, afresh = followed(starts(2, bias=bias), inputs, n_runs=2)
    assert len(kept) == 9
    for mine, exact in zip(kept, afresh, strict=True):
        np.testing.assert_allclose(mine, exact, atol=1e-14)


def test_they_are_computed_afresh_now_and_then(monkeypatch):
    """Rounding adds up in between: inputs of very different sizes show it at once."""
    monkeypatch.setattr(trainer, "REFRESH", 3)
    kept, afresh = followed(starts(), INPUTS * np.array([1.0, 1 / 3, 1e-9]) / 7)
    same = [bool((mine == exact).all()) for mine, exact in zip(kept, afresh, strict=True)]
    assert [same[2], same[5], same[8]] == [True] * 3
    assert not all(same)


def test_an_order_is_shown_no_sample_that_no_neuron_sees():
    """Both neurons are at a negative pre-activation of the second point; at 0 the derivative would be 1."""
    shown = []

    def order(look):
        shown.append(look.active.tolist())
        return np.zeros(len(look.runs), int)

    networks = SmallNetworks(np.array([[[0.1, -1.0], [0.2, -2.0]]]), np.array([[1.0, -0.5]]), 0.0, 1.0, None)
    inputs = np.array([[1.0, 0.0], [0.0, 1.0]])
    runs = train_small(networks, inputs, np.ones((1, 2)), step_size=2.0, max_updates=5, order=order, loss=hinge)
    assert shown
    assert all(active == [[True, False]] for active in shown)
    assert runs.status.tolist() == [RunStatus.STALLED]


def test_what_does_not_fit_is_refused_before_the_first_step():
    asked = {"step_size": 0.3, "max_updates": 2, "order": cyclic()}
    with pytest.raises(ValueError, match="the small trainer knows"):
        train_small(starts(2), INPUTS, labels(2), loss=cross_entropy, **asked)
    with pytest.raises(ValueError, match="2 networks on 3 inputs do not fit"):
        train_small(starts(2), INPUTS[:, :2], labels(2), **asked)


@pytest.mark.parametrize("bias", [False, True])
def test_what_is_left_is_where_the_last_update_led(bias):
    last = {}

    def keep(update):
        last.update(zip(update.runs.tolist(), parts(update.networks).copy(), strict=True))

    runs = train_small(
        starts(2, bias=bias), INPUTS, labels(2), step_size=0.3, max_updates=6, order=cyclic(), loss=logistic, watch=keep
    )
    np.testing.assert_array_equal(parts(runs.networks), [last[0], last[1]])
    assert (parts(runs.networks) != parts(starts(2, bias=bias))).any(axis=(0, 1))[:3].all()
