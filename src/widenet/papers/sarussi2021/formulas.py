"""The bounds of the paper, as formulas; where ours are sharper they stand beside the printed ones.

Symbols of the paper: ‖w*‖ is `separator_norm`, α `slope`, η `step_size`, v `output_weight`, R_x `largest_norm`, R_0
`row_bound`, k `half_width` (neurons of each sign), n `n_samples`, ε `level` (a loss), ε_0 `clean_level`. All arguments
may be arrays unless they count something.
"""

import math

import jax
import numpy as np
import scipy.special
from numpy.typing import NDArray

Values = float | int | np.ndarray | jax.Array
"""One number, or one per run."""

LARGEST_PUSH = 0.278464542761074
"""max x/(1 + eˣ) = W₀(1/e), at x = 1 + W₀(1/e); the paper bounds it by 1."""

LOG_2 = math.log(2)


def update_bound_constants(
    slope: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
    row_bound: Values,
) -> tuple[NDArray[np.float64], ...]:
    """C1, C2, C3 of Section 9: R_x²/α² + 1/(kηv²α²), √(R_0(8k²η²v²R_x² + 8kη))/(2k(ηvα)^{1.5}), 2R_0/(ηvα).

    C2 is computed as √(2R_0(ηvR_x²/α + 1/(kvα)))/(ηvα), which is the same: (ηvα)^{1.5} underflows for ηvα < 1e-216.
    """
    a, eta, v, k, radius, row = _arrays(slope, step_size, output_weight, half_width, largest_norm, row_bound)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        push, pull = eta * v * a, v * a
        return (
            np.asarray((radius / a) ** 2 + 1 / (k * push * pull)),
            np.asarray(np.sqrt(2 * row * (eta * v * radius * (radius / a) + 1 / (k * pull))) / push),
            np.asarray(2 * row / push),
        )


def epoch_bound(
    separator_norm: Values,
    n_samples: Values,
    inverse_level: Values,
    constants: tuple[NDArray[np.float64], ...],
) -> NDArray[np.float64]:
    """C1‖w*‖²n²B² + C2‖w*‖^{1.5}n^{1.5}B^{1.5} + C3‖w*‖nB, the right side of Eq. 19, with B = `inverse_level`.

    The paper relaxes 1/(1 − e^{−ε_0}) to B = 1 + 1/ε_0.
    """
    norm, n, inverse = _arrays(separator_norm, n_samples, inverse_level)
    unit = norm * n * inverse
    first, second, third = constants
    return np.asarray(first * unit**2 + second * unit**1.5 + third * unit)


def clean_level(
    level: Values,
    n_samples: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
) -> NDArray[np.float64]:
    """ε_0 = ε/(1 + 2v²R_x²ηkn): an epoch whose sampled losses are at most ε_0 ends with every loss at most ε."""
    (level,) = _arrays(level)
    return np.asarray(level / (1 + one_epoch(n_samples, step_size, output_weight, half_width, largest_norm)))


def one_epoch(
    n_samples: Values, step_size: Values, output_weight: Values, half_width: Values, largest_norm: Values
) -> NDArray[np.float64]:
    """2v²R_x²ηkn: by how much n updates with |ℓ'| ≤ 1 can change an output."""
    n, eta, v, k, radius = _arrays(n_samples, step_size, output_weight, half_width, largest_norm)
    return np.asarray(2 * (v * radius) ** 2 * eta * k * n)


def update_bound(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
    row_bound: Values,
    n_samples: Values,
    level: Values,
) -> NDArray[np.float64]:
    """M(n, ε) of Theorem 4.1: the right side of Eq. 19 at ε_0, plus n. Infinite where α, η or v is 0."""
    inverse = 1 + 1 / clean_level(level, n_samples, step_size, output_weight, half_width, largest_norm)
    constants = update_bound_constants(slope, step_size, output_weight, half_width, largest_norm, row_bound)
    bound = epoch_bound(separator_norm, n_samples, inverse, constants) + np.asarray(n_samples)
    return np.where(np.isnan(bound), np.inf, bound)


def quadratic(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
    row_bound: Values,
    n_samples: Values,
    level: Values,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """a, b, c of Section 9 with aT ≤ b√T + c after T = nN_e updates whose epochs all violate the level ε_0.

    a = 2kηvα(1 − e^{−ε_0})/n, b = ‖w*‖√(4k²η²v²R_x² + 4kη), c = 4kR_0‖w*‖.
    """
    norm, a, eta, v, k, radius, row, n, low = _arrays(
        separator_norm, slope, step_size, output_weight, half_width, largest_norm, row_bound, n_samples, level
    )
    return (
        np.asarray(2 * k * eta * v * a * -np.expm1(-low) / n),
        np.asarray(norm * np.sqrt(4 * (k * eta * v * radius) ** 2 + 4 * k * eta)),
        np.asarray(4 * k * row * norm),
    )


def quadratic_root(a: Values, b: Values, c: Values) -> NDArray[np.float64]:
    """The largest T with aT ≤ b√T + c; infinite where a is 0."""
    a, b, c = _arrays(a, b, c)
    with np.errstate(divide="ignore"):
        return np.asarray(((b + np.sqrt(b**2 + 4 * a * c)) / (2 * a)) ** 2)


def quadratic_root_bound(a: Values, b: Values, c: Values) -> NDArray[np.float64]:
    """(b/a)² + (b/a)√(c/a) + c/a, to which the paper relaxes that root."""
    a, b, c = _arrays(a, b, c)
    return np.asarray((b / a) ** 2 + b / a * np.sqrt(c / a) + c / a)


def norm_square_after(
    norm_square: Values,
    slope_of_loss: Values,
    margin: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
) -> NDArray[np.float64]:
    """The right side of Eq. 13: G² + 2η|ℓ'|q + 2kη²v²R_x²|ℓ'|²."""
    square, push, q, eta, v, k, radius = _arrays(
        norm_square, slope_of_loss, margin, step_size, output_weight, half_width, largest_norm
    )
    return np.asarray(square + 2 * eta * push * q + 2 * k * (eta * v * radius * push) ** 2)


def norm_square_growth(
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
    largest_push: Values = 1.0,
) -> NDArray[np.float64]:
    """2kη²v²R_x² + 2η·max(|ℓ'|q), what one update may add to G² (Eq. 15, where the maximum is taken to be 1)."""
    eta, v, k, radius, push = _arrays(step_size, output_weight, half_width, largest_norm, largest_push)
    return np.asarray(2 * k * (eta * v * radius) ** 2 + 2 * eta * push)


def alignment_growth(
    slope: Values, step_size: Values, output_weight: Values, half_width: Values, level: Values
) -> NDArray[np.float64]:
    """2kηvα(1 − e^{−ε_0}), what a violating epoch adds to F at least (Eq. 17)."""
    a, eta, v, k, low = _arrays(slope, step_size, output_weight, half_width, level)
    return np.asarray(2 * k * eta * v * a * -np.expm1(-low))


def output_change(
    n_updates: Values,
    level: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    largest_norm: Values,
) -> NDArray[np.float64]:
    """2v²R_x²ηks(1 − e^{−ε_0}), how far s updates of a clean epoch can move an output (Eq. 23)."""
    (low,) = _arrays(level)
    return np.asarray(one_epoch(n_updates, step_size, output_weight, half_width, largest_norm) * -np.expm1(-low))


def flow_time_bound(
    separator_norm: Values,
    slope: Values,
    output_weight: Values,
    half_width: Values,
    n_samples: Values,
    start_norm: Values,
    level: Values,
    largest_push: float = LARGEST_PUSH,
) -> NDArray[np.float64]:
    """By this time gradient flow has L < ε: the same potentials as for SGD, so Assumption 6.1 is a theorem.

    dF/dt ≥ 2kvα(1 − e^{−ε})/n while L ≥ ε, and d(G²)/dt ≤ 2·W₀(1/e); G_0 = `start_norm`.
    """
    norm, a, v, k, n, start, low = _arrays(
        separator_norm, slope, output_weight, half_width, n_samples, start_norm, level
    )
    stacked = np.sqrt(2 * k) * norm
    return quadratic_root(2 * k * v * a * -np.expm1(-low) / n, stacked * np.sqrt(2 * largest_push), 2 * stacked * start)


def sharp_factor(slope: Values, half_width: int | None = None) -> NDArray[np.float64]:
    """κ in place of the 2 of Theorem 5.1: (1 − α)/(1 + α), and for odd k (k − 1)(1 − α)/(k(1 + α) − (1 − α))."""
    (a,) = _arrays(slope)
    if half_width is None or half_width % 2 == 0:
        return np.asarray((1 - a) / (1 + a))
    return np.asarray((half_width - 1) * (1 - a) / (half_width * (1 + a) - (1 - a)))


def margin_threshold(
    slope: Values, output_weight: Values, half_width: Values, largest_norm: Values
) -> NDArray[np.float64]:
    """√k·αvR_x of Theorem 6.2: a NAR with a larger normalized margin has the right signs on one class each."""
    a, v, k, radius = _arrays(slope, output_weight, half_width, largest_norm)
    return np.asarray(np.sqrt(k) * a * v * radius)


def limit_margin(value: Values, output_weight: Values, half_width: Values) -> NDArray[np.float64]:
    """v√(k/val): the normalized margin inside a NAR tends to it, where val = ‖w‖² + ‖u‖² of its program."""
    val, v, k = _arrays(value, output_weight, half_width)
    return np.asarray(v * np.sqrt(k / val))


def approach_bound(excess: Values, margin: Values, norm: Values) -> NDArray[np.float64]:
    """E_T/(γ*‖W_t‖): how large 1 − cos∠(W_t, Û) can still be at time t, once no neuron changes sides."""
    left, largest, length = _arrays(excess, margin, norm)
    return np.asarray(left / (largest * length))


def turning_bound(excess: Values, margin: Values, distance: Values) -> NDArray[np.float64]:
    """E_T/(γ*‖W_t − W_T‖ + E_T): the same for the direction in which the flow moves."""
    left, largest, moved = _arrays(excess, margin, distance)
    with np.errstate(invalid="ignore"):
        return np.asarray(left / (largest * moved + left))


def slack_bound(n_samples: Values, smallest: Values, margin: Values, norm: Values) -> NDArray[np.float64]:
    """W₀((n − 1)/e)(1 + e^{−min q})/(γ*‖W‖): how far multipliers |ℓ'(q_i)| can be from complementary slackness.

    Σ x_i e^{−x_i} ≤ W₀((n − 1)/e)·(1 + Σ e^{−x_i}) for the n − 1 margins that lie x_i above the smallest.
    """
    n, q, largest, length = _arrays(n_samples, smallest, margin, norm)
    return np.asarray(scipy.special.lambertw((n - 1) / math.e).real * (1 + np.exp(-q)) / (largest * length))


def largest_feasible_value(slope: Values, largest_norm: Values) -> NDArray[np.float64]:
    """1/(αR_x)²: Assumption 3 of Theorem 6.2 needs a program whose value is smaller."""
    a, radius = _arrays(slope, largest_norm)
    return np.asarray(1 / (a * radius) ** 2)


def antipodal_margin_share(slope: Values) -> NDArray[np.float64]:
    """√2·α/(1 + α): on antipodal data Assumption 3 needs a larger γ_svm/R_x."""
    (a,) = _arrays(slope)
    return np.asarray(np.sqrt(2) * a / (1 + a))


def lipschitz_constant(output_weight: Values, input_norm: Values, half_width: Values) -> NDArray[np.float64]:
    """v‖x‖√(2k): the Lipschitz constant of W ↦ N_W(x) in the norm of Frobenius."""
    v, norm, k = _arrays(output_weight, input_norm, half_width)
    return np.asarray(v * norm * np.sqrt(2 * k))


def lipschitz_constant_as_printed(output_weight: Values, input_norm: Values, half_width: Values) -> NDArray[np.float64]:
    """2v‖x‖, as Section 12 prints it: too small for k > 2."""
    v, norm, _ = _arrays(output_weight, input_norm, half_width)
    return np.asarray(2 * v * norm)


def cluster_bound(
    radius: Values,
    separator_norm: Values,
    alignment: Values,
    slope: Values,
    distance: Values,
    half_width: Values,
    largest_norm: Values,
) -> NDArray[np.float64]:
    """r‖w*‖/((w̄ − ū)·w* + 2α‖W_t − W_T‖/(√(2k)R_x)), how large r/‖w̄ − ū‖ can still be at time t inside a NAR.

    `alignment` is (w̄ − ū)·w* at time T, `distance` ‖W_t − W_T‖. Infinite where the denominator is not positive.
    """
    r, norm, aligned, a, moved, k, largest = _arrays(
        radius, separator_norm, alignment, slope, distance, half_width, largest_norm
    )
    below = aligned + 2 * a * moved / (np.sqrt(2 * k) * largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, r * norm / below, np.inf)


def row_growth(slope: Values, distance: Values, half_width: Values, largest_norm: Values) -> NDArray[np.float64]:
    """α‖W_t − W_0‖/(√(2k)R_x): how far every row has moved along ±w* at least."""
    a, moved, k, radius = _arrays(slope, distance, half_width, largest_norm)
    return np.asarray(a * moved / (np.sqrt(2 * k) * radius))


def least_norm(
    smallest_margin: Values, slope: Values, output_weight: Values, half_width: Values, largest_norm: Values
) -> NDArray[np.float64]:
    """min q/(v√(k(1 + α²))R_x): no weights with these margins are shorter."""
    q, a, v, k, radius = _arrays(smallest_margin, slope, output_weight, half_width, largest_norm)
    return np.asarray(q / (v * np.sqrt(k * (1 + a**2)) * radius))


def fit_of_the_value(slope: Values) -> NDArray[np.float64]:
    """R² of the best affine fit to σ(x₁) − σ(x₂) on [−1, 1]²: 4(1 + α)²/(4(1 + α)² + (1 − α)²)."""
    (a,) = _arrays(slope)
    return np.asarray(4 * (1 + a) ** 2 / (4 * (1 + a) ** 2 + (1 - a) ** 2))


def mixed_clusters_angle(slope: Values) -> NDArray[np.float64]:
    """90° + 2·atan α, between the two rays of the boundary when clusters mix both signs."""
    (a,) = _arrays(slope)
    return np.asarray(90 + 2 * np.degrees(np.arctan(a)))


def _arrays(*values: Values) -> list[NDArray[np.float64]]:
    return [np.asarray(value, np.float64) for value in values]
