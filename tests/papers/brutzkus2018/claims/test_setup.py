"""The facts of Section 2 hold, and their judges reject what they must."""

import dataclasses

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.setup import (
    SeparatedSets,
    any_networks,
    equation_10,
    footnote_1,
    footnote_5,
    rewrite,
    separated_sets,
)
from widenet.papers.brutzkus2018.runs.gradients import differentiate, gradient_settings, run_gradients
from widenet.papers.brutzkus2018.runs.ledger import update_of
from widenet.progress import silent
from widenet.records import Scale


@pytest.fixture(scope="module")
def states():
    (setting,) = gradient_settings(Scale.QUICK, 0)
    return run_gradients(setting, silent)


def one_set(margin, norm, separator_norm):
    return SeparatedSets(np.array([margin]), np.array([norm]), np.array([separator_norm]))


def test_they_hold(states):
    for evidence in (
        footnote_1(separated_sets(Scale.QUICK, 0)),
        footnote_5(any_networks(Scale.QUICK, 0)),
        equation_10([states]),
    ):
        assert evidence.verdict is Verdict.HOLDS
        assert all(h.met for h in evidence.hypotheses)


def test_footnote_1_is_attained_by_a_single_unit_vector():
    evidence = footnote_1(separated_sets(Scale.QUICK, 0))
    assert evidence.measured == 1
    assert evidence.tightness == 1


def test_control_footnote_1_needs_the_unit_ball():
    """x = 3e₁ is separated by w* = e₁/3."""
    evidence = footnote_1(one_set(1.0, 3.0, 1 / 3))
    assert evidence.conclusion is False
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["input_norm"]


def test_control_footnote_1_needs_the_margin():
    evidence = footnote_1(one_set(0.5, 1.0, 0.5))
    assert [h.key for h in evidence.hypotheses if not h.met] == ["separable"]
    assert evidence.conclusion is False


def test_control_footnote_1_with_a_larger_norm():
    assert footnote_1(separated_sets(Scale.QUICK, 0), least=1.01).verdict is Verdict.VIOLATED


def test_control_footnote_5_with_an_activation_that_is_not_homogeneous():
    evidence = footnote_5(any_networks(Scale.QUICK, 0), activations={"tanh": np.tanh})
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_footnote_5_with_output_weights_that_are_all_zero():
    network = any_networks(Scale.QUICK, 0)[0]
    mute = dataclasses.replace(network, outputs=np.zeros_like(network.outputs))
    assert footnote_5([mute]).verdict is Verdict.HOLDS


def test_control_footnote_5_with_a_construction_that_is_not_a_number():
    """A NaN is not a small difference."""
    networks = any_networks(Scale.QUICK, 0)
    assert footnote_5(networks, rewritten=lambda n: rewrite(n) * np.nan).verdict is not Verdict.HOLDS


def test_control_footnote_5_without_the_division_by_v():
    def undivided(network):
        return rewrite(dataclasses.replace(network, output_weight=1.0))

    networks = [dataclasses.replace(n, output_weight=2.0) for n in any_networks(Scale.QUICK, 0)]
    assert footnote_5(networks).verdict is Verdict.HOLDS
    assert footnote_5(networks, rewritten=undivided).verdict is Verdict.VIOLATED


def _printed_sign(*arguments):
    """Eq. 10 to the letter: −η·v̂·q·y·x with v̂ = −v, the sign it was introduced with."""
    hidden, output = update_of(*arguments)
    return hidden * np.sign(arguments[1])[:, None], output


def _new_output_weights(hidden, output, *others):
    """v_t instead of v_{t−1}: the output weights after their own update."""
    _, to_output = update_of(hidden, output, *others)
    return update_of(hidden, output + to_output, *others)[0], to_output


@pytest.mark.parametrize("rule", [_printed_sign, _new_output_weights])
def test_control_equation_10_with_another_sign_or_time(states, rule):
    evidence = equation_10([states], rule=rule)
    assert evidence.verdict is Verdict.VIOLATED
    assert [part.kept for part in evidence.parts] == [False, True, True]
    assert evidence.measured is not None
    assert evidence.measured > 0.1


def test_control_equation_10_with_another_step_of_the_output_weights(states):
    def other(*arguments):
        hidden, output = update_of(*arguments)
        return hidden, 1.01 * output

    assert [part.kept for part in equation_10([states], rule=other).parts] == [True, False, True]


def test_control_equation_10_with_a_step_at_zero_loss(states):
    moving = dataclasses.replace(states, by_outputs=states.by_outputs + 1e-3)
    assert equation_10([moving]).parts[2].kept is False


def test_equation_10_refuses_states_without_an_update(states):
    hidden = np.sign(states.labels * states.outputs.T).T[:, :, None] * 1e3 * states.inputs[:, None, :]
    quiet = differentiate(hidden, states.outputs, states.inputs, states.labels, states.slope, states.step_size)
    assert equation_10([quiet]).verdict is Verdict.INSUFFICIENT_EVIDENCE
