"""The bounds of the paper, as formulas: on non-zero updates, and on the widths of Theorems 7 and 9.

Symbols of the paper: ws = ‖w*‖ is `separator_norm`, α `slope`, η `step_size`, v `output_weight`, R `row_bound`, k
`half_width` (half the number of neurons). All arguments may be arrays, except those of Theorems 7 and 9, whose widths
and counts are integers: n is `n_samples`, d `dim`, δ `delta`, C `entry_bound`.
"""

import math
from fractions import Fraction

import jax
import numpy as np
from numpy.typing import NDArray

Values = float | int | np.ndarray | jax.Array
"""One number, or one per trial."""


def max_nonzero_updates(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
) -> NDArray[np.float64]:
    """M_k of Theorem 2: no order of the samples makes SGD update more often than this.

    M_k = ws²/α² + ws²/(kηv²α²) + √(R(8k²η²v² + 8ηk)) ws^{1.5} / (2k(ηvα)^{1.5}) + 2R ws/(ηvα).
    """
    return sum_of(update_bound_terms(separator_norm, slope, step_size, output_weight, row_bound, half_width))


def largest_square_gain(
    step_size: Values, output_weight: Values, half_width: Values, largest_ratio: Values = 1.0
) -> NDArray[np.float64]:
    """2η + 2kη²C²v²: a non-zero update adds less than this to G² (before Eq. 11; C = 1 while v rests)."""
    eta, v, k, high = _as_arrays(step_size, output_weight, half_width, largest_ratio)
    with np.errstate(over="ignore"):
        return np.asarray(2 * eta + 2 * k * (eta * high * v) ** 2)


def least_alignment_gain(
    step_size: Values, output_weight: Values, half_width: Values, slope: Values, smallest_ratio: Values = 1.0
) -> NDArray[np.float64]:
    """2kηcvα: a non-zero update adds at least this to F (before Eq. 12; c = 1 while v rests)."""
    eta, v, k, a, low = _as_arrays(step_size, output_weight, half_width, slope, smallest_ratio)
    return np.asarray(2 * k * eta * low * v * a)


def sum_of(terms: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
    """The terms added from the smallest up, so that the result is as exact as float64 allows."""
    return np.asarray(np.sum(np.sort(np.stack(np.broadcast_arrays(*terms)), axis=0), axis=0))


def root_bound(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
) -> NDArray[np.float64]:
    """M_R: the quadratic of Section 9.1.2 solved exactly, where the paper loosens its root to M_k.

    The largest T with aT ≤ b√T + c, a = 2kηvα, b = ws√(4k²η²v² + 4ηk), c = 4kR ws.
    """
    ws, a, eta, v, radius, k = _as_arrays(separator_norm, slope, step_size, output_weight, row_bound, half_width)
    first, second, _, constant = update_bound_terms(ws, a, eta, v, radius, k)  # (b/a)² = first + second, c/a
    with np.errstate(over="ignore"):
        root = ((np.sqrt(first + second) + np.sqrt(first + second + 4 * constant)) / 2) ** 2
    return np.where(np.isnan(root), np.inf, root)


def start_bound(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    half_width: Values,
    alignment: Values,
    norm: Values,
) -> NDArray[np.float64]:
    """M_0: the same argument with the actual start, F_0 = `alignment` and G_0 = `norm`, in place of R.

    The largest T with F_0 + AT ≤ B√(G_0² + DT), A = 2kηvα, B = √(2k) ws, D = 2kη²v² + 2η: the larger root of
    A²T² − qT − (B²G_0² − F_0²) = 0 with q = B²D − 2AF_0.
    """
    ws, a, eta, v, k, start, length = _as_arrays(
        separator_norm, slope, step_size, output_weight, half_width, alignment, norm
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = 2 * k * eta * v * a
        square = 2 * k * ws**2
        middle = square * (2 * k * (eta * v) ** 2 + 2 * eta) - 2 * gain * start
        # Cauchy–Schwarz makes this non-negative; rounding may not.
        constant = np.maximum(square * length**2 - start**2, 0.0)
        spread = np.sqrt(middle**2 + 4 * gain**2 * constant)
        # For q < 0 the numerator q + √(…) cancels; its conjugate does not.
        root = np.where(middle >= 0, (middle + spread) / (2 * gain**2), 2 * constant / (spread - middle))
    return np.where(np.isnan(root), np.inf, root)


def width_free_bound(separator_norm: Values, slope: Values, step_size: Values) -> NDArray[np.float64]:
    """M_k for R = v = 1/√(2k) (Corollary 3): the width has gone.

    ws²/α² + 2ws²/(ηα²) + √2 ws^{1.5} √(1/η + 2/η²)/α^{1.5} + 2ws/(ηα).
    """
    ws, a, eta = _as_arrays(separator_norm, slope, step_size)
    with np.errstate(divide="ignore", over="ignore"):
        first, second = _quotient((ws, ws), (a, a)), _quotient((2, ws, ws), (eta, a, a))
        last = _quotient((2, ws), (eta, a))
        # √2 ws^{1.5} √(1/η + 2/η²)/α^{1.5}, without a power that over- or underflows.
        third = np.asarray(np.sqrt(first + second) * np.sqrt(last))
    return sum_of((first, second, third, last))


def equation_14_terms(separator_norm: Values, slope: Values, step_size: Values) -> tuple[NDArray[np.float64], ...]:
    """The five terms of Eq. 14 with the constants its O(·) leave out; their sum is at least `width_free_bound`.

    ws²/α², (2/α²) ws²/η, (√2/α^{1.5}) ws^{1.5}/√η, (2/α^{1.5}) ws^{1.5}/η, (2/α) ws/η.
    """
    ws, a, eta = _as_arrays(separator_norm, slope, step_size)
    with np.errstate(divide="ignore", over="ignore"):
        terms = (
            (ws / a) ** 2,
            2 / a**2 * ws**2 / eta,
            np.sqrt(2) / a**1.5 * ws**1.5 / np.sqrt(eta),
            2 / a**1.5 * ws**1.5 / eta,
            2 / a * ws / eta,
        )
    return tuple(np.asarray(term) for term in terms)


def corollary_3_constant(slope: Values) -> NDArray[np.float64]:
    """K(α) = 2/α² + (2 + √2)/α^{1.5} + 2/α, a constant that the O(·) of Corollary 3 may stand for."""
    (a,) = _as_arrays(slope)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(2 / a**2 + (2 + np.sqrt(2)) / a**1.5 + 2 / a)


def simple_bound(separator_norm: Values, slope: Values, step_size: Values, constant: Values) -> NDArray[np.float64]:
    """ws²/α² + K·ws²/min{η, √η}, the form of Corollary 3, with K = `constant` in its O(·)."""
    ws, a, eta, k = _as_arrays(separator_norm, slope, step_size, constant)
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray((ws / a) ** 2 + k * ws**2 / np.minimum(eta, np.sqrt(eta)))


def both_layers_bound(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
    smallest_ratio: Values,
    largest_ratio: Values,
) -> NDArray[np.float64]:
    """Eq. 13: the bound when the output weights move too, with c ≤ v_t/v_0 ≤ C. For c = C = 1 it is M_k.

    C²ws²/(c²α²) + ws²/(kηc²v²α²) + √(R(8k²η²C²v² + 8ηk)) ws^{1.5}/(2k(ηcvα)^{1.5}) + 2R ws/(ηcvα).
    Infinite where c ≤ 0: there c^1.5 is 0 or no number.
    """
    terms = update_bound_terms(
        separator_norm, slope, step_size, output_weight, row_bound, half_width, smallest_ratio, largest_ratio
    )
    total = sum_of(terms)
    return np.where(np.isnan(total), np.inf, total)


def update_bound_terms(
    separator_norm: Values,
    slope: Values,
    step_size: Values,
    output_weight: Values,
    row_bound: Values,
    half_width: Values,
    smallest_ratio: Values = 1.0,
    largest_ratio: Values = 1.0,
) -> tuple[NDArray[np.float64], ...]:
    """The four terms of M_k, in the order of the paper, or of Eq. 13 with other c and C; without intermediate powers.

    Infinite where α, η or v is 0. (ηvα)^{1.5} underflows below 1e-216. The third term is the root of the fourth times
    the sum of the first two: R(8k²η²C²v² + 8ηk) ws³/(4k²(ηcvα)³) = (2R ws/(ηcvα))·(C²ws²/(c²α²) + ws²/(kηc²v²α²)).
    """
    ws, a, eta, v, radius, k, low, high = _as_arrays(
        separator_norm, slope, step_size, output_weight, row_bound, half_width, smallest_ratio, largest_ratio
    )
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        first = _quotient((high, high, ws, ws), (low, low, a, a))
        second = _quotient((ws, ws), (k, eta, low, low, v, v, a, a))
        last = _quotient((2, radius, ws), (eta, low, v, a))
        # A power of 1.5 is no number where c, v, α or η is negative.
        positive = (low > 0) & (v > 0) & (a > 0) & (eta > 0)
        third = np.where(positive, np.sqrt(first + second) * np.sqrt(last), np.nan)
        given = np.isnan(ws + a + eta + v + radius + k + low + high)
    # 0/0 (R = 0 with α = 0) promises nothing either; a NaN that came in goes out.
    return tuple(np.where(np.isnan(term) & ~given, np.inf, term) for term in (first, second, third, last))


def _quotient(above: tuple[Values, ...], below: tuple[Values, ...]) -> NDArray[np.float64]:
    """The product of the first over that of the others; it over- or underflows only where its value does."""
    mantissa, exponent = np.ones(()), np.zeros((), np.int64)
    for value in above:
        part, power = np.frexp(np.asarray(value, np.float64))
        mantissa, exponent = mantissa * part, exponent + power
    for value in below:
        part, power = np.frexp(np.asarray(value, np.float64))
        mantissa, exponent = mantissa / part, exponent - power
    return np.asarray(np.ldexp(mantissa, np.asarray(exponent, np.int32)))


def compression_bound(unused_error: float, size: int, n_samples: int, delta: float) -> float:
    """Theorem 5: L_V + √(L_V·4c ln(n/δ)/n) + 8c ln(n/δ)/n, with c = `size`."""
    unit = size * math.log(n_samples / delta) / n_samples
    return unused_error + math.sqrt(4 * unused_error * unit) + 8 * unit


def risk_bound(updates: float | int, n_samples: int, delta: float) -> float:
    """Theorem 6, Eq. 7: (8/n)·M·ln(n/δ), with M = `updates`."""
    return 8 / n_samples * updates * math.log(n_samples / delta)


def printed_half_width(n_samples: int, dim: int) -> int:
    """The k of Theorem 7: 2⌈n/(2d − 2)⌉."""
    return 2 * -(-n_samples // (2 * dim - 2))


def swept_half_width(n_samples: int, dim: int) -> int:
    """The k that swept gates need to fit n points: ⌈n/d⌉."""
    return -(-n_samples // dim)


def bump_half_width(n_plus: int, n_minus: int, dim: int) -> int:
    """The k of hyperplane bumps: 2(⌈n₊/(d − 1)⌉ + ⌈n₋/(d − 1)⌉)."""
    return 2 * (-(-n_plus // (dim - 1)) - (-n_minus // (dim - 1)))


def narrow_width(dim: int, delta: float) -> float:
    """log2(d/ln(1/δ)) of Theorem 9: up to this k, SGD gets stuck with probability at least 1 − δ."""
    return math.log2(dim / math.log(1 / delta))


def wide_width(dim: int, delta: float) -> float:
    """log2(2d/δ) of Theorem 9: from this k on, SGD succeeds with probability at least 1 − δ."""
    return math.log2(2 * dim / delta)


def proof_width(dim: int, delta: float) -> float:
    """log2(d/δ): the width that the proof of the second half of Theorem 9 uses; half of the printed 2d is enough."""
    return math.log2(dim / delta)


def success_probability(dim: int, half_width: int) -> float:
    """P(K_0 = ∅) = (1 − 2^{−k})^d, the exact law behind Theorem 9."""
    return math.exp(dim * math.log1p(-(2.0**-half_width)))


def updates_allowed(dim: int, entry_bound: float | Fraction, step_size: float | Fraction) -> int:
    """d·⌈max{C, 1}/η⌉, the count that the proof of Theorem 9 gives; ⌈max{C, 1}/η⌉ on one point."""
    return dim * math.ceil(max(entry_bound, 1) / step_size)


def updates_allowed_as_printed(dim: int, entry_bound: float | Fraction, step_size: float | Fraction) -> int:
    """⌈max{dC/η, d/η}⌉, the count that Theorem 9 prints."""
    return math.ceil(dim * max(entry_bound, 1) / step_size)


def _as_arrays(*values: Values) -> list[NDArray[np.float64]]:
    return [np.asarray(value, np.float64) for value in values]
