"""The numbers that Section 3 and Appendix B promise about XOR, as formulas.

Everywhere k is `half_width` and c_η is `step_constant`. Fits and sums of fits are in units of η, in which the loss of a
point is 0 from 1/η on: that is `goal`.
"""

import math

import numpy as np
import scipy
from jaxtyping import Float, Int

from widenet.papers.brutzkus2019.formulas import UNEXPLORED, c_value, start_limit

LARGEST_STEP, SMALLEST_WIDTH = 0.5, 16
"""Section 3 asks for c_η < 1/2, and from Section 3.2 on for k > 16."""

RADIUS = start_limit(1.0)
"""√2/4: the largest initial fit, in units of η."""

Counts = Int[np.ndarray, "*run"]
Limits = Float[np.ndarray, "*run"]


def failure_rate(half_width: int) -> float:
    """√(2k/π)e^{−8k} + 8e⁻⁸: how often Theorem 3.3 may fail."""
    return c_value(half_width) + 8 * UNEXPLORED


def opposing_limit(inside: Counts, outside: Counts) -> Limits:
    """Lemma B.4: 2·(opposing filters that start outside the half-plane) + √2/4·(those inside)."""
    return 2.0 * outside + RADIUS * inside


def sure_to_exceed(half_width: int) -> float:
    """A lower bound on how often the printed bound k of Lemma B.4 fails in the event of Lemma B.2.

    It fails where some |U_0⁺(i)| (i odd) or |W_0⁺(i)| (i even) is above k/(2 − √2/4): then the opposing sum of −x_i at
    t = 1 is above (2 − √2/4)η·k/(2 − √2/4) = kη. Opposite half-planes exclude each other; the two axes are independent.
    """
    tail = float(scipy.stats.binom.sf(math.floor(half_width / (2 - RADIUS)), half_width, 0.5))
    return 1 - (1 - 2 * tail) ** 2


def active_limit(goal: float, half_width: int, own_counts: Counts) -> Limits:
    """(1 + 2kη)/(2ηn_i): so many active iterations satisfy a point for good; infinite where n_i = 0."""
    with np.errstate(divide="ignore"):
        return (goal + 2 * half_width) / (2 * own_counts)


def active_limit_by_width(goal: float, half_width: int) -> float:
    """(1 + 2kη)√k/(kη(√k − 4)): the same for every point, where Lemma 3.1 holds and k > 16."""
    root = math.sqrt(half_width)
    return (goal + 2 * half_width) / (root * (root - 4)) if root > 4 else math.inf


def active_limit_as_printed(half_width: int) -> float:
    """4√k/(√k − 2), for k > 4."""
    root = math.sqrt(half_width)
    return 4 * root / (root - 2) if root > 2 else math.inf


def iterations_as_printed(half_width: int) -> tuple[float, float]:
    """The 16√k/√(k − 2) of Theorem 3.3, and the 16√k/(√k − 2) that Proposition B.5 gives; for k > 4."""
    root = math.sqrt(half_width)
    return (
        16 * root / math.sqrt(half_width - 2) if half_width > 2 else math.inf,
        4 * active_limit_as_printed(half_width),
    )


def iterations_needed(goal: float, half_width: int) -> float:
    """1/(kη) − √2/8: no run reaches loss 0 earlier."""
    return goal / half_width - RADIUS / 2


def angle_limit(step_constant: float) -> float:
    """arccos((1 − 2c_η)/(1 + c_η)), in degrees."""
    return math.degrees(math.acos((1 - 2 * step_constant) / (1 + step_constant)))


def sharp_angle_limit(step_constant: float) -> float:
    """arctan(2c_η/(1 − √2c_η/4)), in degrees: no filter at loss 0 is farther from its point, in the event of Lemma B.2.

    The n ≤ k own filters of a point have a mean fit of at least 1/n and differ by at most √2η/4; across it is below 2η.
    """
    return math.degrees(math.atan(2 * step_constant / (1 - RADIUS * step_constant)))


def forgotten_rate(half_width: int) -> float:
    """1 − (1 − 2^{1−k})²: how often some half-plane has no filter. Then, and only then, loss 0 is not reached."""
    one_axis = 2.0 ** (1 - half_width)
    return 2 * one_axis - one_axis**2


def fewest_updates(step_constant: float) -> float:
    """1/(2c_η) − 1: the proof of Theorem 3.3 says that every point is active so often."""
    return 1 / (2 * step_constant) - 1


def cosine_after(updates: Counts) -> Limits:
    """2a/(2a + 3): the cosine of a filter's angle to its point after a updates is at least this."""
    return 2 * updates / (2 * updates + 3)
