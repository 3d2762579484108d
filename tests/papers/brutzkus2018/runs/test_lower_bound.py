"""The recursion on the basis sequence: every way of counting agrees, and the promises have their pinned values."""

import dataclasses
from fractions import Fraction

import jax
import jax.numpy as jnp
import pytest

from widenet.losses import hinge
from widenet.networks import TwoLayer, leaky_relu
from widenet.papers.brutzkus2018.runs.basis_sequences import equation_6_grid, random_sequences
from widenet.papers.brutzkus2018.runs.lower_bound import (
    BasisSequence,
    basis_sequence,
    basis_updates,
    half_the_sum,
    mistakes_in_closed_form,
    most_mistakes,
    one_pass_step,
    printed_terms,
    roots,
    sharp_terms,
    third_of_squares,
)
from widenet.papers.brutzkus2018.sources import BasisTrial
from widenet.training import SGD, Cyclic, Recipe, train
from widenet.types import Dataset

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


def test_leaps_count_what_single_passes_count():
    short = [run for run in [*RANDOM, *GRID] if run.updates() <= 1500 * run.dim]
    assert len(short) > 150
    for run in short:
        assert (run.updates(), run.mistakes()) == pass_by_pass(run)


def test_leaps_count_what_the_recursion_of_the_network_counts():
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
    slope, eta = Fraction(slope), Fraction(eta)
    (trial,) = BasisTrial(dim=4, half_width=2, slope=float(slope), step_size=float(eta)).draw()
    network = TwoLayer(jnp.asarray(trial.hidden), jnp.asarray(trial.output), None, leaky_relu(trial.slope))
    data = Dataset(jnp.asarray(trial.inputs), jnp.asarray(trial.labels))
    recipe = Recipe(hinge, SGD(trial.step_size, Cyclic()), 20_000)
    run, exact = train(network, data, recipe, jax.random.key(0)), basis_sequence(4, slope, eta)
    assert (run.updates, run.mistakes) == (exact.updates(), exact.mistakes())


PINNED = {
    (1, "1/2"): {"1/100": (340, 150), "1/10": (34, 15), "1": (4, 2), "2": (2, 1), "4": (1, 1), "100": (1, 1)},
    (4, "3/10"): {"1/50": (684, 216), "1/5": (72, 20), "1": (16, 4), "3": (8, 4), "5": (4, 4), "50": (4, 4)},
    (9, "4/5"): {"1/100": (1449, 342), "1/10": (153, 36), "1/2": (36, 9), "1": (18, 9), "2": (9, 9), "20": (9, 9)},
    (100, "9/10"): {
        "1/100": (12200, 1100),
        "1/10": (1300, 200),
        "1": (200, 100),
        "6/5": (200, 100),
        "10": (100, 100),
    },
    (36, "1/4"): {"1/20": (1836, 288), "1": (108, 36), "4": (72, 36), "9/2": (36, 36), "100": (36, 36)},
}
"""(T, sign errors) by (d, α) and η, under Eq. 6."""


@pytest.mark.parametrize(("at", "counts"), PINNED.items(), ids=str)
def test_pinned_counts(at, counts):
    dim, slope = at[0], Fraction(at[1])
    for eta, expected in counts.items():
        run = basis_sequence(dim, slope, Fraction(eta))
        assert (run.updates(), run.mistakes()) == expected
        assert mistakes_in_closed_form(run) == expected[1]


@pytest.mark.parametrize(
    ("dim", "slope", "threshold"), [(1, "1/2", "7/2"), (4, "3/10", "53/12"), (9, "4/5", "13/8"), (100, "9/10", "73/60")]
)
def test_the_step_from_which_one_pass_is_enough(dim, slope, threshold):
    run = basis_sequence(dim, Fraction(slope), Fraction(threshold))
    assert one_pass_step(run) == run.step_size
    assert run.updates() == dim
    assert dataclasses.replace(run, step_size=Fraction(9999, 10_000) * run.step_size).updates() == 2 * dim


@pytest.mark.parametrize(
    ("dim", "eta", "half", "third", "most"), [(4, "1/5", "7", "8", "112/3"), (9, "2", "21/4", "9/2", "14")]
)
def test_pinned_promises_of_theorem_4(dim, eta, half, third, most):
    run = basis_sequence(dim, Fraction(3, 10), Fraction(eta))
    assert (half_the_sum(run), third_of_squares(run)) == (Fraction(half), Fraction(third))
    assert most_mistakes(run) == Fraction(most)


TERMS = [
    ((4, "3/10", "1/5", 2, "3/4", 5), ("2000/9", "200/3"), ("10346/45", "12320/81"), 228),
    ((9, "4/5", "2", 3, "3/2", 40), ("719/15", "1765/48"), ("50", "40"), 45),
    ((100, "9/10", "3", 1, "2", 75), ("2413/18", "28925/243"), ("1250/9", "125"), 200),
    ((4, "1/2", "1/10", 1, "1/2", 1), ("80", "40"), ("158", "352"), 200),
    ((1, "1/10", "1/10", 1, "1/4", 20), None, ("80799/10", "8790"), 8088),
    ((1, "99/100", "1/10", 1, "1/4", 5), None, ("2782199/9900", "2750300/9801"), 282),
]
"""d, α, η, k, v, R; B₁ and B₂ as printed; B₁ and B₂ of the sharp form; T."""


def with_parameters(dim, slope, eta, half_width, weight, row_bound):
    weight = Fraction(weight)
    gain, radius = half_width * weight**2, Fraction(row_bound) / weight
    return basis_sequence(dim, Fraction(slope), Fraction(eta), gain=gain, radius=radius)


@pytest.mark.parametrize(("parameters", "printed", "sharp", "updates"), TERMS, ids=[str(row[0]) for row in TERMS])
def test_pinned_terms_of_theorem_10(parameters, printed, sharp, updates):
    run = with_parameters(*parameters)
    assert sharp_terms(run) == tuple(map(Fraction, sharp))
    assert printed is None or printed_terms(run) == tuple(map(Fraction, printed))
    assert run.updates() == updates


def test_the_printed_terms_are_never_above_the_sharp_ones():
    for run in RANDOM:
        assert all(printed <= sharp for printed, sharp in zip(printed_terms(run), sharp_terms(run), strict=True))


def test_as_printed_the_second_term_is_the_smaller_one():
    """In the sharp form either may be."""
    assert all(printed_terms(run)[0] >= printed_terms(run)[1] for run in RANDOM)
    first = [sharp_terms(run)[0] < sharp_terms(run)[1] for run in RANDOM]
    assert 0 < sum(first) < len(first)


NO_SQUARE = {
    (2, "3/5"): {"1/20": (102, 38), "1/2": (12, 4), "3/2": (4, 2), "7/2": (2, 2)},
    (3, "1/5"): {"1/10": (144, 51), "1": (15, 3), "5": (6, 3)},
    (7, "17/20"): {"1/30": (336, 91), "2/5": (35, 14), "11/10": (14, 7), "3": (7, 7)},
}
"""As `PINNED`, where √d is no fraction."""


@pytest.mark.parametrize(("at", "counts"), NO_SQUARE.items(), ids=str)
def test_pinned_counts_where_d_is_no_square(at, counts):
    dim, slope = at[0], Fraction(at[1])
    for eta, expected in counts.items():
        run = basis_sequence(dim, slope, Fraction(eta))
        assert (run.updates(), run.mistakes()) == expected
        assert mistakes_in_closed_form(run) == expected[1]
        assert run.has_one_count


def test_two_fractions_stand_on_both_sides_of_a_root():
    for dim in range(1, 401):
        first, second = roots(dim)
        if first == second:
            assert first**2 == dim
        else:
            assert (first**2 - dim) * (second**2 - dim) < 0
            assert abs(first - second) < Fraction(1, 10**7)


def test_a_count_that_the_fraction_decides_is_not_certain():
    """Between the thresholds η₁ of the two fractions one of them takes a pass more than the other."""
    run = basis_sequence(2, HALF, Fraction(1))
    for part in (Fraction(1), Fraction(1001, 1000)):
        assert dataclasses.replace(run, step_size=one_pass_step(run) * part).has_one_count
    just_below = one_pass_step(run) * (1 - Fraction(1, 10**13))
    assert not dataclasses.replace(run, step_size=just_below).has_one_count
    assert basis_sequence(4, HALF, Fraction(1)).has_one_count


@pytest.mark.parametrize(("dim", "mistakes"), [(2, (2, 4)), (3, (3, 6))])
def test_a_count_of_mistakes_that_the_fraction_decides_is_not_certain_either(dim, mistakes):
    """α = ½ and η = 4s/3: N is 0 after a pass from ∓s, and s lies between what the two fractions give for 1/√d."""
    first, second = roots(dim)
    run = basis_sequence(dim, HALF, (1 / first + 1 / second) * Fraction(2, 3))
    other = dataclasses.replace(run, plus=run.plus * first / second, minus=run.minus * first / second)
    assert run.updates() == other.updates()
    assert sorted((run.mistakes(), other.mistakes())) == list(mistakes)
    assert not run.has_one_count


@pytest.mark.parametrize(("dim", "slope", "threshold"), [(2, "3/5", 2.60947570825), (36, "1/4", 4.41666666667)])
def test_the_threshold_where_d_is_no_square(dim, slope, threshold):
    assert float(one_pass_step(basis_sequence(dim, Fraction(slope), HALF))) == pytest.approx(threshold, rel=1e-11)


def test_pinned_promises_where_d_is_no_square():
    run = basis_sequence(2, Fraction(3, 10), HALF)
    promises = (half_the_sum(run), third_of_squares(run), most_mistakes(run))
    assert [float(each) for each in promises] == pytest.approx([2.41421356237, 2.0, 11.4280904158], rel=1e-11)


def test_dimensions_begin_at_one():
    with pytest.raises(ValueError, match="at least 1"):
        basis_sequence(0, HALF, HALF)


def test_two_values_decide_how_a_network_classifies():
    run = basis_sequence(4, HALF, Fraction(1))
    assert run.agrees_with_separator(HALF, -HALF)
    assert not run.agrees_with_separator(-HALF, HALF)
    assert run.agrees_with_separator(Fraction(2), HALF)
    assert not run.agrees_with_separator(HALF, HALF)
