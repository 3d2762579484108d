import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import scalars
from widenet.papers.sarussi2021.claims.scalars import (
    SCALAR_LIMITS,
    LossGrid,
    Quadratics,
    draw_logistic,
    draw_loss_grid,
    draw_quadratics,
    draw_scalars,
    equation_16,
    push_of_loss,
    section_9_root,
    section_9_scalars,
    section_12_logistic,
)
from widenet.papers.sarussi2021.formulas import quadratic_root, quadratic_root_bound
from widenet.papers.sarussi2021.runs.scalars import inverse, slope_of_inverse, slope_of_log
from widenet.records import Scale


@functools.cache
def grid():
    return draw_loss_grid(Scale.QUICK, 0)


@functools.cache
def scalar_grid():
    return draw_scalars(Scale.QUICK, 0)


@functools.cache
def logistic_shape():
    return draw_logistic(Scale.QUICK, 0)


def test_a_loss_equal_to_the_level_does_not_exceed_it():
    margin = np.array([0.0])
    edge = LossGrid(margin, np.array([0.5]), np.array([np.log(2)]))
    assert equation_16(edge).verdict is Verdict.HOLDS


def test_the_leaky_relu_by_hand():
    """σ(x) = 0.3x below 0."""
    pairs = np.array([(-1.0, 2.0), (-1.0, -3.0), (0.0, 1.0), (1.0, 2.0), (-0.05, 1.0), (0.05, 1.0)])
    parts, _ = handed(section_9_scalars, altered(scalar_grid(), pairs=pairs))
    np.testing.assert_allclose(parts["|σ(a) − σ(b)| ≤ |a − b|"].measured, [2.3, 0.6, 1.0, 1.0, 1.015, 0.95])


def test_the_product_is_compared_with_half_of_q():
    parts, _ = handed(section_12_logistic, logistic_shape())
    part = parts["f'(q)q ≥ q/2, so it is unbounded"]
    np.testing.assert_allclose(part.promised, np.linspace(0, 20, 4001))


def test_quadratics_are_told_apart_by_their_faces():
    rows = np.array([(2.0, 5.0, 0.0), (3.0, 0.0, 7.0), (1.0, 0.05, 0.05), (1.0, 0.1, 0.1)])
    parts, _ = handed(section_9_root, Quadratics(*rows.T))
    assert [part.scored.tolist() for part in parts.values()] == [
        [False, False, True, True],
        [True, False, False, False],
        [False, True, False, False],
    ]


def quadratics(middle=(2.0, 3.0, 5.0)):
    rows = np.array([(2.0, 5.0, 0.0), (3.0, 0.0, 7.0), middle])
    return Quadratics(*rows.T)


def weighted(first=1.0, middle=1.0, last=1.0):
    def bound(a, b, c):
        return first * (b / a) ** 2 + middle * b / a * np.sqrt(c / a) + last * c / a

    return bound


def test_the_root_on_random_quadratics():
    found = section_9_root(draw_quadratics(Scale.QUICK, 0))
    assert found.verdict is Verdict.HOLDS
    assert found.parts[0].n_cases > 1000
    assert quadratic_root_bound(2, 3, 5) == pytest.approx(weighted()(2.0, 3.0, 5.0))


def test_control_without_the_middle_term():
    assert section_9_root(draw_quadratics(Scale.QUICK, 0), bound=weighted(middle=0.0)).parts[0].kept is False


def test_values_of_f_and_g_computed_apart():
    q = np.array([1.0, 2.5])
    np.testing.assert_allclose(slope_of_log(q) * q, [0.858519991706, 2.40393064768])
    np.testing.assert_allclose(slope_of_log(np.array([0.0])), 0.721347520444)
    np.testing.assert_allclose(inverse(np.array([0.5, 2.0])), [0.181453078992, 1.93156932321])
    assert inverse(np.array(0.733025841163)) == pytest.approx(0.483199639279)
    step = 1e-6
    slope = (inverse(np.array(0.7 + step)) - inverse(np.array(0.7 - step))) / (2 * step)
    assert slope_of_inverse(np.array(0.7)) == pytest.approx(float(slope), rel=1e-6)


def waving(slopes, margins):
    """f'(q)q with a small wave on it."""
    return (slopes * margins + 0.1 * np.sin(20 * margins)) / np.maximum(margins, 1) + (margins < 1)


def bounded(slopes):
    """A product that stays below five."""
    margins = np.maximum(logistic_shape().margins, 1e-9)
    return np.minimum(slopes * margins, 5 + 1e-9 * margins) / margins


def limit(**changed):
    return {"limits": SCALAR_LIMITS | changed}


def largest(name):
    """The largest of these numbers is exactly what is promised, or a little more."""
    return float(getattr(scalar_grid(), name).max())


def planted(away, place):
    """The bound is so far from the root, relative to it, on one of the three faces."""

    def bound(a, b, c):
        honest = quadratic_root_bound(a, b, c)
        root = quadratic_root(a, b, c)
        return np.where(np.arange(3) == place, (1 + away) * root, honest)

    return bound


TOYS = {LossGrid: grid, scalars.ScalarGrid: scalar_grid, Quadratics: quadratics, scalars.LogisticShape: logistic_shape}
test_control = controls(
    scalars,
    TOYS,
    (equation_16, "push", {}, {"pushes": lambda p: p * (1 + 5e-12)}),
    (equation_16, "levels", {}, {"threshold": lambda level: 1.01 * push_of_loss(level)}),
    (section_9_scalars, "push", limit(push=largest("push")), limit(push=largest("push") * (1 - 1e-15))),
    (section_9_scalars, "largest_push", {}, limit(best=0.278464)),
    (section_9_scalars, "slope_of_loss", {}, limit(slope=0.999)),
    (section_9_scalars, "below", {}, limit(below=1.001)),
    (section_9_scalars, "below", {}, {"share": lambda _: scalar_grid().positive / (1 + scalar_grid().positive)}),
    (section_9_scalars, "above", {}, limit(above=0.999)),
    (section_9_scalars, "lipschitz", {}, limit(lipschitz=1 - 5e-12)),
    (section_9_root, "root", {"bound": planted(-5e-12, 2)}, {"bound": planted(-5e-11, 2)}),
    (section_9_root, "no_c", {"bound": planted(5e-12, 0)}, {"bound": planted(5e-11, 0)}),
    (section_9_root, "no_b", {"bound": planted(5e-12, 1)}, {"bound": planted(5e-11, 1)}),
    (section_9_root, "no_c", {}, {"bound": weighted(first=0.999)}),
    (section_9_root, "no_b", {}, {"bound": weighted(last=0.999)}),
    (section_9_root, "root", at(quadratics((1.0, 0.01, 1.0))),
     at(quadratics((1.0, 0.01, 1.0)), bound=weighted(middle=0.99))),
    (section_12_logistic, "positive", {}, {"slopes": lambda f: -f}, "unbounded", "growth"),
    (section_12_logistic, "growth", {}, {"slopes": lambda f: waving(f, logistic_shape().margins)}),
    (section_12_logistic, "unbounded", {}, {"slopes": bounded}),
    (section_12_logistic, "inverse", {}, {"back": lambda g: 1.001 * g}),
    (section_12_logistic, "ratio", {}, {"constant": 1.094}),
    (section_12_logistic, "ratio", {"constant": logistic_shape().largest_ratio},
     {"constant": logistic_shape().largest_ratio * (1 - 1e-15)}),
    (section_12_logistic, "smallest", {}, {"smallest": 1.0945}),
    (section_12_logistic, "inverse_ratio", {}, {"inverse_ratios": lambda r: r / r.max() * (1 + 5e-12)}),
)  # fmt: skip
