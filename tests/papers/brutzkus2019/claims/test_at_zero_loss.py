"""What is read off the weights at zero loss, and the ways in which each check must fail."""

import dataclasses
import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import broken_in
from tests.papers.brutzkus2019.claims.settings import FAST, SMALL, TINY, altered, part_of, plus, toy, traced
from tests.papers.brutzkus2019.claims.trace_edges import add, deviation_rows, many, on
from widenet.claims.base import Verdict
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.claims import at_zero_loss
from widenet.papers.brutzkus2019.claims.at_zero_loss import equation_15, equation_19, equation_21, footnote_14

LARGE, CONES = "S⁺_T ≥ γ + 1", "X_T(1) + X_T(3) = S⁺_T"
MOST, ON_PLUS = "at most that on x⁺, on all 15 sets (by construction)", "the sum on x⁺ is P⁺_T + Y_T(2) + Y_T(4)"
SUMS = {side: f"Σσ(⟨u, p_{side}⟩) = Y({side}) + Z({side})" for side in (2, 4)}
OUTPUTS = {side: f"N({{{side}}}) ≤ S⁻ + X − Y({side}) − Z({side})" for side in (2, 4)}
ENOUGH = "Y(2) + Y(4) + Z(2) + Z(4) ≥ 1"


@pytest.mark.parametrize("claim", [equation_15, equation_19, footnote_14, equation_21])
def test_it_holds_in_every_run(claim):
    evidence = claim([traced(FAST), traced(SMALL)])
    assert evidence.verdict is Verdict.HOLDS
    assert all(part.n_cases >= 100 for part in evidence.parts)


@pytest.mark.parametrize(
    ("control", "fails", "least"),
    [
        (functools.partial(equation_15, over=1.0), [LARGE], 10),
        (functools.partial(equation_19, against=(2,)), [MOST, ON_PLUS], 100),
        (functools.partial(footnote_14, swapped=True), [SUMS[2], OUTPUTS[2], SUMS[4], OUTPUTS[4]], 95),
        (functools.partial(equation_21, over=8.0), [ENOUGH], 100),
    ],
    ids=["one c_η more", "x⁺ without p₄", "l exchanged", "eight c_η more"],
)
def test_control_a_wrong_form_fails(control, fails, least):
    evidence = control([traced(FAST)])
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == fails
    # Exchanged sides are wrong both ways, but only the smaller of them is no bound on N.
    assert all(part_of(evidence, name).broken >= least for name in fails if name not in OUTPUTS.values())


def test_runs_that_stall_are_counted_and_not_scored():
    """Without a filter in W13 no run reaches zero loss."""
    evidence = equation_15([traced(SMALL.model_copy(update={"n_positive": 0}))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.details["runs_stalled"] == 6
    assert np.isfinite(evidence.measured or 0.0)


@pytest.mark.parametrize(("claim", "part"), [(equation_15, LARGE), (equation_21, ENOUGH)])
def test_control_just_beyond_what_is_attained(claim, part):
    """J2 leaves c_η/64 of both."""
    assert broken_in(claim([toy("J2")], over=0.015)) == []
    assert broken_in(claim([toy("J2")], over=0.016)) == [part]


def test_what_is_promised():
    assert part_of(equation_15([toy("J2")]), LARGE).promised == pytest.approx(1 + 659 / 512)
    assert part_of(equation_21([toy("J2")]), ENOUGH).promised == pytest.approx(1)


def at_end(name: str, more: float, start: str = "D4"):
    trace = toy(start)
    return altered(trace, name, int(trace.steps[0]), plus(more))


def test_equation_15_counts_the_smallest_filters_of_the_third_cone():
    """A third w at T with fits (−η/20, η/100), which is in W⁺(3): both sides grow by η/20."""
    trace = toy("D4")
    end = trace.end.copy()
    before = end[0, 1, 0]
    end[0, 1] = -0.05, 0.01
    small = dataclasses.replace(at_end("s_plus", 0.05 + before), end=end)
    assert CONES not in broken_in(equation_15([small]))
    end[0, 1] = -0.05, 0.06
    assert CONES in broken_in(equation_15([dataclasses.replace(small, end=end)])), "in W⁺(2)"


@pytest.mark.parametrize("name", ["y_2", "y_4", "z_2", "z_4"])
def test_equation_21_adds_all_four(name):
    more, before = equation_21([at_end(name, 1.0)]).measured, equation_21([toy("D4")]).measured
    assert more is not None
    assert before is not None
    assert more - before == 1 / 16


@pytest.mark.parametrize("missing", [1, 2, 3, 4])
def test_equation_19_looks_at_all_sets_and_at_the_u_of_the_end(missing):
    """Two u with fits 4η on p_l and on the next pattern, η on a neighbour: 8η on all four, 5η without p_l."""
    fits = {1: (4.0, 1.0), 2: (1.0, 4.0), 3: (-4.0, 1.0), 4: (1.0, -4.0)}
    end = toy("D4").end.copy()
    end[0, 2:] = fits[missing], fits[missing % 4 + 1]
    others = [pattern for pattern in fits if pattern != missing]
    most = part_of(equation_19([dataclasses.replace(toy("D4"), end=end)], against=others), MOST)
    assert (most.kept, most.measured, most.promised) == (False, 8.0, 5.0)


def answering(pattern: int, more: float):
    """D4 with one w of which ⟨w, p_l⟩ is such that N({l}) is this much above S⁻ + X − Y(l) − Z(l)."""
    trace = toy("D4")
    side = getattr(trace, f"y_{pattern}") + getattr(trace, f"z_{pattern}")
    right = trace.at_end(trace.s_minus + trace.x - side)[0]
    sign, place = (1 if pattern == 2 else -1), set_index(pattern)
    end = trace.end.copy()
    end[0, :2, 1] = 0.0
    end[0, 0, 1] = sign * (right + more - dataclasses.replace(trace, end=end).outputs()[0, place])
    return at(dataclasses.replace(trace, end=end))


def end(name, **more):
    """A toy with this much more of some sums at T."""
    return on(name, **{series: add(int(toy(name).steps[0]), by) for series, by in more.items()})


def beyond(more):
    """The sum on the first set is this much above that on x⁺."""

    def change(sums):
        new = sums.copy()
        new[:, 0] = sums[:, set_index(1, 2, 3, 4)] + more
        return new

    return change


LESS, TOO_LITTLE = -1 / 32, -1 / 32 - TINY
test_control = controls(
    at_zero_loss,
    many,
    *deviation_rows(at_zero_loss),
    # S⁺ is c_η/64 = η/32 above γ + 1 in J2; X(1) falls with it.
    (equation_15, "sum", end("J2", s_plus=LESS, s_plus_1=LESS), end("J2", s_plus=TOO_LITTLE, s_plus_1=TOO_LITTLE)),
    (equation_15, "cones", on("D4"), end("D4", s_plus_1=TINY)),
    (equation_15, "cones", on("D4"), end("D4", s_plus_1=-TINY)),
    (equation_19, "sum", on("D4"), end("D4", p_plus=TINY)),
    (equation_19, "sum", on("D4"), end("D4", y=TINY)),
    (equation_19, "sum", on("D4"), end("D4", y=-TINY)),
    # x⁺ holds all four patterns, and a maximum over fewer is no larger: only on another x⁺ does it break.
    (equation_19, "largest", on("D4"), on("D4", against=(2,)), "sum"),
    (equation_19, "largest", on("D4", minus_sums=beyond(0.0)), on("D4", minus_sums=beyond(TINY))),
    # A smaller Y(l) breaks the equality; the bound on N only rises. A larger one may break both.
    (footnote_14, "answers_2", on("D4"), end("D4", y_2=-TINY)),
    (footnote_14, "answers_4", on("D4"), end("D4", y_4=-TINY)),
    (footnote_14, "answers_2", on("D4"), end("D4", z_2=TINY), "output_2"),
    (footnote_14, "answers_4", on("D4"), end("D4", z_4=TINY)),
    (footnote_14, "output_2", answering(2, 0.0), answering(2, TINY)),
    (footnote_14, "output_4", answering(4, 0.0), answering(4, TINY)),
    (equation_21, "sum", end("J2", z_2=LESS), end("J2", z_2=TOO_LITTLE)),
)
