"""Statements "for all t" are about T as well, and about each run by itself: what is wrong there alone breaks them."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.controls import broken_in
from tests.papers.brutzkus2019.claims import xor_toys
from tests.papers.brutzkus2019.claims.settings import now, on_toy, plus, toy, with_outputs
from widenet.papers.brutzkus2019.claims.at_zero_loss import equation_19
from widenet.papers.brutzkus2019.claims.minus_filters import lemma_e_6, lemma_e_7, lemma_e_8, lemma_e_20, lemma_e_21
from widenet.papers.brutzkus2019.claims.overshoot import lemma_e_13, sharp_bounds
from widenet.papers.brutzkus2019.claims.plus_filters import lemma_6_2, lemma_e_9, lemma_e_10
from widenet.papers.brutzkus2019.claims.xor_clustering import theorem_3_3_angle
from widenet.papers.brutzkus2019.claims.xor_growth import lemma_b_4_2
from widenet.papers.brutzkus2019.claims.xor_narrow import theorem_3_4

ALL_GROUPS = "D2"
"""A run with a filter in each of W13, W24, U13 and U24."""


@pytest.mark.parametrize(
    ("claim", "name", "record", "change", "fails"),
    [
        (lemma_e_6, ALL_GROUPS, "a_range.u24", now(1), ["steps along p₂ alone"]),
        (lemma_e_6, ALL_GROUPS, "u_left", now(1), ["U24(0) ⊆ U24(t)"]),
        (lemma_e_7, ALL_GROUPS, "a_range.u13", now(1), ["a in {0, −1}"]),
        (lemma_e_7, ALL_GROUPS, "b_range.u13", now(-1), ["b ≥ 0"]),
        (lemma_e_8, ALL_GROUPS, "s_minus", now(2), ["S⁻ < 2η|W13|"]),  # |W13| = 1
        (lemma_e_8, ALL_GROUPS, "p_plus", now(1), ["P⁺ ≤ η|U13|"]),
        (lemma_e_8, ALL_GROUPS, "p_minus", now(1), ["P⁻ ≤ η|U13|"]),
        (lemma_e_20, "three units of U24", "y_2", plus(3), ["the two means differ by at most η"]),  # of two units
        (lemma_e_20, "three units of U24", "y_2", plus(-3), ["the two means differ by at most η"]),
        (lemma_e_21, "two units of U13", "z_2", plus(1), ["both parts gain alike"]),
        (lemma_6_2, ALL_GROUPS, "a_range.w13", plus(1), ["(1) the coefficient of ηp_i is n(t)"]),
        (lemma_6_2, ALL_GROUPS, "b_range.w13", now(-2), ["(1) |α| ≤ η"]),
        (lemma_6_2, ALL_GROUPS, "b_range.w13", now(1), ["(1) α is 0 or against the sign of ⟨w_0, p₂⟩"]),
        (lemma_6_2, ALL_GROUPS, "largest_r", now(2), ["(1) |⟨v_t, p₂⟩| < 2η"]),
        (lemma_6_2, ALL_GROUPS, "a_range.w24", now(1), ["(2) whole steps along p₂ on W24(0)"]),
        (lemma_6_2, ALL_GROUPS, "w_moved", now(1), ["(3) W_t⁺(i) = W_0⁺(i)"]),
        (lemma_e_9, "D4", "s_plus_1", plus(1), ["the two cones gain alike"]),
        (lemma_e_10, ALL_GROUPS, "s_plus", plus(1), None),  # the step to T is of one of the two kinds
    ],
)
def test_the_last_iteration_counts(claim, name, record, change, fails):
    judged, last = on_toy(claim, name), int(toy(name).steps[0])
    assert last == len(toy(name).times) - 1
    assert broken_in(judged()) == []
    found = broken_in(judged(**{record: (last, change)}))
    assert found == fails if fails is not None else len(found) == 1


@pytest.mark.parametrize("claim", [lemma_e_13, sharp_bounds], ids=lambda claim: claim.name)
@pytest.mark.parametrize(("side", "first"), [("plus", 0), ("minus", 1)])
def test_an_output_at_the_last_iteration_counts(claim, side, first):
    """4c_η is 4k in units of η, and N(x⁺) = γ + 4c_η is too much already."""
    trace = toy(ALL_GROUPS)
    last, edge = int(trace.steps[0]), trace.goals[first] + 4 * trace.half_width
    names = [part.name for part in claim([trace]).parts]
    assert names[first] not in broken_in(claim([with_outputs(trace, last, **{side: edge - 1})]))
    assert names[first] in broken_in(claim([with_outputs(trace, last, **{side: edge})]))


@pytest.mark.parametrize("claim", [lemma_e_13, sharp_bounds], ids=lambda claim: claim.name)
def test_the_sum_at_the_last_iteration_counts(claim):
    """S⁺ = γ + 1 + 9c_η is above 8c_η and above (4 + 4ω)c_η; Y goes along, so that N(x⁺) stays as it was."""
    name = "S⁺ ≤ γ + 1 + 8c_η" if claim is lemma_e_13 else "(iii) S⁺ < γ + 1 + 4c_η + 4η|W13|"
    trace = toy(ALL_GROUPS)
    last = int(trace.steps[0])
    more = float(sum(trace.goals) + 9 * trace.half_width - trace.s_plus[0, last])
    found = on_toy(claim, ALL_GROUPS)(s_plus=(last, plus(more)), y=(last, plus(more)), s_minus=(last, plus(more)))
    assert name in broken_in(found)
    assert not [part for part in broken_in(found) if "N(x" in part]


def turned(run: Any, degrees: float) -> Any:
    """The first w, which starts in the half-plane of x_1, at this angle to x_1 at the end."""
    angle = np.radians(degrees)
    return xor_toys.altered(run, end=((0, 0, 0), 10 * np.array([np.cos(angle), np.sin(angle)])))


def test_each_run_has_the_angle_of_its_own_step():
    """arccos((1 − 2c)/(1 + c)) is arccos ¼ = 75.5° at c_η = 1/3, and 78.1° at the c_η = 192/533 beside it."""
    run, other = xor_toys.toy("X3"), xor_toys.toy("J14")
    assert run.reached.all()
    name = "w at an angle of at most arccos((1 − 2c_η)/(1 + c_η))"
    assert name not in broken_in(theorem_3_3_angle([turned(run, 75.4), other]))
    assert name in broken_in(theorem_3_3_angle([turned(run, 77.0), other]))
    assert name in broken_in(theorem_3_3_angle([other, turned(run, 77.0)]))


def test_the_last_step_of_xor_counts():
    """An own sum that is 1/8 off at T alone."""
    run = xor_toys.toy("X3")
    last = int(run.steps[0])
    assert last == len(run.own_sums) - 1
    assert broken_in(lemma_b_4_2([run])) == []
    for point in range(4):
        off = xor_toys.altered(run, own_sums=((last, 0, point), run.own_sums[last, 0, point] + 0.125))
        assert len(broken_in(lemma_b_4_2([off]))) == 1


def test_the_frequency_is_that_of_runs_in_the_event():
    """Half of the runs get a start above √2η/4, and are wrong everywhere: they are not counted as failures."""
    run, octants = xor_toys.drawn(2, 0.1, 1000), xor_toys.octants()
    fits, own = run.fits.copy(), run.own_sums.copy()
    fits[::2, 0, 0, 0], own[-1, ::2] = 0.5, -1.0
    large = dataclasses.replace(run, fits=fits, own_sums=own)
    (part,) = [each for each in theorem_3_4([large], [octants]).parts if each.name == "frequency among drawn runs"]
    wrong = (run.margins[-1, 1::2] <= 0).any(axis=1)
    assert part.kept is True
    assert part.measured == pytest.approx(wrong.mean())


def test_all_fifteen_sets_are_looked_at_in_equation_19():
    """D4 ends with one u along p₂ and one along p₄: only sets that hold both patterns reach the sum on x⁺."""
    trace = toy("D4")
    u = trace.end[0, 2:]
    assert (np.abs(u[:, 1]) > np.abs(u[:, 0])).all()
    assert u[0, 1] * u[1, 1] < 0
    part = equation_19([trace]).parts[0]
    assert part.measured == part.promised == np.abs(u[:, 1]).sum()
