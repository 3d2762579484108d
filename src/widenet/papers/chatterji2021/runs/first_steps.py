"""One step of gradient descent from a random start, and everything that Section 4 says about it.

Units are independent of each other given the first outputs, so a start of a million units is drawn and stepped in
pieces; sums and counts per point are kept, the weights are not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Int
from pydantic import Field

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import huberized, huberized_slope, pulls
from widenet.papers.chatterji2021.cluster_formulas import (
    WeightScale,
    bandwidth,
    capture_level,
    first_step_size,
    initial_deviation,
    window_bottom,
)
from widenet.papers.chatterji2021.cluster_sources import (
    Centres,
    ClusterSetting,
    DrawnClusters,
    LabelledClusters,
    OnePointCluster,
    OwnClusters,
)
from widenet.papers.chatterji2021.user_data import other_runs, other_width, reason_in_clusters, sentences
from widenet.progress import Progress, over
from widenet.records import Scale

PIECE = 4096
"""Units that are stepped together: what they need stays in the cache."""

PerPoint = Float[np.ndarray, "run point"]
Pairs = Float[np.ndarray, "run point point"]
Which = Bool[np.ndarray, "point point"]


class FirstStepSetting(ClusterSetting):
    """Random starts, each with one step.

    Attributes:
      half_width: p; beta: β.
      scaling: σ and α_0 as in Section 4, or as Theorem 2 has them with biases.
      start: Gaussian, or a construction: "attained" has one point, on which captured units move by α_0 exactly;
        "below_capture" has all units just below the capture of the first point.
      step: α_0 is multiplied by this; 1 but for controls.
    """

    half_width: int = Field(ge=1)
    beta: float = 0.25
    scaling: WeightScale = "sec4"
    n_runs: int = 1
    start: Literal["gaussian", "attained", "below_capture"] = "gaussian"
    step: float = 1.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class RandomFirstSteps(Cases):
    """Runs on one data set. Sums and counts are per run and point s; a pair (s, q) is per run, s and q."""

    labels: Float[np.ndarray, " point"]  #: y_s
    clusters: Int[np.ndarray, " point"]  #: the cluster of s
    products: Float[np.ndarray, "point point"]  #: x_s·x_q of the reduced inputs
    dim: Count  #: d
    radius: Number  #: r
    overlap: Number  #: Δ
    imbalance: Number  #: ε
    half_width: Count  #: p
    beta: Number  #: β
    scaling: str | np.ndarray  #: "sec4" or "exact"
    deviation: Number  #: σ
    step: Number  #: α_0
    bandwidth: Number  #: h
    helpful: PerPoint  #: |I_+s|
    harmful: PerPoint  #: |I_−s|
    helpful_sum: PerPoint  #: Σ v_i·x_s over I_+s before the step
    harmful_sum: PerPoint  #: the same over I_−s
    helpful_pairs: Pairs  #: |I_+s ∩ I_+q|
    harmful_pairs: Pairs  #: |I_−s ∩ I_−q|
    helpful_touched: Pairs  #: units of I_+s with v_i·x_q ≥ 0
    harmful_touched: Pairs  #: units of I_−s with v_i·x_q ≥ 0
    window: PerPoint  #: units with u_i ≠ y_s and −α_0(1/2 + 2(Δ + r)) ≤ v_i·x_s ≤ h + 4α_0, both ends included
    helpful_after: PerPoint  #: Σ φ(v_i·x_s) after the step over I_+s
    harmful_after: PerPoint  #: over I_−s
    rest_helpful: PerPoint  #: over the other helpful units
    rest_harmful: PerPoint  #: over the other harmful units
    own_pull: PerPoint  #: Ξ_1 of I_+s
    other_pull: PerPoint  #: Ξ_2 of I_+s
    harmful_own_pull: PerPoint  #: the same sums over I_−s
    harmful_other_pull: PerPoint
    shift: PerPoint  #: the largest |change of v_i·x_s| over captured units
    lowest: PerPoint  #: the smallest v_i·x_s of one after the step
    bent: PerPoint  #: the largest distance of φ from z − h/2 at one after the step
    pulls: PerPoint  #: g_0s
    before: PerPoint  #: margins before the step
    after: PerPoint  #: margins after it
    active: PerPoint  #: units with v_i·x_s ≥ 0
    activity: Float[np.ndarray, "run number"]  #: how many units are active on 0, 1, …, n points
    norm: Float[np.ndarray, " run"]  #: ‖V^(1)‖

    @column
    def n_points(self) -> int:
        """n."""
        return len(self.labels)

    @property
    def level(self) -> Number:
        """a = h + 4α_0."""
        return self.bandwidth + 4 * self.step

    @column
    def same_cluster(self) -> Which:
        """Which pairs lie in one cluster."""
        return self.clusters[:, None] == self.clusters[None]

    @column
    def opposite(self) -> Which:
        """Which pairs have opposite labels."""
        return self.labels[:, None] != self.labels[None]


def rows_of(cells: Sequence[Any], **columns: Callable[[Any], Any]) -> dict[str, Any]:
    """What you need to know of each setting, `scaling` with every number."""
    return {
        "cells": [
            {
                "scaling": cell.scaling,
                "half_width": cell.half_width,
                "beta": cell.beta,
                "points": cell.n_points,
                "radius": cell.radius,
                "overlap": cell.overlap,
                "imbalance": cell.imbalance,
                "runs": len(cell),
                **{name: column(cell) for name, column in columns.items()},
            }
            for cell in cells
        ]
    }


@dataclass(frozen=True, eq=False)
class Start:
    """A network at its start, with the numbers of its first step: rows, those that vote plus first."""

    weights: Float[np.ndarray, "both dim"]
    step: float
    bandwidth: float


def run_first_steps(setting: FirstStepSetting, progress: Progress) -> RandomFirstSteps:
    """Draw the starts of a setting and step each of them."""
    drawn = setting.points.draw(setting.seed)
    p, scales = setting.half_width, (setting.half_width, setting.beta, setting.scaling)
    deviation, step = initial_deviation(*scales), setting.step * first_step_size(*scales)
    found = []
    for run in over(range(setting.n_runs), progress, "starts"):
        if setting.start == "gaussian":
            draw = np.random.default_rng([setting.seed, run, p])
            weights = deviation * draw.standard_normal((2 * p, drawn.points.shape[1] + 1))
        else:
            weights = constructed(setting.start, drawn, p, capture_level(*scales))
        found.append(take_first_step(Start(weights, step, bandwidth(p)), drawn, capture_level(*scales)))
    return joined(found, drawn, setting, deviation, step)


def constructed(start: str, drawn: LabelledClusters, p: int, level: float) -> Float[np.ndarray, "both dim"]:
    """Starts in which every unit is a multiple of the first reduced input; see `FirstStepSetting`."""
    heights = np.full(2 * p, level * (1 - 1e-6))
    if start == "attained":
        # The point is badly wrong, so g = 1. One unit of each sign at the edge of capture, the other helpful ones off.
        heights[:p], heights[p:] = -1.0, 10.0
        heights[[0, p]] = level * (1 + 1e-14)
    return heights[:, None] * drawn.reduced[0]


def joined(
    found: Sequence[dict[str, np.ndarray]],
    drawn: LabelledClusters,
    setting: FirstStepSetting,
    deviation: float,
    step: float,
) -> RandomFirstSteps:
    """All runs of a setting."""
    return RandomFirstSteps(
        labels=drawn.labels,
        clusters=drawn.clusters,
        products=drawn.reduced @ drawn.reduced.T,
        dim=drawn.points.shape[1],
        radius=drawn.shape.radius,
        overlap=drawn.shape.overlap,
        imbalance=drawn.shape.imbalance,
        half_width=setting.half_width,
        beta=setting.beta,
        scaling=setting.scaling,
        deviation=deviation,
        step=step,
        bandwidth=bandwidth(setting.half_width),
        **{name: np.stack([each[name] for each in found]) for name in found[0]},
    )


def take_first_step(start: Start, drawn: LabelledClusters, level: float) -> dict[str, np.ndarray]:
    """One step of the network, and what is kept of it."""
    inputs, labels, n = drawn.reduced, drawn.labels, len(drawn.labels)
    products, h, half = inputs @ inputs.T, start.bandwidth, len(start.weights) // 2
    outputs = np.zeros(n)
    for rows, sign in _pieces(half):
        outputs += sign * huberized(inputs @ start.weights[rows].T, h).sum(axis=1)
    pull = pulls(labels * outputs)
    totals = {
        sign: _Totals(n, level, window_bottom(start.step, drawn.shape.overlap, drawn.shape.radius)) for sign in (1, -1)
    }
    for rows, sign in _pieces(half):
        before = inputs @ start.weights[rows].T
        pushes = huberized_slope(before, h) * (start.step * sign / n * pull * labels)[:, None]
        totals[sign].add(before, products @ pushes, h)
        totals[sign].squares += float(np.sum((start.weights[rows] + pushes.T @ inputs) ** 2))
    return _kept(totals, drawn, products, pull, labels * outputs)


def _pieces(half: int) -> Iterator[tuple[slice, int]]:
    """The rows piece by piece, with their sign."""
    for first in range(0, half, PIECE):
        yield slice(first, min(first + PIECE, half)), 1
    for first in range(half, 2 * half, PIECE):
        yield slice(first, min(first + PIECE, 2 * half)), -1


class _Totals:
    """Sums over the units of one sign, captured or not."""

    def __init__(self, n: int, level: float, bottom: float):
        self.level, self.bottom = level, bottom
        self.count, self.sum, self.after, self.rest, self.window, self.active = np.zeros((6, n))
        self.pairs, self.touched, self.linked = np.zeros((3, n, n))
        self.shift, self.bent, self.lowest = np.zeros(n), np.zeros(n), np.full(n, np.inf)
        self.activity = np.zeros(n + 1)
        self.squares = 0.0

    def add(self, before: Float[np.ndarray, "point unit"], moved: Float[np.ndarray, "point unit"], h: float) -> None:
        """These units: v_i·x_s before the step, and by how much it moves."""
        captured, active, after = before >= self.level, before >= 0, before + moved
        taken, on = captured.astype(np.float64), active.astype(np.float64)
        activated = huberized(after, h)
        lifted = np.einsum("su,su->s", taken, activated)
        self.count += captured.sum(axis=1)
        self.sum += np.einsum("su,su->s", taken, before)
        self.after += lifted
        self.rest += activated.sum(axis=1) - lifted
        self.window += ((before >= self.bottom) & (before <= self.level)).sum(axis=1)
        self.active += active.sum(axis=1)
        self.pairs += taken @ taken.T
        self.touched += taken @ on.T
        self.linked += taken @ (before >= h).astype(np.float64).T
        self.shift = np.maximum(self.shift, np.abs(taken * moved).max(axis=1))
        self.bent = np.maximum(self.bent, np.abs(taken * (activated - after + h / 2)).max(axis=1))
        self.lowest = np.minimum(self.lowest, np.where(captured, after, np.inf).min(axis=1))
        self.activity += np.bincount(active.sum(axis=0), minlength=len(self.activity))


def _kept(
    totals: dict[int, _Totals],
    drawn: LabelledClusters,
    products: Float[np.ndarray, "point point"],
    pull: Float[np.ndarray, " point"],
    margins: Float[np.ndarray, " point"],
) -> dict[str, np.ndarray]:
    """What is kept of a run: helpful units of a point have the sign of its label."""
    labels, plus = drawn.labels, drawn.labels > 0

    def of(name: str, *, helpful: bool) -> np.ndarray:
        top, bottom = getattr(totals[1], name), getattr(totals[-1], name)
        own = plus if helpful else ~plus
        return np.where(own[:, None] if top.ndim == 2 else own, top, bottom)

    same = (drawn.clusters[:, None] == drawn.clusters[None]) & ~np.eye(len(labels), dtype=bool)
    opposite = labels[:, None] != labels[None]

    def own_pull(*, helpful: bool) -> np.ndarray:
        linked = of("linked", helpful=helpful) * same * (1 - 2 * drawn.shape.radius)
        return pull * of("count", helpful=helpful) + linked @ pull

    def other_pull(*, helpful: bool) -> np.ndarray:
        return (of("touched", helpful=helpful) * opposite * products) @ pull

    def over_both(name: str, fold: np.ufunc) -> np.ndarray:
        return fold(getattr(totals[1], name), getattr(totals[-1], name))

    after = totals[1].after + totals[1].rest - totals[-1].after - totals[-1].rest
    return {
        "helpful": of("count", helpful=True),
        "harmful": of("count", helpful=False),
        "helpful_sum": of("sum", helpful=True),
        "harmful_sum": of("sum", helpful=False),
        "helpful_pairs": of("pairs", helpful=True),
        "harmful_pairs": of("pairs", helpful=False),
        "helpful_touched": of("touched", helpful=True),
        "harmful_touched": of("touched", helpful=False),
        "window": of("window", helpful=False),
        "helpful_after": of("after", helpful=True),
        "harmful_after": of("after", helpful=False),
        "rest_helpful": of("rest", helpful=True),
        "rest_harmful": of("rest", helpful=False),
        "own_pull": own_pull(helpful=True),
        "other_pull": other_pull(helpful=True),
        "harmful_own_pull": own_pull(helpful=False),
        "harmful_other_pull": other_pull(helpful=False),
        "shift": over_both("shift", np.maximum),
        "lowest": over_both("lowest", np.minimum),
        "bent": over_both("bent", np.maximum),
        "pulls": pull,
        "before": margins,
        "after": labels * after,
        "active": over_both("active", np.add),
        "activity": over_both("activity", np.add),
        "norm": np.sqrt(np.array(totals[1].squares + totals[-1].squares)),
    }


SMALL = FirstStepSetting(points=DrawnClusters(n_samples=40), half_width=2000, n_runs=100)
"""P-small: a narrow network, where many bounds promise nothing."""
WIDE = FirstStepSetting(points=DrawnClusters(n_samples=8, radius=0.01), half_width=200_000, beta=0.45, n_runs=60)
"""P-info: a network so wide that every bound but that of Lemma 15.3 can fail."""


def lemma_15_settings(scale: Scale, seed: int) -> list[FirstStepSetting]:
    """Narrow and wide with the numbers of Section 4, and wide with those of Theorem 2."""
    more = 1 if scale is Scale.QUICK else 5
    return [scaled(each, scaling, more, seed) for each, scaling in ((SMALL, "sec4"), (WIDE, "sec4"), (WIDE, "exact"))]


def scaled(setting: FirstStepSetting, scaling: str, more: int, seed: int) -> FirstStepSetting:
    """The same with another scaling, seed and number of runs."""
    return setting.model_copy(update={"scaling": scaling, "n_runs": more * setting.n_runs, "seed": seed})


def centre_settings(scale: Scale, seed: int) -> list[FirstStepSetting]:
    """The centres of XOR at growing widths, with the numbers of Section 4."""
    return [
        FirstStepSetting(points=Centres(), half_width=p, beta=0.45, n_runs=10, seed=seed) for p in (10**4, 10**5, 10**6)
    ]


def theorem_2_settings(scale: Scale, seed: int) -> list[FirstStepSetting]:
    """The centres of XOR at growing widths, with the numbers of Theorem 2 and β = 1/4."""
    sizes = (
        ((10**3, 60), (10**4, 30), (10**5, 8))
        if scale is Scale.QUICK
        else ((10**3, 60), (10**4, 30), (10**5, 30), (10**6, 8))
    )
    return [
        FirstStepSetting(points=Centres(), half_width=p, n_runs=runs, scaling="exact", seed=seed) for p, runs in sizes
    ]


def step_settings(scale: Scale, seed: int) -> list[FirstStepSetting]:
    """Random starts on clusters and on the centres, and a construction in which a captured unit moves by α_0."""
    one = FirstStepSetting(points=OnePointCluster(), half_width=2000, beta=0.45, start="attained")
    return [*lemma_15_settings(scale, seed), *centre_settings(scale, seed), one]


def rest_settings(scale: Scale, seed: int) -> list[FirstStepSetting]:
    """The same random starts, and a construction in which every unit of the window rises nearly as far as it can."""
    low = FirstStepSetting(points=Centres(), half_width=2000, start="below_capture")
    return [*lemma_15_settings(scale, seed), *centre_settings(scale, seed), low]


FEWEST_RUNS = 60
"""So many runs without a failure exclude a rate above 5 %."""
ABOUT_WIDE = "Theorem 2 is about wide ones"


def starts_on(user_data: UserData) -> Applied | NotApplicable:
    """A narrow and a wider network on your data, each class split into two clusters."""
    if (reason := reason_in_clusters(user_data)) is not None:
        return reason
    runs = max(FEWEST_RUNS, user_data.choices.n_runs or 0)
    start = FirstStepSetting(
        points=OwnClusters(own_data=user_data.digest),
        half_width=1000,
        beta=0.45,
        n_runs=runs,
        seed=user_data.choices.seed,
    )
    note = sentences(
        other_width(user_data, 2000, why=ABOUT_WIDE),
        other_runs(user_data, runs, why="fewer bound no small failure rate"),
    )
    return Applied([start.model_copy(update={"scaling": scaling}) for scaling in ("sec4", "exact")], note)


def first_losses_on(user_data: UserData) -> Applied | NotApplicable:
    """Two widths on your data, with the numbers of Theorem 2."""
    if (reason := reason_in_clusters(user_data)) is not None:
        return reason
    own, seed, runs = OwnClusters(own_data=user_data.digest), user_data.choices.seed, user_data.choices.n_runs or 10
    settings = [
        FirstStepSetting(points=own, half_width=p, scaling="exact", n_runs=runs, seed=seed) for p in (1000, 10_000)
    ]
    return Applied(settings, other_width(user_data, 2000, 20_000, why=ABOUT_WIDE))


centre_steps = Experiment("chatterji2021.first_steps", centre_settings, run_first_steps, seconds=8.0)
"""On the centres of XOR alone."""
first_steps = centre_steps.at(lemma_15_settings, on=starts_on)
first_losses = centre_steps.at(theorem_2_settings, on=first_losses_on)
