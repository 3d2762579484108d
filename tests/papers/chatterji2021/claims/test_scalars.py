"""Facts about single numbers: each at its edge, and just beyond."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021.toys import times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.huberized import huberized, huberized_curvature, huberized_slope, pulls
from widenet.papers.chatterji2021.claims import scalars
from widenet.papers.chatterji2021.claims.scalars import (
    SLOPE_LIMITS,
    Bent,
    constant_c_1,
    draw_bent,
    draw_exponents,
    draw_margins,
    draw_thresholds,
    draw_unit_grid,
    exponential_bounds,
    huberized_sandwich,
    huberized_slopes,
    lemma_20,
    z_log_squared_bound,
)
from widenet.papers.chatterji2021.formulas import LEAST_EXPONENT, alignment_bound
from widenet.records import Scale

BENT, MARGINS = draw_bent(Scale.QUICK, 0), draw_margins(Scale.QUICK, 0)
GRID, EXPONENTS = draw_unit_grid(Scale.QUICK, 0), draw_exponents(Scale.QUICK, 0)
THRESHOLDS = draw_thresholds(Scale.QUICK, 0)

FAR = altered(MARGINS, margins=np.full(3, 700.0), pulls=np.exp(np.full(3, -700.0)), losses=np.exp(np.full(3, -700.0)))
"""Where g = L = g(1 − g) in float64."""


def test_they_hold():
    for claim, drawn in (
        (huberized_sandwich, BENT),
        (huberized_slopes, BENT),
        (lemma_20, MARGINS),
        (z_log_squared_bound, GRID),
        (exponential_bounds, EXPONENTS),
        (constant_c_1, THRESHOLDS),
    ):
        assert claim(drawn).verdict is Verdict.HOLDS, claim.id


def at(z, change):
    """A function that changes the entries at z·h, in the row of h = 1."""

    def changed(values):
        return np.where(np.isclose(BENT.z, z, atol=1e-9) & (BENT.bandwidth == 1), change(values), values)

    return changed


def bent(claim):
    def judge(**fields):
        return claim(altered(BENT, **fields))

    return judge


test_parts_of_the_sandwich = part_edges(
    huberized_sandwich,
    bent(huberized_sandwich),
    {
        "φ(z) ≤ φ'(z)z": ({"value": at(-1.0, lambda v: v)}, {"value": at(-1.0, lambda v: v + 5e-12)}),
        "φ'(z)z ≤ φ(z) + h/2": ({"slope": at(2.0, lambda s: s)}, {"slope": at(2.0, lambda s: (1 + 2.5e-12) * s)}),
    },
)


@breaks_part(huberized_sandwich, "φ(z) ≤ φ'(z)z")
def test_control_a_value_far_out_above_its_tangent():
    """At 10h φ has h/2 to spare."""
    judge = bent(huberized_sandwich)
    return judge(value=at(10.0, lambda v: v + 0.5)), judge(value=at(10.0, lambda v: v + 0.5 + 1e-10))


def test_control_a_quarter_of_the_bandwidth_is_not_enough():
    assert huberized_sandwich(BENT, half=0.25).conclusion is False
    assert [part.tightness for part in huberized_sandwich(BENT).parts] == [1, 1]


@breaks_hypothesis(huberized_sandwich, "bandwidth_positive")
def test_control_no_bandwidth_in_the_sandwich():
    return huberized_sandwich(altered(BENT, bandwidth=BENT.bandwidth * [[1], [1], [0]]))


@breaks_hypothesis(huberized_slopes, "bandwidth_positive")
def test_control_no_bandwidth_of_the_slopes():
    with np.errstate(divide="ignore", invalid="ignore"):
        return huberized_slopes(altered(BENT, bandwidth=BENT.bandwidth * [[1], [1], [0]]))


def slopes(field=None, change=None, **limits):
    drawn = altered(BENT, **{field: change}) if field else BENT
    return huberized_slopes(drawn, limits=SLOPE_LIMITS | limits)


test_parts_of_the_slopes = part_edges(
    huberized_slopes,
    slopes,
    {
        "φ' ≥ 0": ({}, {"field": "slope", "change": at(-3.0, lambda s: s - 1e-15)}),
        "φ' ≤ 1": ({}, {"slope": 1 - 1e-15}),
        "γ ≥ 0": ({}, {"field": "curvature", "change": at(-2.0, lambda c: c - 1e-15)}),
        "γ ≤ 1/h": ({}, {"curvature": 1 - 5e-12}),
        "φ is 1-Lipschitz": ({}, {"value_change": 1 - 5e-10}),
        "φ' is (1/h)-Lipschitz": ({}, {"slope_change": 1 - 5e-10}),
    },
)


def test_the_bounds_are_attained_as_they_stand():
    """So a looser one would show."""
    z = np.array([[-1.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0]])  # far apart: no equal neighbours, and no rounding
    coarse = Bent(np.ones((1, 1)), z, *(shape(z, 1.0) for shape in (huberized, huberized_slope, huberized_curvature)))
    for drawn in (BENT, coarse):
        assert [part.tightness for part in huberized_slopes(drawn).parts] == pytest.approx([1] * 6, abs=1e-9)
    assert [part.tightness for part in lemma_20(FAR).parts] == pytest.approx([1, 1], abs=1e-12)
    found = z_log_squared_bound(GRID).parts
    assert [found[0].promised, found[0].tightness] == pytest.approx([0.541341132946, 1], abs=1e-9)
    assert found[1].promised == pytest.approx(0.135335283236613, rel=1e-12)


def test_both_bounds_are_attained_so_they_are_not_strict():
    at_h = BENT.z == BENT.bandwidth
    assert at_h.any(axis=1).all()
    assert (BENT.slope[at_h] == 1).all()
    assert ((BENT.curvature * BENT.bandwidth)[at_h] == 1).all()


test_parts_of_lemma_20 = part_edges(
    lemma_20,
    functools.partial(lemma_20, FAR),
    {"g ≤ L": ({}, {"most": 1 - 5e-12}), "g(1 − g) ≤ g": ({}, {"most_product": 1 - 5e-12})},
)


@breaks_part(lemma_20, "g ≤ L")
def test_control_a_pull_a_thousandth_too_large():
    return lemma_20(altered(MARGINS, pulls=lambda g: np.where(MARGINS.margins == 21.0, 1.001 * g, g)))


def test_how_near_lemma_20_comes():
    assert 1 - pulls(np.array([21.0]))[0] / np.logaddexp(0, -21.0) == pytest.approx(3.8e-10, rel=0.02)
    assert lemma_20(MARGINS, most=0.9).conclusion is False


def unit(z=None, **constants):
    with np.errstate(invalid="ignore", divide="ignore"):
        return z_log_squared_bound(GRID if z is None else altered(GRID, z=z), **constants)


test_parts_of_z_log_squared = part_edges(
    z_log_squared_bound,
    unit,
    {
        "z log²(1/z) ≤ 4/e²": ({}, {"highest": 4 / np.e**2 - 5e-12}),
        "largest at e^{−2}": ({}, {"where": float(np.exp(-2)) * (1 + 5e-9)}),
    },
)
test_parts_of_z_log_squared_from_the_other_side = part_edges(
    z_log_squared_bound, unit, {"largest at e^{−2}": ({}, {"where": float(np.exp(-2)) * (1 - 5e-9)})}
)
test_edges_of_z_log_squared = hypothesis_edges(
    z_log_squared_bound,
    unit,
    at_most_one=({}, {"z": lambda z: np.append(z, 1 + 1e-15)}),
    positive=({}, {"z": lambda z: np.append(z, 0.0)}),
)


ONE = np.array([1.0])


def test_the_printed_exponential_bounds():
    """3 and 1 at z = 1, 2 and 3/4 at 1/2; and (L − nL²) log(1/(2nL)) at n = 3, L = 0.01."""
    assert [part.promised for part in exponents(z=ONE).parts[:2]] == [3, 1]
    assert [part.promised for part in exponents(z=ONE / 2).parts[:2]] == [2, 0.75]
    alone = altered(EXPONENTS, n_samples=np.array([3.0]), losses=np.array([0.01]))
    assert exponential_bounds(alone).parts[2].promised == pytest.approx(0.02729008, abs=1e-7)
    assert exponents(quadratic=0.49).conclusion is False


def exponents(**changes):
    fields = {name: changes.pop(name) for name in ("z", "losses") if name in changes}
    return exponential_bounds(altered(EXPONENTS, **fields), **changes)


test_parts_of_the_exponential_bounds = part_edges(
    exponential_bounds,
    exponents,
    {
        "e^z ≤ 1 + 2z": ({"linear": np.e - 1}, {"linear": np.e - 1 - 5e-12}),
        "e^{−z} ≤ 1 − z + z²": ({"z": ONE, "quadratic": 1 / np.e}, {"z": ONE, "quadratic": 1 / np.e - 5e-12}),
    },
)


@breaks_part(exponential_bounds, "F(nL)/n ≥ (L − nL²) log(1/(2nL))")
def test_control_a_function_a_little_smaller():
    def smaller(factor):
        return lambda *given: factor * alignment_bound(*given)

    n, loss = EXPONENTS.n_samples, EXPONENTS.losses
    edge = ((loss - n * loss**2) * -np.log(2 * n * loss) / alignment_bound(n, loss, 0.0)).max()
    return exponents(reached=smaller(edge)), exponents(reached=smaller(edge * (1 - 5e-9)))


test_edges_of_the_exponential_bounds = hypothesis_edges(
    exponential_bounds,
    exponents,
    at_most_one=({}, {"z": lambda z: np.append(z, 1 + 1e-15)}),
    not_negative=({}, {"z": lambda z: np.append(z, -1e-9)}),
    log_not_negative=({}, {"losses": lambda loss: np.where(loss == loss.max(), (1 + 5e-12) * loss, loss)}),
)


def test_the_first_bound_ends_at_1_2564():
    assert exponents(z=np.array([1.2564])).parts[0].kept
    assert exponents(z=np.array([1.2565])).parts[0].kept is False


def thresholds(**fields):
    return constant_c_1(altered(THRESHOLDS, **fields))


def all_by(factor):
    def change(values):
        return values * factor

    return change


def beyond(change):
    exponent = LEAST_EXPONENT + change
    return {"exponent": exponent, "universal": THRESHOLDS.n_samples ** -(1 + exponent)}


test_parts_of_constant_c_1 = part_edges(
    constant_c_1,
    thresholds,
    {
        "last line of the proof = 5/6": ({}, beyond(6e-7)),
        "n^{−(1+C₁)}": ({}, {"universal": all_by(1 - 5e-9)}),
        "the proof loses 1/6 at its bound": ({}, {"by_proof": all_by(1 + 4e-7)}),
        "(5) gives 5/6 at its bound": ({}, {"by_equation_5": all_by(1 + 4e-7)}),
    },
)


test_parts_of_constant_c_1_from_the_other_side = part_edges(
    constant_c_1,
    thresholds,
    {
        "last line of the proof = 5/6": ({}, beyond(-6e-7), "n^{−(1+C₁)} ≤ bound of the proof"),
        "n^{−(1+C₁)}": ({}, {"universal": all_by(1 + 5e-9)}, "n^{−(1+C₁)} ≤ bound of the proof"),
        "the proof loses 1/6 at its bound": (
            {},
            {"by_proof": all_by(1 - 4e-7)},
            "n^{−(1+C₁)} ≤ bound of the proof",
        ),
        "(5) gives 5/6 at its bound": ({}, {"by_equation_5": all_by(1 - 4e-7)}),
    },
)


@breaks_part(constant_c_1, "n^{−(1+C₁)} ≤ bound of the proof")
def test_control_the_bound_of_the_proof_below_the_universal_one():
    """At n = 2 they are equal."""
    return thresholds(by_proof=all_by(1 - 5e-9))


@breaks_part(constant_c_1, "bound of the proof ≤ that of (5)", also=("(5) gives 5/6 at its bound",))
def test_control_the_bound_of_equation_5_below_that_of_the_proof():
    return thresholds(by_equation_5=lambda values: 0.999 * THRESHOLDS.by_proof)


@breaks_hypothesis(constant_c_1, "two_points")
def test_control_fewer_than_two_points():
    return thresholds(n_samples=times(0, 0.95))


def test_the_least_exponent():
    """19.6564 is enough and 19.6563 is not."""
    assert 19.6563 < LEAST_EXPONENT < 19.6564
    assert scalars.last_line_share(19.6564) > 5 / 6 > scalars.last_line_share(19.6563)


test_every_part_has_a_control = every_part_of(scalars)
