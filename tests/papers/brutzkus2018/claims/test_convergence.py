"""Theorem 2 holds where it should, and its check fails where it must."""

from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import from_arrays, make_basis, make_separable
from widenet.errors import InputError
from widenet.networks import relu
from widenet.papers.brutzkus2018.claims.convergence import check_theorem_2, theorem_2
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates, update_bound_terms
from widenet.papers.brutzkus2018.runs.lower_bound import basis_trials, basis_updates
from widenet.papers.brutzkus2018.runs.trials import random_trials, trials_on
from widenet.types import Dataset, Scale

TRIALS = random_trials(3, 2, 6, 3e3, max_nonzero_updates)


def own_data(seed=0, n_samples=30, dim=6):
    key = jax.random.key(seed)
    return make_separable(key, dim, 3.0).sample(key, n_samples)


def test_it_holds_on_generated_data():
    evidence = check_theorem_2(TRIALS)
    assert evidence.verdict is Verdict.HOLDS
    assert all(h.met for h in evidence.hypotheses)
    assert evidence.runs.tried == 12
    assert evidence.measured is not None
    assert evidence.promised is not None
    assert 0 < evidence.measured <= evidence.promised
    assert evidence.tightness == evidence.measured / evidence.promised
    assert not evidence.vacuous


def test_quick_setting_covers_the_space():
    batches = theorem_2.setting(Scale.QUICK, 0)
    assert sum(len(batch) for batch in batches) >= 200
    assert {type(batch.order).__name__ for batch in batches} == {"Permutation", "Cyclic", "WithReplacement", "Listed"}
    assert len({round(float(slope), 9) for batch in batches for slope in batch.slopes}) >= 4
    assert any((np.asarray(batch.networks.hidden_weights) == 0).all(axis=(1, 2)).any() for batch in batches)


def test_it_holds_on_the_users_own_data():
    evidence = check_theorem_2([trials_on(own_data(), n_runs=3)])
    assert evidence.verdict is Verdict.HOLDS


def test_control_relu_instead_of_leaky_relu():
    """With slope 0 there is no bound, some runs stall at a positive loss, and nothing may be called HOLDS."""
    trials = trials_on(make_basis(16).points, n_runs=10, n_neurons=2, activation=relu())
    evidence = check_theorem_2([trials])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert "stalled at a positive loss" in evidence.note
    assert [h.name for h in evidence.hypotheses if not h.met] == ["smallest Leaky slope α"]
    assert evidence.vacuous


def test_control_contradictory_data():
    data = own_data()
    doubled = from_arrays(
        np.concatenate([data.inputs, data.inputs[:1]]), np.concatenate([data.labels, -np.asarray(data.labels[:1])])
    )
    evidence = check_theorem_2([trials_on(doubled, n_runs=2)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert not evidence.hypotheses[0].met
    assert evidence.conclusion is not True
    assert evidence.promised is None or np.isinf(evidence.promised)


def test_control_inputs_outside_the_unit_ball():
    data = own_data()
    evidence = check_theorem_2([trials_on(Dataset(3 * data.inputs, data.labels), n_runs=2)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest input norm ‖x‖"]


def test_control_rows_longer_than_their_bound():
    trials = eqx.tree_at(lambda t: t.row_bounds, TRIALS[0], TRIALS[0].row_bounds * 0 + 1e-3)
    assert check_theorem_2([trials]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_control_only_the_first_term_of_the_bound():
    """C2(4, 1, .9, .01): 656 updates against ‖w*‖²/α² = 4.9."""
    evidence = check_theorem_2([basis_trials(4, 1, 0.9, 0.01)], bound=lambda *a: update_bound_terms(*a)[0])
    assert evidence.verdict is Verdict.VIOLATED
    honest = check_theorem_2([basis_trials(4, 1, 0.9, 0.01)])
    assert honest.verdict is Verdict.HOLDS
    assert honest.measured == 656


def test_control_halving_the_bound_breaks_on_the_lower_bound_sequence():
    """M_k is nearly attained there, so half of it is already false."""
    trials = [basis_trials(100, 1, 0.99, 100.0)]
    evidence = check_theorem_2(trials)
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness is not None
    assert evidence.tightness > 0.8
    halvings = 0
    while evidence.verdict is Verdict.HOLDS:
        halvings += 1
        evidence = check_theorem_2(trials, bound=lambda *a, n=halvings: max_nonzero_updates(*a) / 2**n)
    assert halvings == 1
    assert evidence.verdict is Verdict.VIOLATED
    assert "more updates than the bound" in evidence.note


def test_a_budget_too_short_is_refused_not_decided(monkeypatch):
    from widenet.papers.brutzkus2018.claims import convergence

    monkeypatch.setattr(convergence, "_budget", lambda *_: 3)
    evidence = check_theorem_2(TRIALS[:1])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished > 0


@pytest.mark.parametrize(("dim", "slope", "eta"), [(4, "1/2", "3/7"), (9, "1/10", "31/10"), (4, "9/10", "1/97")])
def test_the_engine_counts_the_basis_sequence_exactly(dim, slope, eta):
    """The recursion in fractions against the training of the whole network, k = 2 and v = R = 1/2."""
    exact = basis_updates(dim, 2, Fraction(slope), Fraction(eta), Fraction(1, 2), Fraction(1, 2) / int(dim**0.5))
    trials = basis_trials(dim, 2, float(Fraction(slope)), float(Fraction(eta)))
    run = trials.train(100_000)
    assert run.updates[0] == exact
    assert jnp.asarray(run.loss)[0] == 0


def test_one_batch_needs_no_list_and_none_is_refused():
    assert check_theorem_2(TRIALS[0]).verdict is Verdict.HOLDS
    with pytest.raises(InputError, match="no trials to check"):
        check_theorem_2([])


def changed(where, value):
    return eqx.tree_at(where, basis_trials(4, 1, 0.9, 10.0), value, is_leaf=lambda leaf: leaf is None)


@pytest.mark.parametrize(
    "trials",
    [
        changed(lambda t: t.row_bounds, jnp.full(1, jnp.nan)),
        changed(lambda t: t.separators, jnp.full((1, 4), jnp.nan)),
        changed(lambda t: t.step_sizes, jnp.full(1, jnp.nan)),
        changed(lambda t: t.data.inputs, jnp.full((1, 4, 4), jnp.nan)),
        changed(lambda t: t.data.labels, jnp.full((1, 4), 10.0)),
        changed(lambda t: t.networks.bias, jnp.full((1, 2), 50.0)),
        changed(lambda t: t.networks.activation.derivative_at_zero, 0.0),
        changed(lambda t: t.networks.output_weights, jnp.asarray([[1.0, 1.0]])),
    ],
    ids=["nan R", "nan w*", "nan η", "nan input", "labels", "bias", "derivative", "signs"],
)
def test_control_a_hypothesis_broken_in_the_second_batch_is_seen(trials):
    evidence = check_theorem_2([basis_trials(4, 1, 0.9, 10.0), trials])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET


def test_overflow_is_no_refutation():
    evidence = check_theorem_2([basis_trials(2, 1, 0.5, 1.7e308, 1e5, 1.0)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("change", "words"), [({"n_runs": 0}, "n_runs"), ({"n_neurons": 0}, "n_neurons must be even")])
def test_impossible_trials_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        trials_on(own_data(), **change)
