"""The numbers that the theorems of Section 6 and their proofs promise, as formulas.

Everywhere k is `half_width`, c_η is `step_constant` (η = c_η/k) and γ is `required_margin`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

UNEXPLORED = math.exp(-8)
"""e⁻⁸: every bound on a count of filters fails with a small multiple of this (Hoeffding)."""

ERROR_SHARE = 33 / 48
"""The probability in Theorem 6.4, up to the factor 1 − c."""

LARGEST_STEP, SMALLEST_WIDTH, SMALLEST_MARGIN = 1 / 410, 120, 8.0
"""Theorem 6.3 asks for c_η ≤ 1/410, k ≥ 120 and γ ≥ 8."""

NEGLIGIBLE = 1e-10
"""c in Theorem 6.4 is at most this (Section 6)."""

SMALL_NET_STEP = 1 / 41
"""Theorem 6.4 asks for c_η ≤ 1/41, k = 2 and γ ≥ 1."""


def largest_deviation(step_constant: float, half_width: int) -> float:
    """σ_g may be at most c_η/(16 k^{3/2})."""
    return step_constant / (16 * half_width**1.5)


def start_limit(step_size: float) -> float:
    """√2η/4: Lemma E.3 bounds |⟨w_0, p_i⟩| and |⟨u_0, p_i⟩| by this."""
    return math.sqrt(2) * step_size / 4


def c_value(half_width: int) -> float:
    """c = √(2k/π)·e^{−8k}: how often the start may be larger than Lemma E.3 says. It is 1.27e-7 at k = 2."""
    return math.sqrt(2 * half_width / math.pi) * math.exp(-8 * half_width)


def large_start_probability(half_width: int, relative_deviation: float = 1.0) -> float:
    """The exact probability that the event of Lemma E.3 fails: 1 − (1 − P(|⟨w, p⟩| > √2η/4))^{4k}.

    Of the 8k products only 4k are independent, since p_3 = −p_1 and p_4 = −p_2. Each is Gaussian, and the limit is
    4√k/ρ of its standard deviations, ρ = `relative_deviation` being σ_g over its largest allowed value.
    """
    return -math.expm1(4 * half_width * math.log1p(-_one_large(half_width, relative_deviation)))


def large_start_over_c(half_width: int, relative_deviation: float = 1.0) -> float:
    """An upper bound on P(event of Lemma E.3 fails)/c for ρ ≤ 1, also where both are too small for a float.

    The union over 4k products, 4k·erfc(√(8k)/ρ), over c: at ρ = 1, e^{−8k} cancels. Below 1 for every k, tends to 1.
    """
    distance = math.sqrt(8 * half_width) / relative_deviation
    shrink = math.exp(8 * half_width * (1 - relative_deviation**-2))
    return 4 * half_width * float(scipy.special.erfcx(distance)) * shrink / math.sqrt(2 * half_width / math.pi)


def one_large_over_printed(half_width: int) -> float:
    """P(|⟨w, p⟩| > √2η/4) at the largest σ_g, over the e^{−8k}/√(32πk) of the proof of Lemma E.3 (nearly 2)."""
    return float(scipy.special.erfcx(math.sqrt(8 * half_width))) * math.sqrt(32 * math.pi * half_width)


def _one_large(half_width: int, relative_deviation: float) -> float:
    distance = math.sqrt(8 * half_width) / relative_deviation
    return float(scipy.special.erfcx(distance)) * math.exp(-(distance**2))


def ratio_limit(half_width: int) -> float:
    """α(k) = (k/4 + 2√k)/(k/4 − 2√k) = (√k + 8)/(√k − 8) for k > 64; up to there no ratio of counts is excluded."""
    root = math.sqrt(half_width)
    return (root + 8) / (root - 8) if half_width > 64 else math.inf


def beta_positive(required_margin: float, step_constant: float) -> float:
    """β(γ) = (γ − 40¼c_η)/(39c_η + 1) of Proposition E.18."""
    return (required_margin - 40.25 * step_constant) / (39 * step_constant + 1)


def beta_negative(step_constant: float) -> float:
    """β = (1 − 36¼c_η)/(35c_η) of Proposition E.22."""
    return (1 - 36.25 * step_constant) / (35 * step_constant)


def width_limit(beta: float) -> float:
    """64((β + 1)/(β − 1))²: the width k that α(k) < β asks for; infinite unless β > 1."""
    return 64 * ((beta + 1) / (beta - 1)) ** 2 if beta > 1 else math.inf


def positive_output_limit(half_width: int, step_constant: float, required_margin: float) -> float:
    """Eq. 18: N(z) is at least (γ + 1 − 1¼c_η)/(1 + α) − 39c_η − 1 on positive points."""
    return (required_margin + 1 - 1.25 * step_constant) / (1 + ratio_limit(half_width)) - 39 * step_constant - 1


def negative_output_limit(half_width: int, step_constant: float) -> float:
    """The end of the proof of Proposition E.22: N(z) is at most 35c_η − (1 − 1¼c_η)/(1 + α) on negative points."""
    return 35 * step_constant - (1 - 1.25 * step_constant) / (1 + ratio_limit(half_width))


def steps_to_zero_loss(half_width: int, step_constant: float, required_margin: float) -> float:
    """T of Proposition E.14: 7(γ + 1 + 8c_η)/((k/2 − 2√k)η), for k > 16."""
    fewest = half_width / 2 - 2 * math.sqrt(half_width)
    return 7 * (required_margin + 1 + 8 * step_constant) / (fewest * step_constant / half_width)


def steps_of_theorem_6_3(step_constant: float, required_margin: float) -> float:
    """28(γ + 1 + 8c_η)/c_η."""
    return 28 * (required_margin + 1 + 8 * step_constant) / step_constant


def cosine_limit(required_margin: float, step_constant: float) -> float:
    """(γ − 1 − 2c_η)/(γ − 1 + c_η): the cosine of the angle in Theorem 6.3 is at least this."""
    return (required_margin - 1 - 2 * step_constant) / (required_margin - 1 + step_constant)


def fewest_updates(required_margin: float, step_constant: float) -> float:
    """(γ − 1)/(2c_η) − 1: the proof of Theorem 6.3 says that a filter is updated so often on positive points."""
    return (required_margin - 1) / (2 * step_constant) - 1


def sharp_updates(required_margin: float, step_constant: float) -> float:
    """(γ + 1)/(2c_η) − √2/8: what S⁺_T ≥ γ + 1 asks of a⁺(T), as no filter has more than (2a⁺ + √2/4)η."""
    return (required_margin + 1) / (2 * step_constant) - math.sqrt(2) / 8


def recovery_failure(half_width: int) -> float:
    """c + 16e⁻⁸: how often Theorem 6.3 may fail."""
    return c_value(half_width) + 16 * UNEXPLORED


def samples_of_small_network(diverse_positive: float, diverse_negative: float, delta: float) -> float:
    """2·ln(48δ/(33(1 − c)))/ln(p₊p₋): with fewer samples than this, Theorem 6.5 says, k = 2 fails."""
    return 2 * math.log(delta / (ERROR_SHARE * (1 - c_value(2)))) / math.log(diverse_positive * diverse_negative)


def smallest_delta(diverse_positive: float, diverse_negative: float, half_width: int = SMALLEST_WIDTH) -> float:
    """1 − p₊p₋(1 − c − 16e⁻⁸): Theorem 6.5 speaks of every δ from here on."""
    return 1 - diverse_positive * diverse_negative * (1 - recovery_failure(half_width))


def per_setting(function: Callable[..., float], *columns: Any) -> np.ndarray:
    """A formula of plain numbers, entry by entry."""
    return np.vectorize(function, otypes=[np.float64])(*columns)
