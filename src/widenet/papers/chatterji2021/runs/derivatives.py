"""Derivatives of the loss by their formulas and by differences. Nothing is trained here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import drawn_on
from widenet.claims.user_data import UserData
from widenet.diagnostics.curvature import DENSE
from widenet.diagnostics.huberized import HuberNetwork, gradient, hessian_blocks, log_mean_loss
from widenet.papers.chatterji2021.sources import Case, OwnCases, OwnReducedPoints, RandomCases, Sphere
from widenet.papers.chatterji2021.user_data import other_width, reason_in_inputs
from widenet.records import Scale

NUDGE = 1e-6
"""By how much a weight is moved for a central difference of L."""
NEAR_KINK = 2e-6
"""A pre-activation that is nearer to 0 or h would cross it while its weights are nudged."""
HESSIAN_NUDGE, HESSIAN_NEAR = 1e-5, 1e-4
"""The same for differences of ∇L, which bend at 0 and h."""
MOST_INPUTS = 50
"""Inputs up to which the Hessian is compared entry by entry on your data."""


Entries = Float[np.ndarray, " entry"]


@dataclass(frozen=True, eq=False)
class GradientEntries(Cases):
    """Entries of ∇L of some networks."""

    rows: ClassVar = "entry"

    formula: Entries  #: by the formula
    differences: Entries  #: by central differences
    votes: Entries  #: +1 for entries of rows that vote plus, −1 for the others
    nearest_kink: Number  #: the smallest distance of a pre-activation from 0 and h


def kink_distance(case: Case) -> float:
    """How near a pre-activation comes to 0 or h."""
    z = case.network.preactivations(case.points)
    return float(np.minimum(np.abs(z), np.abs(z - case.network.bandwidth)).min())


def slopes_of(cases: Sequence[Case]) -> GradientEntries:
    """All entries, flat."""
    formula, differences, votes = [], [], []
    for case in cases:
        dim = case.network.weights.shape[1]
        formula.append(gradient(case.network, case.points, case.labels).ravel())
        differences.append(_differences(case))
        votes.append(np.repeat(case.network.signs, dim))
    joined = (np.concatenate(each) for each in (formula, differences, votes))
    return GradientEntries(*joined, nearest_kink=min(map(kink_distance, cases)))


def _differences(case: Case) -> np.ndarray:
    """(L(W + δe) − L(W − δe))/(2δ) for every entry of W; all networks at once."""
    weights, h = case.network.weights, case.network.bandwidth
    moved = weights + NUDGE * np.concatenate([np.eye(weights.size), -np.eye(weights.size)]).reshape(-1, *weights.shape)
    losses = np.array([_loss(HuberNetwork(each, h), case) for each in moved]).reshape(2, -1)
    return (losses[0] - losses[1]) / (2 * NUDGE)


def _loss(network: HuberNetwork, case: Case) -> float:
    return float(np.exp(log_mean_loss(network.margins(case.points, case.labels))))


def drawn_on_networks(
    measure: Callable[[Sequence[Case]], Any], distance: float, *, most_inputs: int | None = None
) -> Callable[[Any], Any]:
    """Says of a function that draws cases how it makes them on your data: `measure` gets a few networks on it.

    No pre-activation of theirs comes nearer to a kink than `distance`.
    """

    def on(user_data: UserData) -> Applied | NotApplicable:
        n, dim = user_data.inputs.shape
        if most_inputs is not None and dim > most_inputs:
            return NotApplicable(f"The Hessian is compared entry by entry here, for at most {most_inputs} inputs.")
        if (reason := reason_in_inputs(user_data)) is not None:
            return reason
        if n * (dim + 1) > DENSE:
            return NotApplicable(f"Differences are taken weight by weight here, on at most {DENSE} numbers of data.")
        own, wanted = OwnReducedPoints(own_data=user_data.digest), user_data.choices.n_runs or 2
        drawn = OwnCases(points=own, half_width=2, n_networks=3 * wanted, seed=user_data.choices.seed).cases()
        cases = [case for case in drawn if kink_distance(case) > distance][:wanted]
        if not cases:
            return NotApplicable("Every network that was tried has a unit at a kink on this data.")
        return Applied(measure(cases), other_width(user_data, 4, why="differences are taken weight by weight"))

    return drawn_on(on)


@drawn_on_networks(slopes_of, NEAR_KINK)
def draw_slopes(scale: Scale, seed: int) -> GradientEntries:
    """Small random networks without a pre-activation near a kink."""
    drawn = [case for case in RandomCases(n_networks=40, seed=seed).cases() if kink_distance(case) > NEAR_KINK]
    return slopes_of([case for case in drawn if case.network.weights.size <= 24][:8])


OFF, CURVED, STRAIGHT = 0.0, 1.0, 2.0
"""Entries of ∇²L: between two rows; of a row with a point on its parabola; of a row without one."""


@dataclass(frozen=True, eq=False)
class HessianEntries(Cases):
    """Entries of ∇²L of some networks."""

    rows: ClassVar = "entry"

    formula: Entries  #: by (19) and (20)
    differences: Entries  #: by differences of the gradient
    kinds: Entries  #: `OFF`, `CURVED` or `STRAIGHT`
    nearest_kink: Number  #: the smallest distance of a pre-activation from 0 and h


def curvatures_of(cases: Sequence[Case]) -> HessianEntries:
    """All entries, flat."""
    made = [_curvature(case) for case in cases]
    joined = (np.concatenate([each[at] for each in made]) for at in range(3))
    return HessianEntries(*joined, nearest_kink=min(map(kink_distance, cases)))


def _curvature(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    network, h = case.network, case.network.bandwidth
    rows, dim = network.weights.shape
    blocks = hessian_blocks(network, case.points, case.labels)
    columns = []
    for entry in range(network.weights.size):
        push = np.zeros(network.weights.size)
        push[entry] = HESSIAN_NUDGE
        ends = [HuberNetwork(network.weights + sign * push.reshape(rows, dim), h) for sign in (1, -1)]
        after, before = (gradient(end, case.points, case.labels) for end in ends)
        columns.append((after - before).ravel() / (2 * HESSIAN_NUDGE))
    differences = np.stack(columns, axis=1).reshape(rows, dim, rows, dim).transpose(0, 2, 1, 3)
    z = network.preactivations(case.points)
    own = np.where(((z > 0) & (z < h)).any(axis=0), CURVED, STRAIGHT)
    kinds = np.where(np.eye(rows, dtype=bool), own[:, None], OFF)[:, :, None, None] + 0 * blocks
    return blocks.ravel(), differences.ravel(), kinds.ravel()


@drawn_on_networks(curvatures_of, HESSIAN_NEAR, most_inputs=MOST_INPUTS)
def draw_curvatures(scale: Scale, seed: int) -> HessianEntries:
    """Three units of each sign on four points of the plane, no pre-activation near a kink."""
    made, number = [], 0
    while len(made) < 6:
        points, labels = Sphere(n_samples=4, dim=2).draw(seed + number)
        rows = 0.5 * np.random.default_rng([seed, 53, number]).normal(size=(6, 3))
        case, number = Case(points, labels, HuberNetwork(rows, 1 / 3)), number + 1
        if kink_distance(case) > HESSIAN_NEAR:
            made.append(case)
    return curvatures_of(made)
