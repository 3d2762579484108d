"""Theorems 4 and 10 with other constants: what is printed stands, and a little more does not."""

import dataclasses
from fractions import Fraction

import pytest

from tests.control_table import broken_in
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.forced_updates import (
    gap_between_bounds,
    theorem_4,
    theorem_4_large_steps,
    theorem_4_mistakes,
    theorem_10,
)
from widenet.papers.brutzkus2018.formulas import max_nonzero_updates
from widenet.papers.brutzkus2018.runs.basis_sequences import count, equation_6_grid, large_steps, random_sequences
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    half_the_sum,
    most_mistakes,
    one_pass_step,
    printed_terms,
    sharp_terms,
    third_of_squares,
)

RANDOM = count(random_sequences(1, 200))
GRID = count(equation_6_grid(6))
HALF, NEARLY_ONE = Fraction(1, 2), Fraction(999, 1000)
ONE_RUN = [basis_sequence(25, HALF, Fraction(1))]


def reversed_start(run: BasisSequence) -> BasisSequence:
    return dataclasses.replace(run, plus=run.minus, minus=run.plus)


def test_control_reversed_start():
    """d = 4, k = 1, v = 1/√2, α = ½, R = 10: nothing has to be learned, T = 0 < d."""
    run = reversed_start(basis_sequence(4, HALF, Fraction(1), radius=Fraction(14)))
    assert run.updates() == 0
    evidence = theorem_10([count([run])])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert [h.name for h in evidence.hypotheses if not h.met] == [
        "start: distance of the entries from ∓R/√d, in units of v"
    ]


def test_control_theorem_10_with_twice_its_terms():
    """Twice the printed terms are more than SGD needs."""
    evidence = theorem_10([RANDOM], terms=lambda run: (2 * printed_terms(run)[0], 2 * printed_terms(run)[1]))
    assert evidence.verdict is Verdict.VIOLATED
    assert "below the bound" in evidence.note


@pytest.mark.parametrize(
    ("place", "factor", "parameters"),
    [
        (0, Fraction(1002, 1000), (Fraction(1, 10), Fraction(20))),
        (1, Fraction(1006, 1000), (Fraction(99, 100), Fraction(20))),
    ],
    ids=["B₁", "B₂"],
)
def test_control_one_sharp_term_a_little_larger(place, factor, parameters):
    """d = 1, η = 1/10, k = 1, v = 1/4: T/B₁ = 1.0010 where B₁ is the smaller one, T/B₂ = 1.0050 where B₂ is."""
    slope, row_bound = parameters
    run = basis_sequence(1, slope, Fraction(1, 10), gain=Fraction(1, 16), radius=4 * row_bound)
    assert min(sharp_terms(run)) == sharp_terms(run)[place]

    def larger(run):
        terms = list(sharp_terms(run))
        terms[place] *= factor
        return tuple(terms)

    assert theorem_10([count([run])], terms=sharp_terms).verdict is Verdict.HOLDS
    assert theorem_10([count([run])], terms=larger).verdict is Verdict.VIOLATED


def test_the_printed_theorem_10_is_nearly_attained():
    """d = 1, α = 999/1000, η = 1/10, k = 20, v = 1, R = 500: T = 5003 against 4999.2."""
    run = basis_sequence(1, NEARLY_ONE, Fraction(1, 10), gain=Fraction(20), radius=Fraction(500))
    evidence = theorem_10([count([run])])
    assert evidence.measured == 5003
    assert evidence.tightness == pytest.approx(1 / 1.0007502, abs=1e-7)


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
    evidence = theorem_10([count([run])], terms=unsquared_terms)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 400
    assert evidence.promised == float(160 + Fraction(10_000, 17) - 200)
    assert theorem_10([count([run])], terms=sharp_terms).verdict is Verdict.HOLDS


def test_a_bound_of_d_alone_is_vacuous():
    evidence = theorem_10([count([basis_sequence(4, HALF, Fraction(100))])])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.vacuous


def test_control_theorem_4_with_the_cube_of_the_norm():
    """⅓‖w*‖³/η at d = 400, α = 9/10, η = 1/100 demands 2.7·10⁵; T = 46 400."""
    counted = count([basis_sequence(400, Fraction(9, 10), Fraction(1, 100))])
    evidence = theorem_4([counted], promise=lambda run: run.separator_norm**3 / run.step_size / 3)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == 46_400
    assert theorem_4([counted], promise=third_of_squares).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("dim", "constant", "promise"),
    [(1, Fraction(667, 1000), half_the_sum), (400, Fraction(5125, 10_000), third_of_squares)],
)
def test_control_theorem_4_with_a_constant_that_cannot_stand(dim, constant, promise):
    """α = 0.999, η = η₁, T = d: no constant above 0.6668 before ‖w*‖/η + ‖w*‖², above 0.5124 before the squares."""
    run = basis_sequence(dim, NEARLY_ONE, Fraction(1))
    counted = count([dataclasses.replace(run, step_size=one_pass_step(run))])
    times = constant * (2 if promise is half_the_sum else 3)
    assert theorem_4([counted], promise=lambda run: times * promise(run)).verdict is Verdict.VIOLATED
    below = Fraction(999, 1000) * times
    assert theorem_4([counted], promise=lambda run: below * promise(run)).verdict is Verdict.HOLDS


def test_control_theorem_4_needs_its_initialization():
    run = basis_sequence(4, HALF, HALF, radius=Fraction(1, 100), gain=Fraction(100))
    evidence = theorem_4([count([run])])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.name for h in evidence.hypotheses if not h.met] == ["largest |2kv² − 1|", "largest |R/v − 1|"]


def test_control_sign_errors_are_not_as_many_as_squares_promise():
    """Sign errors are of the order ‖w*‖/η, so the 1/η term with ‖w*‖² is false for them."""
    counted = count([basis_sequence(400, Fraction(9, 10), Fraction(1, 100))])
    evidence = theorem_4([counted], count="mistakes", promise=third_of_squares)
    assert evidence.verdict is Verdict.VIOLATED


def test_control_mistakes_formula_against_updates():
    evidence = theorem_4_mistakes([GRID], count="updates")
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["differ_from_the_closed_form"] > 0


def test_control_the_two_ends_of_the_sign_errors():
    """1 against the lower end 0.97619 (ratio 1.0244), 200 against the upper end 201.01 (0.99497)."""
    slope = Fraction(99, 100)
    low, high = (
        count([basis_sequence(1, slope, Fraction(21, 20))]),
        count([basis_sequence(100, slope, Fraction(1, 10))]),
    )
    assert (low.mistakes.tolist(), high.mistakes.tolist()) == ([1], [200])
    assert broken_in(theorem_4_mistakes([low], fewest=lambda run: Fraction(103, 100) * half_the_sum(run))) == ["fewest"]
    assert theorem_4_mistakes([low], fewest=lambda run: Fraction(102, 100) * half_the_sum(run)).conclusion
    assert broken_in(theorem_4_mistakes([high], most=lambda run: Fraction(99, 100) * most_mistakes(run))) == ["most"]
    assert theorem_4_mistakes([high], most=lambda run: Fraction(995, 1000) * most_mistakes(run)).conclusion


def test_control_large_steps_with_a_threshold_too_low():
    """Just above 1/α but below η₁ every point is updated twice."""
    assert theorem_4_large_steps(large_steps(ONE_RUN)).verdict is Verdict.HOLDS
    evidence = theorem_4_large_steps(large_steps(ONE_RUN, threshold=lambda run: 1 / run.slope))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["once"]
    assert evidence.measured == 2


def test_control_large_steps_with_a_threshold_too_high():
    evidence = theorem_4_large_steps(large_steps(ONE_RUN, threshold=lambda run: 2 * one_pass_step(run)))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(evidence) == ["twice"]


def test_control_nine_tenths_of_the_upper_bound():
    """d = 10⁴, α = .99, η = 100: T = 10⁴ against .9·M_k = 9499."""
    runs = [basis_sequence(10_000, Fraction(99, 100), Fraction(eta)) for eta in (100, 10**9)]
    assert gap_between_bounds([count(runs)]).verdict is Verdict.HOLDS
    evidence = gap_between_bounds([count(runs[:1])], bound=lambda *values: 0.9 * max_nonzero_updates(*values))
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.promised == pytest.approx(9499, abs=1)


def test_control_a_hundredth_less_than_the_upper_bound():
    """d = 1, α = 0.999, η = 10⁹: T = 1, M_k = 1.002048."""
    counted = count([basis_sequence(1, NEARLY_ONE, Fraction(10**9))])
    evidence = gap_between_bounds([counted], bound=lambda *values: 0.99 * max_nonzero_updates(*values))
    assert "updates" in broken_in(evidence)
    evidence = gap_between_bounds([counted])
    assert evidence.promised == pytest.approx(1.00204779654, rel=1e-11)


def test_the_gap_is_not_decided_without_large_steps():
    assert gap_between_bounds([RANDOM]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_the_gap_closes_to_the_square_of_the_slope():
    """Twice M_k is never exceeded either, but T does not approach it; nor does T/M_k approach α^2.1."""
    counted = count([basis_sequence(10_000, HALF, Fraction(10**9))])
    evidence = gap_between_bounds([counted], bound=lambda *values: 2 * max_nonzero_updates(*values))
    assert evidence.verdict is Verdict.VIOLATED
    assert broken_in(gap_between_bounds([counted], limit=lambda slopes: slopes**2.1)) == ["limit"]
