"""Section 2.2 and Appendix A: derivatives of the loss, the reduction to zero biases, and a network that fits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_most, claim, undecided
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.diagnostics.curvature import DENSE
from widenet.diagnostics.huberized import HuberNetwork, Labels, Points, gradient, hessian_blocks, log_mean_loss
from widenet.papers.chatterji2021.claims.specimens import MOST_FITTED, clash, silence_over_inputs
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.cases import Case, OwnCases, RandomCases
from widenet.papers.chatterji2021.runs.coordinates import BothCoordinates, CoordinatesSetting, coordinates
from widenet.papers.chatterji2021.runs.starts import fewest_neurons, isolating_start
from widenet.papers.chatterji2021.settings import OwnPoints, Sphere, reduced_points
from widenet.records import Scale

NUDGE = 1e-6
"""By how much a weight is moved for a central difference of L."""
NEAR_KINK = 2e-6
"""A pre-activation that is nearer to 0 or h would cross it while its weights are nudged."""
HESSIAN_NUDGE, HESSIAN_NEAR = 1e-5, 1e-4
"""The same for differences of ∇L, which bend at 0 and h."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """Entries of ∇L of some networks, by the formula and by central differences.

    Attributes:
      votes: +1 for entries of rows that vote plus, −1 for the others.
      nearest_kink: the smallest distance of a pre-activation from 0 and h.
    """

    formula: Float[np.ndarray, " entry"]
    differences: Float[np.ndarray, " entry"]
    votes: Float[np.ndarray, " entry"]
    nearest_kink: float


def kink_distance(case: Case) -> float:
    """How near a pre-activation comes to 0 or h."""
    z = case.network.preactivations(case.points)
    return float(np.minimum(np.abs(z), np.abs(z - case.network.bandwidth)).min())


def slopes_of(cases: Sequence[Case]) -> Slopes:
    """All entries, flat."""
    formula, differences, votes = [], [], []
    for case in cases:
        dim = case.network.weights.shape[1]
        formula.append(gradient(case.network, case.points, case.labels).ravel())
        differences.append(_differences(case))
        votes.append(np.repeat(case.network.signs, dim))
    joined = (np.concatenate(each) for each in (formula, differences, votes))
    return Slopes(*joined, nearest_kink=min(map(kink_distance, cases)))


def _differences(case: Case) -> np.ndarray:
    """(L(W + δe) − L(W − δe))/(2δ) for every entry of W; all networks at once."""
    weights, h = case.network.weights, case.network.bandwidth
    moved = weights + NUDGE * np.concatenate([np.eye(weights.size), -np.eye(weights.size)]).reshape(-1, *weights.shape)
    losses = np.array([_loss(HuberNetwork(each, h), case) for each in moved]).reshape(2, -1)
    return (losses[0] - losses[1]) / (2 * NUDGE)


def _loss(network: HuberNetwork, case: Case) -> float:
    return float(np.exp(log_mean_loss(network.margins(case.points, case.labels))))


def draw_slopes(scale: Scale, seed: int) -> Slopes:
    """Small random networks without a pre-activation near a kink."""
    drawn = [case for case in RandomCases(n_networks=40, seed=seed).cases() if kink_distance(case) > NEAR_KINK]
    return slopes_of([case for case in drawn if case.network.weights.size <= 24][:8])


@claim("chatterji2021.section_2_gradient", Kind.IDENTITY, "Section 2.2; Appendix B.2, first display", draws=draw_slopes)
def section_2_gradient(drawn: Slopes) -> Evidence:
    """∇_{v_i}L = −(u_i/n) Σ_s g_s y_s φ'(⟨v_i, x_s⟩) x_s, against central differences of L."""
    parts = {
        name: Sides(drawn.formula, drawn.differences, Sense.EQUAL, room=1e-7, scored=drawn.votes == sign)
        for name, sign in (("rows that vote plus", 1), ("rows that vote minus", -1))
    }
    far = Hypothesis(
        key="away_from_kinks",
        name="smallest distance of a pre-activation from 0 and h",
        required=f"> {NEAR_KINK:g}",
        actual=drawn.nearest_kink,
        slack=drawn.nearest_kink - NEAR_KINK,
        met=drawn.nearest_kink > NEAR_KINK,
    )
    return evidence(parts, (far,))


@section_2_gradient.speaks
def slopes_on(specimen: Specimen) -> Slopes | Silence:
    """A few networks on the reader's data."""
    cases = _own_cases(specimen, NEAR_KINK)
    return cases if isinstance(cases, Silence) else slopes_of(cases)


def _own_cases(specimen: Specimen, distance: float) -> list[Case] | Silence:
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    n, dim = specimen.inputs.shape
    if n * (dim + 1) > DENSE:
        return Silence(f"Differences are taken weight by weight here, on at most {DENSE} numbers of data.")
    own = OwnCases(points=OwnPoints(own_data=specimen.digest), half_width=2, n_networks=6, seed=specimen.choices.seed)
    cases = [case for case in own.cases() if kink_distance(case) > distance][:2]
    return cases or Silence("Every network that was tried has a unit at a kink on this data.")


OFF, CURVED, STRAIGHT = 0.0, 1.0, 2.0
"""Entries of ∇²L: between two rows; of a row with a point on its parabola; of a row without one."""


@dataclass(frozen=True, eq=False)
class Curvatures:
    """Entries of ∇²L of some networks, by (19) and (20) and by differences of the gradient, and which kind each is."""

    formula: Float[np.ndarray, " entry"]
    differences: Float[np.ndarray, " entry"]
    kinds: Float[np.ndarray, " entry"]
    nearest_kink: float


def curvatures_of(cases: Sequence[Case]) -> Curvatures:
    """All entries, flat."""
    made = [_curvature(case) for case in cases]
    joined = (np.concatenate([each[at] for each in made]) for at in range(3))
    return Curvatures(*joined, nearest_kink=min(map(kink_distance, cases)))


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


def draw_curvatures(scale: Scale, seed: int) -> Curvatures:
    """Three units of each sign on four points of the plane, no pre-activation near a kink."""
    made, number = [], 0
    while len(made) < 6:
        points, labels = Sphere(n_samples=4, dim=2).draw(seed + number)
        rows = 0.5 * np.random.default_rng([seed, 53, number]).normal(size=(6, 3))
        case, number = Case(points, labels, HuberNetwork(rows, 1 / 3)), number + 1
        if kink_distance(case) > HESSIAN_NEAR:
            made.append(case)
    return curvatures_of(made)


@claim("chatterji2021.equations_19_20", Kind.IDENTITY, "Eqs. 19 and 20, Appendix B.2", draws=draw_curvatures)
def equations_19_20(drawn: Curvatures) -> Evidence:
    """The blocks of the weak Hessian, (19) off the diagonal and (20) on it, against central differences of ∇L where no
    pre-activation is at 0 or h.
    """
    parts = {
        name: Sides(drawn.formula, drawn.differences, Sense.EQUAL, room=1e-6, scored=drawn.kinds == kind)
        for name, kind in (("(19)", OFF), ("(20), a point on the parabola", CURVED), ("(20), none", STRAIGHT))
    }
    far = Hypothesis(
        key="away_from_kinks",
        name="smallest distance of a pre-activation from 0 and h",
        required=f"> {HESSIAN_NEAR:g}",
        actual=drawn.nearest_kink,
        slack=drawn.nearest_kink - HESSIAN_NEAR,
        met=drawn.nearest_kink > HESSIAN_NEAR,
    )
    return evidence(parts, (far,))


@equations_19_20.speaks
def curvatures_on(specimen: Specimen) -> Curvatures | Silence:
    """A few networks on the reader's data."""
    if specimen.inputs.shape[1] > MOST_INPUTS:
        return Silence(f"The Hessian is compared entry by entry here, for at most {MOST_INPUTS} inputs.")
    cases = _own_cases(specimen, HESSIAN_NEAR)
    return cases if isinstance(cases, Silence) else curvatures_of(cases)


MOST_INPUTS = 50


@claim("chatterji2021.appendix_a", Kind.IDENTITY, "Appendix A", reads=coordinates)
def appendix_a(cells: Sequence[BothCoordinates]) -> Evidence:
    """A run with biases on x and one without on x̃ = (x, 1)/√2 are the same where Ṽ^(1) = √2θ^(1) and α̃ = 2α: Ṽ^(t) =
    √2θ^(t), equal pre-activations and losses at every step; and ⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2 ≥ 0 for unit inputs.
    """
    flat = {name: np.concatenate([getattr(cell, name) for cell in cells]) for name in _COMPARED}
    overlaps, halves = flat.pop("overlaps"), flat.pop("halves")
    names = ("Ṽ^(t) = √2θ^(t)", "equal pre-activations", "equal losses")
    parts = {
        name: Sides(values, 0.0, Sense.EQUAL, room=IDENTITY) for name, values in zip(names, flat.values(), strict=True)
    }
    parts["⟨x̃, x̃'⟩ = (1 + ⟨x, x'⟩)/2"] = Sides(overlaps, halves, Sense.EQUAL, room=ROUNDING)
    parts["⟨x̃, x̃'⟩ ≥ 0"] = Sides(overlaps, 0.0, Sense.AT_LEAST, room=1e-15)
    worst = max(cell.unit_error for cell in cells)
    return evidence(
        parts,
        (at_most("unit_inputs", "largest |‖x‖ − 1|", worst, 0, tolerance=ROUNDING),),
        details={"largest move of a weight": min(cell.moved for cell in cells)},
    )


_COMPARED = ("weights", "preactivations", "losses", "overlaps", "halves")


@appendix_a.speaks
def coordinates_on(specimen: Specimen) -> list[CoordinatesSetting] | Silence:
    """A pair of runs of the chosen width on the reader's data."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    return [
        CoordinatesSetting(
            points=OwnPoints(own_data=specimen.digest),
            half_width=min(specimen.choices.n_neurons // 2, 20),
            n_steps=max(5, min(100, 20_000 // specimen.inputs.size)),
            seed=specimen.choices.seed,
        )
    ]


@dataclass(frozen=True, eq=False)
class Fit:
    """Data, and a network that was built to fit it, or the reason why none can be.

    Attributes:
      unit_error: the largest |‖x‖ − 1|.
      loss: L of the network; NaN where there is none.
      target: the loss that Theorem 1 asks for.
      why_not: two equal points with different labels, in words; "" where there are none.
      too_close: whether points of different labels are so close that float64 decides.
    """

    unit_error: float
    loss: float
    target: float
    why_not: str = ""
    too_close: bool = False


def fit(points: Points, labels: Labels, half_width: int, why_not: str = "", *, too_close: bool = False) -> Fit:
    """Build the network for this data."""
    target = equation_5_threshold(len(labels))
    network = None if why_not else isolating_start(points, labels, half_width, 0.9 * target)
    loss = math.nan if network is None else float(np.exp(log_mean_loss(network.margins(points, labels))))
    error = float(np.abs(np.linalg.norm(points, axis=1) - 1).max())
    return Fit(error, loss, target, why_not, too_close)


def draw_fits(scale: Scale, seed: int) -> list[Fit]:
    """Random points of spheres, more than the network could separate linearly."""
    made = []
    for n, dim in ((2, 1), (4, 2), (12, 2), (30, 5)):
        points, labels = Sphere(n_samples=n, dim=dim).draw(seed) if dim > 1 else _opposite()
        made.append(fit(points, labels, fewest_neurons(points, labels)))
    return made


def _opposite() -> tuple[Points, Labels]:
    return reduced_points(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0])


@claim("chatterji2021.theorem_1_start", Kind.CONSTRUCTION, "not in the paper; a start for Theorem 1", draws=draw_fits)
def theorem_1_start(fits: Sequence[Fit]) -> Evidence:
    """On unit inputs of which no two are equal with different labels, a network with one neuron per point starts
    Theorem 1: its neurons vote on caps of the sphere without points of the other label, and are stretched until L₁ is
    small enough. Where two equal inputs have different labels, every network has L ≥ 2 log 2/n, which is not.
    """
    clashes = [each.why_not for each in fits if each.why_not]
    distinct = Hypothesis(
        key="distinct",
        name="no two equal inputs with different labels",
        required="none",
        actual=float(len(clashes)),
        slack=-float(len(clashes)),
        met=not clashes,
        why=clashes[0] if clashes else "",
    )
    if not clashes and any(each.too_close for each in fits):
        distinct = undecided(distinct.key, distinct.name, distinct.required, why="too close for float64")
    targets = np.array([each.target for each in fits])
    return evidence(
        {"L₁ is small enough for Theorem 1": Sides([each.loss for each in fits], targets, room=ROUNDING * targets)},
        (
            distinct,
            at_most("unit_inputs", "largest |‖x‖ − 1|", max(each.unit_error for each in fits), 0, tolerance=ROUNDING),
        ),
    )


@theorem_1_start.speaks
def fits_on(specimen: Specimen) -> list[Fit] | Silence:
    """Build it on the reader's data, or say why it cannot be built."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    if len(specimen.labels) > MOST_FITTED:
        return Silence(f"The start of Theorem 1 is built with a neuron per point here, for at most {MOST_FITTED}.")
    points, found = reduced_points(specimen.inputs), clash(specimen)
    equal = "are equal" in found
    wide = max(specimen.choices.n_neurons // 2, fewest_neurons(points, specimen.labels))
    return [fit(points, specimen.labels, wide, found if equal else "", too_close=bool(found) and not equal)]
