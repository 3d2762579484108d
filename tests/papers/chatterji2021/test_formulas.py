"""Constants and bounds of Theorem 1 against values that were computed apart, with 40 digits."""

import math

import numpy as np
import pytest

from widenet.papers.chatterji2021 import formulas
from widenet.papers.chatterji2021.formulas import (
    alignment_bound,
    alignment_share,
    diagonal_bound,
    entropy_curvature,
    entropy_term,
    equation_5_threshold,
    gradient_bound,
    hessian_bound,
    largest_double_sum,
    largest_step_scale,
    log_growth_factor,
    lost_share,
    off_diagonal_bound,
    proof_threshold,
    rate_constant,
    relative_decrease,
    relative_decrease_at_start,
    repaired_hessian_sum,
    row_length,
    scheduled_step,
    squared_hessian_sum,
    step_product,
    step_scale_terms,
    universal_threshold,
    wide_diagonal_bound,
    z_log_squared,
)

A, B, C = (math.sqrt(5.0), 0.02, 3), (math.sqrt(2.0), 3.0, 11), (0.1, 0.1, 2)
"""(‖V‖, L₁, p): the third, first and second term of (6) is the smallest."""

PINS = [
    (z_log_squared, (math.exp(-2),), 0.541341132946),
    (z_log_squared, (0.3,), 0.434865154067),
    (largest_step_scale, A, 0.0205251558304),
    (largest_step_scale, B, 0.000836904494637),
    (largest_step_scale, C, 0.00307362576237),
    (rate_constant, (0.01, math.sqrt(5.0), 0.02), 0.00542152985289),
    (rate_constant, (0.003, math.sqrt(40.0), 1e-6), 1.58119445103e-6),
    (scheduled_step, (0.0123, math.log(0.002)), 0.475042651949),
    (scheduled_step, (0.0004, math.log(1e-9)), 0.17178149878),
    (step_product, (5, 0.31, 0.0123), 0.57195),
    (step_product, (40, 2.5, 1e-5), 0.03),
    (relative_decrease_at_start, (0.05, 0.001, 0.002, 3.0), 0.0047955535322),
    (relative_decrease_at_start, (0.2, 0.03, 0.05, 2.0), 0.0699132535936),
    # 125·0.4·0.01·log²(100)/(216·9), and 125·2·2e-4·log²(5000)/(216·64)
    (relative_decrease, (0.4, 0.01, 3.0), 0.00545462768567736),
    (relative_decrease, (2.0, 0.0002, 8.0), 0.000262379122757187),
    (entropy_term, (0.5,), 0.170274694929),
    (entropy_term, (1.4,), -0.841434448521),
    (entropy_term, (1.63,), -1.13529242742),
    (entropy_curvature, (0.5,), -1.80397151718),
    (entropy_curvature, (1.4,), -0.0519002203455),
    (entropy_curvature, (1.63,), 0.0329669974598),
    (alignment_bound, (3, 0.01), 0.0243966741519),
    (alignment_bound, (7, 0.0002), 0.00111319713965),
    (alignment_share, (0.01,), 0.0383764182166),
    (alignment_share, (0.0002,), 0.00141953219857),
    (lost_share, (3, 0.01), 0.636222866143),
    (lost_share, (7, 0.0002), 0.428660160458),
    (universal_threshold, (3,), 1.39453870166e-10),
    (universal_threshold, (10,), 2.20637721882e-21),
    (universal_threshold, (50,), 8.0451013624e-36),
    (proof_threshold, (2,), 6.05101192941e-7),
    (proof_threshold, (3,), 5.31274106479e-8),
    (proof_threshold, (8,), 1.4774511926e-10),
    (proof_threshold, (50,), 2.4787521766e-15),
    (equation_5_threshold, (2,), 3.86366308187e-5),
    (equation_5_threshold, (3,), 3.39890951917e-6),
    (equation_5_threshold, (10,), 2.47874876425e-9),
    (equation_5_threshold, (50,), 1.58640139206e-13),
    (hessian_bound, (3, 0.2), 3),
    (hessian_bound, (12, 0.003), 0.18),
    (off_diagonal_bound, (1 / 3, 0.2), 0.2),
    (diagonal_bound, (1 / 3, 0.2), 0.8),
    (diagonal_bound, (1 / 12, 0.003), 0.039),
    (wide_diagonal_bound, (1 / 3, 0.2), 1.2),
    (wide_diagonal_bound, (1 / 12, 0.003), 0.072),
    (squared_hessian_sum, (3, 0.2), 4.32),
    (squared_hessian_sum, (12, 0.003), 0.015552),
    (repaired_hessian_sum, (3, 0.2), 4.84),
    (repaired_hessian_sum, (12, 0.003), 0.019881),
    (largest_double_sum, (3,), 5),
    (largest_double_sum, (12,), 23),
    (gradient_bound, (3, 0.2), 0.489897948557),
    (gradient_bound, (12, 2.5), 4.89897948557),
    (row_length, (1e-5, 1 / 3), 11.6795871316),
    (row_length, (0.02, 0.1), 3.95200633882),
]


@pytest.mark.parametrize(
    ("formula", "given", "value"), PINS, ids=[f"{i}-{pin[0].__name__}" for i, pin in enumerate(PINS)]
)
def test_pinned_values(formula, given, value):
    assert formula(*given) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "terms"),
    [
        (A, (0.0363015103667, 0.922248910487, 0.0205251558304)),
        (B, (0.000836904494637, 0.395407291043, 0.00559776977192)),
        (C, (0.0314352828353, 0.00307362576237, 0.0307877337455)),
    ],
)
def test_each_term_of_equation_6(given, terms):
    assert step_scale_terms(*given) == pytest.approx(terms, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "value"), [((0.4, 0.02, 0.01, 3.0), 1.00311561811), ((2.0, 0.001, 0.0002, 8.0), 1.00170639959)]
)
def test_the_bracket_of_equation_9(given, value):
    assert math.exp(log_growth_factor(*given)) == pytest.approx(value, rel=1e-11)
    gained, grown = formulas.growth_terms(*given)
    assert (1 + gained) / (1 + grown) == pytest.approx(value, rel=1e-11)


def test_constants():
    assert pytest.approx(2.618033988749895, rel=1e-15) == formulas.SHARP
    assert pytest.approx(1.52412432466, rel=1e-11) == formulas.INFLECTION
    assert pytest.approx(19.6563202353, rel=1e-11) == formulas.LEAST_EXPONENT
    assert formulas.LEAST_SHARE == 5 / 6
    assert rate_constant(largest_step_scale(*C), C[0], C[1]) == pytest.approx(0.5, rel=1e-12)


def second_term_ratio(loss):
    """How often the third term of (6) fits into the second, at least: some margin is ≥ log(1/(e^L − 1)), ≤ √p‖V‖."""
    margin = -np.log(np.expm1(loss))
    _, second, third = step_scale_terms(margin, loss, 1)
    return second / third


def test_the_argument_about_the_second_term_ends_at_its_limit():
    assert second_term_ratio(0.65) == pytest.approx(4.88082137018, rel=1e-9)
    assert second_term_ratio(0.1) == pytest.approx(25.3189105659, rel=1e-9)
    assert formulas.root(lambda loss: second_term_ratio(loss) - 1, 0.66, 0.69) == pytest.approx(
        0.676521000995, rel=1e-9
    )
    assert formulas.THIRD_TERM_LIMIT == 0.65


def test_the_universal_bound_is_that_of_the_proof_at_two_points():
    assert universal_threshold(2) == pytest.approx(proof_threshold(2), rel=1e-9)


def test_the_last_lines_of_lemma_10_follow_from_equation_5():
    """The chain of the proof: F(nL)/n − L ≥ L log(1/L)(1 − what is lost)."""
    for n in (2, 5, 40):
        loss = proof_threshold(n) * np.logspace(-6, 0, 20)
        lower = loss * -np.log(loss) * (1 - lost_share(n, loss))
        assert (alignment_bound(n, loss) >= lower * (1 - 1e-12)).all()
