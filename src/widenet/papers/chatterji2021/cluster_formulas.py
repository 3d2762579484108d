"""Bounds and constants of Theorem 2 and its proof (Section 4, Appendices C to E), as the paper prints them.

Everything is about the network without biases on inputs (x, 1)/√2. `scaling` says with which numbers: "sec4" are those
of Section 4 and Appendix D, which keep σ = p^-(1/2+β/2) and α_0 = p^-(1/2+β); "exact" are those that Theorem 2 itself
leads to by Appendix C, √2 σ and 2 α_0. An o(1) of the paper is written out as its proof gives it.
"""

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.integrate
import scipy.optimize
import scipy.special
from jaxtyping import Float, Num

WeightScale = Literal["sec4", "exact"]
if TYPE_CHECKING:
    Number = Any  # a column of a record has an array in a table, and one number in its own cell
    Word = Any
else:
    Number = float | int
    Word = str
Numbers = Float[np.ndarray, "*case"]
Widths = Num[np.ndarray, "*case"]

LEVEL = 0.01
"""δ_0: the tight forms of the counts are made to fail at most this often."""
LEAST_MARGIN_RATE = 1 / 24
"""C_4 as judged: half of 1/12, where the first step leads to on exact centres, in coordinates with biases."""


def bandwidth(p: Number) -> float:
    """h."""
    return 1 / p


def initial_deviation(p: Number, beta: Number, scaling: Word) -> float:
    """σ of the weights at the start."""
    return (math.sqrt(2) if scaling == "exact" else 1.0) * p ** -(0.5 + beta / 2)


def first_step_size(p: Number, beta: Number, scaling: Word) -> float:
    """α_0."""
    return (2.0 if scaling == "exact" else 1.0) * p ** -(0.5 + beta)


def capture_level(p: Number, beta: Number, scaling: Word) -> float:
    """a = h + 4 α_0: a unit captures a point where its pre-activation reaches a (Definition 14)."""
    return bandwidth(p) + 4 * first_step_size(p, beta, scaling)


def captured_mean(level: Number, deviation: Number) -> float:
    """χ = E[Z; Z ≥ a] for Z ~ N(0, σ²)."""
    return deviation / math.sqrt(2 * math.pi) * math.exp(-(level**2) / (2 * deviation**2))


def captured_share(level: Number, deviation: Number) -> float:
    """ζ = P[Z ≥ a]."""
    return float(scipy.special.ndtr(-level / deviation))


def captured_deviation(level: Number, deviation: Number, p: Number) -> float:
    """The standard deviation of the sum of p terms Z·1{Z ≥ a}."""
    ratio = level / deviation
    density = math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    second = deviation**2 * (float(scipy.special.ndtr(-ratio)) + ratio * density)
    return math.sqrt(p * (second - captured_mean(level, deviation) ** 2))


def captured_sum_tail(level: Number, deviation: Number, p: Number, side: int) -> float:
    """The Chernoff exponent of Σ Z·1{Z ≥ a} beyond pχ + side, with side = +1 (upwards) or −1 (downwards)."""
    mean, share, ratio = captured_mean(level, deviation), captured_share(level, deviation), level / deviation

    def exponent(log_tilt: float) -> float:
        tilt = side * math.exp(log_tilt) / deviation
        inside = math.exp((tilt * deviation) ** 2 / 2) * scipy.special.ndtr(tilt * deviation - ratio)
        return -tilt * (p * mean + side) + p * math.log1p(inside - share)

    found = scipy.optimize.minimize_scalar(exponent, bounds=(-12, 3), method="bounded", options={"xatol": 1e-10})
    return float(found.fun)


def capture_loss(level: Number, deviation: Number) -> float:
    """a/(σ√(2π)) ≥ 1/2 − ζ: the share of the units that a level a > 0 costs, at most."""
    return level / (deviation * math.sqrt(2 * math.pi))


def tight_slack(p: Number, statements: Number) -> float:
    """The slack with which one of so many counts is off with probability at most `LEVEL` (Hoeffding)."""
    return math.sqrt(math.log(statements / LEVEL) / (2 * p))


def pull_slack(p: Number, beta: Number) -> float:
    """p^(−β/4), the o(1) of Lemma 15.3."""
    return p ** (-beta / 4)


def pull_failure(p: Number, beta: Number, n: Number, scaling: Word) -> float:
    """How often one of n numbers g_0 is farther than that from 1/2, at most."""
    return math.exp(math.log(2 * n) - p ** (beta / 2) / (8 if scaling == "exact" else 4))


def first_output_deviation(p: Number, beta: Number, scaling: Word) -> float:
    """The standard deviation of f(x) at the start, from E φ and E φ² of a normal pre-activation."""
    sigma = initial_deviation(p, beta, scaling)
    k = bandwidth(p) / sigma
    density, above = math.exp(-(k**2) / 2) / math.sqrt(2 * math.pi), float(scipy.special.ndtr(-k))
    # Moments of a standard normal on [0, k] and above k, in units of σ; φ is z²/(2k), and z − k/2 above k. The first
    # ones, 2 and 4, are about k³ and k⁵: as 1/2 less what is above k they would be all rounding for wide networks.
    second, fourth = (
        moment / 2 * float(scipy.special.gammainc(half, k**2 / 2)) for half, moment in ((1.5, 1), (2.5, 3))
    )
    mean = second / (2 * k) + density - k / 2 * above
    return sigma * math.sqrt(2 * p * (fourth / (4 * k**2) + above * (1 + k**2 / 4) - mean**2))


def orthant(cosine: Numbers) -> Numbers:
    """P[v·x ≥ 0, v·x' ≥ 0] for Gaussian v and unit vectors with this inner product."""
    return (1 - np.arccos(np.clip(cosine, -1, 1)) / np.pi) / 2


def both_captured(level: Number, deviation: Number, cosine: Numbers) -> Numbers:
    """P[Z_1 ≥ a, Z_2 ≥ a], by Owen's T."""
    ratio, rho = level / deviation, np.clip(cosine, -1, 1)
    with np.errstate(divide="ignore"):
        slope = np.sqrt((1 - rho) / (1 + rho))
    return scipy.special.ndtr(-ratio) - 2 * scipy.special.owens_t(ratio, slope)


def captured_and_active(level: Number, deviation: Number, cosine: Numbers) -> Numbers:
    """P[Z_1 ≥ a, Z_2 ≥ 0], by Owen's T."""
    ratio, rho = level / deviation, np.clip(cosine, -1, 1)
    with np.errstate(divide="ignore"):
        slope = rho / np.sqrt(1 - rho**2)
    return scipy.special.ndtr(-ratio) / 2 + scipy.special.owens_t(ratio, slope)


def same_cluster_share(radius: Number) -> float:
    """(1 − √r)/2: of Lemma 15.4, without its o(1)."""
    return (1 - math.sqrt(radius)) / 2


def pair_share(radius: Number, level: Number, deviation: Number) -> float:
    """(1 − √r)/2 − 2a/(σ√(2π)): the o(1) of one unit written out."""
    return same_cluster_share(radius) - 2 * capture_loss(level, deviation)


def opposite_share(overlap: Number, radius: Number) -> float:
    """1/3 + Δ/4 + r: of Lemma 15.5, without its o(1)."""
    return 1 / 3 + overlap / 4 + radius


def window_bottom(step: Number, overlap: Number, radius: Number) -> float:
    """−α_0(1/2 + 2(Δ + r)): from here a first step may lift a unit above 0."""
    return -step * (0.5 + 2 * (overlap + radius))


def window_share(p: Number, step: Number, deviation: Number, overlap: Number, radius: Number) -> float:
    """√2/(σ√π)·(h + 5α_0(2 + Δ + r)): of Lemma 15.6."""
    return math.sqrt(2) / (deviation * math.sqrt(math.pi)) * (bandwidth(p) + 5 * step * (2 + overlap + radius))


def window_failure(p: Number, step: Number, deviation: Number, n: Number) -> float:
    """How often one of n counts of Lemma 15.6 is too large, at most (Hoeffding)."""
    return math.exp(math.log(n) - 2 * (5 * step / (deviation * math.sqrt(2 * math.pi))) ** 2 * p)


def window_probability(level: Number, step: Number, deviation: Number, overlap: Number, radius: Number) -> float:
    """P[−α_0(1/2 + 2(Δ + r)) ≤ Z ≤ h + 4α_0]: the left of Eq. 27."""
    bottom = window_bottom(step, overlap, radius)
    return float(scipy.special.ndtr(level / deviation) - scipy.special.ndtr(bottom / deviation))


def window_middle(p: Number, step: Number, deviation: Number, overlap: Number, radius: Number) -> float:
    """(h + 4.5α_0 + 2α_0(Δ + r))/(σ√(2π)): the density's bound on Eq. 27."""
    return _over_density(bandwidth(p) + 4.5 * step + 2 * step * (overlap + radius), deviation)


def window_right(p: Number, step: Number, deviation: Number, overlap: Number, radius: Number) -> float:
    """(h + 5α_0(1 + Δ + r))/(σ√(2π)): the right of Eq. 27."""
    return _over_density(bandwidth(p) + 5 * step * (1 + overlap + radius), deviation)


def _over_density(width: Number, deviation: Number) -> float:
    return width / (deviation * math.sqrt(2 * math.pi))


def norm_unit(dim: Number, p: Number, beta: Number) -> float:
    """√(d/p^β): ‖V^(1)‖ lies between 3/5 and 3 of it (Lemma 15.7)."""
    return math.sqrt(dim / p**beta)


def lower_norm_tail(dim: Number, p: Number, eta: Number) -> float:
    """P[‖V^(0)‖² ≤ 2(d+1)pσ²(1 − η)], at most (Laurent and Massart)."""
    return math.exp(-(dim + 1) * p * eta**2 / 2)


def upper_norm_tail(dim: Number, p: Number, eta: Number) -> float:
    """P[‖V^(0)‖ ≥ √(2(d+1)p) σ(1 + η)], at most (Borell–TIS)."""
    return math.exp(-(dim + 1) * p * eta**2)


def output_tail(p: Number, deviation: Number, eta: Number) -> float:
    """P[|f_0(x)| ≥ η], at most (Borell–TIS)."""
    return 2 * math.exp(-(eta**2) / (4 * p * deviation**2))


def least_width_power(dim: Number, scaling: Word) -> float:
    """From which p^(β/2) on ‖V^(0)‖ within a share 1/32 puts ‖V^(1)‖ between the bounds of Lemma 15.7.

    ‖V^(0)‖ = c√(2(d+1)) p^(−β/2) and the step adds at most √(2p)·α_0 = k√2 p^(−β), with c = k = 1 in Section 4 and
    c = √2, k = 2 in the exact coordinates.
    """
    scale, push = (math.sqrt(2), 2 * math.sqrt(2)) if scaling == "exact" else (1.0, math.sqrt(2))
    low = scale * math.sqrt(2 * (dim + 1) * 31 / 32) - 0.6 * math.sqrt(dim)
    high = 3 * math.sqrt(dim) - scale * math.sqrt(2 * (dim + 1)) * 33 / 32
    return push / min(low, high)


def lifted_bound(p: Number, mean: Number, step: Number, sign: int) -> float:
    """pχ ± α_0p/48 ∓ 2: Lemma 18 with its bracket read as 1; sign = +1 for the helpful units."""
    return p * mean + sign * (step * p / 48 - 2)


def rest_bound(p: Number, step: Number, deviation: Number, overlap: Number, radius: Number) -> float:
    """√2/(σ√π)·(h + 5α_0(2 + Δ + r))²p: Eq. 14."""
    return window_share(p, step, deviation, overlap, radius) * (bandwidth(p) + 5 * step * (2 + overlap + radius)) * p


def rest_height(p: Number, step: Number, overlap: Number, radius: Number) -> float:
    """h + 4.5α_0 + 2α_0(Δ + r): what a unit of the window can contribute at most (step (iv) of Lemma 19)."""
    return bandwidth(p) + 4.5 * step + 2 * step * (overlap + radius)


def first_loss_bound(p: Widths | Number, beta: Numbers | Number, rate: Number = LEAST_MARGIN_RATE) -> Numbers | Number:
    """exp(−C_4 p^(1/2−β)): Theorem 2(a)."""
    return np.exp(-rate * p ** (0.5 - beta))


def predicted_gain(
    p: Number,
    step: Number,
    products: Float[np.ndarray, "point point"],
    labels: Float[np.ndarray, " point"],
    pulls: Float[np.ndarray, "*run point"],
) -> Float[np.ndarray, "*run point"]:
    """(2pα_0/n) Σ_q y_s y_q g_q (x_q·x_s)·P[both active]: what a first step adds to every margin, about."""
    agree = labels[:, None] * labels[None] * products * orthant(products)
    return 2 * p * step / len(labels) * pulls @ agree


RATE_CONSTANT = 125 * math.e**2 / (120 * 1944)
"""c_1 of the proof of Theorem 2(b)."""
STEP_CONSTANT = math.e**2 / 120
"""C_5 in the coordinates without biases; half of it with biases."""


def late_loss_bound(dim: Number, p: Number, beta: Number, first_loss: Number, t: Numbers | Number) -> Numbers | Number:
    """d p^(1−β)/(c_1 log⁴(1/L_1)(t − 1)): the branch of Theorem 2(b) that falls like 1/t."""
    return dim * p ** (1 - beta) / (RATE_CONSTANT * math.log(1 / first_loss) ** 4 * (t - 1))


def step_limit_terms(
    exponent: Number, p: Number, beta: Number, dim: Number, rate: Number
) -> tuple[float, float, float]:
    """The three lower bounds on the terms of Q̃_1 in Section 4.3, with exponent = C_4 p^(1/2−β)."""
    return (
        math.exp(exponent) / (30 * rate**2 * p ** (2 - 2 * beta)),
        972 * dim * math.exp(exponent) / (3125 * rate**4 * p ** (2 - 3 * beta)),
        STEP_CONSTANT / p,
    )


def cluster_product_bounds(overlap: Number, radius: Number) -> tuple[float, float, float, float]:
    """Lemma 21: opposite classes at most (stated, sharper), one cluster at least (stated, sharper)."""
    between, spread = (1 + overlap) / 2, math.sqrt(2) * radius + radius**2 / 2
    return between + 2 * radius, between + spread, 1 - 2 * radius, 1 - spread


def whole_cluster_share(radius: Number, log_points: Number) -> float:
    """The share of units of one sign that capture 2D points around a centre, for p → ∞; D is exp(log_points).

    The points are cosθ·μ ± sinθ·e_j with 2 sin(θ/2) = r. The share is E Φ(−tM), t = sinθ/√(1 + cos²θ), M the largest
    of D absolute normals.
    """
    angle = 2 * math.asin(radius / 2)
    slope = math.sin(angle) / math.sqrt(1 + math.cos(angle) ** 2)
    count = math.exp(log_points)

    def density(m: float) -> float:
        # P[M ≤ m] = (1 − 2Q(m))^D; integrated by parts: E Φ(−tM) = ∫ t φ(tm) P[M ≤ m] dm.
        below = math.exp(count * math.log1p(-2 * scipy.special.ndtr(-m)))
        return slope * math.exp(-((slope * m) ** 2) / 2) / math.sqrt(2 * math.pi) * below

    # Every M lies below `high`, as far as float64 can tell.
    high = float(-scipy.special.ndtri_exp(-log_points - 45))
    inner = scipy.integrate.quad(density, 0, high)[0]
    return inner + float(scipy.special.ndtr(-slope * high))


def whole_cap_share(dim: Number, radius: Number) -> float:
    """The share of units that capture the whole cap of radius r around a centre, at least: 1/2 − (r/√2)√(d/(2π))."""
    return 0.5 - radius / math.sqrt(2) * math.sqrt(dim / (2 * math.pi))


def simulation_deviation(p: Number) -> float:
    """(4p)^(−5/8): Section 5 prints the variance (4p)^(−5/4)."""
    return (4 * p) ** -0.625


def simulation_first_step(p: Number) -> float:
    """(4p)^(−3/4)."""
    return (4 * p) ** -0.75
