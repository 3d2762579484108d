"""The facts of Section 2 hold, and their checks fail where they must."""

import dataclasses
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.data import with_bias
from widenet.papers.brutzkus2018.claims import biases, setup, zero_loss
from widenet.papers.brutzkus2018.claims.biases import check_footnote_4, lift
from widenet.papers.brutzkus2018.claims.setup import check_equation_10, check_footnote_1, check_footnote_5
from widenet.papers.brutzkus2018.claims.zero_loss import (
    ExactPoint,
    Separated,
    check_section_2_zero_minimum,
    check_separator_is_global_minimum,
    check_separator_is_global_minimum_as_printed,
)
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.draws import as_trials, basis_sequence, plus_minus_weights
from widenet.papers.brutzkus2018.runs.ledger import Start, keep_ledger, update_of
from widenet.training import Cyclic
from widenet.types import Dataset, Scale

CLAIMS = (
    setup.footnote_1,
    biases.footnote_4,
    setup.footnote_5,
    zero_loss.section_2_zero_minimum,
    zero_loss.separator_is_global_minimum,
    zero_loss.separator_is_global_minimum_as_printed,
    setup.equation_10,
)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_verdict_is_the_expected_one(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)


def test_control_footnote_1_needs_the_unit_ball():
    """x = 3e₁ is separated by w* = e₁/3."""
    trials = as_trials(
        np.full((1, 1, 1), 3.0), np.ones((1, 1)), np.full((1, 1), 1 / 3), np.zeros((1, 2, 1)),
        plus_minus_weights(1, 1.0)[None], np.full(1, 0.5), np.ones(1), np.zeros(1), Cyclic(), 0,
    )  # fmt: skip
    evidence = check_footnote_1([trials])
    assert evidence.conclusion is False
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest input norm ‖x‖"]


def test_footnote_4_lifts_as_the_data_layer_does():
    case = biases.footnote_4.setting(Scale.QUICK, 3)[0]
    ours = lift(case.inputs)
    theirs = with_bias(Dataset(jnp.asarray(case.inputs), jnp.asarray(case.start.labels))).inputs
    np.testing.assert_allclose(ours, theirs, rtol=1e-15)


def test_footnote_4_data_needs_its_bias():
    """The clouds lie on one side of the origin, so the plain inputs have no separator: the footnote has work to do."""
    from widenet.diagnostics import find_separator

    for case in biases.footnote_4.setting(Scale.QUICK, 0):
        plain = Dataset(jnp.asarray(case.inputs), jnp.asarray(case.start.labels))
        assert find_separator(plain).separable is False


def _antipodal(scale: float, step_size: float) -> Start:
    """x = ±1, both labelled +1: w = 0, b = 1. Lifted, the two points are orthogonal."""
    outputs = plus_minus_weights(1, 0.5**0.5)
    inputs = lift(np.array([[1.0], [-1.0]]), scale)
    separator = np.array([0.0, 1 / scale])
    start = -0.01 * np.outer(np.sign(outputs), separator / np.linalg.norm(separator))
    return Start(inputs, np.ones(2), separator, start, outputs, 0.99, step_size, 0.5**0.5)


def test_control_footnote_4_with_a_plain_one_in_the_extra_coordinate():
    """x' = (x, 1) leaves the unit ball, and then M_k is too small: 2 updates where it allows 1."""
    plain, scaled = _antipodal(1.0, 1000.0), _antipodal(2**-0.5, 1000.0)
    assert keep_ledger(plain, Cyclic(), 10).updates == 2
    assert np.floor(max_nonzero_updates(*plain.parameters)) == 1
    inputs = np.array([[1.0], [-1.0]])
    evidence = check_footnote_4([biases.Biased(inputs, plain)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["runs_over_the_bound"] == 1
    assert check_footnote_4([biases.Biased(inputs, scaled)]).verdict is Verdict.HOLDS


def test_control_footnote_5_with_an_activation_that_is_not_homogeneous():
    evidence = check_footnote_5(setup.footnote_5.setting(Scale.QUICK, 0), activations={"tanh": np.tanh})
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_footnote_5_with_output_weights_that_are_all_zero():
    network = setup.footnote_5.setting(Scale.QUICK, 0)[0]
    silent = dataclasses.replace(network, outputs=np.zeros_like(network.outputs))
    assert check_footnote_5([silent]).verdict is Verdict.HOLDS


def test_control_footnote_5_with_a_construction_that_is_not_a_number():
    """A NaN is not a small difference."""
    networks = setup.footnote_5.setting(Scale.QUICK, 0)
    assert check_footnote_5(networks, rewritten=lambda n: setup.rewrite(n) * np.nan).conclusion is False


def test_control_footnote_5_without_the_division_by_v():
    def undivided(network):
        return setup.rewrite(dataclasses.replace(network, output_weight=1.0))

    networks = [dataclasses.replace(n, output_weight=2.0) for n in setup.footnote_5.setting(Scale.QUICK, 0)]
    assert check_footnote_5(networks).verdict is Verdict.HOLDS
    assert check_footnote_5(networks, rewritten=undivided).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_control_section_2_with_a_smaller_multiple(slope):
    """One point at y⟨w*, x⟩ = 1: nine tenths of the smallest admissible s leave loss .1."""
    case = Separated(np.ones((1, 1)), np.ones(1), np.ones(1), 3, 0.7, slope)
    assert check_section_2_zero_minimum([case]).verdict is Verdict.HOLDS
    evidence = check_section_2_zero_minimum([case], shrink=0.9)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(0.1)


def test_control_wstar_is_no_global_minimum_of_a_narrow_network():
    """Eq. 6 with α = .1: k = 1 gives N = .778 and loss .222, k = 2 gives loss 0."""
    narrow = Separated(np.ones((1, 1)), np.ones(1), np.ones(1), 1, 0.5**0.5, 0.1)
    evidence = check_separator_is_global_minimum([narrow])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured == pytest.approx(1 - 1.1 / 2**0.5)
    assert check_separator_is_global_minimum(
        [dataclasses.replace(narrow, half_width=2, output_weight=0.5)]
    ).verdict is (Verdict.HOLDS)


def test_the_printed_statement_fails_exactly_where_the_condition_does():
    """In fractions: kv(1 + α) = 11/20 fails, 11/10 does not; two derivations of the same loss."""
    failing, holding = ExactPoint(1, Fraction(1, 2), Fraction(1, 10)), ExactPoint(2, Fraction(1, 2), Fraction(1, 10))
    evidence = check_separator_is_global_minimum_as_printed([failing])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == float(Fraction(9, 20))
    assert Separated(np.ones((1, 1)), np.ones(1), np.ones(1), 1, 0.5, 0.1).mean_hinge(1.0) == pytest.approx(0.45)
    assert check_separator_is_global_minimum_as_printed([holding]).verdict is Verdict.HOLDS


def _printed_sign(*arguments):
    """Eq. 10 to the letter: −η·v̂·q·y·x with v̂ = −v, the sign it was introduced with."""
    hidden, output = update_of(*arguments)
    return hidden * np.sign(arguments[1])[:, None], output


def _new_output_weights(hidden, output, *others):
    """v_t instead of v_{t−1}: the output weights after their own update."""
    _, to_output = update_of(hidden, output, *others)
    return update_of(hidden, output + to_output, *others)[0], to_output


@pytest.mark.parametrize("rule", [_printed_sign, _new_output_weights])
def test_control_equation_10_with_another_sign_or_time(rule):
    evidence = check_equation_10(setup.equation_10.setting(Scale.QUICK, 0), rule=rule)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 0.1


def test_equation_10_refuses_states_without_an_update():
    states = setup.equation_10.setting(Scale.QUICK, 0)
    margin = states.labels * np.einsum("snd,sd,sn->s", states.hidden, states.inputs, states.outputs)
    quiet = dataclasses.replace(
        states,
        hidden=np.sign(states.labels * states.outputs.T).T[:, :, None] * 1e3 * states.inputs[:, None, :],
    )
    assert margin.shape == states.labels.shape
    assert check_equation_10(quiet).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_footnote_1_is_attained_by_a_single_unit_vector():
    assert check_footnote_1([basis_sequence(1, 1, 0.5, 1.0)]).measured == 1
