"""Coupling: how many neurons keep their patterns, and for how long (Lemmas 5.1, A.1 and B.1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Cases, Count, Number, column, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, less_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Fact, Rate
from widenet.claims.silence import Silence
from widenet.claims.tolerances import STEP
from widenet.papers.li2018.claims.geometry import SIGMAS, share_room, weights_in_span
from widenet.papers.li2018.formulas import (
    HALF_NORMAL,
    E,
    coupled_bound,
    coupled_mean_orthonormal,
    move_bound,
    point_coupled_bound,
    uniform_failure,
)
from widenet.papers.li2018.hypotheses import (
    DATA_AS_PRINTED,
    LEAST_SCALED,
    SHARES,
    a_step_is_promised,
    first_step_is_promised,
    scaled_theta,
    scaled_threshold,
    scaled_threshold_at_a_point,
    unit_norm,
)
from widenet.papers.li2018.runs.descents import Descent, Steps, Thresholds, coupled_descents
from widenet.papers.li2018.sources import TOY, Basis, OnData, Sample, structure_numbers
from widenet.papers.li2018.user_data import drawn_on
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, gradient

THETAS = (0.05, 0.2, 0.5)
"""θ = eτkl/σ: the share of neurons that may be lost."""
Thetas = Float[np.ndarray, " theta"]


@dataclass(frozen=True, eq=False)
class Sizes(Cases):
    """|H|/m of starts, one row per θ."""

    rows = "theta"

    shares: Float[np.ndarray, "start theta"]  #: on some points
    orthonormal: Float[np.ndarray, "other theta"]  #: on orthonormal ones
    thetas: Thetas  #: eτkl/σ
    n_components: Count  #: kl of the points
    n_orthonormal: Count  #: kl of the orthonormal ones
    width: Count  #: m
    norm_error: Number

    @column
    def mean_share(self) -> Thetas:
        """The mean over starts."""
        return self.shares.mean(axis=0)

    @column
    def mean_room(self) -> Thetas:
        """What chance may do to it."""
        return _chance(self.shares)

    @column
    def mean_orthonormal(self) -> Thetas:
        """The mean on orthonormal points."""
        return self.orthonormal.mean(axis=0)

    @column
    def orthonormal_room(self) -> Thetas:
        """What chance may do to it."""
        return _chance(self.orthonormal)

    def counts(self) -> dict[str, int]:
        """A start is what was tried."""
        return {"tried": sum(cell.sizes["start"] for cell in self.cells)}


def _chance(shares: Float[np.ndarray, "start theta"]) -> Thetas:
    return SIGMAS * shares.std(axis=0, ddof=1) / np.sqrt(len(shares))


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


def measure_own_sizes(sample: Sample, seed: int) -> Sizes | Silence:
    """400 neurons on the reader's points."""
    if sample.points.shape[1] > 100:
        return Silence("Hundreds of starts are drawn here, in at most 100 dimensions.")
    return measure_sizes(sample, seed, width=400)


@drawn_on(measure_own_sizes, most=200)
def draw_sizes(scale: Scale, seed: int) -> Sizes:
    """Toy points."""
    return measure_sizes(TOY.draw(seed), seed)


@claim("li2018.lemma_a_1_size", Kind.STEP, "proof of Lemma A.1", draws=draw_sizes, given=[unit_norm, scaled_theta],
       title="Few neurons are near a kink at a fixed threshold")  # fmt: skip
def lemma_a_1_size(found: Sizes, *, constant: float = 1.0, mean: float = 1.0, failure: float = 0.01) -> Promised:
    """For one fixed τ the set H of neurons with |⟨w_r⁰, x_{a,b}⟩| ≥ τ on all points has |H| ≥ (1 − eτkl/σ)m, with
    probability 0.99 once eτklm/σ ≥ 20; its mean is at least (1 − c_Gτkl/σ)m, c_G = √(2/π), and (2 − 2Φ(τ/σ))^{kl}·m on
    orthonormal points.

    The factor m is missing in print. For a smaller τ the statement is "no neuron is lost", which fails with constant
    probability.
    """
    s = found.per("start")
    lost = s.shares < 1 - constant * s.thetas
    lower = coupled_bound(found.thetas / (E * found.n_components), found.n_components, mean * HALF_NORMAL)
    exact = coupled_mean_orthonormal(found.thetas / (E * found.n_orthonormal), found.n_orthonormal)
    sizes = {
        f"size_at_{round(100 * theta)}_percent": Rate(
            lost,
            failure,
            where=s.thetas == theta,
            event=f"starts, at eτkl/σ = {theta:g}",
            text=f"$1 − eτkl/σ$ at $eτkl/σ = {theta:g}$",
        )
        for theta in THETAS
    }
    return {
        **sizes,
        "mean": at_least(found.mean_share, lower, room=found.mean_room, text="mean at least $1 − c_Gτkl/σ$"),
        "orthonormal": equal(
            found.mean_orthonormal, exact, room=found.orthonormal_room, text="mean on orthonormal points"
        ),
    }


@dataclass(frozen=True, eq=False)
class Uniform(Cases):
    """Whether some τ breaks |H| ≥ (1 − cτkl/σ)m, per start."""

    rows = "start"

    broken: Bool[np.ndarray, " start"]  #: any τ
    broken_above: Bool[np.ndarray, " start"]  #: one with eτklm/σ ≥ 20
    n_lines: Count
    n_components: Count
    constant: Number

    @column
    def broken_share(self) -> Number:
        """How often."""
        return self.broken.mean()

    @column
    def n_starts(self) -> Count:
        """How many."""
        return len(self.broken)


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


@claim("li2018.lemma_a_1_all_thresholds", Kind.STEP, "proof of Lemma A.1", draws=draw_uniform, given=[],
       title="Few neurons are near a kink at all but tiny thresholds")  # fmt: skip
def lemma_a_1_all_thresholds(found: Uniform, *, failure: float = 0.01) -> Promised:
    """|H| ≥ (1 − eτkl/σ)m holds for all τ with eτklm/σ ≥ 20 at once, with probability 0.99. With smaller τ too, some τ
    breaks it with probability (c_G/e)·n/(kl) as m → ∞, where n counts the distinct lines ±x: 0.2935 for points in
    general position.
    """
    cell = found.per("cell")
    return {
        "large_thresholds": Rate(found.broken_above, failure, text="all $τ$ from $20σ/(emkl)$ on"),
        "some_threshold": equal(
            cell.broken_share,
            uniform_failure(cell.n_lines, cell.n_components, cell.constant),
            room=share_room(cell.broken_share, cell.n_starts) + 0.01,
            text="some $τ$ breaks it with probability $0.2935·n/(kl)$",
        ),
    }


def draw_uniform_at_a_point(scale: Scale, seed: int) -> Uniform:
    """One unit vector, and 10 in place of ekl."""
    point = Sample(np.ones((1, 1)), np.zeros(1, int), np.zeros(1, int), np.ones(1))
    return measure_uniform(point, seed, constant=10.0)


@claim("li2018.lemma_b_1_as_printed", Kind.STEP, "Lemma B.1, Appendix B.1", draws=draw_uniform_at_a_point,
       given=[], title="At one point few neurons are lost at every threshold")  # fmt: skip
def lemma_b_1_as_printed(found: Uniform, *, failure: float = 0.01) -> Promised:
    """For every unit vector x, with high probability over the start, for every τ > 0 and t = Õ(τ/η), a share 1 − 10τ/σ
    of the neurons at least has ∂L/∂w_r = ∂̃L/∂w_r at x, whatever the label, and |⟨w_r^t, x⟩| ≥ τ.

    High probability is 0.99 here, and t = 0, where the gradients are equal: some τ has too many neurons with
    |⟨w_r⁰, x⟩| < τ with probability c_G/10 = 0.0798 as m → ∞.
    """
    return {"every_threshold": Rate(found.broken, failure, text="for every $τ$, at $t = 0$")}


@dataclass(frozen=True, eq=False)
class FirstSteps(OnData):
    """Starts, and the first step of gradient descent from each, at one τ."""

    rows = "start"

    lost: Float[np.ndarray, " start"]  #: the neurons whose gradient after the step is not the pseudo gradient
    allowed: Number  #: how many may be lost: eτklm/σ
    steps: Number  #: τ/(2·max|a|·η): how many steps are promised
    width: Count


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
    numbers = structure_numbers(sample.measured())
    return FirstSteps(lost, allowed, 1 / 0.999, width, norm_error=sample.norm_error, **numbers)


def draw_first_steps(scale: Scale, seed: int) -> FirstSteps:
    """Two classes of one point each, at a right angle."""
    return measure_first_steps(Basis(n_classes=2, per_class=1).draw(seed), seed)


@claim("li2018.lemma_5_1_as_printed", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", draws=draw_first_steps,
       given=[*DATA_AS_PRINTED, first_step_is_promised],
       title="Most neurons keep their patterns at every threshold")  # fmt: skip
def lemma_5_1_as_printed(found: FirstSteps) -> Promised:
    """With high probability over the start, for every τ > 0 and every t = Õ(τ/η), at least a share 1 − eτkl/σ of the
    neurons has ∂L/∂w_r = ∂̃L/∂w_r.

    High probability is 1 − 1/m here, the weakest of the paper's 1 − 1/poly(m), and t = 1 ≤ τ/(2·max|a|·η). At
    eτklm/σ < 1 no neuron may be lost, and the step loses one with a probability that falls like 1/√log m.
    """
    quantity, text = "share of starts that lose more", "few enough neurons are lost"
    return {"lost": Rate(found.lost > found.allowed, 1 / found.width, quantity=quantity, text=text)}


# ── along descents ──


class Followed(Descent):
    """Descents, with the number of each step, thresholds in other units, and means over points outside the data."""

    times: Steps = derived(lambda run: np.arange(len(run.moves), dtype=np.float64))
    scaled_thresholds: Thresholds = derived(lambda run: E * run.thresholds * run.n_components * run.width)  #: eτklm/σ
    scaled_at_a_point: Thresholds = derived(lambda run: 10 * run.thresholds * run.width)  #: 10τm/σ

    @column
    def likely_fresh(self) -> Thresholds:
        """The mean over fresh points, and what chance may do to it.

        Shares of one network at different points may lean on each other, so the room is that of one point.
        """
        means = self.fresh.mean(axis=1)
        return means + share_room(means, self.width)


@claim("li2018.lemma_a_1_move", Kind.STEP, "proof of Lemma A.1", reads=coupled_descents, given=SHARES,
       title="No neuron moves faster than twice the largest vote")  # fmt: skip
def lemma_a_1_move(runs: Followed, *, factor: float = 1.0) -> Promised:
    """‖w_r^t − w_r⁰‖ < 2·max|a|·ηt for every neuron r and every step t ≥ 1 of gradient descent on points of norm 1; no
    neuron goes farther than its path, Σ η‖∂L/∂w_r‖, is long.

    The proof prints L·ηt with L a bound on |a|; see `lemma_a_1_gradient`.
    """
    s = runs.per("step")
    limit = factor * move_bound(s.largest_vote, s.step_size, s.times)
    return {
        "speed": less_than(
            s.moves, limit, where=s.times > 0, event="steps after the start", text="less than $2·max|a|·ηt$"
        ),
        "path": at_most(s.moves, s.paths, within=STEP, text="no farther than the longest path"),
        "start": equal(s.moves, 0, where=s.times == 0, event="the start", text="0 at the start"),
    }


@claim("li2018.lemma_5_1", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", reads=coupled_descents,
       given=[*SHARES, a_step_is_promised, scaled_threshold],
       title="Most neurons keep their patterns for many steps",
       means=Meaning(topic=Topic.STABILITY, promise=(
           "In the first steps of training most neurons stay on the same side of every point, so the network changes "
           "as predictably as a linear one.")))  # fmt: skip
def lemma_5_1(runs: Followed) -> Promise:
    """For steps t ≤ τ/(2·max|a|·η), at least a share 1 − eτkl/σ of the neurons has ∂L/∂w_r = ∂̃L/∂w_r: every neuron with
    |⟨w_r⁰, x_{a,b}⟩| ≥ τ on all points keeps its patterns, and a neuron that keeps its patterns has equal gradients.
    For τ with eτklm/σ ≥ 20, whatever η.

    Printed is "for every τ > 0": `lemma_5_1_as_printed`.
    """
    t = runs.per("threshold")
    bounds = coupled_bound(t.thresholds, t.n_components)
    return Promise(
        {
            "kept": Fact(t.lost == 0, text="no neuron of $H$ changes a pattern"),
            "equal_gradients": Fact(t.unequal == 0, text="coupled neurons have equal gradients"),
            "coupled": at_least(t.least_coupled, bounds, trivial=0.0, text="share of coupled neurons"),
            "clear": at_least(t.clear, bounds, trivial=0.0, text="$|H|/m ≥ 1 − eτkl/σ$"),
        },
        details={"steps promised": t.limits, "share of coupled neurons": t.least_coupled, "promised": bounds},
    )


@claim("li2018.lemma_b_1", Kind.STEP, "Lemma B.1, Appendix B.1", reads=coupled_descents,
       given=[unit_norm, a_step_is_promised, scaled_threshold_at_a_point],
       title="At a point fixed before, most neurons keep their pattern")  # fmt: skip
def lemma_b_1(runs: Followed, *, constant: float = 10.0, mean: float = 2 * HALF_NORMAL) -> Promised:
    """For a unit vector x fixed before the start, in the data or not, and t ≤ τ/(2·max|a|·η), a share 1 − 10τ/σ of the
    neurons at least has the pattern of the start at x, so gradient and pseudo gradient there agree for every label,
    and |⟨w_r^t, x⟩| ≥ τ, for τ with 10τm/σ ≥ 20; the mean of that share is at least 1 − 2c_Gτ/σ.

    Printed is "for every τ > 0": `lemma_b_1_as_printed`.
    """
    t = runs.per("threshold")
    limit = point_coupled_bound(t.thresholds, constant)[:, None]
    return {
        "each": at_least(t.fresh, limit, trivial=0.0, text="at least $1 − 10τ/σ$"),
        "mean": at_least(t.likely_fresh, point_coupled_bound(t.thresholds, mean), text="mean at least $1 − 2c_Gτ/σ$"),
    }
