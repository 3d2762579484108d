"""XOR is realizable with two filters of each sign, and not with one."""

import numpy as np

from tests.control_table import at, controls
from tests.controls import broken_in, lacking_in
from widenet.claims.base import Verdict
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.claims import xor_narrow
from widenet.papers.brutzkus2019.claims.xor_narrow import (
    lemma_b_7,
    observation_xor_realizable,
    theorem_3_4,
    theorem_b_8,
    theorem_b_8_standstill,
    theorem_b_8_standstill_as_printed,
)
from widenet.papers.brutzkus2019.runs.xor_networks import SOLUTION, XorNetworks, outputs

SINGLES = np.random.default_rng(0).normal(size=(2, 100, 1, 2))


def test_the_solution_is_exactly_at_the_margin():
    assert np.array_equal(XOR_LABELS * outputs(*SOLUTION), np.ones(4))
    assert observation_xor_realizable(XorNetworks(*SOLUTION, *SINGLES)).verdict is Verdict.HOLDS


def test_control_a_solution_without_its_fourth_filter():
    evidence = observation_xor_realizable(XorNetworks(SOLUTION[0], XOR_POINTS[[1, 1]] / 2, *SINGLES))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["loss 0", "all four signs right"]
    assert evidence.measured == 1


def test_control_a_solution_that_is_a_little_too_short():
    plus = SOLUTION[0] * np.array([[0.9998], [1.0]])
    assert broken_in(observation_xor_realizable(XorNetworks(plus, SOLUTION[1], *SINGLES))) == ["loss 0"]


def test_control_the_construction_has_two_filters_of_each_sign():
    three = (np.concatenate([half, np.zeros((1, 2))]) for half in SOLUTION)
    assert lacking_in(observation_xor_realizable(XorNetworks(*three, *SINGLES))) == ["width"]


def test_control_singles_that_do_solve_it_would_be_noticed():
    """With two filters of each sign in place of one, the search finds solutions."""
    pairs = np.stack([SOLUTION[0], SOLUTION[0]]), np.stack([SOLUTION[1], SOLUTION[1]])
    evidence = observation_xor_realizable(XorNetworks(*SOLUTION, *pairs))
    assert broken_in(evidence) == ["no network with k = 1 is right everywhere"]
    none = observation_xor_realizable(XorNetworks(*SOLUTION, *SINGLES[:, :0]))
    assert none.verdict is Verdict.INSUFFICIENT_EVIDENCE


def solving(plus=SOLUTION[0], minus=SOLUTION[1], singles=SINGLES):
    return at(XorNetworks(plus, minus, *singles))


PAIRS = np.stack([np.stack([half, half]) for half in SOLUTION])
WITHOUT_X4 = np.stack([XOR_POINTS[1] / 2, np.zeros(2)])


def test_a_small_output_has_a_sign():
    small = XorNetworks(SOLUTION[0], np.stack([XOR_POINTS[1] / 2, XOR_POINTS[3] * 1e-9]), *SINGLES)
    assert broken_in(observation_xor_realizable(small)) == ["loss 0"]


test_control = controls(
    xor_narrow,
    XorNetworks(*SOLUTION, *SINGLES),
    (observation_xor_realizable, "zero_loss", solving(), solving(SOLUTION[0] * (1 - 1e-12))),
    # Loss 0 asks for more than the signs. N = 0 is wrong.
    (observation_xor_realizable, "signs", solving(), solving(minus=WITHOUT_X4), "zero_loss"),
    # With two filters of each sign in place of one, the search finds solutions.
    (observation_xor_realizable, "single", solving(), solving(singles=PAIRS)),
    but=(lemma_b_7, theorem_3_4, theorem_b_8, theorem_b_8_standstill, theorem_b_8_standstill_as_printed),
)
