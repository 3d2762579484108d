"""The bounds and constants of li2018, as the paper prints them, and the sharper ones that hold.

Names: k `n_classes`, l `per_class`, kl `n_components`, δ `distance`, λ `relative_diameter`, σ `deviation` (of W⁰),
τ `threshold`, η `step_size`, m `width`, max |a| `largest_vote`.
"""

import math
from typing import Any

import numpy as np
import scipy.optimize
import scipy.special
from jaxtyping import Float

E = math.e
HALF_NORMAL = math.sqrt(2 / math.pi)
"""c_G: the density of |N(0, 1)| at 0, and its mean."""
LEAST_MIXING = 2 * scipy.special.ndtr(-1.0)
"""2(1 − Φ(1)), the limit of the mixing probability for many classes."""

Numbers = Any
"""One number, or one per case."""


def within(bound: Numbers) -> Numbers:
    """Pr[|N(0, 1)| ≤ bound]."""
    return scipy.special.erf(np.asarray(bound) / math.sqrt(2))


def beyond(bound: Numbers) -> Numbers:
    """Pr[|N(0, 1)| > bound], also where it is next to 0."""
    return scipy.special.erfc(np.asarray(bound) / math.sqrt(2))


# ── assumptions ──


def widest_component(per_class: Numbers) -> Numbers:
    """The largest λ of (A1): 1/(8l)."""
    return 1 / (8 * per_class)


def squared_sine(squared_distance: Numbers) -> Numbers:
    """1 − ⟨x, x'⟩² of unit vectors with ‖x − x'‖² = u: u(4 − u)/4."""
    return squared_distance * (4 - squared_distance) / 4


def least_squared_sine(distance: Numbers) -> Numbers:
    """δ²(1 − δ²/4): what both separations give."""
    return distance**2 * (1 - distance**2 / 4)


def cap_sizes(centre_distance: Numbers, relative_diameter: Numbers) -> tuple[float, float]:
    """(δ, chord radius) of caps around centres at this distance: δ = d_c/(1 + λ), λδ/2."""
    distance = centre_distance / (1 + relative_diameter)
    return distance, relative_diameter * distance / 2


# ── coupling: Lemmas 5.1, A.1, B.1 ──


def move_bound(largest_vote: Numbers, step_size: Numbers, steps: Numbers) -> Numbers:
    """2·max|a|·ηt."""
    return 2 * largest_vote * step_size * steps


def coupling_time(threshold: Numbers, largest_vote: Numbers, step_size: Numbers) -> Numbers:
    """τ/(2·max|a|·η)."""
    return threshold / (2 * largest_vote * step_size)


LEAST_SCALED = 20
"""m·θ from which on the statement is one about a fixed τ with high probability."""


def coupled_bound(relative_threshold: Numbers, n_components: Numbers, constant: Numbers = E) -> Numbers:
    """1 − eτkl/σ, with τ/σ given."""
    return 1 - constant * relative_threshold * n_components


def coupled_mean_orthonormal(relative_threshold: Numbers, n_components: Numbers) -> Numbers:
    """The mean of |H|/m on orthonormal points: (2 − 2Φ(τ/σ))^{kl}."""
    return beyond(relative_threshold) ** n_components


def uniform_failure(n_lines: Numbers, n_components: Numbers, constant: Numbers = E) -> Numbers:
    """The limit of Pr[some τ breaks 1 − cτkl/σ]: (c_G/c)·n_lines/(kl)."""
    return HALF_NORMAL / constant * n_lines / n_components


def point_coupled_bound(relative_threshold: Numbers, constant: Numbers = 10.0) -> Numbers:
    """1 − 10τ/σ."""
    return 1 - constant * relative_threshold


def batch_threshold(deviation: Numbers, share: Numbers, batch_size: Numbers) -> Numbers:
    """τ = σγ/(100B)."""
    return deviation * share / (100 * batch_size)


# ── the geometry of ReLU: Lemmas A.2, A.3, B.2 ──


def event_threshold(distance: Numbers, deviation: Numbers, n_components: Numbers) -> Numbers:
    """The largest τ of Lemma A.2: δσ/(16ekl)."""
    return distance * deviation / (16 * E * n_components)


def hit_bound(threshold: Numbers, distance: Numbers, deviation: Numbers) -> Numbers:
    """Pr[|⟨β, x⟩| ≤ 4τ] ≤ 4eτ/(δσ)."""
    return 4 * E * threshold / (distance * deviation)


def hit_probability(threshold: Numbers, deviation: Numbers, sine: Numbers) -> Numbers:
    """The same exactly: 2Φ(4τ/(σs)) − 1."""
    with np.errstate(divide="ignore"):
        return within(4 * threshold / (deviation * np.asarray(sine)))


def alpha_bound(threshold: Numbers, deviation: Numbers) -> Numbers:
    """Pr[|α| ≤ τ] ≥ τ/(eσ)."""
    return threshold / (E * deviation)


def event_bound(threshold: Numbers, deviation: Numbers) -> Numbers:
    """Pr[E_τ] ≥ τ/(16e²σ)."""
    return threshold / (16 * E**2 * deviation)


def push_level(size: Numbers, threshold: Numbers) -> Numbers:
    """vτ/128 of Eq. 2."""
    return size * threshold / 128


PUSH_SHARE = 1 / (16 * E)
"""Eq. 2: Pr[h ≥ vτ/128 given E_τ]."""


def tail_safe(rank: Numbers, failure: Numbers = 0.01) -> Numbers:
    """√rank + √(2 ln 1/p₀): h stays below this many σ‖P‖."""
    return np.sqrt(rank) + np.sqrt(2 * np.log(1 / failure))


def slopes_of(cosines: Float[np.ndarray, " other"]) -> Float[np.ndarray, " other"]:
    """|c|/s of points at these cosines, s² = 1 − c²; infinite where rounding leaves no angle."""
    cosines = np.abs(np.asarray(cosines, np.float64))
    sines = np.sqrt(np.maximum((1 - cosines) * (1 + cosines), 0))
    with np.errstate(divide="ignore"):
        return cosines / sines


def large_share(relative_threshold: Numbers, cosines: Float[np.ndarray, " other"]) -> Numbers:
    """½(2Φ(τ/σ) − 1)(1 − Σ(2Φ(τ|c|/(σs)) − 1)) over the points of other classes at these cosines."""
    crossed = within(np.asarray(relative_threshold)[..., None] * slopes_of(cosines)).sum(axis=-1)
    return 0.5 * within(relative_threshold) * (1 - crossed)


STEP, WIDEST = 0.02, math.exp(3)
"""log τ/σ is tried in these steps, up to this τ/σ, before the best of them is refined."""


def best_large_share(cosines: Float[np.ndarray, " other"]) -> float:
    """The supremum over τ; not above 0 where two points are too near for any τ."""
    total = float(slopes_of(cosines).sum())
    if not math.isfinite(total):
        return 0.0
    # 1 − Σ(…) is positive for c_G·τ·Σ|c|/s < σ at least, so the best τ/σ is no smaller than a part of 1/Σ|c|/s.
    levels = np.arange(math.log(WIDEST / 1e4 / (1 + total)), math.log(WIDEST), STEP)
    near = levels[int(np.argmax(large_share(np.exp(levels), cosines)))]
    refined = scipy.optimize.minimize_scalar(
        lambda level: -large_share(np.exp(level), cosines), bounds=(near - STEP, near + STEP), method="bounded",
        options={"xatol": 1e-9},
    )  # fmt: skip
    best = -float(refined.fun)  # pyright: ignore[reportAttributeAccessIssue]
    return max(float(large_share(np.exp(near), cosines)), best)


EXPLICIT_SLOPE = 0.0829
"""¼(2Φ(y) − 1) ≥ 0.0829·δ/((k − 1)l)."""
CRITICAL_ANGLE = 2 * math.asin(1 / 4)


def two_point_share(angle: Numbers) -> Numbers:
    """Pr[‖P₁‖ ≥ v/2] for one point of each of two classes at this angle, with coefficients v and −v."""
    return angle / math.pi if angle < CRITICAL_ANGLE else (math.pi + angle) / (2 * math.pi)


def mixing_share(n_classes: Numbers) -> Numbers:
    """q_k = 2(1 − Φ(√((k − 1)/k))): Pr[‖Σ a_i P_i‖ ≥ ‖P₁‖], attained at P_i = −P₁/(k − 1)."""
    return 2 * scipy.special.ndtr(-np.sqrt((n_classes - 1) / n_classes))


ANGLES = (np.arange(2000) + 0.5) * (math.pi / 4000)
"""Midpoints of a quarter turn: on smooth functions of period π the mean over them is exact to rounding."""


def mixing_probability(first: float, second: float) -> float:
    """Pr[λ₁z₁² + λ₂z₂² ≥ 1] of independent N(0, 1): the mean of exp(−1/(2(λ₁cos² + λ₂sin²))) over a turn.

    That is Pr[‖Σ a_i P_i‖ ≥ ‖P₁‖] where the P_i span two dimensions; λ are the eigenvalues of their Gram matrix over
    ‖P₁‖².
    """
    with np.errstate(divide="ignore"):
        return float(np.exp(-0.5 / (first * np.cos(ANGLES) ** 2 + second * np.sin(ANGLES) ** 2)).mean())


def net_bound(n_classes: Numbers, per_class: Numbers, largest_vote: Numbers, change: Numbers) -> Numbers:
    """2⌊k/2⌋·kl·max|a|·ε₀: how far ∂̃ moves when all p·v with Σ_i = 0 move by ε₀; at most k²l·max|a|·ε₀."""
    return 2 * (n_classes // 2) * n_classes * per_class * largest_vote * change


def target_share(best: Numbers) -> Numbers:
    """½·2(1 − Φ(1))·(sharp bound): what Lemma 5.2 is held against."""
    return best * LEAST_MIXING / 2


def mean_event_threshold(distance: Numbers, deviation: Numbers, n_classes: Numbers, per_class: Numbers) -> Numbers:
    """σδ/(24(k − 1)l), in place of the printed σδ/(12l)."""
    return deviation * distance / (24 * (n_classes - 1) * per_class)


def mean_event_threshold_as_printed(distance: Numbers, deviation: Numbers, per_class: Numbers) -> Numbers:
    """σδ/(12l)."""
    return deviation * distance / (12 * per_class)


def mean_event_share(distance: Numbers) -> Numbers:
    """1 − c_G/(2√(1 − δ²/4))."""
    return 1 - HALF_NORMAL / (2 * np.sqrt(1 - distance**2 / 4))


# ── convergence: Lemmas A.4, A.5, B.3 to B.6 ──


def drop_share(scaled_step: Numbers) -> Numbers:
    """1 − η‖A‖₂²/4: the least (L_t − L_{t+1})/(η‖∇‖²) of a step in which no pattern changes."""
    return 1 - scaled_step / 4


KINK_AREA, KINK_AREA_SHARP = 1 / 8, 1 / 4
KINK_LEVEL, KINK_SHARE, KINK_SHARE_SHARP = 1 / 128, 1 / 16, 31 / 63
"""Lemma A.5: ∫|φ − l| ≥ ρτ²/8, Pr[|φ − l| ≥ ρτ/128] ≥ 1/16; sharp are 1/4 and 31/63."""
CURVE_AREA, CURVE_AREA_SHARP = 1 / 32, 1 / 16
CURVE_LEVEL, CURVE_SHARE, CURVE_SHARE_SHARP = 1 / 512, 1 / 64, 63 / 254
"""Lemma B.5: γτ²/32, Pr[|φ − l| ≥ γτ/512] ≥ 1/64; sharp are 1/16 and 63/254."""


def batch_deviation_bound(
    largest_vote: Numbers, width: Numbers, batch_size: Numbers, failure: Numbers = 0.01
) -> Numbers:
    """2·max|a|·(1 + √(2 ln(m/p₀)))/√B: no row of the batch gradient is farther from its mean."""
    return 2 * largest_vote * (1 + np.sqrt(2 * np.log(width / failure))) / np.sqrt(batch_size)


def smooth_bound(lipschitz: Numbers, n_terms: Numbers, n_rough: Numbers, radius: Numbers) -> Numbers:
    """L³m²p² + L²rp of Lemma B.6."""
    return lipschitz**3 * n_terms**2 * radius**2 + lipschitz**2 * n_rough * radius


def logit_bound(start: Numbers, largest_vote: Numbers, step_size: Numbers, steps: Numbers, width: Numbers) -> Numbers:
    """|f(x, W⁰)| + 2·max|a|²·ηtm."""
    return start + 2 * largest_vote**2 * step_size * steps * width


def loss_bound(n_classes: Numbers, largest_logit: Numbers) -> Numbers:
    """ln k + 2·max|f|."""
    return np.log(n_classes) + 2 * largest_logit


# ── Theorem 4.1 ──


def margin_of(residual: Numbers) -> Numbers:
    """ln((1 − ε)/ε): the margin that 1 − o_y ≤ ε gives."""
    return np.log((1 - np.asarray(residual)) / residual)


def reduction_as_printed(error: Numbers, n_components: Numbers) -> Numbers:
    """ε³/(8kl)."""
    return error**3 / (8 * n_components)


def reduction(error: Numbers, n_components: Numbers) -> Numbers:
    """ε/(2kl)."""
    return error / (2 * n_components)


def start_variance(width: Numbers, deviation: Numbers) -> Numbers:
    """E f_i(x, W⁰)² = mσ²/2."""
    return width * deviation**2 / 2


def start_bound(variance: Numbers, n_classes: Numbers, n_points: Numbers, failure: Numbers = 0.01) -> Numbers:
    """√(2V ln(2kn/p₀))."""
    return np.sqrt(2 * np.asarray(variance) * np.log(2 * n_classes * n_points / failure))


# ── chance ──

SIGMAS = 5
"""Standard errors by which a frequency may be off: once in two million."""


def share_room(share: Any, draws: Any) -> Any:
    """What chance may do to a frequency."""
    return SIGMAS * np.sqrt(np.maximum(share * (1 - share), 1 / np.asarray(draws)) / draws)
