"""Facts about single numbers: each at its edge, and just beyond."""

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.toys import times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.huberized import huberized, huberized_curvature, huberized_slope, pulls
from widenet.papers.chatterji2021 import formulas
from widenet.papers.chatterji2021.claims import scalars
from widenet.papers.chatterji2021.claims.scalars import (
    SLOPE_LIMITS,
    constant_c_1,
    exponential_bounds,
    huberized_sandwich,
    huberized_slopes,
    lemma_20,
    z_log_squared_bound,
)
from widenet.papers.chatterji2021.formulas import LEAST_EXPONENT, alignment_bound
from widenet.papers.chatterji2021.runs.scalars import (
    Bent,
    ExponentGrid,
    MarginGrid,
    Thresholds,
    UnitGrid,
    draw_bent,
    draw_exponents,
    draw_margins,
    draw_thresholds,
    draw_unit_grid,
)
from widenet.records import Scale

BENT, MARGINS = draw_bent(Scale.QUICK, 0)[::-1], draw_margins(Scale.QUICK, 0)  # h = 1 comes last
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


def near(z, change):
    """A function that changes the entries at z·h, where h = 1."""

    def changed(values):
        return np.where(np.isclose(BENT[-1].z, z, atol=1e-9), change(values), values)

    return changed


def same(values):
    return values


def plus(amount):
    return lambda values: values + amount


def test_control_a_quarter_of_the_bandwidth_is_not_enough():
    assert huberized_sandwich(BENT, half=0.25).conclusion is False
    assert [part.tightness for part in huberized_sandwich(BENT).parts] == [1, 1]


def test_the_bounds_are_attained_as_they_stand():
    """So a looser one would show."""
    z = np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0])  # far apart: no equal neighbours, and no rounding
    coarse = Bent(1.0, z, *(shape(z, 1.0) for shape in (huberized, huberized_slope, huberized_curvature)))
    for drawn in (BENT, coarse):
        assert [part.tightness for part in huberized_slopes(drawn).parts] == pytest.approx([1] * 6, abs=1e-9)
    assert [part.tightness for part in lemma_20(FAR).parts] == pytest.approx([1, 1], abs=1e-12)
    found = z_log_squared_bound(GRID).parts
    assert [found[0].promised, found[0].tightness] == pytest.approx([0.541341132946, 1], abs=1e-9)
    assert found[1].promised == pytest.approx(0.135335283236613, rel=1e-12)


def test_both_bounds_are_attained_so_they_are_not_strict():
    for each in BENT:
        at_h = each.z == each.bandwidth
        assert at_h.any()
        assert (each.slope[at_h] == 1).all()
        assert ((each.curvature * each.bandwidth)[at_h] == 1).all()


def test_how_near_lemma_20_comes():
    assert 1 - pulls(np.array([21.0]))[0] / np.logaddexp(0, -21.0) == pytest.approx(3.8e-10, rel=0.02)
    assert lemma_20(MARGINS, most=0.9).conclusion is False


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


def reached_times(factor):
    """F times this share of what the third bound needs of it."""
    n, loss = EXPONENTS.n_samples, EXPONENTS.losses
    edge = ((loss - n * loss**2) * -np.log(2 * n * loss) / alignment_bound(n, loss, 0.0)).max()
    return lambda *given: factor * edge * alignment_bound(*given)


def test_the_first_bound_ends_at_1_2564():
    assert exponents(z=np.array([1.2564])).parts[0].kept
    assert exponents(z=np.array([1.2565])).parts[0].kept is False


def all_by(factor):
    def change(values):
        return values * factor

    return change


def beyond(change):
    exponent = LEAST_EXPONENT + change
    return {"exponent": exponent, "universal": THRESHOLDS.n_samples ** -(1 + exponent)}


def test_the_least_exponent():
    """19.6564 is enough and 19.6563 is not."""
    assert 19.6563 < LEAST_EXPONENT < 19.6564
    assert formulas.last_line_share(19.6564) > 5 / 6 > formulas.last_line_share(19.6563)


def limits(**changes):
    return {"limits": SLOPE_LIMITS | changes}


E2 = float(np.exp(-2))
BELOW = "universal_below"
test_control = controls(
    scalars,
    {Bent: BENT, MarginGrid: MARGINS, UnitGrid: GRID, ExponentGrid: EXPONENTS, Thresholds: THRESHOLDS},
    (huberized_sandwich, "below", {"value": near(-1.0, same)}, {"value": near(-1.0, plus(5e-12))}),
    # At 10h φ has h/2 to spare.
    (huberized_sandwich, "below", {"value": near(10.0, plus(0.5))}, {"value": near(10.0, plus(0.5 + 1e-10))}),
    (huberized_sandwich, "above", {}, {"slope": near(2.0, lambda slope: (1 + 2.5e-12) * slope)}),
    (huberized_slopes, "slope_positive", {}, {"slope": near(-3.0, plus(-1e-15))}),
    (huberized_slopes, "slope", {}, limits(slope=1 - 1e-15)),
    (huberized_slopes, "curvature_positive", {}, {"curvature": near(-2.0, plus(-1e-15))}),
    (huberized_slopes, "curvature", {}, limits(curvature=1 - 5e-12)),
    (huberized_slopes, "value_change", {}, limits(value_change=1 - 5e-10)),
    (huberized_slopes, "slope_change", {}, limits(slope_change=1 - 5e-10)),
    (lemma_20, "pull", at(FAR), at(FAR, most=1 - 5e-12)),
    (lemma_20, "pull", {}, {"pulls": lambda g: np.where(MARGINS.margins == 21.0, 1.001 * g, g)}),
    (lemma_20, "product", at(FAR), at(FAR, most_product=1 - 5e-12)),
    (z_log_squared_bound, "bound", {}, {"highest": 4 / np.e**2 - 5e-12}),
    (z_log_squared_bound, "place", {}, {"where": E2 * (1 + 5e-9)}),
    (z_log_squared_bound, "place", {}, {"where": E2 * (1 - 5e-9)}),
    (exponential_bounds, "linear", {"linear": np.e - 1}, {"linear": np.e - 1 - 5e-12}),
    (
        exponential_bounds,
        "quadratic",
        {"z": ONE, "quadratic": 1 / np.e},
        {"z": ONE, "quadratic": 1 / np.e - 5e-12},
    ),
    (exponential_bounds, "product", {"reached": reached_times(1)}, {"reached": reached_times(1 - 5e-9)}),
    (
        exponential_bounds,
        "log_not_negative",
        {},
        {"losses": lambda loss: np.where(loss == loss.max(), (1 + 5e-12) * loss, loss)},
    ),
    (constant_c_1, "last_line", {}, beyond(6e-7)),
    (constant_c_1, "last_line", {}, beyond(-6e-7), BELOW),
    (constant_c_1, "universal", {}, {"universal": all_by(1 - 5e-9)}),
    (constant_c_1, "universal", {}, {"universal": all_by(1 + 5e-9)}, BELOW),
    (constant_c_1, "lost", {}, {"by_proof": all_by(1 + 4e-7)}),
    (constant_c_1, "lost", {}, {"by_proof": all_by(1 - 4e-7)}, BELOW),
    (constant_c_1, "direct", {}, {"by_equation_5": all_by(1 + 4e-7)}),
    (constant_c_1, "direct", {}, {"by_equation_5": all_by(1 - 4e-7)}),
    # At n = 2 the two are equal.
    (constant_c_1, BELOW, {}, {"by_proof": all_by(1 - 5e-9)}),
    (constant_c_1, "proof_below", {}, {"by_equation_5": 0.999 * THRESHOLDS.by_proof}, "direct"),
    (constant_c_1, "two_points", {}, {"n_samples": times(0, 0.95)}),
)
