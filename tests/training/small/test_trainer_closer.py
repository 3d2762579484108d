"""The small trainer on linear networks, N(x) = ⟨w, x⟩, where every look and every end can be told by hand."""

import numpy as np
import pytest

from widenet.losses import logistic
from widenet.training.small import SmallNetworks, cyclic, train_small, trainer
from widenet.types import Layers, RunStatus


def linear(rows, **others):
    """One neuron of slope 1. On unit vectors a step of size 1 adds the label to one entry of w."""
    hidden = np.array(rows, float)[:, None, :]
    return SmallNetworks(hidden, np.ones((len(hidden), 1)), 1.0, 1.0, **others)


class Shown:
    """An order that takes the first active sample, or the last, and keeps what each run was shown."""

    def __init__(self, take=np.argmax):
        self.take, self.active, self.margins = take, {}, {}

    def __call__(self, look):
        for run, active, margins in zip(look.runs.tolist(), look.active, look.margins, strict=True):
            self.active.setdefault(run, []).append("".join("+" if each else "." for each in active))
            self.margins.setdefault(run, []).append(margins.tolist())
        return np.array([self.take(active) for active in look.active])


def last_active(active):
    return int(np.flatnonzero(active)[-1])


def trained(networks, watch=None, order=None, **others):
    n_runs = len(networks)
    asked = {"step_size": 1.0, "max_updates": 50, **others}
    return train_small(networks, np.eye(3), np.ones((n_runs, 3)), order=order or cyclic(), watch=watch, **asked)


def test_a_sample_found_idle_is_not_offered_again_while_the_weights_rest():
    """After its only update the kept numbers of the first run are ten too low. The other run goes on beside it."""
    order, seen = Shown(), []

    def astray(update):
        seen.append((update.runs.tolist(), update.updates.tolist(), update.samples.tolist(), update.margins.tolist()))
        if len(seen) == 1:
            update.preactivations[0] -= 10

    runs = trained(linear([[0, 5, 5], [-9, 5, 5]]), astray, order)
    assert order.active == {0: ["+..", "+++", ".++", "..+"], 1: ["+.."] * 10}
    assert order.margins[0] == [[0, 5, 5], [-9, -5, -5], [1, -5, -5], [1, 5, -5]]
    assert order.margins[1] == [[first, 5, 5] for first in range(-9, 1)]
    assert seen == [([0, 1], [1, 1], [0, 0], [0, -9]), *(([1], [n], [0], [n - 10]) for n in range(2, 11))]
    assert runs.updates.tolist() == [1, 10]
    assert runs.status.tolist() == [RunStatus.CONVERGED] * 2
    assert runs.margins.tolist() == [[1, 5, 5]] * 2
    assert runs.networks.hidden.tolist() == [[[1, 5, 5]]] * 2


def test_it_is_offered_again_once_they_have_moved():
    """The third sample only seems unsolved: found idle, looked at again after the update on the second, idle again."""
    order, seen = Shown(last_active), []

    def astray(update):
        seen.append(update.samples.tolist())
        if len(seen) == 1:
            update.preactivations[0, 2] -= 10

    runs = trained(linear([[0, 0, 5]]), astray, order)
    assert order.active == {0: ["++.", "+.+", "+..", "..+"]}
    assert seen == [[1], [0]]
    assert runs.status.tolist() == [RunStatus.CONVERGED]


def test_a_run_that_seems_solved_is_looked_at_afresh_whatever_the_others_do():
    def astray(update):
        if update.runs[0] == 0 and update.updates[0] == 1:
            update.preactivations[0] += 10

    order = Shown()
    runs = trained(linear([[-2, 5, 5], [-9, 5, 5]]), astray, order)
    assert runs.updates.tolist() == [3, 10]
    assert runs.status.tolist() == [RunStatus.CONVERGED] * 2
    assert order.margins[0] == [[-2, 5, 5], [-1, 5, 5], [0, 5, 5]]


def test_how_much_is_done_where_one_run_has_ended(monkeypatch):
    """The first run is solved before its first update: it counts whole. The other takes four updates of four."""
    monkeypatch.setattr(trainer, "REPORT", 1)
    told = []
    runs = trained(
        linear([[5, 5, 5], [-9, 5, 5]]), max_updates=4, progress=lambda share, words: told.append((share, words))
    )
    assert runs.status.tolist() == [RunStatus.CONVERGED, RunStatus.BUDGET_SPENT]
    assert runs.updates.tolist() == [0, 4]
    assert [share for share, _ in told] == [0.625, 0.75, 0.875, 1, 1, 1]
    assert {words for _, words in told} == {"2 small networks"}


DEAD = {
    "no answers": {"output": [0.0, 0.0]},
    "off at the kink": {"hidden": [[0.0], [0.0]], "at_zero": 0.0},
    "off below it": {"slope": 0.0},
}


@pytest.mark.parametrize("order", [cyclic, lambda: None], ids=["sgd", "descent"])
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another"])
@pytest.mark.parametrize("change", DEAD.values(), ids=DEAD)
def test_a_network_that_no_sample_moves_is_stalled_before_its_first_step(change, beside, order):
    """Two neurons below their kinks, of slope 1/2, learn; not where they are not heard, or their slope is 0."""
    live = {"hidden": [[-1.0], [-2.0]], "output": [1.0, 1.0], "slope": 0.5, "at_zero": 1.0}
    both = [{**live, **change}, *([live] if beside else [])]
    networks = SmallNetworks(*(np.array([each[name] for each in both]) for name in live))
    inputs, labels = np.ones((1, 1)), np.ones((len(both), 1))
    runs = train_small(networks, inputs, labels, step_size=0.01, max_updates=5, order=order())
    assert runs.status.tolist() == [RunStatus.STALLED, RunStatus.BUDGET_SPENT][: len(both)]
    assert runs.updates.tolist() == [0, 5][: len(both)]


@pytest.mark.parametrize("order", [cyclic, lambda: None], ids=["sgd", "descent"])
def test_a_network_whose_step_leads_to_zero_is_stalled_there(order):
    """w = a = 1, x = 1, y = −1: a step of size 1 in both layers takes 1 from each, and then nothing moves."""
    start = SmallNetworks(np.ones((1, 1, 1)), np.ones((1, 1)), 0.5, 1.0)
    runs = train_small(
        start, np.ones((1, 1)), -np.ones((1, 1)), step_size=1.0, max_updates=9, order=order(), layers=Layers.BOTH
    )
    assert (runs.networks.hidden.item(), runs.networks.output.item(), runs.updates.item()) == (0, 0, 1)
    assert runs.status.tolist() == [RunStatus.STALLED]
    assert runs.margins.tolist() == [[0]]


@pytest.mark.parametrize("order", [cyclic, lambda: None], ids=["sgd", "descent"])
def test_the_origin_trains_biases_and_nothing_else(order):
    asked = {"step_size": 0.5, "max_updates": 9, "order": order()}
    runs = train_small(linear([[1, 2, 3]], bias=np.zeros((1, 1))), np.zeros((1, 3)), np.ones((1, 1)), **asked)
    assert runs.status.tolist() == [RunStatus.CONVERGED]
    assert runs.updates.tolist() == [2]
    assert np.asarray(runs.networks.bias).tolist() == [[1]]
    assert runs.networks.hidden.tolist() == [[[1, 2, 3]]]
    without = train_small(linear([[1, 2, 3]]), np.zeros((1, 3)), np.ones((1, 1)), **asked)
    assert (without.status[0], without.updates[0]) == (RunStatus.STALLED, 0)


@pytest.mark.parametrize("order", [cyclic, lambda: None], ids=["sgd", "descent"])
def test_no_samples_are_learned_at_once(order):
    runs = train_small(
        linear([[1, 2, 3], [4, 5, 6]]), np.zeros((0, 3)), np.zeros((2, 0)), step_size=1.0, max_updates=9, order=order()
    )
    assert runs.status.tolist() == [RunStatus.CONVERGED] * 2
    assert runs.updates.tolist() == [0, 0]
    assert runs.margins.shape == (2, 0)


def test_the_smallest_networks_are_trained_together(monkeypatch):
    """One sample and one neuron: one pre-activation of a run."""
    monkeypatch.setattr(trainer, "ENTRIES", 2)
    told = []
    train_small(
        linear([[0], [0], [0], [0]]), np.ones((1, 1)), np.ones((4, 1)), step_size=1.0, max_updates=3, order=cyclic(),
        progress=lambda share, words: told.append((share, words)),
    )  # fmt: skip
    assert told == [(0.5, "2 small networks"), (1.0, "2 small networks")]


def test_a_step_on_all_weighs_each_sample_by_its_share_and_its_label():
    """The slope of Σ p log(1 + exp(−yN)) in w is −Σ p y x/(1 + exp(yN)), for labels of any size."""
    inputs, start = np.array([[1.0, 2.0], [-3.0, 0.5], [0.0, 1.0]]), np.array([0.3, -0.2])
    labels, shares = np.array([2.0, -0.5, 1.0]), np.array([0.5, 0.125, 0.375])
    expected = start.copy()
    for x, y, share in zip(inputs, labels, shares, strict=True):
        expected += 0.7 * share * y * x / (1 + np.exp(y * (start @ x)))
    asked = {"step_size": 0.7, "max_updates": 1, "order": None, "loss": logistic}
    runs = train_small(linear([start]), inputs, labels[None], shares=shares[None], **asked)
    np.testing.assert_allclose(runs.networks.hidden[0, 0], expected, rtol=1e-14)


def test_a_sample_of_no_weight_need_not_be_learned():
    """Steps of 1/2 on the first entry alone: two of them. The second sample stays wrong, and is absent."""
    shares = np.array([[0.5, 0.0, 0.5]])
    runs = train_small(
        linear([[0, -5, 5]]), np.eye(3), np.ones((1, 3)), step_size=1.0, max_updates=9, order=None, shares=shares
    )
    assert runs.status.tolist() == [RunStatus.CONVERGED]
    assert runs.margins.tolist() == [[1, -5, 5]]
    assert runs.updates.tolist() == [2]


def test_one_margin_that_overflows_is_enough_to_diverge():
    """1e200 times 1e200 is more than any number; the other two margins are 0 and, after an update, 1."""
    points = np.array([[1e200, 0, 0], [0, 1.0, 0], [0, 0, 0]])
    runs = train_small(linear([[1e200, 0, 0]]), points, np.ones((1, 3)), step_size=1.0, max_updates=1, order=cyclic())
    assert runs.margins.tolist() == [[np.inf, 1, 0]]
    assert runs.status.tolist() == [RunStatus.DIVERGED]


def test_kept_numbers_are_made_anew_at_every_fourth_update(monkeypatch):
    """They are put one too low after the first and the fifth update, and are right again at the fourth and eighth."""
    monkeypatch.setattr(trainer, "REFRESH", 4)
    off = []

    def astray(update):
        off.append(float(update.preactivations[0, 0, 0] - update.networks.hidden[0, 0, 0]))
        if update.updates[0] in (1, 5):
            update.preactivations[...] -= 1

    trained(linear([[-9, 7, 7]]), astray)
    assert off == [0, -1, -1, 0, 0, -1, -1, 0, 0, 0]
