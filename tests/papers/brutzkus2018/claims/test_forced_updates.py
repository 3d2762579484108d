"""Theorems 4 and 10: the bounds hold, and wrong bounds, starts and counts are rejected."""

import dataclasses
import functools
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import forced_updates
from widenet.papers.brutzkus2018.claims.forced_updates import (
    gap_between_bounds,
    theorem_4,
    theorem_4_large_steps,
    theorem_4_mistakes,
    theorem_4_sharp,
    theorem_10,
    theorem_10_sharp,
)
from widenet.papers.brutzkus2018.runs.basis_sequences import (
    ABOVE,
    BELOW,
    basis_sequences,
    count,
    large_steps,
)
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    one_pass_step,
    printed_terms,
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


ONE_RUN = [basis_sequence(25, HALF, Fraction(1))]

TINY = Fraction(1, 10**6)
MANY = basis_sequence(4, Fraction(3, 10), Fraction(1, 5), gain=Fraction(9, 8), radius=Fraction(20, 3))
"""k = 2, v = 3/4, R = 5: min{B₁, B₂} is 200/3 as printed, 12320/81 in the sharp form."""
FEW = basis_sequence(9, Fraction(4, 5), Fraction(20), radius=Fraction(1, 100))
"""T = 9, and B₁, B₂ are far below."""
UNDER_6 = basis_sequence(4, HALF, Fraction(1, 5))
"""½(2·5 + 4) = 7, ⅓(4·5 + 4) = 8."""


@pytest.mark.parametrize(("claim", "least"), [(theorem_4, 7), (theorem_4_sharp, 8)])
def test_theorem_4_by_hand(claim, least):
    inside = claim(planted(UNDER_6, least))
    assert (inside.promised, inside.tightness) == (least, 1)


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


MISTAKES = UNDER_6.mistakes()
ENORMOUS = basis_sequence(4, HALF, Fraction(10**9))


def test_what_the_hypotheses_measure():
    """d = 4: the entries are ∓R/(2v)."""
    off = dataclasses.replace(UNDER_6, plus=Fraction(-1, 2) + 2 * TINY, gain=HALF - TINY, radius=1 + 2 * TINY)
    runs = forced_updates.Forced.join([count([UNDER_6]), count([off])])
    assert runs.start_distance.tolist() == [0, 3e-6]
    assert runs.gain_error.tolist() == [0, 2e-6]
    assert runs.radius_error.tolist() == [0, 2e-6]
    assert runs.slope.tolist() == [0.5, 0.5]


def judged_mistakes(run, mistakes=None, **constants):
    counted = count([run])
    given = counted.mistakes if mistakes is None else np.array([mistakes])
    return theorem_4_mistakes([dataclasses.replace(counted, mistakes=given)], **constants)


LOW, HIGH = basis_sequence(1, Fraction(99, 100), Fraction(21, 20)), basis_sequence(100, Fraction(99, 100), HALF / 5)


def test_what_floats_cannot_tell_apart_is_compared_in_fractions():
    hair = Fraction(1, 10**20)
    upper = judged_mistakes(UNDER_6, 24, formula=lambda run: 24, most=lambda run: 24 - hair)
    assert broken_in(upper) == ["most"]
    assert theorem_4(planted(UNDER_6, 7), promise=lambda run: 7 + hair).verdict is Verdict.VIOLATED


def test_theorem_10_leaves_out_runs_of_which_no_more_is_promised_than_every_run_does():
    """Of FEW less than d = 9 is promised by B₁ and B₂. One that breaks its limit is not left out."""
    evidence = theorem_10([count([MANY]), count([FEW])])
    assert (evidence.verdict, evidence.parts[0].n_cases) == (Verdict.HOLDS, 1)

    def terms(run):
        return (Fraction(run.dim),) * 2 if run.dim == FEW.dim else printed_terms(run)

    broken = theorem_10([count([MANY]), *planted(FEW, 8)], terms=terms).parts[0]
    assert (broken.n_cases, broken.broken) == (2, 1)


@pytest.mark.parametrize("claim", [theorem_4, theorem_4_sharp, theorem_4_mistakes])
def test_theorem_4_scores_runs_of_which_d_and_less_is_promised(claim):
    """‖w*‖² is a term of its promise, and at η₁, where T = d, it comes closest."""
    cells = default_cells(claim)
    assert claim(cells).parts[0].n_cases == sum(len(cell.updates) for cell in cells)


@pytest.mark.parametrize(
    ("claim", "tightness", "closest"),
    [
        (theorem_4, 0.39801426643531906, 3),
        (theorem_4_sharp, 0.3779320987654321, 75),
    ],
)
def test_the_closest_runs_of_which_more_than_d_is_promised_are_shown(claim, tightness, closest):
    """At η₁, where one update per point is promised and made, runs come closer and could not fail."""
    evidence = claim(default_cells(claim))
    assert evidence.promised > evidence.headline.closest["dim"]
    assert evidence.tightness < evidence.headline.cases.tightness.max()
    assert evidence.measured == closest
    assert evidence.tightness == pytest.approx(tightness, rel=1e-12)
    assert not evidence.vacuous


def test_the_lower_end_of_the_sign_errors_is_shown():
    """d = 1, α = 0.99, η = 21/20: one sign error, and ½(20/21 + 1) = 41/42."""
    part = theorem_4_mistakes(default_cells(theorem_4_mistakes)).parts[0]
    assert (part.measured, part.promised, part.tightness) == (1, 41 / 42, 41 / 42)


def test_how_close_the_sign_errors_come():
    """1 against the lower end 0.97619, 200 against the upper end 201.01; both are among the default settings."""
    runs = [run for cell in default_cells(theorem_4) for run in cell.sequences]
    assert LOW in runs
    assert HIGH in runs
    assert judged_mistakes(LOW).parts[0].promised == pytest.approx(1 / 1.0244, rel=1e-4)
    assert judged_mistakes(HIGH).parts[2].tightness == pytest.approx(0.99497, rel=1e-5)


def mistaken(number, **constants):
    """So many sign errors."""
    return at([dataclasses.replace(count([UNDER_6]), mistakes=np.array([number]))], **constants)


def saying(number):
    """So many sign errors, and a closed form that says so."""
    return mistaken(number, formula=lambda run: number)


def at_place(place, value):
    """Another value in one run."""

    def changed(column):
        column = column.copy()
        column[place] = value
        return column

    return changed


NEARLY = basis_sequence(1, NEARLY_ONE, Fraction(10**9))
"""M_k = 1.002048, and T = 1."""
LATE = dataclasses.replace(count([basis_sequence(1, NEARLY_ONE, Fraction(10**8))]), updates=np.array([2]))


def limit_away(away):
    """T/M_k is 0.24999… at α = ½, d = 10⁴: the limit is met to 1e-3 and no better one is."""
    return at([count([basis_sequence(10_000, HALF, Fraction(10**9))])], limit=lambda slopes: slopes**2 + away)


def bound_below(share):
    """M_k such that the run is this share above it; T/M_k still tends to ¼."""
    counted = count([ENORMOUS])
    return at([counted], bound=lambda *_: counted.updates / (1 + share), limit=lambda slopes: 1 + 0 * slopes)


TEN, SHARP, FOUR, FOUR_SHARP, LARGE = theorem_10, theorem_10_sharp, theorem_4, theorem_4_sharp, theorem_4_large_steps
MISTAKEN, GAP = theorem_4_mistakes, gap_between_bounds
LIMIT_MET = [count([basis_sequence(10_000, HALF, Fraction(10**9))])]
test_control = controls(
    forced_updates,
    {LARGE: large_steps(ONE_RUN), GAP: LIMIT_MET, forced_updates.Forced: count([UNDER_6])},
    (TEN, "forced", at(planted(MANY, 67)), at(planted(MANY, 66))),
    (SHARP, "forced", at(planted(MANY, 153)), at(planted(MANY, 152))),
    (TEN, "once", at(planted(FEW, 9)), at(planted(FEW, 8))),
    (SHARP, "once", at(planted(FEW, 9)), at(planted(FEW, 8))),
    (FOUR, "forced", at(planted(UNDER_6, 7)), at(planted(UNDER_6, 6))),
    (FOUR_SHARP, "forced", at(planted(UNDER_6, 8)), at(planted(UNDER_6, 7))),
    (MISTAKEN, "closed_form", {}, mistaken(MISTAKES + 1)),
    (MISTAKEN, "closed_form", {}, mistaken(MISTAKES - 1)),
    # d = 4, α = ½, η = 1/5: 7 is the lower end, 2/(½·1/5) + 4 = 24 the upper one
    (MISTAKEN, "fewest", saying(7), saying(6)),
    (MISTAKEN, "most", saying(24), saying(25)),
    (LARGE, "once", {}, {"passes": at_place(0, 2)}),
    (LARGE, "once", {}, {"passes": at_place(0, 0)}),
    (LARGE, "twice", {}, {"passes": at_place(-1, 1)}),
    (LARGE, "classifies", {}, {"agrees": at_place(1, False)}),
    (GAP, "updates", at([*LIMIT_MET, count([NEARLY])]), at([*LIMIT_MET, count([NEARLY]), LATE])),
    (GAP, "updates", bound_below(1e-13), bound_below(5e-12)),
    (GAP, "limit", limit_away(9e-4), limit_away(1.05e-3)),
    (GAP, "limit", limit_away(-9e-4), limit_away(-1.05e-3)),
)


def test_entries_that_are_exchanged_classify_otherwise():
    run = dataclasses.replace(ONE_RUN[0], step_size=one_pass_step(ONE_RUN[0]))
    _, plus, minus = run.solved()
    assert (run.agrees_with_separator(plus, minus), run.agrees_with_separator(minus, plus)) == (True, False)


def test_the_gap_says_that_it_closes_only_as_the_slope_tends_to_one():
    """d = 10⁴, η = 10⁹: T/M_k is 0.01 at α = 0.1 and 0.998 at α = 0.999."""
    evidence = gap_between_bounds(default_cells(gap_between_bounds))
    assert evidence.note.endswith(
        "only as α → 1: at the largest steps T/M_k is 0.01 at α = 0.1 and 0.998 at α = 0.999."
    )
    assert gap_between_bounds([count([ENORMOUS])]).note.endswith("T/M_k is 0.25 at α = 0.5.")
    assert gap_between_bounds([count([UNDER_6])]).note == ""
    assert "for all $α$ at once" in gap_between_bounds.statement


def test_large_steps_are_those_under_equation_6():
    """A run with η = 10⁹ and another R or v is not looked at for the limit, nor is one with a smaller step."""
    others = [
        basis_sequence(4, HALF, Fraction(10**9), radius=Fraction(2)),
        basis_sequence(4, HALF, Fraction(10**9), gain=Fraction(1, 3)),
        basis_sequence(4, HALF, Fraction(10**9 - 1)),
    ]
    evidence = gap_between_bounds([count([ENORMOUS, *others])])
    assert (evidence.parts[1].n_cases, evidence.details["with_eta_from_1e9"]) == (1, 1)


def test_how_close_the_bounds_come_in_the_default_settings():
    """The closest runs known are among them."""
    random = default_cells(theorem_10)
    assert theorem_10(random).tightness == pytest.approx(1 / 1.0007502, rel=1e-7)
    assert theorem_10_sharp(random).tightness == pytest.approx(0.99940036, rel=1e-7)
    assert {cell.dim.max() for cell in random} <= {*range(1, 401)}
    assert any(round(dim**0.5) ** 2 != dim for cell in random for dim in cell.dim)


def test_steps_at_the_threshold_beside_it_and_far_from_it():
    """Where one pass is promised: from η₁ on, a ten thousandth above, twice and a million times as large."""
    assert [float(each) for each in ABOVE] == [1, 1.0001, 2, 1e6]
    assert [float(each) for each in BELOW] == [0.9999, 0.5]
