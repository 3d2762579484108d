"""Theorems 4 and 10: the bounds hold, and wrong bounds, starts and counts are rejected."""

import dataclasses
import functools
from fractions import Fraction

import numpy as np
import pytest

from tests.controls import breaks_part, broken_in, every_part_of, hypothesis_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import forced_updates
from widenet.papers.brutzkus2018.claims.forced_updates import (
    gap_between_bounds,
    large_steps,
    theorem_4,
    theorem_4_large_steps,
    theorem_4_mistakes,
    theorem_4_sharp,
    theorem_10,
    theorem_10_sharp,
)
from widenet.papers.brutzkus2018.runs.basis_sequences import (
    basis_sequences,
    count,
)
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
)
from widenet.progress import silent
from widenet.records import Scale

HALF = Fraction(1, 2)
NEARLY_ONE = Fraction(999, 1000)


def planted(run: BasisSequence, updates: int):
    """The counts of one run with another number of updates."""
    return [dataclasses.replace(count([run]), updates=np.array([updates]))]


@functools.cache
def cell_of(setting):
    return basis_sequences.run(setting, silent)


def default_cells(claim):
    return [cell_of(setting) for setting in claim.reads[0].settings(Scale.QUICK, 0)]


@pytest.mark.parametrize("claim", [theorem_10, theorem_10_sharp, theorem_4, theorem_4_sharp])
def test_lower_bounds_hold(claim):
    evidence = claim(default_cells(claim))
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    assert 0 < evidence.tightness <= 1
    assert evidence.measured >= evidence.promised > 0


@pytest.mark.parametrize("claim", [theorem_4_mistakes, gap_between_bounds])
def test_what_is_derived_holds(claim):
    evidence = claim(default_cells(claim))
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous


def test_large_steps_hold():
    draws = theorem_4_large_steps.draws
    assert draws is not None
    evidence = theorem_4_large_steps(draws(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous


FORMULA, FEWEST, MOST = "exactly the closed form", "at least ½(‖w*‖/η + ‖w*‖²)", "at most ‖w*‖/(αη) + ‖w*‖²"
ONCE, TWICE, CLASSIFIES = (
    "one update per point from η₁ on",
    "two updates per point below η₁",
    "classifies every x as w* does",
)
ONE_RUN = [basis_sequence(25, HALF, Fraction(1))]

TINY = Fraction(1, 10**6)
MANY = basis_sequence(4, Fraction(3, 10), Fraction(1, 5), gain=Fraction(9, 8), radius=Fraction(20, 3))
"""k = 2, v = 3/4, R = 5: min{B₁, B₂} is 200/3 as printed, 12320/81 in the sharp form."""
FEW = basis_sequence(9, Fraction(4, 5), Fraction(20), radius=Fraction(1, 100))
"""T = 9, and B₁, B₂ are far below."""
UNDER_6 = basis_sequence(4, HALF, Fraction(1, 5))
"""½(2·5 + 4) = 7, ⅓(4·5 + 4) = 8."""

LEAST, ONCE_EACH = "at least min{B₁, B₂} updates", "at least ‖w*‖² updates"


@breaks_part(theorem_10, LEAST)
def test_control_one_update_less_than_printed():
    return theorem_10(planted(MANY, 67)), theorem_10(planted(MANY, 66))


@breaks_part(theorem_10_sharp, LEAST)
def test_control_one_update_less_than_the_sharp_form():
    return theorem_10_sharp(planted(MANY, 153)), theorem_10_sharp(planted(MANY, 152))


@breaks_part(theorem_10, ONCE_EACH)
def test_control_a_point_that_was_not_updated():
    return theorem_10(planted(FEW, 9)), theorem_10(planted(FEW, 8))


@breaks_part(theorem_10_sharp, ONCE_EACH)
def test_control_a_point_that_was_not_updated_in_the_sharp_form():
    """d = 9, α = 4/5, η = 20, R/v = 1/100: B₁ = B₂ = 0.03/20 and less."""
    return theorem_10_sharp(planted(FEW, 9)), theorem_10_sharp(planted(FEW, 8))


@breaks_part(theorem_4, "at least so many updates")
def test_control_one_update_less_than_theorem_4():
    inside, outside = theorem_4(planted(UNDER_6, 7)), theorem_4(planted(UNDER_6, 6))
    assert (inside.promised, inside.tightness) == (7, 1)
    return inside, outside


@breaks_part(theorem_4_sharp, "at least so many updates")
def test_control_one_update_less_than_theorem_4_sharp():
    inside, outside = theorem_4_sharp(planted(UNDER_6, 8)), theorem_4_sharp(planted(UNDER_6, 7))
    assert (inside.promised, inside.tightness) == (8, 1)
    return inside, outside


def test_theorem_4_where_d_is_no_square():
    """d = 2, η = ½: ½(√2/η + 2) = 2.41; the count 12 is that of √2 itself."""
    counted = count([basis_sequence(2, Fraction(3, 5), HALF)])
    assert (counted.updates.tolist(), counted.certain.tolist()) == ([12], [True])
    evidence = theorem_4([counted])
    assert evidence.promised == pytest.approx(2.41421356237, rel=1e-10)
    open_ = [dataclasses.replace(counted, certain=np.array([False]))]
    for claim in (theorem_4, theorem_4_sharp, theorem_10, theorem_10_sharp, theorem_4_mistakes):
        assert {part.kept for part in claim(open_).parts} == {None}
    assert gap_between_bounds(open_).parts[0].kept is None


PARAMETERS = ("slope", "step_size", "gain", "radius", "plus", "minus")


def with_counts_kept(claim, run, **constants):
    """Judges one run with its own counts and other parameters, between two that are as they were."""

    def judged(**changes):
        values = [getattr(dataclasses.replace(run, **changes), name) for name in PARAMETERS]
        numerators, denominators = (
            np.array([[getattr(v, part) for v in values]]) for part in ("numerator", "denominator")
        )
        sound = count([run])
        changed = dataclasses.replace(sound, numerators=numerators, denominators=denominators)
        return claim([sound, changed, sound], **constants)

    return judged


def at_large_steps(**changes):
    """One run of `large_steps` with other parameters."""
    taken = large_steps(ONE_RUN)
    taken[2] = dataclasses.replace(taken[2], run=dataclasses.replace(taken[2].run, **changes))
    return theorem_4_large_steps(taken)


def four(**changes):
    """No run can break what is promised here, so that the hypotheses alone are looked at."""
    return with_counts_kept(theorem_4, UNDER_6, promise=lambda run: Fraction(1))(**changes)


def four_sharp(**changes):
    return with_counts_kept(theorem_4_sharp, UNDER_6, promise=lambda run: Fraction(1))(**changes)


def ten(**changes):
    return with_counts_kept(theorem_10, UNDER_6, terms=lambda run: (Fraction(1),) * 2)(**changes)


def ten_sharp(**changes):
    return with_counts_kept(theorem_10_sharp, UNDER_6, terms=lambda run: (Fraction(1),) * 2)(**changes)


def mistaken(**changes):
    promises = {"formula": lambda run: MISTAKES, "fewest": lambda run: Fraction(1), "most": lambda run: Fraction(10**6)}
    return with_counts_kept(theorem_4_mistakes, UNDER_6, **promises)(**changes)


def fixed_bound(*values):
    return np.full(3, 16.0)


def fixed_limit(slopes):
    return np.full(3, 0.25)


def gap(**changes):
    return with_counts_kept(gap_between_bounds, ENORMOUS, bound=fixed_bound, limit=fixed_limit)(**changes)


MISTAKES = UNDER_6.mistakes()
ENORMOUS = basis_sequence(4, HALF, Fraction(10**9))
EDGES = {
    "start": ({}, {"plus": Fraction(-1, 2) + TINY}),
    "slope_positive": ({"slope": TINY}, {"slope": Fraction(0)}),
    "slope_below_one": ({"slope": 1 - TINY}, {"slope": Fraction(1)}),
    "step_size": ({"step_size": TINY}, {"step_size": Fraction(0)}),
}
NO_WEIGHT = {"output_weight": ({"gain": TINY}, {"gain": Fraction(0)})}
EQUATION_6 = {
    "output_weight": ({}, {"gain": Fraction(0)}, "output_scale"),
    "output_scale": ({}, {"gain": HALF - TINY}),
    "equal_scale": ({}, {"radius": 1 + TINY, "plus": -(1 + TINY) / 2, "minus": (1 + TINY) / 2}),
}
WIDER = {"equal_scale": ({}, {"radius": 1 + TINY, "plus": -(1 + TINY) / 5, "minus": (1 + TINY) / 5})}
FIFTH = {"start": ({}, {"minus": Fraction(1, 5) + TINY})}

test_control_hypotheses_of_theorem_10 = hypothesis_edges(theorem_10, ten, **EDGES, **NO_WEIGHT)
test_control_hypotheses_of_the_sharp_form = hypothesis_edges(theorem_10_sharp, ten_sharp, **EDGES, **NO_WEIGHT)
test_control_hypotheses_of_theorem_4 = hypothesis_edges(theorem_4, four, **EDGES, **EQUATION_6)
test_control_hypotheses_of_theorem_4_sharp = hypothesis_edges(theorem_4_sharp, four_sharp, **EDGES, **EQUATION_6)
test_control_hypotheses_of_mistakes = hypothesis_edges(theorem_4_mistakes, mistaken, **EDGES, **EQUATION_6)
test_control_hypotheses_of_large_steps = hypothesis_edges(
    theorem_4_large_steps, at_large_steps, **{**EDGES, **EQUATION_6, **WIDER, **FIFTH}
)


test_control_hypotheses_of_the_gap = hypothesis_edges(gap_between_bounds, gap, **EDGES, **NO_WEIGHT)


def judged_mistakes(run, mistakes=None, **constants):
    counted = count([run])
    given = counted.mistakes if mistakes is None else np.array([mistakes])
    return theorem_4_mistakes([dataclasses.replace(counted, mistakes=given)], **constants)


LOW, HIGH = basis_sequence(1, Fraction(99, 100), Fraction(21, 20)), basis_sequence(100, Fraction(99, 100), HALF / 5)


@breaks_part(theorem_4_mistakes, FORMULA)
def test_control_one_sign_error_more_than_the_closed_form():
    return judged_mistakes(UNDER_6), judged_mistakes(UNDER_6, MISTAKES + 1)


def test_one_sign_error_less_than_the_closed_form():
    assert broken_in(judged_mistakes(UNDER_6, MISTAKES - 1)) == [FORMULA]


def test_what_floats_cannot_tell_apart_is_compared_in_fractions():
    hair = Fraction(1, 10**20)
    upper = judged_mistakes(UNDER_6, 24, formula=lambda run: 24, most=lambda run: 24 - hair)
    assert broken_in(upper) == [MOST]
    assert theorem_4(planted(UNDER_6, 7), promise=lambda run: 7 + hair).verdict is Verdict.VIOLATED


def test_theorem_10_leaves_out_runs_of_which_no_more_is_promised_than_every_run_does():
    """Of FEW less than d = 9 is promised by B₁ and B₂. One that breaks its limit is not left out."""
    evidence = theorem_10([count([MANY]), count([FEW])])
    assert (evidence.verdict, evidence.parts[0].cases) == (Verdict.HOLDS, 1)
    broken = theorem_10([count([MANY]), *planted(FEW, 8)], terms=lambda run: (Fraction(run.dim),) * 2)
    assert (broken.verdict, broken.parts[0].broken) == (Verdict.VIOLATED, 1)


@pytest.mark.parametrize("claim", [theorem_4, theorem_4_sharp, theorem_4_mistakes])
def test_theorem_4_scores_runs_of_which_d_and_less_is_promised(claim):
    """‖w*‖² is a term of its promise, and at η₁, where T = d, it comes closest."""
    cells = default_cells(claim)
    assert claim(cells).parts[0].cases == sum(len(cell.updates) for cell in cells)


@pytest.mark.parametrize(
    ("claim", "tightness", "closest"),
    [
        # d = 1, α = 0.999, η₁ = 1999.5/999·(1 + 1e-9): ½(1/η₁ + 1) of one update.
        (theorem_4, (999 / 1999.5 / (1 + 1e-9) + 1) / 2, 1),
        # d = 400, α = 0.999, s = 1/20: ⅓(1/η₁ + 1), η₁ = (1 + 1.999/40)/0.999.
        (theorem_4_sharp, (0.999 / (1 + 1.999 / 40) / (1 + 1e-9) + 1) / 3, 400),
    ],
)
def test_the_closest_runs_are_shown(claim, tightness, closest):
    evidence = claim(default_cells(claim))
    assert evidence.measured == closest
    assert evidence.tightness == pytest.approx(tightness, rel=1e-12)
    assert not evidence.vacuous


def test_the_lower_end_of_the_sign_errors_is_shown():
    """d = 1, α = 0.99, η = 21/20: one sign error, and ½(20/21 + 1) = 41/42."""
    part = theorem_4_mistakes(default_cells(theorem_4_mistakes)).parts[0]
    assert (part.measured, part.promised, part.tightness) == (1, 41 / 42, 41 / 42)


@breaks_part(theorem_4_mistakes, FEWEST)
def test_control_the_lower_end_of_the_sign_errors():
    """d = 4, η = 1/5: 7 is the lower end."""
    inside, outside = (judged_mistakes(UNDER_6, number, formula=lambda run, number=number: number) for number in (7, 6))
    return inside, outside


@breaks_part(theorem_4_mistakes, MOST)
def test_control_the_upper_end_of_the_sign_errors():
    """d = 4, α = ½, η = 1/5: 2/(½·1/5) + 4 = 24 is the upper end."""
    inside, outside = (
        judged_mistakes(UNDER_6, number, formula=lambda run, number=number: number) for number in (24, 25)
    )
    return inside, outside


def test_how_close_the_sign_errors_come():
    """1 against the lower end 0.97619, 200 against the upper end 201.01; both are among the default settings."""
    runs = [run for cell in default_cells(theorem_4) for run in cell.sequences]
    assert LOW in runs
    assert HIGH in runs
    assert judged_mistakes(LOW).parts[0].promised == pytest.approx(1 / 1.0244, rel=1e-4)
    assert judged_mistakes(HIGH).parts[2].tightness == pytest.approx(0.99497, rel=1e-5)


def altered_steps(place=None, **changes):
    taken = large_steps(ONE_RUN)
    if place is not None:
        taken[place] = dataclasses.replace(taken[place], **changes)
    return theorem_4_large_steps(taken)


@breaks_part(theorem_4_large_steps, ONCE)
def test_control_two_updates_from_the_threshold_on():
    return altered_steps(), altered_steps(0, passes=2)


def test_no_update_from_the_threshold_on_is_noticed_too():
    assert broken_in(altered_steps(0, passes=0)) == [ONCE]


@breaks_part(theorem_4_large_steps, TWICE)
def test_control_one_update_below_the_threshold():
    return altered_steps(), altered_steps(-1, passes=1)


@breaks_part(theorem_4_large_steps, CLASSIFIES)
def test_control_large_steps_with_entries_exchanged():
    first = large_steps(ONE_RUN)[1]
    return altered_steps(), altered_steps(1, plus=first.minus, minus=first.plus)


@breaks_part(gap_between_bounds, "at most M_k updates")
def test_control_one_update_more_than_the_upper_bound():
    """d = 1, α = 0.999, η = 10⁹: M_k = 1.002048, and T = 1."""
    nearly = basis_sequence(1, NEARLY_ONE, Fraction(10**9))
    both = [count([ENORMOUS]), count([nearly])]
    late = dataclasses.replace(count([basis_sequence(1, NEARLY_ONE, Fraction(10**8))]), updates=np.array([2]))
    return gap_between_bounds(both), gap_between_bounds([*both, late])


@pytest.mark.parametrize(("share", "kept"), [(1e-13, True), (5e-12, False)])
def test_the_upper_bound_holds_up_to_rounding(share, kept):
    counted = count([ENORMOUS])
    assert gap_between_bounds([counted], bound=lambda *_: counted.updates / (1 + share)).parts[0].kept is kept


@breaks_part(gap_between_bounds, "T/M_k → α² as η → ∞")
def test_control_the_limit_of_the_gap():
    """T/M_k is 0.24999… at α = ½, d = 10⁴: the limit is met to 1e-3 and no better one is."""
    counted = [count([basis_sequence(10_000, HALF, Fraction(10**9))])]
    inside, outside = (
        gap_between_bounds(counted, limit=lambda slopes, away=away: slopes**2 + away) for away in (9e-4, 1.05e-3)
    )
    return inside, outside


def test_the_gap_says_that_it_closes_only_as_the_slope_tends_to_one():
    """d = 10⁴, η = 10⁹: T/M_k is 0.01 at α = 0.1 and 0.998 at α = 0.999."""
    evidence = gap_between_bounds(default_cells(gap_between_bounds))
    assert evidence.note.endswith(
        "only as α → 1: at the largest steps T/M_k is 0.01 at α = 0.1 and 0.998 at α = 0.999."
    )
    assert gap_between_bounds([count([ENORMOUS])]).note.endswith("T/M_k is 0.25 at α = 0.5.")
    assert gap_between_bounds([count([UNDER_6])]).note == ""
    assert "for all α at once" in gap_between_bounds.statement


def test_large_steps_are_those_under_equation_6():
    """A run with η = 10⁹ and another R or v is not looked at for the limit, nor is one with a smaller step."""
    others = [
        basis_sequence(4, HALF, Fraction(10**9), radius=Fraction(2)),
        basis_sequence(4, HALF, Fraction(10**9), gain=Fraction(1, 3)),
        basis_sequence(4, HALF, Fraction(10**9 - 1)),
    ]
    evidence = gap_between_bounds([count([ENORMOUS, *others])])
    assert (evidence.parts[1].cases, evidence.details["with_eta_from_1e9"]) == (1, 1)


def test_how_close_the_bounds_come_in_the_default_settings():
    """The closest runs known are among them."""
    random = default_cells(theorem_10)
    assert theorem_10(random).tightness == pytest.approx(1 / 1.0007502, rel=1e-7)
    assert theorem_10_sharp(random).tightness == pytest.approx(0.99940036, rel=1e-7)
    assert {cell.dim.max() for cell in random} <= {*range(1, 401)}
    assert any(round(dim**0.5) ** 2 != dim for cell in random for dim in cell.dim)


def test_the_note_says_how_close_runs_come_of_which_more_than_d_is_promised():
    """d = 1, α = 0.95, η = 0.72: 3 updates where ½(1/η + 1) = 1.194 are promised."""
    found = theorem_4(default_cells(theorem_4))
    assert "Where more than d updates are promised, the tightest run is at 0.4." in found.note


test_every_part_has_a_control = every_part_of(forced_updates)


def test_steps_at_the_threshold_beside_it_and_far_from_it():
    """Where one pass is promised: from η₁ on, a ten thousandth above, twice and a million times as large."""
    assert [float(each) for each in forced_updates.ABOVE] == [1, 1.0001, 2, 1e6]
    assert [float(each) for each in forced_updates.BELOW] == [0.9999, 0.5]
