import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges
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
    inverse,
    push_of_loss,
    section_9_root,
    section_9_scalars,
    section_12_logistic,
    slope_of_inverse,
    slope_of_log,
)
from widenet.papers.sarussi2021.formulas import quadratic_root_bound
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


@breaks_part(equation_16, "|ℓ'| = 1 − e^{−ℓ}")
def test_control_a_push_a_little_too_large():
    return equation_16(grid()), equation_16(altered(grid(), pushes=lambda p: p * (1 + 1e-9)))


@breaks_part(equation_16, "ℓ > ε_0 exactly where |ℓ'| > 1 − e^{−ε_0}")
def test_control_a_threshold_one_percent_too_high():
    return equation_16(grid()), equation_16(grid(), threshold=lambda level: 1.01 * push_of_loss(level))


def test_a_loss_equal_to_the_level_does_not_exceed_it():
    margin = np.array([0.0])
    edge = LossGrid(margin, np.array([0.5]), np.array([np.log(2)]))
    assert equation_16(edge).verdict is Verdict.HOLDS


test_control_each_fact_just_beyond = part_edges(
    section_9_scalars,
    lambda **change: section_9_scalars(scalar_grid(), limits=SCALAR_LIMITS | change),
    {
        "x/(1 + eˣ) ≤ 1": ({}, {"push": 0.278464}),
        "its maximum is W₀(1/e)": ({}, {"best": 0.278464}),
        "|ℓ'| ≤ 1": ({}, {"slope": 0.999}),
        "x/(1 + x) < 1 − e^{−x}": ({}, {"below": 1.001}),
        "1 − e^{−x} ≤ x": ({}, {"above": 0.999}),
        "|σ(a) − σ(b)| ≤ |a − b|": ({}, {"lipschitz": 0.999}),
    },
)


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
    assert found.parts[0].cases > 1000
    assert quadratic_root_bound(2, 3, 5) == pytest.approx(weighted()(2.0, 3.0, 5.0))


@breaks_part(section_9_root, "attained where c = 0")
def test_control_the_first_coefficient():
    return section_9_root(quadratics()), section_9_root(quadratics(), bound=weighted(first=0.999))


@breaks_part(section_9_root, "attained where b = 0")
def test_control_the_last_coefficient():
    return section_9_root(quadratics()), section_9_root(quadratics(), bound=weighted(last=0.999))


@breaks_part(section_9_root, "T is at most the bound")
def test_control_the_middle_coefficient():
    tight = quadratics((1.0, 0.01, 1.0))
    return section_9_root(tight), section_9_root(tight, bound=weighted(middle=0.99))


def test_control_without_the_middle_term():
    assert section_9_root(draw_quadratics(Scale.QUICK, 0), bound=weighted(middle=0.0)).parts[0].kept is False


@breaks_hypothesis(section_9_root, "leading")
@pytest.mark.filterwarnings("ignore")
def test_control_no_leading_term():
    with np.errstate(all="ignore"):
        return section_9_root(altered(quadratics(), a=np.array([2.0, 3.0, 0.0])))


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


test_control_each_property_of_the_loss = part_edges(
    section_12_logistic,
    lambda constants=None, **fields: section_12_logistic(altered(logistic_shape(), **fields), **(constants or {})),
    {
        "f'(y) ≤ K·f'(θy)": ({}, {"constants": {"constant": 1.094}}),
        "the smallest K for f is 1.09443": ({}, {"constants": {"smallest": 1.0945}}),
        "g is the inverse of f": ({}, {"back": lambda g: 1.001 * g}),
        "g'(y) ≤ g'(θy)": ({}, {"inverse_ratios": lambda r: 1 / r}),
        "f'(q)q does not decrease": ({}, {"slopes": lambda f: waving(f, logistic_shape().margins)}),
    },
)


@breaks_part(section_12_logistic, "f' > 0", also=("f'(q)q ≥ q/2, so it is unbounded", "f'(q)q does not decrease"))
def test_control_a_negative_slope():
    return section_12_logistic(logistic_shape()), section_12_logistic(altered(logistic_shape(), slopes=lambda f: -f))


@breaks_part(section_12_logistic, "f'(q)q ≥ q/2, so it is unbounded")
def test_control_a_product_that_stays_below_five():
    shape = logistic_shape()
    margins = np.maximum(shape.margins, 1e-9)
    bounded = altered(shape, slopes=lambda f: np.minimum(f * margins, 5 + 1e-9 * margins) / margins)
    return section_12_logistic(bounded)


test_every_part_has_a_control = every_part_of(scalars)
