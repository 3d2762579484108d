"""How near gradient flow is to its limit, and how near it must be, once no neuron changes sides.

From then on y_i N(x_i) = ⟨W, h_i⟩ is linear in W. Let γ* be the largest min ⟨U, h_i⟩ over ‖U‖ = 1, and Û where it is
attained. ψ = γ̃‖W‖ = −log(∏(1 + e^{−⟨W, h_i⟩}) − 1) is concave (what is under the logarithm is a sum of exponentials),
the flow moves along ∇ψ, and ‖∇ψ‖ ≥ ⟨∇ψ, Û⟩ ≥ γ*. So neither E = γ*‖W‖ − ψ nor ‖∇ψ‖ ever increases. Since Û is a
combination of the h_i with non-negative weights whose sum is 1/γ*, 1 − cos∠(W, Û) ≤ 1 − γ̄/γ* ≤ 1 − γ̃/γ*. Hence, for
every t after such a time T,

    1 − cos∠(W_t, Û) ≤ E_T/(γ*‖W_t‖)   and   1 − cos∠(∇ψ_t, Û) ≤ 1 − γ*/‖∇ψ_t‖ ≤ E_T/(γ*‖W_t − W_T‖ + E_T).

Both tend to 0, whatever the data: a margin that is nearly tied with the smallest delays the direction, and breaks no
bound.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from widenet.diagnostics.agreement import agreement_margin, sign_pattern
from widenet.diagnostics.agreement_program import separate
from widenet.diagnostics.homogeneous_margins import smoothed_margin
from widenet.diagnostics.kkt import margin_gradients
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.sarussi2021.formulas import limit_margin
from widenet.papers.sarussi2021.hypotheses import ON_A_KINK
from widenet.papers.sarussi2021.runs.flows import FlowRuns

Looks = Float[np.ndarray, " look"]


@dataclass(frozen=True, eq=False)
class Approach:
    """One run from the look T on.

    Attributes:
      looks: T and all later ones; none where it is not known towards what the run tends.
      errors: 1 − cos∠(W, Û) at these looks; norms: ‖W‖; distances: ‖W − W_T‖.
      margin: γ*; excess: E_T = γ*‖W_T‖ − ψ_T.
    """

    looks: Int[np.ndarray, " look"]
    errors: Looks
    norms: Looks
    distances: Looks
    margin: float
    excess: float


def towards(course: FlowRuns, looks: Int[np.ndarray, " look"], goal: np.ndarray, margin: float) -> Approach:
    """The approach from the first of these looks to the direction of `goal`, whose margin is γ*."""
    rows, norms = course.weights[looks], course.norms[looks]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.einsum("tjd,jd->t", rows, goal) / (norms * np.linalg.norm(goal))
    first = looks[:1]
    psi = smoothed_margin(course.margins[first], course.norms[first]) * course.norms[first]
    return Approach(
        looks=looks,
        errors=1 - cosines,
        norms=norms,
        distances=np.linalg.norm(rows - rows[:1], axis=(1, 2)),
        margin=margin,
        excess=float((margin * course.norms[first] - psi)[0]) if len(looks) else np.nan,
    )


def towards_program(course: FlowRuns, pair: Float[np.ndarray, " both"], value: float) -> Approach:
    """To the network whose rows are w and u, from the look on at which the run has settled in its regime."""
    looks = course.later(min(course.settled, course.readings[-1].item()))
    goal = np.repeat(pair.reshape(2, -1), course.half_width, axis=0)
    return towards(course, looks, goal, float(limit_margin(value, course.output_weight, course.half_width)))


def towards_pattern(course: FlowRuns) -> Approach:
    """To the direction of largest margin among networks with the signs that the neurons have at the end.

    Agreement is not needed. There is nothing to compare with where a neuron ends on a kink.
    """
    pattern = sign_pattern(course.weights, course.inputs)
    clear = agreement_margin(course.weights, course.inputs) > ON_A_KINK * course.largest_norm
    same = clear & (pattern == pattern[-1]).all(axis=(1, 2)) & (course.readings >= course.settled)
    looks = np.arange(1 + max(np.flatnonzero(~same), default=-1), len(same))
    signs = plus_minus_weights(course.half_width, course.output_weight)
    gradients = margin_gradients(course.weights[-1], signs, float(course.slope), course.inputs, course.labels)
    found = separate(gradients.reshape(len(gradients), -1), np.ones(len(gradients))).separator
    if found is None or not len(looks):
        return towards(course, looks[:0], np.ones_like(course.weights[-1]), np.nan)
    return towards(course, looks, found.reshape(course.weights[-1].shape), float(1 / np.linalg.norm(found)))
