"""Gradient flow in the clock of dW/ds = −∇ log(nL), in which the weights grow linearly: what Section 6 is about.

In that clock limits that come like 1/log t come like 1/s. Where and when neurons change sides is located by the solver.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases, Number, column, run_column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.data.sources import OwnPoints
from widenet.diagnostics.agreement import common_signs
from widenet.diagnostics.agreement_program import critical_margins, separate, solve_regime
from widenet.diagnostics.homogeneous_margins import log_total_loss
from widenet.losses import logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import PiecewiseLinear
from widenet.networks.arrays import leaky, plus_minus_weights
from widenet.networks.two_layer import plus_minus
from widenet.papers.sarussi2021.formulas import LOG_2
from widenet.papers.sarussi2021.runs.problems import with_length
from widenet.papers.sarussi2021.sources import (
    TWO_POINTS,
    WEDGE,
    WEDGE_MINUS,
    WEDGE_PLUS,
    OutlierCloud,
    PointsSource,
    TwoGaussians,
    lengths,
)
from widenet.papers.sarussi2021.user_data import silence_without_both_classes
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import Flow, LossClock, Recipe, Record, ensemble
from widenet.types import Dataset, RunStatus

MOST_POINTS, MOST_DIMENSIONS, THINNEST = 100, 20, 100
"""Flows are followed on data of at most this size, and with R_x/γ at most the last: a thinner margin takes too long."""
READINGS = (*range(21), 30, 40, 50, 60, 80, 100, 120, 160, 200, 240, 320, 400)
"""When the weights are looked at."""


class FlowCase(ClosedModel):
    """One run.

    Attributes:
      deviation: of the entries of W_0; with `plus_signs` and `minus_signs`, of what is added to a start inside that
        regime: 15 times the solution of its program.
      row_length: of every row of W_0, in place of a deviation.
      factor: the points are multiplied by it. A network is homogeneous in x and in W, so the path is the same up to
        the clock and the scale of the start; it brings data of any scale to a clock in which limits are reached.
    """

    points: PointsSource
    slope: float
    deviation: float = 1e-3
    row_length: float | None = None
    plus_signs: tuple[float, ...] | None = None
    minus_signs: tuple[float, ...] | None = None
    factor: float = 1.0
    seed: int = 0


class FlowSetting(ClosedModel):
    """Runs of one shape; v = 1/√(2k) unless given."""

    cases: tuple[FlowCase, ...]
    half_width: int = 10
    output_weight: float | None = None
    until: int = 400


PerRun = Float[np.ndarray, " run"]
Looks = Float[np.ndarray, " time"]


@dataclass(frozen=True, eq=False)
class FlowRuns(Cases):
    """Runs of gradient flow. What is computed is written for one of them."""

    readings: Int[np.ndarray, " time"]  #: s, when the weights were looked at
    weights: Float[np.ndarray, "run time both dim"]  #: W then, the plus rows first
    inputs: Float[np.ndarray, "run point dim"]
    labels: Float[np.ndarray, "run point"]
    slope: PerRun  #: α
    separator: Float[np.ndarray, "run dim"]  #: w*, the shortest
    last_crossing: PerRun  #: s at which a neuron last changed its side of a point; 0 if none did
    slides: Int[np.ndarray, " run"]  #: how often a neuron slid along a kink
    statuses: Int[np.ndarray, " run"]  #: how the runs ended (`RunStatus`)
    plus_signs: Float[np.ndarray, "run point"]  #: on which all plus neurons agree at the end; 0 where they do not
    minus_signs: Float[np.ndarray, "run point"]  #: the same of the minus neurons
    solution: Float[np.ndarray, "run pair"]  #: (w, u) of the program of that regime; NaN without agreement
    value: PerRun  #: val of that program
    perfect_solution: Float[np.ndarray, "run pair"]  #: (w, u) of Eq. 7
    perfect_value: PerRun  #: val of Eq. 7
    critical: PerRun  #: the largest β for which V_β⁺ or V_β⁻ is not empty
    output_weight: Number  #: v

    @column
    def half_width(self) -> int:
        """k."""
        return self.weights.shape[-2] // 2

    @column
    def n_samples(self) -> int:
        """n."""
        return self.labels.shape[-1]

    @property
    def unfinished(self) -> np.ndarray:
        """Those that the solver could not follow."""
        return ~np.isin(self.statuses, (RunStatus.BUDGET_SPENT, RunStatus.CONVERGED))

    @property
    def plus(self) -> np.ndarray:
        """The rows that vote plus, at every look."""
        return self.weights[..., : self.half_width, :]

    @property
    def minus(self) -> np.ndarray:
        """The rows that vote minus."""
        return self.weights[..., self.half_width :, :]

    @run_column
    def norms(self) -> Looks:
        """‖W‖ at every look."""
        return np.linalg.norm(self.weights, axis=(1, 2))

    @run_column
    def largest_norm(self) -> float:
        """R_x."""
        return float(np.linalg.norm(self.inputs, axis=1).max())

    @run_column
    def margins(self) -> Float[np.ndarray, "time point"]:
        """y N(x), look by look."""
        products = np.einsum("tjd,nd->tnj", self.weights, self.inputs)
        activated = leaky(products, self.slope)
        return self.labels * (activated @ plus_minus_weights(self.half_width, self.output_weight))

    @run_column
    def means(self) -> Float[np.ndarray, "time pair"]:
        """(w̄, ū) at every look."""
        return np.concatenate([self.plus.mean(axis=1), self.minus.mean(axis=1)], axis=1)

    @run_column
    def started(self) -> float:
        """The first look at which nL < log 2, and so at every later one; infinite if there is none."""
        low = log_total_loss(self.margins) < np.log(LOG_2)
        return float(self.readings[np.argmax(low)]) if low.any() else np.inf

    @run_column
    def settled(self) -> float:
        """T_NAR: from here on no neuron changed sides, and nL < log 2."""
        return max(float(self.last_crossing), self.started)

    def at(self, reading: int) -> int:
        """The look at this reading, or the last one before it."""
        return int(np.flatnonzero(self.readings <= reading)[-1])

    def later(self, reading: float | int) -> np.ndarray:
        """The looks from this reading on."""
        return np.flatnonzero(self.readings >= reading)


def run_flows(setting: FlowSetting, progress: Progress) -> FlowRuns:
    """Follow the runs of a setting."""
    k, cases = setting.half_width, setting.cases
    v = (2 * k) ** -0.5 if setting.output_weight is None else setting.output_weight
    drawn = [case.points.draw(case.seed) for case in cases]
    labels = np.stack([each[1] for each in drawn])
    inputs = np.stack([case.factor * each[0] for case, each in zip(cases, drawn, strict=True)])
    start = np.stack([_start(*each, k, v) for each in zip(cases, inputs, labels, strict=True)])
    slopes = np.array([case.slope for case in cases])
    network = TwoLayer(
        jnp.asarray(start),
        jnp.tile(plus_minus(2 * k, v), (len(cases), 1)),
        None,
        PiecewiseLinear(jnp.asarray(slopes), jnp.asarray(slopes)),
    )
    readings = tuple(each for each in READINGS if each <= setting.until)
    done = ensemble(
        network,
        Dataset(jnp.asarray(inputs), jnp.asarray(labels)),
        Recipe(logistic, method=_flow(), max_steps=setting.until),
        jax.random.split(jax.random.key(0), len(cases)),
        record=Record(readings, {"weights": _weights}),
        progress=progress,
    )
    weights, report = np.asarray(done.records["weights"]), done.report
    return FlowRuns(
        readings=np.array(readings),
        weights=weights,
        inputs=inputs,
        labels=labels,
        slope=slopes,
        last_crossing=np.nan_to_num(np.asarray(report.crossings.last), nan=0.0),
        slides=np.asarray(report.sliding.count).astype(int),
        statuses=np.asarray(done.status).astype(int),
        output_weight=v,
        **_predictions(weights[:, -1], inputs, labels, slopes, k),
    )


def _flow() -> Flow:
    return Flow(LossClock(1.0))  # pyright: ignore[reportCallIssue]


def _weights(seen):
    return seen.network.hidden_weights


def _start(case: FlowCase, points: np.ndarray, labels: np.ndarray, k: int, v: float) -> np.ndarray:
    rows = np.random.default_rng([case.seed, 6]).normal(size=(2 * k, points.shape[1]))
    noise = case.deviation * rows if case.row_length is None else with_length(rows, case.row_length)
    if case.plus_signs is None or case.minus_signs is None:
        return noise
    solved = solve_regime(points, labels, np.array(case.plus_signs), np.array(case.minus_signs), case.slope)
    return 15 / (v * k) * np.repeat(np.stack([solved.plus, solved.minus]), k, axis=0) + noise


def _predictions(
    weights: np.ndarray, inputs: np.ndarray, labels: np.ndarray, slopes: np.ndarray, k: int
) -> dict[str, np.ndarray]:
    """The programs of the regimes in which the runs ended, and of perfect agreement."""
    found: dict[str, list] = {name: [] for name in ("plus_signs", "minus_signs", "solution", "value",
                              "perfect_solution", "perfect_value", "critical", "separator")}  # fmt: skip
    for rows, points, signs, slope in zip(weights, inputs, labels, slopes.tolist(), strict=True):
        plus, minus = common_signs(rows[:k], points), common_signs(rows[k:], points)
        perfect = solve_regime(points, signs, signs, -signs, slope)
        agreed = bool((plus != 0).all() and (minus != 0).all())
        own = solve_regime(points, signs, plus, minus, slope) if agreed else None
        separator = separate(points, signs).separator
        found["plus_signs"].append(plus)
        found["minus_signs"].append(minus)
        found["solution"].append(np.full(2 * points.shape[1], np.nan) if own is None else own.solution)
        found["value"].append(np.nan if own is None else own.value)
        found["perfect_solution"].append(perfect.solution)
        found["perfect_value"].append(perfect.value)
        found["critical"].append(max(each.max() for each in critical_margins(points, signs) if len(each)))
        found["separator"].append(np.full(points.shape[1], np.nan) if separator is None else separator)
    return {name: np.stack(values) for name, values in found.items()}


def two_point_setting(seed: int) -> FlowSetting:
    """Two points on which every hypothesis of Theorem 6.2 holds."""
    cases = tuple(FlowCase(points=TWO_POINTS, slope=1 / 3, seed=3 * seed + run) for run in range(3))
    return FlowSetting(cases=cases, half_width=3, output_weight=0.4)


def gaussian_setting(seed: int, n_runs: int = 2) -> FlowSetting:
    """Mirrored Gaussians at two slopes, and Gaussians whose means alone are mirrored."""
    mirrored, free = TwoGaussians(n_samples=40, mirrored=True), TwoGaussians(n_samples=40)
    return FlowSetting(
        cases=tuple(
            FlowCase(points=points, slope=slope, seed=n_runs * seed + run)
            for points, slope in ((mirrored, 0.1), (mirrored, 0.3), (free, 0.1))
            for run in range(n_runs)
        )
    )


def wedge_setting(seed: int) -> FlowSetting:
    """Three points, from inside a regime that is not of perfect agreement."""
    case = FlowCase(points=WEDGE, slope=1 / 20, deviation=0.1, plus_signs=WEDGE_PLUS, minus_signs=WEDGE_MINUS)
    cases = tuple(case.model_copy(update={"seed": 3 * seed + run}) for run in range(3))
    return FlowSetting(cases=cases, half_width=3, output_weight=0.4)


def flow_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Two points, Gaussians, and a regime that is not of perfect agreement."""
    n_runs = 2 if scale is Scale.QUICK else 8
    return [two_point_setting(seed), gaussian_setting(seed, n_runs), wedge_setting(seed)]


def plane_flow_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Figure 3: the points on which it trains by SGD."""
    n_runs = 4 if scale is Scale.QUICK else 12
    cases = (FlowCase(points=TwoGaussians(), slope=0.1, seed=1000 * seed + run) for run in range(n_runs))
    return [FlowSetting(cases=tuple(cases))]


def outlier_flow_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Figure 9: gradient flow on the points with the outlier, from the printed initial deviation."""
    cases = tuple(FlowCase(points=OutlierCloud(), slope=0.3, deviation=1e-4, seed=2 * seed + run) for run in range(2))
    return [FlowSetting(cases=cases, until=60)]


def agreeing_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Two points and Gaussians, where Theorem 6.2 is at home."""
    return flow_settings(scale, seed)[:2]


def flows_on(user_data: UserData) -> list[FlowSetting] | NotApplicable:
    """Gradient flow of networks of the chosen width, from small weights or the chosen length of rows, on the reader's
    data with margin 1. There are no steps, so a step size and a number of updates have no meaning here.

    The network is homogeneous, so the scale of the data changes the clock and that of the start, and nothing else.
    """
    if (reason := silence_without_both_classes(user_data)) is not None:
        return reason
    n, dim = user_data.inputs.shape
    if n > MOST_POINTS or dim > MOST_DIMENSIONS:
        return NotApplicable(
            f"Gradient flow is followed on at most {MOST_POINTS} points of {MOST_DIMENSIONS} dimensions."
        )
    chosen, norm = user_data.choices, user_data.separation.norm_upper
    if (thin := float(lengths(norm * user_data.inputs).max())) > THINNEST:
        return NotApplicable(
            f"The longest point is {thin:.3g} times as long as the margin, and gradient flow is followed up to "
            f"{THINNEST} times; often a constant coordinate (`with_bias`) makes the margin wider."
        )
    cases = tuple(
        FlowCase(
            points=OwnPoints(own_data=user_data.digest),
            slope=chosen.slope,
            deviation=1e-3 / thin,
            row_length=None if chosen.init_scale is None else chosen.init_scale / norm,
            factor=norm,
            seed=chosen.seed + run,
        )
        for run in range(chosen.n_runs or 1)
    )
    return [FlowSetting(cases=cases, half_width=chosen.n_neurons // 2, output_weight=chosen.output_weight)]


flows = Experiment("sarussi2021.flows", flow_settings, run_flows, seconds=15.0, on=flows_on)
