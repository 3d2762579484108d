"""Theorems 4 and 10: the counts are exact, the bounds hold, and wrong bounds are rejected."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.collapse import check_theorem_10_collapse, theorem_10_collapse, tied_network
from widenet.papers.brutzkus2018.claims.forced_updates import (
    check_gap_between_bounds,
    check_theorem_4,
    check_theorem_4_large_steps,
    check_theorem_4_mistakes,
    check_theorem_10,
    equation_6_grid,
    gap_between_bounds,
    random_sequences,
    theorem_4,
    theorem_4_large_steps,
    theorem_4_mistakes,
    theorem_4_sharp,
    theorem_10,
    theorem_10_sharp,
)
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    basis_trials,
    basis_updates,
    one_pass_step,
    printed_terms,
    sharp_terms,
    third_of_squares,
)
from widenet.types import Scale

RANDOM = random_sequences(1, 200)
GRID = equation_6_grid(6)
HALF = Fraction(1, 2)


def pass_by_pass(run: BasisSequence, most: int = 3000) -> tuple[int, int]:
    """(T, sign errors) without leaps; `most` passes at the longest."""
    plus, minus, passes, mistakes = run.plus, run.minus, 0, 0
    while (output := run.output(plus, minus)) < 1 and passes < most:
        mistakes += output <= 0
        plus += run.step_size * (1 if plus >= 0 else run.slope)
        minus -= run.step_size * (1 if minus >= 0 else run.slope)
        passes += 1
    return run.dim * passes, run.dim * mistakes


@pytest.mark.parametrize("claim", [theorem_10, theorem_10_sharp, theorem_10_collapse, theorem_4, theorem_4_sharp])
def test_lower_bounds_hold(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous
    assert evidence.tightness >= 1
    assert evidence.measured >= evidence.promised > 0


@pytest.mark.parametrize("claim", [theorem_4_large_steps, theorem_4_mistakes, gap_between_bounds])
def test_what_is_derived_holds(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 0), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert not evidence.vacuous


def test_leaps_count_what_single_passes_count():
    short = [run for run in [*RANDOM, *GRID] if run.updates() <= 1500 * run.dim]
    assert len(short) > 150
    for run in short:
        assert (run.updates(), run.mistakes()) == pass_by_pass(run)


def test_leaps_count_what_the_older_recursion_counts():
    """The same run in the units of the network, k = 3, v = 3/4, R = 5."""
    for slope, eta in (
        (Fraction(1, 2), Fraction(1, 3)),
        (Fraction(1, 10), Fraction(2)),
        (Fraction(9, 10), Fraction(7)),
    ):
        run = basis_sequence(4, slope, eta, gain=3 * Fraction(9, 16), radius=Fraction(20, 3))
        assert run.updates() == basis_updates(4, 3, slope, eta, Fraction(3, 4), Fraction(5, 2))


@pytest.mark.parametrize(("slope", "eta"), [("1/2", "1/16"), ("1/4", "5/2")])
def test_the_engine_counts_the_same_mistakes(slope, eta):
    run = basis_trials(4, 2, float(Fraction(slope)), float(Fraction(eta))).train(20_000)
    exact = basis_sequence(4, Fraction(slope), Fraction(eta))
    assert (run.updates[0], run.mistakes[0]) == (exact.updates(), exact.mistakes())


def test_the_printed_terms_are_never_above_the_sharp_ones():
    for run in RANDOM:
        assert all(printed <= sharp for printed, sharp in zip(printed_terms(run), sharp_terms(run), strict=True))


def test_the_dimension_must_be_a_square():
    with pytest.raises(ValueError, match="square"):
        basis_sequence(5, HALF, HALF)


def reversed_start(run: BasisSequence) -> BasisSequence:
    return dataclasses.replace(run, plus=run.minus, minus=run.plus)


def test_control_reversed_start():
    """d = 4, k = 1, v = 1/√2, α = ½, R = 10: nothing has to be learned, T = 0 < d."""
    run = reversed_start(basis_sequence(4, HALF, Fraction(1), radius=Fraction(14)))
    assert run.updates() == 0
    evidence = check_theorem_10([run])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.name for h in evidence.hypotheses if not h.met] == [
        "start: distance of the entries from ∓R/√d, in units of v"
    ]


def test_control_theorem_10_with_twice_its_terms():
    """Twice the printed terms are more than SGD needs."""
    evidence = check_theorem_10(RANDOM, terms=lambda run: (2 * printed_terms(run)[0], 2 * printed_terms(run)[1]))
    assert evidence.verdict is Verdict.VIOLATED
    assert "below the bound" in evidence.note


def unsquared_terms(run: BasisSequence) -> tuple[Fraction, Fraction]:
    """max{·, 0} as in the sharp form, but with the printed ‖w*‖ where the proof has ‖w*‖²."""
    norm, per_radius = run.separator_norm, run.radius * run.separator_norm / run.step_size
    per_pass = run.dim / (2 * run.step_size * run.gain)
    return (
        per_radius / run.slope + max(per_pass - run.slope * norm, Fraction(0)),
        per_radius + max(per_pass / run.slope**2 - norm / run.slope, Fraction(0)),
    )


def test_control_theorem_10_sharp_with_unsquared_terms():
    """d = 400, k = v = 1, α = 1/10, η = 34, R = 272: T = 400, and the mixture of the two forms demands 548."""
    run = basis_sequence(400, Fraction(1, 10), Fraction(34), gain=Fraction(1), radius=Fraction(272))
    evidence = check_theorem_10([run], terms=unsquared_terms)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 400
    assert evidence.promised == float(160 + Fraction(10_000, 17) - 200)
    assert check_theorem_10([run], terms=sharp_terms).verdict is Verdict.HOLDS


def test_a_bound_of_d_alone_is_vacuous():
    assert check_theorem_10([basis_sequence(4, HALF, Fraction(100))]).vacuous


def untied(network):
    draw = np.random.default_rng(0)
    hidden = np.array(
        [[Fraction(int(n), 8) for n in row] for row in draw.integers(-8, 9, network.hidden.shape)], object
    )
    return dataclasses.replace(network, hidden=hidden)


def test_control_collapse_from_random_rows():
    network = tied_network(4, 2, HALF, HALF, HALF, Fraction(2))
    evidence = check_theorem_10_collapse([untied(network)])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.config["runs_with_rows_or_coordinates_apart"] == 1


def test_control_collapse_to_another_count():
    network = tied_network(4, 2, HALF, HALF, HALF, Fraction(2))
    assert check_theorem_10_collapse([network]).verdict is Verdict.HOLDS
    evidence = check_theorem_10_collapse([network], count=BasisSequence.mistakes)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["runs_with_another_count"] == 1


def test_control_theorem_4_with_the_cube_of_the_norm():
    """⅓‖w*‖³/η at d = 400, α = 9/10, η = 1/100 demands 2.7·10⁵; T = 46 400."""
    run = basis_sequence(400, Fraction(9, 10), Fraction(1, 100))
    evidence = check_theorem_4([run], promise=lambda run: run.separator_norm**3 / run.step_size / 3)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 46_400
    assert check_theorem_4([run], promise=third_of_squares).verdict is Verdict.HOLDS


def test_control_theorem_4_needs_its_initialization():
    run = basis_sequence(4, HALF, HALF, radius=Fraction(1, 100), gain=Fraction(100))
    evidence = check_theorem_4([run])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest |2kv² − 1|", "largest |R/v − 1|"]


def test_control_sign_errors_are_not_as_many_as_squares_promise():
    """Sign errors are of the order ‖w*‖/η, so the 1/η term with ‖w*‖² is false for them."""
    run = basis_sequence(400, Fraction(9, 10), Fraction(1, 100))
    evidence = check_theorem_4([run], count=BasisSequence.mistakes, promise=third_of_squares)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_mistakes_formula_against_updates():
    evidence = check_theorem_4_mistakes(GRID, count=BasisSequence.updates)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.config["differ_from_the_closed_form"] > 0


def test_control_eta_inf_with_a_threshold_too_low():
    """Just above 1/α but below η₁ every point is updated twice."""
    runs = [basis_sequence(25, HALF, Fraction(1))]
    assert check_theorem_4_large_steps(runs, n_points=50).verdict is Verdict.HOLDS
    evidence = check_theorem_4_large_steps(runs, threshold=lambda run: 1 / run.slope, n_points=50)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 2


def test_control_eta_inf_with_a_threshold_too_high():
    runs = [basis_sequence(25, HALF, Fraction(1))]
    evidence = check_theorem_4_large_steps(runs, threshold=lambda run: 2 * one_pass_step(run), n_points=50)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_nine_tenths_of_the_upper_bound():
    """d = 10⁴, α = .99, η = 100: T = 10⁴ against .9·M_k = 9499."""
    runs = [basis_sequence(10_000, Fraction(99, 100), Fraction(eta)) for eta in (100, 10**9)]
    assert check_gap_between_bounds(runs).verdict is Verdict.HOLDS
    evidence = check_gap_between_bounds(runs[:1], bound=lambda *values: 0.9 * max_nonzero_updates(*values))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised == pytest.approx(9499, abs=1)


def test_the_gap_is_not_decided_without_large_steps():
    assert check_gap_between_bounds(RANDOM).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_the_gap_closes_to_the_square_of_the_slope():
    """Twice M_k is never exceeded either, but T does not approach it."""
    runs = [basis_sequence(10_000, HALF, Fraction(10**9))]
    evidence = check_gap_between_bounds(runs, bound=lambda *values: 2 * max_nonzero_updates(*values))
    assert evidence.verdict is Verdict.VIOLATED
