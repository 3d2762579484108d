"""The trained network is made of the points that updated it; fewer points or another start give another one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import from_arrays
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu
from widenet.papers.brutzkus2018.claims.compression import (
    check_compression_replay,
    check_section_6_1_unused_points,
    compression_replay,
    section_6_1_unused_points,
)
from widenet.papers.brutzkus2018.runs.draws import separable_points
from widenet.papers.brutzkus2018.runs.learning import Learning, Rule, draw_samples, learn, replay, samples_of
from widenet.training import Listed, Recipe, train
from widenet.types import Dataset, Scale

HARD = Learning(draw_samples(3, 4, 100, 5.0, 0.4), Rule(5, 0.5, 1.0))


@pytest.mark.parametrize("claim", [compression_replay, section_6_1_unused_points])
def test_it_holds(claim):
    learnings = claim.setting(Scale.QUICK, 0)
    small = [Learning(draw_samples(0, 2, 100, 3.0, 0.5), learning.rule) for learning in learnings[:3]]
    evidence = claim.check(small, lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried == 6
    assert not evidence.vacuous


def test_points_repeat_and_are_fewer_than_the_bound():
    evidence = check_compression_replay([HARD])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.measured is not None
    assert evidence.promised is not None
    assert 20 < evidence.measured < evidence.promised


def test_the_engine_makes_the_same_network_of_the_same_points():
    """The list of updates, handed to the training engine as an order, gives the same weights and no other update."""
    learned = HARD.run(0)
    network = TwoLayer(jnp.asarray(HARD.start(0)), jnp.asarray(HARD.rule.votes), None, leaky_relu(0.5))
    data = Dataset(jnp.asarray(HARD.samples.inputs[0]), jnp.asarray(HARD.samples.labels[0]))
    order = Listed(jnp.asarray(learned.updated))
    recipe = Recipe(hinge, 1.0, len(learned.updated), order=order, kernel="plain")
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
    rule, samples = Rule(1, 0.5, 1.0, max_updates=1), draw_samples(5, 1, 4, 2.0, 0.6, dim=3)
    start = 0 * rule.start(np.random.default_rng(0), 3)
    draw = np.random.default_rng(1)
    firsts = [learn(rule, start, samples.inputs[0], samples.labels[0], draw, 10).updated[0] for _ in range(400)]
    assert np.bincount(firsts, minlength=4).min() > 60


def test_control_the_first_update_is_forgotten():
    evidence = check_compression_replay([HARD], keep=lambda updated: updated[1:])
    assert evidence.verdict is Verdict.VIOLATED
    assert "other weights" in evidence.note


def test_control_only_distinct_points_are_kept():
    """Without their order and repetitions the points are no compression of the run."""
    assert check_compression_replay([HARD], keep=lambda updated: sorted(set(updated))).verdict is Verdict.VIOLATED


def test_control_replayed_from_another_start():
    evidence = check_compression_replay([HARD], start=lambda learning, trial: learning.start(trial + 1))
    assert evidence.verdict is Verdict.VIOLATED


def stopped_early():
    """‖w*‖ = 20, margins from .05 to .1, four updates: nearly half of the other points are wrong."""
    return Learning(draw_samples(0, 3, 500, 20.0, 0.1), Rule(5, 0.2, 1.0, max_updates=4))


def test_control_unused_points_are_wrong_before_the_loss_is_zero():
    evidence = check_section_6_1_unused_points([stopped_early()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 0.2
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest training loss at the end"]


def test_nothing_outside_the_compression_set_is_no_evidence():
    one_point = Learning(draw_samples(0, 2, 1, 2.0, 0.7), Rule(1, 0.5, 1.0))
    assert check_section_6_1_unused_points([one_point]).verdict is Verdict.HYPOTHESES_NOT_MET


def own_data(n_samples, separator_norm=3.0):
    inputs, labels, _ = separable_points(np.random.default_rng(0), 5, n_samples, separator_norm, 0.7)
    return from_arrays(inputs, labels)


def test_own_data_is_split_and_marked():
    data = own_data(60)
    samples = samples_of(data, 3, 30)
    assert samples.inputs.shape == (3, 30, 5)
    assert len(samples.fresh_labels) == 15
    assert not samples.separator_is_given
    seen = {tuple(x) for trial in samples.inputs for x in trial}
    assert not seen & {tuple(x) for x in samples.fresh_inputs}
    assert check_compression_replay([Learning(samples, Rule(3, 0.5, 1.0))]).verdict is Verdict.HOLDS
    with pytest.raises(ValueError, match="from 1 to 59"):
        samples_of(data, 3, 60)
