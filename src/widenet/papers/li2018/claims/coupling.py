"""Coupling: how many neurons keep their patterns, and for how long (Lemmas 5.1, A.1 and B.1)."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Hypothesis, Kind, Silence, at_least, at_most, claim
from widenet.claims.meaning import Topic
from widenet.claims.sides import Fact, Rate, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.diagnostics.components import Structure
from widenet.papers.li2018.claims.geometry import SIGMAS, share_room, weights_in_span
from widenet.papers.li2018.claims.network import unit_norm
from widenet.papers.li2018.claims.specimens import applies, cut_off, own_points, prepared, runs_of, separated_as_printed
from widenet.papers.li2018.formulas import (
    HALF_NORMAL,
    E,
    coupled_bound,
    coupled_mean_orthonormal,
    move_bound,
    point_coupled_bound,
    uniform_failure,
)
from widenet.papers.li2018.runs.descents import Descent, DescentSetting, coupled_settings, descents, own_settings
from widenet.papers.li2018.settings import TOY, Basis, Sample
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient

THETAS = (0.05, 0.2, 0.5)
"""θ = eτkl/σ: the share of neurons that may be lost."""
LEAST_SCALED = 20
"""m·θ from which on the statement is one about a fixed τ with high probability."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """|H|/m of starts, one column per θ.

    Attributes:
      shares, orthonormal: on some points, and on orthonormal ones; thetas: eτkl/σ.
      n_components, n_orthonormal: kl of either.
    """

    shares: Float[np.ndarray, "start theta"]
    orthonormal: Float[np.ndarray, "other theta"]
    thetas: Float[np.ndarray, " theta"]
    n_components: int
    n_orthonormal: int
    width: int
    norm_error: float


def clear_shares(points: np.ndarray, thetas: Sequence[float], width: int, starts: int, seed: int) -> np.ndarray:
    """|H|/m of each start at each τ = θσ/(ekl)."""
    levels = np.array(thetas) / (E * len(points))
    least = least_products(np.random.default_rng([seed, 51]), points, width, starts)
    return (least[:, :, None] >= levels).mean(axis=1)


def least_products(
    draw: np.random.Generator, points: np.ndarray, width: int, starts: int
) -> Float[np.ndarray, "start neuron"]:
    """min |⟨w_r, x⟩| over the points."""
    return np.abs(weights_in_span(draw, starts * width, points) @ points.T).min(axis=1).reshape(starts, width)


def measure_sizes(sample: Sample, seed: int, *, width: int = 600, starts: int = 320) -> Sizes:
    """320 starts can show a failure rate of at most 0.01."""
    basis = Basis().draw(seed).points
    return Sizes(
        shares=clear_shares(sample.points, THETAS, width, starts, seed),
        orthonormal=clear_shares(basis, THETAS, width, 60, seed + 1),
        thetas=np.array(THETAS),
        n_components=len(sample.points),
        n_orthonormal=len(basis),
        width=width,
        norm_error=sample.norm_error,
    )


def draw_sizes(scale: Scale, seed: int) -> Sizes:
    """Toy points."""
    return measure_sizes(TOY.draw(seed), seed)


@claim("li2018.lemma_a_1_size", Kind.STEP, "proof of Lemma A.1", draws=draw_sizes)
def lemma_a_1_size(
    found: Sizes, *, constant: float = 1.0, mean: float = 1.0, failure: float = 0.01, least: float = LEAST_SCALED
) -> Evidence:
    """For one fixed τ the set H of neurons with |⟨w_r⁰, x_{a,b}⟩| ≥ τ on all points has |H| ≥ (1 − eτkl/σ)m, with
    probability 0.99 once eτklm/σ ≥ 20; its mean is at least (1 − c_Gτkl/σ)m, c_G = √(2/π), and (2 − 2Φ(τ/σ))^{kl}·m on
    orthonormal points.

    The factor m is missing in print. For a smaller τ the statement is "no neuron is lost", which fails with constant
    probability.
    """
    parts = {}
    for place, theta in enumerate(found.thetas):
        parts[f"1 − eτkl/σ at eτkl/σ = {theta:g}"] = Rate(found.shares[:, place] < 1 - constant * theta, failure)
    relative = found.thetas / (E * found.n_components)
    lower = coupled_bound(relative, found.n_components, mean * HALF_NORMAL)
    exact = coupled_mean_orthonormal(found.thetas / (E * found.n_orthonormal), found.n_orthonormal)
    rooms = [SIGMAS * each.std(axis=0, ddof=1) / np.sqrt(len(each)) for each in (found.shares, found.orthonormal)]
    return evidence(
        {
            **parts,
            "mean at least 1 − c_Gτkl/σ": Sides(found.shares.mean(axis=0), lower, Sense.AT_LEAST, room=rooms[0]),
            "mean on orthonormal points": Sides(found.orthonormal.mean(axis=0), exact, Sense.EQUAL, room=rooms[1]),
        },
        (
            unit_norm(found.norm_error),
            at_least("scaled_threshold", "smallest eτklm/σ", float(found.thetas.min()) * found.width, least),
        ),
    )


@applies(lemma_a_1_size)
def _(specimen: Specimen) -> Sizes | Silence:
    sample = prepared(specimen, most=200)
    if isinstance(sample, Silence):
        return sample
    if sample.points.shape[1] > 100:
        return Silence("Hundreds of starts are drawn here, in at most 100 dimensions.")
    return measure_sizes(sample, specimen.choices.seed, width=400)


@dataclass(frozen=True, eq=False)
class Uniform:
    """Whether some τ breaks |H| ≥ (1 − cτkl/σ)m, per start: any τ, and only those with eτklm/σ ≥ `lowest`."""

    broken: np.ndarray
    broken_above: np.ndarray
    n_lines: int
    n_components: int
    constant: float


def measure_uniform(sample: Sample, seed: int, *, constant: float = E, lowest: float = LEAST_SCALED) -> Uniform:
    """The worst τ are those just above an order statistic of min |⟨w_r, x⟩|."""
    width, n = 200, len(sample.points)
    least = np.sort(least_products(np.random.default_rng([seed, 54]), sample.points, width, 1500), axis=1)
    lost = (np.arange(width) + 1) / width > constant * least * n
    above = lost & (E * least * n * width >= lowest)
    return Uniform(np.any(lost, axis=1), np.any(above, axis=1), sample.n_lines, n, constant)


def draw_uniform(scale: Scale, seed: int) -> Uniform:
    """Four orthonormal points."""
    return measure_uniform(Basis(n_classes=2).draw(seed), seed)


@claim("li2018.lemma_a_1_all_thresholds", Kind.STEP, "proof of Lemma A.1", draws=draw_uniform)
def lemma_a_1_all_thresholds(found: Uniform, *, failure: float = 0.01) -> Evidence:
    """|H| ≥ (1 − eτkl/σ)m holds for all τ with eτklm/σ ≥ 20 at once, with probability 0.99. With smaller τ too, some τ
    breaks it with probability (c_G/e)·n/(kl) as m → ∞, where n counts the distinct lines ±x: 0.2935 for points in
    general position.
    """
    promised = uniform_failure(found.n_lines, found.n_components, found.constant)
    share = found.broken.mean()
    return evidence(
        {
            "all τ from 20σ/(emkl) on": Rate(found.broken_above, failure),
            "some τ breaks it with probability 0.2935·n/(kl)": Sides(
                share, promised, Sense.EQUAL, room=share_room(share, len(found.broken)) + 0.01
            ),
        }
    )


def draw_uniform_at_a_point(scale: Scale, seed: int) -> Uniform:
    """One unit vector, and 10 in place of ekl."""
    point = Sample(np.ones((1, 1)), np.zeros(1, int), np.zeros(1, int), np.ones(1))
    return measure_uniform(point, seed, constant=10.0)


@claim("li2018.lemma_b_1_as_printed", Kind.STEP, "Lemma B.1, Appendix B.1", draws=draw_uniform_at_a_point)
def lemma_b_1_as_printed(found: Uniform, *, failure: float = 0.01) -> Evidence:
    """For every unit vector x, with high probability over the start, for every τ > 0 and t = Õ(τ/η), a share 1 − 10τ/σ
    of the neurons at least has ∂L/∂w_r = ∂̃L/∂w_r at x, whatever the label, and |⟨w_r^t, x⟩| ≥ τ.

    High probability is 0.99 here, and t = 0, where the gradients are equal: some τ has too many neurons with
    |⟨w_r⁰, x⟩| < τ with probability c_G/10 = 0.0798 as m → ∞.
    """
    return evidence({"for every τ, at t = 0": Rate(found.broken, failure)})


@dataclass(frozen=True, eq=False)
class FirstSteps:
    """Starts, and the first step of gradient descent from each, at one τ.

    Attributes:
      lost: per start, the neurons whose gradient after the step is not the pseudo gradient.
      allowed: how many may be lost: eτklm/σ.
      steps: τ/(2·max|a|·η): how many steps are promised.
    """

    lost: np.ndarray
    allowed: float
    steps: float
    width: int
    structure: Structure
    norm_error: float


def measure_first_steps(
    sample: Sample, seed: int, *, width: int = 1000, starts: int = 20_000, allowed: float = 0.999
) -> FirstSteps:
    """At τ = σ·`allowed`/(eklm), with η = 0.999·τ/(2·max|a|).

    No row of the gradient is longer than 2·max|a|, so a neuron with all |⟨w_r⁰, x⟩| > τ keeps its patterns, and with
    its patterns it has the pseudo gradient. Starts without any other neuron are not trained.
    """
    draw, lost, points = np.random.default_rng([seed, 55]), np.zeros(starts), sample.points
    deviation = width**-0.5
    tau = deviation * allowed / (E * len(points) * width)
    for number in range(starts):
        hidden = deviation * draw.normal(size=(width, points.shape[1]))
        if np.abs(hidden @ points.T).min() > tau:
            continue
        start = SoftmaxNetwork(hidden, draw.normal(size=(sample.n_classes, width)))
        step = 0.999 * tau / (2 * start.largest_vote)
        moved = start.moved(-step * gradient(start, points, sample.classes, sample.shares))
        both = moved.gates(points), start.gates(points)
        if (both[0] == both[1]).all():
            continue
        true, pseudo = (gradient(moved, points, sample.classes, sample.shares, gates=gates) for gates in both)
        lost[number] = (np.abs(true - pseudo) > 1e-15).any(axis=1).sum()
    return FirstSteps(lost, allowed, 1 / 0.999, width, sample.measured(), sample.norm_error)


def draw_first_steps(scale: Scale, seed: int) -> FirstSteps:
    """Two classes of one point each, at a right angle."""
    return measure_first_steps(Basis(n_classes=2, per_class=1).draw(seed), seed)


@claim("li2018.lemma_5_1_as_printed", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", draws=draw_first_steps)
def lemma_5_1_as_printed(found: FirstSteps) -> Evidence:
    """With high probability over the start, for every τ > 0 and every t = Õ(τ/η), at least a share 1 − eτkl/σ of the
    neurons has ∂L/∂w_r = ∂̃L/∂w_r.

    High probability is 1 − 1/m here, the weakest of the paper's 1 − 1/poly(m), and t = 1 ≤ τ/(2·max|a|·η). At
    eτklm/σ < 1 no neuron may be lost, and the step loses one with a probability that falls like 1/√log m.
    """
    return evidence(
        {
            "few enough neurons are lost": Rate(
                found.lost > found.allowed, 1 / found.width, quantity="share of starts that lose more"
            )
        },
        (
            unit_norm(found.norm_error),
            *separated_as_printed(found.structure),
            at_least("steps", "steps that are promised", found.steps, 1),
        ),
    )


# ── along descents ──


def descent_conditions(cells: Sequence[Descent]) -> tuple[Hypothesis, ...]:
    """(A2), and shares that add up to 1."""
    return (
        unit_norm(max(cell.norm_error for cell in cells)),
        at_most("total", "|Σp − 1|", max(cell.total for cell in cells), 0, tolerance=ROUNDING),
    )


@claim("li2018.lemma_a_1_move", Kind.STEP, "proof of Lemma A.1", reads=descents.at(coupled_settings))
def lemma_a_1_move(cells: Sequence[Descent], *, factor: float = 1.0) -> Evidence:
    """‖w_r^t − w_r⁰‖ < 2·max|a|·ηt for every neuron r and every step t ≥ 1 of gradient descent on points of norm 1; no
    neuron goes farther than its path, Σ η‖∂L/∂w_r‖, is long.

    The proof prints L·ηt with L a bound on |a|; see `lemma_a_1_gradient`.
    """
    moves, paths = (np.concatenate([getattr(cell, name) for cell in cells]) for name in ("moves", "paths"))
    times = np.concatenate([np.arange(len(cell.moves), dtype=np.float64) for cell in cells])
    each = np.concatenate(
        [np.full(len(cell.moves), move_bound(cell.largest_vote, cell.step_size, 1.0)) for cell in cells]
    )
    return evidence(
        {
            "less than 2·max|a|·ηt": Sides(moves, factor * each * times, strict=True, scored=times > 0),
            "no farther than the longest path": Sides(moves, paths, room=STEP * paths),
            "0 at the start": Sides(moves, 0.0, Sense.EQUAL, scored=times == 0),
        },
        descent_conditions(cells),
    )


@claim("li2018.lemma_5_1", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", reads=descents.at(coupled_settings))
def lemma_5_1(cells: Sequence[Descent], *, least_scaled: float = LEAST_SCALED) -> Evidence:
    """For steps t ≤ τ/(2·max|a|·η), at least a share 1 − eτkl/σ of the neurons has ∂L/∂w_r = ∂̃L/∂w_r: every neuron with
    |⟨w_r⁰, x_{a,b}⟩| ≥ τ on all points keeps its patterns, and a neuron that keeps its patterns has equal gradients.
    For τ with eτklm/σ ≥ 20, whatever η.

    Printed is "for every τ > 0": `lemma_5_1_as_printed`.
    """
    clear, lost, unequal, least, limits, bounds = (
        np.concatenate(each)
        for each in zip(
            *(
                (c.clear, c.lost, c.unequal, c.least_coupled, c.limits, coupled_bound(c.thresholds, c.n_components))
                for c in cells
            ),
            strict=True,
        )
    )
    scaled = min(E * cell.thresholds.min() * cell.n_components * cell.width for cell in cells)
    return evidence(
        {
            "no neuron of H changes a pattern": Fact(lost == 0),
            "coupled neurons have equal gradients": Fact(unequal == 0),
            "share of coupled neurons": Sides(least, bounds, Sense.AT_LEAST, trivial=0.0),
            "|H|/m ≥ 1 − eτkl/σ": Sides(clear, bounds, Sense.AT_LEAST, trivial=0.0),
        },
        (
            *descent_conditions(cells),
            at_least("steps", "fewest steps that are promised", limits.min(), 1),
            at_least("scaled_threshold", "smallest eτklm/σ", scaled, least_scaled),
        ),
        details={"steps promised": limits, "share of coupled neurons": least, "promised": bounds},
    )


@claim("li2018.lemma_b_1", Kind.STEP, "Lemma B.1, Appendix B.1", reads=descents.at(coupled_settings))
def lemma_b_1(
    cells: Sequence[Descent], *, constant: float = 10.0, mean: float = 2 * HALF_NORMAL, least: float = LEAST_SCALED
) -> Evidence:
    """For a unit vector x fixed before the start, in the data or not, and t ≤ τ/(2·max|a|·η), a share 1 − 10τ/σ of the
    neurons at least has the pattern of the start at x, so gradient and pseudo gradient there agree for every label,
    and |⟨w_r^t, x⟩| ≥ τ, for τ with 10τm/σ ≥ 20; the mean of that share is at least 1 − 2c_Gτ/σ.

    Printed is "for every τ > 0": `lemma_b_1_as_printed`.
    """
    bounds = np.concatenate([np.repeat(point_coupled_bound(c.thresholds, constant), c.fresh.shape[1]) for c in cells])
    shares = np.concatenate([cell.fresh.ravel() for cell in cells])
    means = np.concatenate([cell.fresh.mean(axis=1) for cell in cells])
    promised = np.concatenate([point_coupled_bound(cell.thresholds, mean) for cell in cells])
    # Shares of one network at different points may lean on each other, so the room is that of one point.
    rooms = share_room(means, np.concatenate([np.full(len(cell.thresholds), cell.width) for cell in cells]))
    limits = np.concatenate([cell.limits for cell in cells])
    scaled = min(10 * cell.thresholds.min() * cell.width for cell in cells)
    return evidence(
        {
            "at least 1 − 10τ/σ": Sides(shares, bounds, Sense.AT_LEAST, trivial=0.0),
            "mean at least 1 − 2c_Gτ/σ": Sides(means + rooms, promised, Sense.AT_LEAST),
        },
        (
            unit_norm(max(cell.norm_error for cell in cells)),
            at_least("steps", "fewest steps that are promised", limits.min(), 1),
            at_least("scaled_threshold", "smallest 10τm/σ", scaled, least),
        ),
    )


MOST_DESCENTS = 3
on_descents = functools.partial(applies, honours=("n_runs", "max_updates"), most_runs=MOST_DESCENTS)


@on_descents(lemma_a_1_move, lemma_5_1, lemma_b_1)
def own_descents(specimen: Specimen) -> list[DescentSetting] | Silence:
    """Descents on a reader's points, the same for all statements about single steps."""
    data = own_points(specimen, most=300, single=True)
    if isinstance(data, Silence):
        return data
    return cut_off(own_settings(data, specimen.choices.seed, runs_of(specimen, 2, MOST_DESCENTS)), specimen)


lemma_5_1.means(
    Topic.STABILITY,
    "In the first steps of training most neurons stay on the same side of every point, so the network changes "
    "as predictably as a linear one.",
)
