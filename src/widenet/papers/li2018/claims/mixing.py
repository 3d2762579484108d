"""From one class to the pseudo gradient: Lemmas A.3 (5.2), B.2 and B.3, and how batches concentrate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.sides import Rate
from widenet.claims.tolerances import IDENTITY
from widenet.papers.li2018.claims.geometry import random_coefficients, share_room, split_off, weights_in_span
from widenet.papers.li2018.claims.network import pieces
from widenet.papers.li2018.formulas import (
    EXPLICIT_SLOPE,
    E,
    batch_deviation_bound,
    beyond,
    mean_event_share,
    mean_event_threshold,
    mixing_probability,
    mixing_share,
    within,
)
from widenet.papers.li2018.hypotheses import (
    DATA,
    DATA_AS_PRINTED,
    SEPARATED,
    coefficients,
    distance_limit,
    pieces_sum_to_zero,
    signs,
    some_distance,
    unit_norm,
)
from widenet.papers.li2018.runs.batches import SIZES, Batches, batches
from widenet.papers.li2018.runs.large_gradients import LargeGradients, LargeGradientSetting, large_gradients
from widenet.papers.li2018.sources import HEXAGON, TOY, Basis, Caps, Sample, SpreadPoints, structure_columns
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale
from widenet.training.small.softmax import residuals, start_softmax

Neurons = Float[np.ndarray, " neuron"]


@dataclass(frozen=True, eq=False)
class Mixed(Cases):
    """How often ‖Σ a_i P_i‖ ≥ ‖P_1‖ over the votes a of a neuron."""

    rows = "neuron"

    shares: Neurons  #: of the draws
    n_classes: Neurons  #: k
    is_extreme: Bool[np.ndarray, " neuron"]  #: whether P_i = −P_1/(k − 1)
    totals: Neurons  #: ‖Σ P_i‖/‖P_1‖
    draws: Neurons
    variances: Neurons  #: of the projection of Σ a_i P_i on P_1, over ‖P_1‖
    exact: Neurons  #: the probability, where the P_i span two dimensions at most, else NaN


def extreme_pieces(n_classes: int, factor: float = 1.0) -> np.ndarray:
    """P_1 = (1), and −1/(k − 1) for the others; `factor` multiplies the second, for a control."""
    p = np.full((n_classes, 1), -1 / (n_classes - 1))
    p[0], p[1] = 1.0, factor * p[1]
    return p


def measure_mixed(neurons: Sequence[tuple[np.ndarray, bool, int]], seed: int) -> Mixed:
    """Neurons (P as (class, dim), whether extreme, how many votes to draw)."""
    rows = []
    for number, (p, is_extreme, count) in enumerate(neurons):
        votes = np.random.default_rng([seed, 71, number]).normal(size=(count, len(p)))
        first = np.linalg.norm(p[0])
        large = np.linalg.norm(votes @ p, axis=1) >= first
        total, variance = np.linalg.norm(p.sum(axis=0)) / first, ((p @ p[0] / first**2) ** 2).sum()
        rows.append((large.mean(), len(p), is_extreme, total, count, variance, exact_mixing(p)))
    columns = np.array(rows, np.float64).T
    return Mixed(columns[0], columns[1], columns[2].astype(bool), *columns[3:])


def exact_mixing(p: Float[np.ndarray, "kind dim"]) -> float:
    """Pr[‖Σ a_i P_i‖ ≥ ‖P_1‖]; NaN where the P_i span three dimensions or more."""
    sizes = np.sort(np.linalg.eigvalsh(p @ p.T) / (p[0] @ p[0]))[::-1]
    if (sizes[2:] > IDENTITY).any():
        return np.nan
    return mixing_probability(sizes[0], max(sizes[1], 0.0))


def toy_pieces(draw: np.random.Generator, count: int) -> list[np.ndarray]:
    """P of neurons of a toy network, the largest class first."""
    sample = TOY.draw(int(draw.integers(2**31)))
    network = start_softmax(draw, count, sample.points.shape[1], sample.n_classes)
    weighted = sample.shares[:, None] * residuals(network.logits(sample.points), sample.classes)
    p = pieces(weighted, network.gates(sample.points), sample.points)
    found = []
    for neuron in range(count):
        order = np.argsort(-np.linalg.norm(p[:, neuron], axis=1))
        if np.linalg.norm(p[order[0], neuron]) > 0:
            found.append(p[order, neuron])
    return found


def draw_mixed(scale: Scale, seed: int) -> Mixed:
    """The extreme case for 2 to 7 classes, and neurons of a toy."""
    extreme = [(extreme_pieces(k), True, 60_000) for k in (2, 3, 5, 6, 7)]
    return measure_mixed(
        [*extreme, *((p, False, 5000) for p in toy_pieces(np.random.default_rng([seed, 72]), 20))], seed
    )


@claim("li2018.lemma_a_3_mixing", Kind.STEP, "proof of Lemma A.3", draws=draw_mixed, given=[pieces_sum_to_zero],
       title="Random votes keep the largest piece with probability 0.317")  # fmt: skip
def lemma_a_3_mixing(found: Mixed, *, share: float = 1.0) -> Promised:
    """Given w_r, the votes a_{i,r} make ‖Σ_i a_{i,r}P_{i,r}‖ ≥ ‖P_{1,r}‖ with probability at least
    q_k = 2(1 − Φ(√((k − 1)/k))) ≥ 2(1 − Φ(1)) = 0.317: because Σ_i P_{i,r} = 0, its projection on P_{1,r} has variance
    at least k/(k − 1). q_k is attained at P_i = −P_1/(k − 1).

    The P_i of three classes span a plane, so the probability of a neuron is one integral, and no draw decides.
    """
    promised, least = share * mixing_share(found.n_classes), found.n_classes / (found.n_classes - 1)
    extreme = {"where": found.is_extreme, "event": "extreme neurons"}
    toys = {"where": ~found.is_extreme, "event": "neurons of a network"}
    drawn = share_room(found.exact, found.draws)
    return {
        "extreme": equal(
            found.shares,
            promised,
            room=share_room(promised, found.draws),
            text="$q_k$ at $P_i = −P_1/(k − 1)$",
            **extreme,
        ),
        "least": at_least(found.exact, promised, room=IDENTITY, text="at least $q_k$", **toys),
        "variance": at_least(found.variances, least, room=IDENTITY, text="variance at least $k/(k − 1)$"),
        "integral": equal(found.shares, found.exact, room=drawn, text="as often as its integral", **toys),
    }


def draw_printed_mixing(scale: Scale, seed: int) -> Mixed:
    """Seven classes at the extreme case: q_7 = 0.3545."""
    return measure_mixed([(extreme_pieces(7), True, 60_000)], seed)


@claim("li2018.lemma_a_3_mixing_as_printed", Kind.STEP, "proof of Lemma A.3", draws=draw_printed_mixing,
       given=[pieces_sum_to_zero], title="Random votes keep the largest piece with probability $1/e$")  # fmt: skip
def lemma_a_3_mixing_as_printed(found: Mixed) -> Promised:
    """With probability at least 1/e over the a_{i,r}: ‖Σ_i a_{i,r}P_{i,r}‖ ≥ ‖P_{1,r}‖."""
    room = share_room(found.shares, found.draws)
    return {"likely": at_least(found.shares, 1 / E, room=room, text="probability at least $1/e$")}


# ── Lemma 5.2 ──

FAMILIES = {"training": "met in training", "drawn": "drawn", "one_wrong": "of one wrong point"}
"""In the order of `LargeGradients.kinds`."""


@claim("li2018.lemma_5_2", Kind.MAIN, "Lemma 5.2 (= A.3), Section 5.1", reads=large_gradients, given=DATA,
       title="Many pseudo gradients are large, whatever the residuals")  # fmt: skip
def lemma_5_2(runs: LargeGradients, *, share: float = 1.0) -> Promise:
    """For m = Ω̃(k³l²/δ), whatever the residuals are, also chosen after the start, a share of Ω(δ/(kl)) of the neurons
    has ‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl)), v = max p·v_{i,a,b}; δ counts mirror images, and no constant is given. Looked at with
    ½·0.317 times the sharp bound of Lemma A.2 at the component where v is attained, and size v/2.

    These constants are ours, a target: the net of the proof would certify them for far larger widths only. Residuals
    are those of a softmax; the printed "every {p v} in [−v, v]" is meant so.
    """
    c = runs.per("case")
    promised, some = share * c.targets, c.targets > 0
    seen = float((c.shares[some] / c.targets[some]).min(initial=np.inf))
    return Promise(
        {
            key: at_least(
                c.shares,
                promised,
                room=share_room(promised, c.width),
                where=c.kinds == kind,
                event=f"residuals {name}",
                trivial=0.0,
                text=f"residuals {name}",
            )
            for kind, (key, name) in enumerate(FAMILIES.items())
        },
        open_constant=f"those of Ω̃(k³l²/δ) and Ω(δ/(kl)) (the smallest share seen is {seen:.3g} times the target)",
    )


class LastGradients(LargeGradients):
    """The residuals at the end of training."""

    last_share: Number = derived(lambda run: run.shares[-1])


def hexagon_settings(scale: Scale, seed: int) -> list[LargeGradientSetting]:
    """The antipodal hexagon."""
    return [LargeGradientSetting(data=HEXAGON, width=500, n_random=0, n_steps=3000, every=3000, n_wrong=0, seed=seed)]


@claim("li2018.lemma_5_2_as_printed", Kind.MAIN, "Lemma 5.2 (= A.3), Section 5.1",
       reads=large_gradients.at(hexagon_settings), given=DATA_AS_PRINTED,
       title="Many pseudo gradients are large even beside mirror images")  # fmt: skip
def lemma_5_2_as_printed(runs: LastGradients) -> Promised:
    """Under (A1) to (A3), for m = Ω̃(k³l²/δ) and every {p v} in [−v, v] with maximum v, a share of Ω(δ/(kl)) of the
    neurons has ‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl)).

    Judged against the constant 0.0829 at size v/2. On the hexagon gradient descent goes to o = 1/2, where every
    pseudo gradient is 0 although v = 1/12, so no constant would do.
    """
    limit = EXPLICIT_SLOPE * runs.separation / ((runs.n_classes - 1) * runs.per_class)
    return {"likely": at_least(runs.last_share, limit, text="many neurons have a large pseudo gradient")}


lemma_b_3_as_printed = lemma_5_2_as_printed.variant(
    "lemma_b_3_as_printed",
    kind=Kind.STEP,
    where="Lemma B.3, Appendix B.2",
    title="Many pseudo gradients are large beside mirrored components",
    statement=(
        "Under (A1) to (A3), for every v > 0, m = Ω̃((kl/(vδ))⁴) and every {p v} with max E[p v] = v, a share of "
        "Ω(δ/(kl)) of the neurons has ‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl)). Judged on components of one point each."
    ),
)


# ── clusters: Lemmas B.2 and B.3 ──


Instances = Float[np.ndarray, " instance"]


@dataclass(frozen=True, eq=False)
class MeanEvents(Cases):
    """The event of Lemma B.2, per instance."""

    rows = "instance"

    shares: Instances  #: how often S ≤ v/3 was drawn, at τ = σδ/(24(k − 1)l)
    exact: Instances  #: its probability on orthonormal centres, NaN elsewhere
    thresholds: Instances  #: τ
    distances: Instances  #: δ, with mirror images
    draws: Count
    largest: Number  #: max |p v_{1,a,b}|/v over the other classes
    others: Instances  #: (k − 1)l
    per_class: Instances  #: l

    @column
    def joint(self) -> Instances:
        """Pr[E_τ]: α and β are independent."""
        return within(self.thresholds) * self.shares

    @property
    def share_room(self) -> Instances:
        """What chance may do to the shares."""
        return share_room(self.shares, self.draws)


def measure_mean_events(
    instances: Sequence[Basis | SpreadPoints], seed: int, *, factor: float = 1.0, largest: float = 1.0
) -> MeanEvents:
    """Where every other class has |p v| = v; `factor` multiplies τ, and `largest` |p v|/v, for controls."""
    rows, count = [], 4000
    for number, source in enumerate(instances):
        sample, k, per_class = source.draw(seed), source.n_classes, source.per_class
        centres, distance = sample.points, sample.measured().distance
        tau = factor * mean_event_threshold(distance, 1.0, k, per_class)
        draw = np.random.default_rng([seed, 73, number])
        _, beta = split_off(weights_in_span(draw, count, centres), centres[0])
        hits = (np.abs(beta @ centres[per_class:].T) <= 4 * tau).sum(axis=1)
        known = isinstance(source, Basis)
        exact = float(beyond(4 * tau) ** ((k - 1) * per_class)) if known else np.nan
        rows.append(((largest * hits <= 1 / 3).mean(), exact, tau, distance, (k - 1) * per_class, per_class))
    columns = np.array(rows).T
    return MeanEvents(*columns[:4], draws=count, largest=largest, others=columns[4], per_class=columns[5])


def draw_mean_events(scale: Scale, seed: int) -> MeanEvents:
    """Orthonormal centres of 3 and 20 classes, and spread ones."""
    spread = [SpreadPoints(n_classes=k, dim=dim, least_distance=0.5) for k, dim in ((3, 30), (8, 60))]
    return measure_mean_events([Basis(n_classes=3), Basis(n_classes=20), *spread], seed)


@claim("li2018.lemma_b_2_event", Kind.STEP, "proof of Lemma B.2", draws=draw_mean_events,
       given=[some_distance, distance_limit, coefficients],
       title="The event of Lemma B.2 is likely at a smaller threshold")  # fmt: skip
def lemma_b_2_event(found: MeanEvents, *, share: float = 1.0, joint: float = 0.33) -> Promised:
    """Where mirror images of other classes are δ apart too (A1'), with τ = σδ/(24(k − 1)l) and |p v_{1,a,b}| ≤ v, the
    event E_τ that |α| ≤ τ and S = Σ_{a≠1,b} |p v_{1,a,b}|·1[|⟨β, x*⟩| ≤ 4τ] ≤ v/3 has probability at least 0.33τ/σ,
    because Pr[S ≤ v/3] ≥ 1 − c_G/(2√(1 − δ²/4)) ≥ 0.43.

    The proof prints τ = σδ/(12l): `lemma_b_2_event_as_printed`. The conclusion Ω(δ/(kl)) fits the smaller τ. Without
    (A1') it is false: for x_{2,1} = −x_{1,1} and |p v| = v, ⟨β, x*⟩ = 0 and S ≥ v always.
    """
    known = {"where": ~np.isnan(found.exact), "event": "orthonormal centres"}
    return {
        "small_sum": at_least(
            found.shares,
            share * mean_event_share(found.distances),
            room=found.share_room,
            text="$Pr[S ≤ v/3] ≥ 1 − c_G/(2√(1 − δ²/4))$",
        ),
        "orthonormal": equal(
            found.shares, found.exact, room=found.share_room, text="exactly so on orthonormal centres", **known
        ),
        "event": at_least(found.joint, joint * found.thresholds, text="$Pr[E_τ] ≥ 0.33τ/σ$"),
    }


@dataclass(frozen=True, eq=False)
class Clusters(Cases):
    """How often ‖P₁‖ ≥ v/4 with expectations over caps, per λ."""

    rows = "instance"

    shares: Instances
    slopes: Instances  #: δ/((k − 1)l)
    draws: Count
    norm_error: Number
    least_own: Number
    separation: Instances
    opposite_separation: Instances
    relative_diameter: Instances
    n_classes: Int[np.ndarray, " instance"]
    per_class: Int[np.ndarray, " instance"]


def measure_clusters(samples: Sequence[Sample], seed: int, *, factor: float = 1.0) -> Clusters:
    """Random coefficients, one per component, that of the first being v; `factor` multiplies P, for a control."""
    rows, leasts, count = [], [], 800
    structures = tuple(sample.measured() for sample in samples)
    for number, (sample, found) in enumerate(zip(samples, structures, strict=True)):
        draw = np.random.default_rng([seed, 74, number])
        _, first, which = np.unique(sample.components, return_index=True, return_inverse=True)
        own = sample.classes[first] == sample.classes[first[0]]
        coefficients = random_coefficients(draw, own)[0]
        weights = coefficients[which] * sample.shares / np.bincount(which, sample.shares)[which]
        gates = weights_in_span(draw, count, sample.points) @ sample.points.T >= 0
        norms = factor * np.linalg.norm((gates * weights) @ sample.points, axis=1)
        rows.append(((norms >= 0.25).mean(), found.distance / ((found.n_classes - 1) * found.per_class)))
        leasts.append(float(coefficients[own].min()))
    columns, error = np.array(rows).T, max(sample.norm_error for sample in samples)
    return Clusters(*columns, draws=count, norm_error=error, least_own=min(leasts), **structure_columns(structures))


@drawn_on(lambda sample, seed: measure_clusters([sample], seed), most=300)
def draw_clusters(scale: Scale, seed: int) -> Clusters:
    """Caps of three classes with λ = 1/(8l), 1/(48l) and 0."""
    caps = [Caps(dim=15, relative_diameter=each, n_points=240) for each in (1 / 16, 1 / 96, 0.0)]
    return measure_clusters([each.draw(seed) for each in caps], seed)


@claim("li2018.lemma_b_2", Kind.STEP, "Lemma B.2, Appendix B.2", draws=draw_clusters,
       given=[unit_norm, signs, *SEPARATED],
       title="A neuron has a large piece also for components with a width")  # fmt: skip
def lemma_b_2(found: Clusters, *, slope: float = EXPLICIT_SLOPE) -> Promised:
    """As Lemma A.2, with expectations over components of diameter up to λδ: a large P_{1,r} has probability Ω(δ/(kl)).
    Held against Pr[‖P_{1,r}‖ ≥ v/4] ≥ 0.0829·δ/((k − 1)l), which is ours; δ counts mirror images.

    Proved, with v/2, where λ = 0. With the repaired event the argument reaches λ = O(1/(kl)); whether the lemma holds
    at λ = 1/(8l) for many classes is open, and this measures three.
    """
    room, text = share_room(found.shares, found.draws), "$Pr[‖P‖ ≥ v/4] ≥ 0.0829·δ/((k − 1)l)$"
    return {"likely": at_least(found.shares, slope * found.slopes, room=room, text=text)}


def fitted_slope(sizes: np.ndarray, values: np.ndarray) -> float:
    """Of log values against log sizes; NaN for one size alone, or where a value is 0."""
    if len(sizes) < 2 or not (values > 0).all():
        return float("nan")
    centred = np.log(sizes) - np.log(sizes).mean()
    return float(centred @ np.log(values) / (centred @ centred))


class FallingBatches(Batches):
    """How the gap falls with the size of the batch."""

    fall: Number = derived(lambda run: fitted_slope(run.batch_sizes, run.gaps.mean(axis=1)))


@claim("li2018.lemma_b_3", Kind.STEP, "Lemma B.3, Appendix B.2", reads=batches, given=DATA,
       title="Gradients of samples approach the mean like $1/√S$")  # fmt: skip
def lemma_b_3(
    runs: FallingBatches, *, band: tuple[float, float] = (-0.65, -0.35), slope: float = EXPLICIT_SLOPE
) -> Promise:
    """The gradient of S drawn points is Õ(1/√S) away from that of the whole law, for every neuron at once, so that what
    Lemma A.3 says of S points holds for the law: for m = Ω̃((kl/(vδ))⁴) a share of Ω(δ/(kl)) of the neurons has a large
    pseudo gradient, without constants. Looked at with a slope of −1/2 ± 0.15 in log S, and 0.0829·δ/((k − 1)l) with
    size v/4, which are ours.

    The proof prints Õ(1/√(pS)) for the mean of the residuals of a component, where √(p/S) is right and needed.
    """
    promised = slope * runs.distance / ((runs.n_classes - 1) * runs.per_class)
    seen = float(np.min(runs.large / promised, initial=np.inf))
    return Promise(
        {
            "not_slower": at_most(runs.fall, band[1], text="the gap falls like $S^{−1/2}$, not slower"),
            "not_faster": at_least(runs.fall, band[0], text="the gap falls like $S^{−1/2}$, not faster"),
            "large": at_least(runs.large, promised, text="many neurons have a large mean gradient"),
        },
        open_constant=f"those of Ω̃((kl/(vδ))⁴) and Ω(δ/(kl)) (the share seen is {seen:.3g} times the target)",
    )


@claim("li2018.lemma_b_4_batches", Kind.STEP, "proof of Lemma B.4", reads=batches, given=[unit_norm],
       title="Batch gradients are within $Õ(1/√B)$ of their mean")  # fmt: skip
def lemma_b_4_batches(runs: Batches, *, failure: float = 0.01, factor: float = 1.0) -> Promised:
    """The gradient of a fresh batch of B points is Õ(1/√B) away from its mean for all neurons at once: with probability
    1 − p₀ by at most 2·max|a|·(1 + √(2 ln(m/p₀)))/√B.
    """
    b = runs.per("size")
    limit = factor * batch_deviation_bound(b.largest_vote, b.width, b.batch_sizes, failure)
    beyond_limit = b.gaps > limit[:, None]
    return {
        f"batches_of_{size}": Rate(
            beyond_limit,
            failure,
            where=(b.batch_sizes == size)[:, None],
            event=f"batches of {size}",
            text=f"batches of {size}",
        )
        for size in SIZES
    }
