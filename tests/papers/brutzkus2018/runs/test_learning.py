"""SGD that keeps the list of its updates: against the engine, and as a compression of the run."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.data import from_arrays
from widenet.data.own import keep
from widenet.data.points import separable_points
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu
from widenet.papers.brutzkus2018.runs.learning import Learned, Learning, LearningRule, learn, learn_all, replay
from widenet.papers.brutzkus2018.sources import DrawnSamples, OwnSamples, SampleSets
from widenet.training import SGD, Listed, Recipe, train
from widenet.types import Dataset

SAMPLES = DrawnSamples(seed=3, trials=4, n_samples=100, separator_norm=5.0, largest_margin=0.4)
HARD = Learning(SAMPLES.draw(), LearningRule(half_width=5, slope=0.5, step_size=1.0))


def test_the_engine_makes_the_same_network_of_the_same_points():
    """The list of updates, handed to the training engine as an order, gives the same weights and no other update."""
    learned = HARD.run(0)
    network = TwoLayer(jnp.asarray(HARD.start(0)), jnp.asarray(HARD.rule.votes), None, leaky_relu(0.5))
    data = Dataset(jnp.asarray(HARD.samples.inputs[0]), jnp.asarray(HARD.samples.labels[0]))
    order = Listed(jnp.asarray(learned.updated))
    recipe = Recipe(hinge, SGD(1.0, order, kernel="plain"), len(learned.updated))
    run = train(network, data, recipe, jax.random.key(0))
    assert run.updates == len(learned.updated)
    np.testing.assert_allclose(run.network.hidden_weights, learned.weights, atol=1e-10)


def test_every_updated_point_was_below_the_margin():
    learned, rule = HARD.run(1), HARD.rule
    inputs, labels = HARD.samples.inputs[1], HARD.samples.labels[1]
    for t, index in enumerate(learned.updated):
        before = replay(rule, HARD.start(1), inputs, labels, learned.updated[:t])
        assert labels[index] * rule.outputs(before, inputs[[index]])[0] < 1
    assert learned.loss == 0
    assert (labels * rule.outputs(learned.weights, inputs) >= 1).all()


def test_the_next_point_is_uniform_among_those_that_update():
    rule = LearningRule(half_width=1, slope=0.5, step_size=1.0, max_updates=1)
    samples = DrawnSamples(seed=5, trials=1, n_samples=4, separator_norm=2.0, largest_margin=0.6, dim=3).draw()
    start = 0 * rule.start(np.random.default_rng(0), 3)
    starts, labels = np.tile(start, (400, 1, 1)), np.tile(samples.labels[0], (400, 1))
    learned = learn(rule, starts, samples.inputs[0], labels, [[1, run] for run in range(400)], 10)
    firsts = [each.updated[0] for each in learned]
    assert np.bincount(firsts, minlength=4).min() > 60


def test_what_is_counted_is_what_happened():
    runs = learn_all(HARD, replayed=True)
    learned = [HARD.run(trial) for trial in range(4)]
    assert runs.updates.tolist() == [len(each.updated) for each in learned]
    assert runs.distinct.tolist() == [len(set(each.updated)) for each in learned]
    assert runs.n_unused.tolist() == [100 - len(set(each.updated)) for each in learned]
    assert runs.same_replay.all()
    assert np.isnan(runs.error).all()  # no fresh points were drawn


def on_a_line(labels, fresh_labels):
    """Points 1, −1, ½, 0 and fresh ones 0, 1, −1, with w* = 2; M_k is some 30."""
    samples = SampleSets(
        np.array([[[1.0], [-1.0], [0.5], [0.0]]]),
        np.array([labels], float),
        np.array([[0.0], [1.0], [-1.0]]),
        np.array(fresh_labels, float),
        np.array([2.0]),
    )
    return Learning(samples, LearningRule(half_width=1, slope=0.5, step_size=1.0))


def test_which_points_are_errors_and_of_which_set():
    """N(x) = σ(x): −1 and 0 are wrong for the label +1, and −1 made an update, so one of three unused points is."""

    def learned(learning, trial):
        return Learned(np.array([[2**0.5], [0.0]]), [1, 1], 0.25)

    runs = learn_all(on_a_line([1, 1, 1, 1], [1, 1, -1]), run=learned)
    assert (runs.updates[0], runs.distinct[0], runs.n_unused[0]) == (2, 1, 3)
    assert runs.unused_error[0] == pytest.approx(1 / 3)
    assert runs.error[0] == pytest.approx(1 / 3)  # an output of 0 is wrong there, too


def test_a_replay_is_padded_with_points_that_may_move_it():
    """Nothing was learned, so every point but 0 would still make an update, and padding gives another network."""

    def nothing(learning, trial):
        return Learned(learning.start(trial), [], 1.0)

    assert learn_all(on_a_line([1, 1, 1, 1], [1, 1, -1]), run=nothing, replayed=True).same_replay.tolist() == [False]


def test_padding_takes_any_points_of_the_sample():
    """η = 100: after one update on the point 1 its margin is far above 1, and −1, with the same label, would still move
    the weights. Padding with the point that made the update alone would change nothing.
    """
    rule = LearningRule(half_width=1, slope=0.5, step_size=100.0)
    learning = dataclasses.replace(on_a_line([1, 1, 1, 1], [1, 1, -1]), rule=rule)
    inputs, labels = learning.samples.inputs[0], learning.samples.labels[0]

    def one_update(learning, trial):
        return Learned(replay(rule, learning.start(trial), inputs, labels, [0]), [0], 0.5)

    weights = one_update(learning, 0).weights
    assert rule.outputs(weights, inputs)[0] > 1 > rule.outputs(weights, inputs)[1]
    assert int(learning.update_bound) > 10
    assert learn_all(learning, run=one_update, replayed=True).same_replay.tolist() == [False]


def test_margins_and_norms_are_those_of_every_point():
    """Fresh points lie nearer to the plane, or further out, than those of the samples."""
    samples = on_a_line([1, -1, 1, 1], [1, 1, -1]).samples
    nearer = dataclasses.replace(samples, inputs=samples.inputs[:, :3], labels=samples.labels[:, :3])
    assert nearer.smallest_margin == 0
    assert dataclasses.replace(nearer, fresh_labels=-samples.fresh_labels).smallest_margin == -2
    assert nearer.largest_norm == 1
    assert dataclasses.replace(nearer, fresh_inputs=np.array([[0.0], [1.0], [-3.0]])).largest_norm == 3
    assert dataclasses.replace(nearer, longest_elsewhere=4.0).largest_norm == 4
    assert dataclasses.replace(nearer, inputs=5 * nearer.inputs).largest_norm == 5


def test_own_data_is_split_and_marked():
    inputs, labels, _ = separable_points(np.random.default_rng(0), 5, 60, 3.0, 0.7)
    digest = keep(from_arrays(inputs, labels))
    samples = OwnSamples(own_data=digest, trials=3, n_samples=30, seed=0).draw()
    assert samples.inputs.shape == (3, 30, 5)
    assert len(samples.fresh_labels) == 15
    assert not samples.separator_is_given
    seen = {tuple(x) for trial in samples.inputs for x in trial}
    assert not seen & {tuple(x) for x in samples.fresh_inputs}
    with pytest.raises(ValueError, match="from 1 to 59"):
        OwnSamples(own_data=digest, trials=3, n_samples=60, seed=0).draw()


def test_the_start_is_measured_against_equation_6(monkeypatch):
    """k = 5: R = v = 1/√10. Rows twice as long and a weight 1.25 times as large are seen, and a wrong sign."""
    sound = learn_all(HARD)
    assert (sound.relative_row, sound.output_error) == pytest.approx((1, 0), abs=1e-15)
    votes = HARD.rule.votes.copy()
    votes[3] *= 1.25
    monkeypatch.setattr(LearningRule, "votes", property(lambda rule: votes))
    monkeypatch.setattr(LearningRule, "start", lambda rule, draw, dim: np.full((10, dim), 2 * (10 * dim) ** -0.5))
    other = learn_all(HARD)
    assert (other.relative_row, other.output_error) == pytest.approx((2, 0.25))
    votes[3] *= -0.8
    assert learn_all(HARD).output_error == pytest.approx(2)
