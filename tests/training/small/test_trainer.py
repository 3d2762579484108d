"""The small trainer takes the steps of the engine's oracle, one by one, and says truly how runs end."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.losses import cross_entropy, hinge, logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import PiecewiseLinear
from widenet.training import SGD, GradientDescent, Listed, Recipe, Record, train
from widenet.training.small import (
    Recorder,
    SmallNetworks,
    cyclic,
    permutations,
    train_small,
    trainer,
    with_replacement,
)
from widenet.types import Dataset, Layers, RunStatus

INPUTS = np.array(
    [[1.0, 0, 0], [1.0, 0, 0], [0, 0.5, 0], [0, -0.5, 0], [0.25, 0.25, 0.25], [0, 0, 0], [0, 0.3, 0.5], [0.4, 0, -0.2]]
)
"""Duplicates, opposite points, the origin."""
LABELS = np.array([1.0, 1, -1, 1, 1, 1, -1, 1])
CASES = [
    (hinge, Layers.HIDDEN, False),
    (hinge, Layers.BOTH, True),
    (logistic, Layers.HIDDEN, True),
    (logistic, Layers.BOTH, False),
]


def starts(n_runs=1, slope=0.2, at_zero=1.0, bias=False, seed=0):
    """Networks of which one row is 0, so that the first step meets the kink."""
    draw = np.random.default_rng(seed)
    hidden = draw.normal(size=(n_runs, 4, 3))
    hidden[:, 0] = 0.0
    output = np.tile([0.7, 0.5, -0.6, -0.4], (n_runs, 1))
    return SmallNetworks(hidden, output, slope, at_zero, np.zeros((n_runs, 4)) if bias else None)


def labels(n_runs=1):
    return np.tile(LABELS, (n_runs, 1))


def parts(networks):
    bias = networks.bias if networks.bias is not None else np.zeros_like(networks.output)
    return np.concatenate([networks.hidden, networks.output[..., None], bias[..., None]], axis=2)


def our_path(start, order, loss, layers, max_updates=12):
    """The samples in turn and the weights of one run after each update, the start among them."""
    samples, path = [], [parts(start)[0]]

    def keep(update):
        if update.samples is not None:
            samples.append(int(update.samples[0]))
        path.append(parts(update.networks)[0])

    train_small(
        start,
        INPUTS,
        labels(),
        step_size=0.3,
        max_updates=max_updates,
        order=order,
        loss=loss,
        layers=layers,
        watch=keep,
    )
    return samples, np.array(path)


def oracle_path(start, samples, loss, layers, n_steps, sign=1.0, at_zero=None):
    """The same samples by the engine's plain kernel, or gradient descent where there are none."""
    network = TwoLayer(
        jnp.asarray(start.hidden[0]),
        jnp.asarray(start.output[0]),
        None if start.bias is None else jnp.asarray(start.bias[0]),
        PiecewiseLinear(float(start.slopes[0]), float(start.at_zeros[0]) if at_zero is None else at_zero),
    )
    data = Dataset(jnp.asarray(INPUTS), sign * jnp.asarray(LABELS))
    if samples:
        order = Listed(jnp.asarray(samples))
        recipe = Recipe(loss, SGD(0.3, order, kernel="plain"), n_steps, layers=layers)
    else:
        recipe = Recipe(loss, GradientDescent(0.3), n_steps, layers=layers)
    seen = {
        "hidden": lambda snapshot: snapshot.network.hidden_weights,
        "output": lambda snapshot: snapshot.network.output_weights,
    }
    if start.bias is not None:
        seen["bias"] = lambda snapshot: snapshot.network.bias
    records = train(network, data, recipe, jax.random.key(0), record=Record(range(n_steps + 1), seen)).records
    bias = records.get("bias", np.zeros_like(records["output"]))
    return np.concatenate([records["hidden"], records["output"][..., None], bias[..., None]], axis=2)


@pytest.mark.parametrize(("loss", "layers", "bias"), CASES)
def test_every_step_is_the_oracles(loss, layers, bias):
    start = starts(bias=bias)
    samples, path = our_path(start, cyclic(), loss, layers)
    assert len(samples) > 3
    np.testing.assert_allclose(path, oracle_path(start, samples, loss, layers, len(samples)), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("loss", "layers", "bias"), CASES[1:3])
def test_every_step_on_the_whole_batch_is_the_oracles(loss, layers, bias):
    start = starts(bias=bias)
    _, path = our_path(start, None, loss, layers)
    expected = oracle_path(start, [], loss, layers, len(path) - 1)
    np.testing.assert_allclose(path, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("change", [{"sign": -1.0}, {"at_zero": 0.0}], ids=["another sign", "another subgradient"])
def test_control_an_oracle_that_does_otherwise_is_noticed_at_the_first_step(change):
    start = starts()
    samples, path = our_path(start, cyclic(), hinge, Layers.HIDDEN)
    other = oracle_path(start, samples, hinge, Layers.HIDDEN, len(samples), **change)
    assert np.abs(other[1] - path[1]).max() > 1e-3


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.5])
def test_a_run_does_not_depend_on_its_company(slope, monkeypatch):
    """Runs of several lengths side by side, alone, and in small groups: the same bits."""
    start, seeds, separable = starts(7, slope), range(7), [0, 2, 6, 7]

    def trained(runs):
        order, own = permutations([seeds[run] for run in runs]), labels(len(runs))[:, separable]
        return train_small(
            start.of(np.array(runs)), INPUTS[separable], own, step_size=0.3, max_updates=1000, order=order
        )

    together = trained(range(7))
    assert len(set(together.updates.tolist())) > 1
    for run in range(7):
        alone = trained([run])
        assert np.array_equal(alone.networks.hidden[0], together.networks.hidden[run])
        assert (alone.status[0], alone.updates[0]) == (together.status[run], together.updates[run])
    monkeypatch.setattr(trainer, "ENTRIES", 2 * len(separable) * 4)
    assert np.array_equal(trained(range(7)).networks.hidden, together.networks.hidden)


def test_own_points_and_shared_points_are_the_same_training():
    start = starts(3)
    shared, own = (
        train_small(start, inputs, labels(3), step_size=0.3, max_updates=60, order=with_replacement(range(3)))
        for inputs in (INPUTS, np.tile(INPUTS, (3, 1, 1)))
    )
    assert np.array_equal(shared.networks.hidden, own.networks.hidden)


@pytest.mark.parametrize("name", ["PRODUCTS", "REFRESH"])
def test_what_is_kept_changes_nothing_but_the_last_digits(name, monkeypatch):
    """Inner products computed anew each time, or pre-activations after each update."""
    start = starts(2)

    def train():
        return train_small(start, INPUTS, labels(2), step_size=0.3, max_updates=60, order=cyclic())

    before = train()
    monkeypatch.setattr(trainer, name, 1)
    np.testing.assert_allclose(train().networks.hidden, before.networks.hidden, rtol=0, atol=1e-13)


@pytest.mark.parametrize("off", [0.05, -0.05])
def test_the_sample_itself_decides_not_what_was_added_up(off):
    """Pre-activations that have gone astray choose other samples, and change no step and no verdict."""
    start, inputs, own = starts(), INPUTS[[0, 2, 6, 7]], labels()[:, [0, 2, 6, 7]]
    before, margins = [start.hidden[0]], []

    def disturb(update):
        now, x = before[-1], inputs[update.samples[0]]
        margins.append((float(update.margins[0]), own[0, update.samples[0]] * start_with(now).outputs(x[None])[0, 0]))
        before.append(update.networks.hidden[0].copy())
        update.preactivations[...] += off

    def start_with(hidden):
        return dataclasses.replace(start, hidden=hidden[None])

    runs = train_small(start, inputs, own, step_size=0.3, max_updates=1000, order=cyclic(), watch=disturb)
    seen, true = np.array(margins).T
    assert (seen < 1).all()
    np.testing.assert_allclose(seen, true, rtol=0, atol=1e-13)
    assert runs.status.tolist() == [RunStatus.CONVERGED]
    assert (own * runs.networks.outputs(inputs) >= 1).all()


def test_a_run_converges_when_every_margin_is_one():
    inputs, own = np.eye(3), np.array([[1.0, -1.0, 1.0]])
    runs = train_small(starts(), inputs, own, step_size=0.5, max_updates=1000, order=cyclic())
    assert runs.status.tolist() == [RunStatus.CONVERGED]
    assert runs.ended.all()
    assert (own * runs.networks.outputs(inputs) >= 1).all()
    assert np.array_equal(runs.margins, own * runs.networks.outputs(inputs))


def test_the_origin_stalls_a_run_and_a_dead_network_too():
    assert train_small(starts(), INPUTS, labels(), step_size=0.5, max_updates=5000, order=cyclic()).status.tolist() == [
        RunStatus.STALLED
    ]
    dead = SmallNetworks(-np.ones((1, 2, 1)), np.array([[1.0, -1.0]]))
    runs = train_small(dead, np.ones((1, 1)), np.ones((1, 1)), step_size=1.0, max_updates=10, order=cyclic())
    assert (runs.status[0], runs.updates[0]) == (RunStatus.STALLED, 0)
    at_kink = SmallNetworks(np.zeros((1, 2, 1)), np.array([[1.0, -1.0]]), 0.0, 1.0)
    learns = train_small(at_kink, np.ones((1, 1)), np.ones((1, 1)), step_size=1.0, max_updates=10, order=cyclic())
    assert learns.updates[0] > 0


def test_a_budget_is_spent_by_the_run_that_has_it():
    runs = train_small(starts(2), INPUTS, labels(2), step_size=0.3, max_updates=np.array([1, 3]), order=cyclic())
    assert runs.updates.tolist() == [1, 3]
    assert runs.status.tolist() == [RunStatus.BUDGET_SPENT] * 2
    assert not runs.ended.any()


def test_numbers_that_blow_up_are_called_diverged_and_huge_ones_blurred():
    start = starts()
    huge = dataclasses.replace(start, hidden=1e200 * start.hidden, output=1e200 * start.output)
    runs = train_small(huge, INPUTS, labels(), step_size=1.0, max_updates=10, order=cyclic())
    assert runs.status.tolist() == [RunStatus.DIVERGED]
    assert runs.blurred.all()
    large = dataclasses.replace(start, hidden=1e14 * start.hidden)
    runs = train_small(large, INPUTS[:1], labels()[:, :1], step_size=1.0, max_updates=10, order=cyclic())
    assert runs.blurred.all()
    assert not train_small(start, INPUTS, labels(), step_size=0.3, max_updates=5, order=cyclic()).blurred.any()


def test_a_logistic_loss_below_every_number_is_frozen():
    solved = SmallNetworks(np.full((1, 1, 1), 1000.0), np.ones((1, 1)))
    runs = train_small(
        solved, np.ones((1, 1)), np.ones((1, 1)), step_size=1.0, max_updates=5, order=cyclic(), loss=logistic
    )
    assert runs.status.tolist() == [RunStatus.FROZEN]


def test_a_full_recorder_ends_all_runs():
    recorder = Recorder(limit=10)
    runs = train_small(
        starts(4),
        INPUTS,
        labels(4),
        step_size=0.3,
        max_updates=10**9,
        order=cyclic(),
        loss=logistic,
        watch=lambda update: recorder.add(update.runs, margins=update.margins),
    )
    assert runs.status.tolist() == [RunStatus.BUDGET_SPENT] * 4
    assert 10 <= recorder.size < 14
    assert [len(rows) for rows in recorder.by_run("margins", 4)] == runs.updates.tolist()


def test_progress_grows_to_the_end(monkeypatch):
    monkeypatch.setattr(trainer, "REPORT", 1)
    seen = []
    train_small(
        starts(3),
        INPUTS,
        labels(3),
        step_size=0.3,
        max_updates=40,
        order=cyclic(),
        progress=lambda share, words: seen.append(share),
    )
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_samples_of_weight_zero_are_absent():
    start = starts()
    shares = np.where(np.arange(len(LABELS)) < 5, 0.2, 0.0)[None]
    part = train_small(start, INPUTS[:5], labels()[:, :5], step_size=0.3, max_updates=400, order=None)
    whole = train_small(start, INPUTS, labels(), step_size=0.3, max_updates=400, order=None, shares=shares)
    np.testing.assert_allclose(whole.networks.hidden, part.networks.hidden, rtol=0, atol=1e-13)
    assert whole.status.tolist() == part.status.tolist()


def test_what_does_not_fit_is_refused():
    options = {"step_size": 0.1, "max_updates": 1, "order": cyclic()}
    with pytest.raises(ValueError, match="do not fit inputs"):
        train_small(starts(), INPUTS[:, :2], labels(), **options)
    with pytest.raises(ValueError, match="hinge, logistic"):
        train_small(starts(), INPUTS, labels(), loss=cross_entropy, **options)
    with pytest.raises(ValueError, match="whole batch"):
        train_small(starts(), INPUTS, labels(), shares=np.ones((1, 8)), **options)

    def always_first(look):
        return np.zeros(len(look.runs), int)

    with pytest.raises(ValueError, match="among the active samples"):
        train_small(starts(), INPUTS, labels(), step_size=0.5, max_updates=100, order=always_first)


def test_runs_in_groups_tell_one_progress(monkeypatch):
    """Eight samples and four neurons: 32 pre-activations of a run, so that 100 of them are three runs at a time."""
    monkeypatch.setattr(trainer, "ENTRIES", 100)
    monkeypatch.setattr(trainer, "REPORT", 1)
    told = []

    def tell(fraction, words):
        told.append((fraction, words))

    runs = train_small(
        starts(6), INPUTS, labels(6), step_size=0.1, max_updates=3, order=cyclic(), loss=logistic, progress=tell
    )
    assert (runs.updates == 3).all()
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert 0.5 in fractions
    assert fractions[-1] == 1
    assert {words for _, words in told} == {"3 small networks"}
    monkeypatch.setattr(trainer, "ENTRIES", 1)
    told.clear()
    train_small(starts(2), INPUTS, labels(2), step_size=0.1, max_updates=1, order=cyclic(), progress=tell)
    assert {words for _, words in told} == {"1 small networks"}


def test_an_update_of_some_runs():
    some = np.array([True, False])
    z, networks = np.zeros((2, 8, 4)), starts(2)
    every = trainer.Update(np.arange(2), np.ones(2, int), np.array([3, 5]), np.zeros(2), np.zeros((2, 4)), networks, z)
    np.testing.assert_array_equal(every.of(some).samples, [3])  # pyright: ignore[reportArgumentType]
    assert dataclasses.replace(every, samples=None).of(some).samples is None


def test_an_order_must_choose_an_active_sample_in_every_run():
    """The second run has solved the sample that both are given; the first has not."""
    start = starts(2)
    start.hidden[1, 1] = [20.0, 0, 0]

    def first(look):
        assert look.active[:, 0].tolist() == [True, False]
        return np.zeros(2, int)

    with pytest.raises(ValueError, match="must choose among the active samples"):
        train_small(start, INPUTS, labels(2), step_size=0.3, max_updates=5, order=first)


def test_weights_that_overflow_are_diverged_and_shown_beside_others():
    start = starts(2)
    with np.errstate(over="ignore", invalid="ignore"):
        runs = train_small(
            start, INPUTS, labels(2), step_size=np.array([1e308, 0.3]), max_updates=6, order=None, layers=Layers.BOTH
        )
    assert runs.status.tolist() == [RunStatus.DIVERGED, RunStatus.BUDGET_SPENT]
    assert runs.blurred.tolist() == [True, False]
    assert runs.ended.tolist() == [False, False]


def test_how_much_is_done_is_told_by_parts(monkeypatch):
    """Two parts of two runs each: a run that has ended counts whole, the others by their updates."""
    monkeypatch.setattr(trainer, "ENTRIES", 2 * len(LABELS) * 4)
    monkeypatch.setattr(trainer, "REPORT", 2)
    told = []
    train_small(
        starts(4), INPUTS, labels(4), step_size=0.01, max_updates=8, order=None, loss=logistic,
        progress=lambda share, words: told.append((round(share, 6), words)),
    )  # fmt: skip
    shares = [share for share, _ in told]
    assert shares == [0.125, 0.25, 0.375, 0.5, 0.5, 0.625, 0.75, 0.875, 1.0, 1.0]
    assert {words for _, words in told} == {"2 small networks"}


@pytest.mark.parametrize(
    ("inputs", "labelled", "others", "sentence"),
    [
        ((8, 2), (2, 8), {}, "2 networks on 3 inputs do not fit"),
        ((7, 3), (2, 8), {}, "do not fit"),
        ((3, 8, 3), (2, 8), {}, "do not fit"),
        ((8, 3), (3, 8), {}, "do not fit"),
        ((8, 3), (2, 8), {"loss": cross_entropy}, "the small trainer knows"),
        ((8, 3), (2, 8), {"shares": np.ones((2, 8))}, "shares weigh the samples of a whole batch"),
        ((8, 3), (2, 8), {"shares": np.ones((1, 8)), "order": None}, "shares weigh"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(inputs, labelled, others, sentence):
    """Asked of the check itself: in tests, the types of `train_small` refuse some of them before."""
    asked = {"loss": hinge, "shares": None, "order": cyclic(), **others}
    with pytest.raises(ValueError, match=sentence):
        trainer._check(starts(2), np.ones(inputs), np.ones(labelled), **asked)


def test_points_for_all_runs_and_for_each():
    asked = {"step_size": 0.3, "max_updates": 3, "order": None}
    shared = train_small(starts(2), INPUTS, labels(2), **asked)
    own = train_small(starts(2), np.tile(INPUTS, (2, 1, 1)), labels(2), **asked)
    weighed = train_small(starts(2), INPUTS, labels(2), shares=np.full((2, 8), 1 / 8), **asked)
    for other in (own, weighed):
        np.testing.assert_allclose(parts(other.networks), parts(shared.networks), rtol=1e-13)
