"""Section 7.2: the fate of a ReLU run on orthonormal points is decided by its start."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu, plus_minus, relu
from widenet.papers.brutzkus2018.claims.relu_basis import (
    basis_start,
    check_lemma_12,
    check_section_7_2_labels,
    check_theorem_9_equivalence,
    check_theorem_9_local_minimum,
    check_theorem_9_stuck_count,
    lemma_12,
    section_7_2_labels,
    theorem_9_equivalence,
    theorem_9_local_minimum,
    theorem_9_stuck_count,
)
from widenet.papers.brutzkus2018.runs.online import Start, train_online
from widenet.training import Recipe, train
from widenet.types import Dataset, Scale


def unmet(evidence):
    return [h.name for h in evidence.hypotheses if not h.met]


def starts(seed=0, **others):
    draw = np.random.default_rng(seed)
    return [basis_start(draw, 20, 8, 2, 0.3, seed=seed, **others), basis_start(draw, 20, 6, 5, 0.7, **others)]


def coherent_start(seed=0, dim=8, n_runs=60):
    """Unit vectors whose pairwise cosine is ½, so an update on one point moves all the others."""
    gram = np.full((dim, dim), 0.5) + 0.5 * np.eye(dim)
    draw = np.random.default_rng(seed)
    start = basis_start(draw, n_runs, dim, 2, 0.1)
    return Start(np.linalg.cholesky(gram), start.labels, start.weights, 0.1)


def leaky_starts():
    return [Start(s.inputs, s.labels, s.weights, s.step_size, slope=0.1) for s in starts()]


@pytest.mark.parametrize(
    "claim", [lemma_12, theorem_9_equivalence, theorem_9_stuck_count, theorem_9_local_minimum, section_7_2_labels]
)
def test_it_holds_on_its_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.tried >= 100
    assert evidence.runs.unfinished == 0


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_online_training_is_the_engines(slope):
    """One run against the training engine; points that never meet are counted alike in every order."""
    start = starts(3)[0]
    start = Start(start.inputs, start.labels, start.weights, 0.3, slope=slope, seed=5)
    ours = train_online(start)
    network = TwoLayer(jnp.asarray(start.weights[0]), plus_minus(4, 1.0), None, leaky_relu(slope) if slope else relu())
    data = Dataset(jnp.asarray(start.inputs), jnp.asarray(start.labels[0]))
    theirs = train(network, data, Recipe(hinge, 0.3, 20_000), jax.random.key(0))
    assert ours.updates[0].sum() == theirs.updates
    np.testing.assert_allclose(ours.weights[0], theirs.network.hidden_weights, rtol=0, atol=1e-13)


def test_a_run_out_of_passes_is_not_called_ended():
    run = train_online(starts()[0], max_passes=1)
    assert not run.ended.all()


def test_nothing_to_train_decides_nothing():
    """Every start is solved before the first step: no update was watched and no point is stuck."""
    weights = np.repeat([[[2.0], [-0.5]]], 8, axis=2)
    solved = Start(np.eye(8), np.ones((1, 8)), weights, 0.3, entry_bound=2.0)
    for check in (
        check_lemma_12,
        check_theorem_9_equivalence,
        check_theorem_9_stuck_count,
        check_theorem_9_local_minimum,
    ):
        assert check([solved]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_lemma_12_needs_orthogonal_points():
    evidence = check_lemma_12([coherent_start()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["orthonormal points: largest entry of XXᵀ − I"]


@pytest.mark.parametrize("wrong", [lambda: [coherent_start()], leaky_starts])
def test_control_theorem_9_iff_needs_orthogonal_points_and_relu(wrong):
    evidence = check_theorem_9_equivalence(wrong())
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_theorem_9_iff_leaky_relu_is_never_stuck():
    evidence = check_theorem_9_equivalence(leaky_starts())
    assert evidence.config["runs_ending_at_loss_0"] == 40 > evidence.config["runs_with_empty_K_0"]


def test_control_stuck_count_rounded_down():
    honest = check_theorem_9_stuck_count(starts())
    assert honest.verdict is Verdict.HOLDS
    evidence = check_theorem_9_stuck_count(starts(), rounding=np.floor)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised is not None
    assert evidence.measured == evidence.promised + 1


def test_control_labels_read_from_the_wrong_half():
    mixed = starts(mixed_labels=True)
    assert check_section_7_2_labels(mixed).verdict is Verdict.HOLDS
    evidence = check_section_7_2_labels(mixed, plus_half_only=True)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["mismatches"] > 15


def test_control_localmin_just_outside_its_ball():
    assert check_theorem_9_local_minimum(starts(), perturbations=20).verdict is Verdict.HOLDS
    evidence = check_theorem_9_local_minimum(starts(), perturbations=20, radius_factor=1.01)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_localmin_with_one_neuron_switched_on():
    """One +1 neuron of a stuck point at +0.01: the loss falls as that neuron grows."""

    def alter(start, weights):
        weights = weights.copy()
        for run, stuck in enumerate(start.stuck(weights)):
            if stuck.any():
                weights[run, 0, np.argmax(stuck)] = 0.01
        return weights

    evidence = check_theorem_9_local_minimum(starts(), perturbations=20, alter=alter)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["ended: active points that would still make an update"]
