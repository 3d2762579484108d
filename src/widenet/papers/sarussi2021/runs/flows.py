"""Gradient flow in the clock of dW/ds = −∇ log(nL), in which the weights grow linearly: what Section 6 is about.

In that clock limits that come like 1/log t come like 1/s. Where and when neurons change sides is located by the solver.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from widenet.claims.experiments import Experiment
from widenet.diagnostics.agreement import common_signs
from widenet.diagnostics.agreement_program import critical_margins, separate, solve_regime
from widenet.diagnostics.homogeneous_margins import log_total_loss
from widenet.losses import logistic
from widenet.networks import TwoLayer
from widenet.networks.activations import PiecewiseLinear
from widenet.networks.two_layer import plus_minus
from widenet.papers.sarussi2021.formulas import LOG_2
from widenet.papers.sarussi2021.runs.problems import with_length
from widenet.papers.sarussi2021.settings import (
    TWO_POINTS,
    WEDGE,
    WEDGE_MINUS,
    WEDGE_PLUS,
    Gaussians,
    OutlierCloud,
    OwnPoints,
    PointsSource,
)
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training import Flow, LossClock, Recipe, Record, ensemble
from widenet.types import Dataset

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

    @property
    def own_data(self) -> str | None:
        """The digest of a reader's data, where it is one."""
        first = self.cases[0].points
        return first.own_data if isinstance(first, OwnPoints) else None


Runs = Float[np.ndarray, " run"]


@dataclass(frozen=True, eq=False)
class FlowRuns:
    """Runs of gradient flow.

    Attributes:
      readings: s, when the weights were looked at; weights: W then, the plus rows first.
      inputs, labels: the points of each run; slopes: α.
      separators: w*, the shortest.
      last_crossing: s at which a neuron last changed its side of a point; 0 if none did.
      slides: how often a neuron slid along a kink; statuses: how the runs ended (`RunStatus`).
      plus_signs, minus_signs: the signs on which all neurons agree at the end; 0 where they do not.
      solutions, values: (w, u) and val of the program of that regime (NaN without agreement), and perfect_solutions,
        perfect_values those of Eq. 7.
      critical: the largest β for which V_β⁺ or V_β⁻ is not empty.
    """

    readings: Int[np.ndarray, " time"]
    weights: Float[np.ndarray, "run time both dim"]
    inputs: Float[np.ndarray, "run point dim"]
    labels: Float[np.ndarray, "run point"]
    slopes: Runs
    separators: Float[np.ndarray, "run dim"]
    last_crossing: Runs
    slides: Int[np.ndarray, " run"]
    statuses: Int[np.ndarray, " run"]
    plus_signs: Float[np.ndarray, "run point"]
    minus_signs: Float[np.ndarray, "run point"]
    solutions: Float[np.ndarray, "run pair"]
    values: Runs
    perfect_solutions: Float[np.ndarray, "run pair"]
    perfect_values: Runs
    critical: Runs
    output_weight: float

    def __len__(self) -> int:
        """How many runs."""
        return len(self.slopes)

    def courses(self) -> "list[Course]":
        """The runs one by one."""
        shared = ("readings", "output_weight")
        names = [field.name for field in dataclasses.fields(Course) if field.name not in shared]
        own = {name: getattr(self, SEVERAL.get(name, name)) for name in names}
        return [
            Course(
                readings=self.readings,
                output_weight=self.output_weight,
                **{name: each[run].item() if each.ndim == 1 else each[run] for name, each in own.items()},
            )
            for run in range(len(self))
        ]


SEVERAL = {
    "slope": "slopes",
    "separator": "separators",
    "solution": "solutions",
    "value": "values",
    "perfect_solution": "perfect_solutions",
    "perfect_value": "perfect_values",
    "status": "statuses",
}
"""Names of one run in the plural."""


@dataclass(frozen=True, eq=False)
class Course:
    """One run of gradient flow; the fields are those of `FlowRuns`."""

    readings: np.ndarray
    weights: np.ndarray
    inputs: np.ndarray
    labels: np.ndarray
    slope: float
    separator: np.ndarray
    last_crossing: float
    slides: int
    status: int
    plus_signs: np.ndarray
    minus_signs: np.ndarray
    solution: np.ndarray
    value: float
    perfect_solution: np.ndarray
    perfect_value: float
    critical: float
    output_weight: float

    @property
    def half_width(self) -> int:
        """k."""
        return self.weights.shape[1] // 2

    @property
    def plus(self) -> np.ndarray:
        """The rows that vote plus, at every look."""
        return self.weights[:, : self.half_width]

    @property
    def minus(self) -> np.ndarray:
        """The rows that vote minus."""
        return self.weights[:, self.half_width :]

    @property
    def norms(self) -> np.ndarray:
        """‖W‖ at every look."""
        return np.linalg.norm(self.weights, axis=(1, 2))

    @property
    def units(self) -> np.ndarray:
        """W/‖W‖ at every look; 0 where W is."""
        return self.weights / np.where(self.norms > 0, self.norms, 1.0)[:, None, None]

    @property
    def largest_norm(self) -> float:
        """R_x."""
        return float(np.linalg.norm(self.inputs, axis=1).max())

    @property
    def margins(self) -> np.ndarray:
        """y N(x), look by look."""
        products = np.einsum("tjd,nd->tnj", self.weights, self.inputs)
        activated = np.where(products > 0, products, self.slope * products)
        return self.labels * (activated @ (self.output_weight * np.repeat([1.0, -1.0], self.half_width)))

    @property
    def means(self) -> np.ndarray:
        """(w̄, ū) at every look."""
        return np.concatenate([self.plus.mean(axis=1), self.minus.mean(axis=1)], axis=1)

    @property
    def started(self) -> float:
        """The first look at which nL < log 2, and so at every later one; infinite if there is none."""
        low = log_total_loss(self.margins) < np.log(LOG_2)
        return float(self.readings[np.argmax(low)]) if low.any() else np.inf

    @property
    def settled(self) -> float:
        """T_NAR: from here on no neuron changed sides, and nL < log 2."""
        return max(self.last_crossing, self.started)

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
        slopes=slopes,
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
    found: dict[str, list] = {name: [] for name in ("plus_signs", "minus_signs", "solutions", "values",
                              "perfect_solutions", "perfect_values", "critical", "separators")}  # fmt: skip
    for rows, points, signs, slope in zip(weights, inputs, labels, slopes.tolist(), strict=True):
        plus, minus = common_signs(rows[:k], points), common_signs(rows[k:], points)
        perfect = solve_regime(points, signs, signs, -signs, slope)
        agreed = bool((plus != 0).all() and (minus != 0).all())
        own = solve_regime(points, signs, plus, minus, slope) if agreed else None
        separator = separate(points, signs).separator
        found["plus_signs"].append(plus)
        found["minus_signs"].append(minus)
        found["solutions"].append(np.full(2 * points.shape[1], np.nan) if own is None else own.solution)
        found["values"].append(np.nan if own is None else own.value)
        found["perfect_solutions"].append(perfect.solution)
        found["perfect_values"].append(perfect.value)
        found["critical"].append(max(each.max() for each in critical_margins(points, signs) if len(each)))
        found["separators"].append(np.full(points.shape[1], np.nan) if separator is None else separator)
    return {name: np.stack(values) for name, values in found.items()}


def two_point_setting(seed: int) -> FlowSetting:
    """Two points on which every hypothesis of Theorem 6.2 holds."""
    cases = tuple(FlowCase(points=TWO_POINTS, slope=1 / 3, seed=3 * seed + run) for run in range(3))
    return FlowSetting(cases=cases, half_width=3, output_weight=0.4)


def gaussian_setting(seed: int, n_runs: int = 2) -> FlowSetting:
    """Mirrored Gaussians at two slopes, and Gaussians whose means alone are mirrored."""
    mirrored, free = Gaussians(n_samples=40, mirrored=True), Gaussians(n_samples=40)
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
    cases = (FlowCase(points=Gaussians(), slope=0.1, seed=1000 * seed + run) for run in range(n_runs))
    return [FlowSetting(cases=tuple(cases))]


def outlier_flow_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Figure 9: gradient flow on the points with the outlier, from the printed initial deviation."""
    cases = tuple(FlowCase(points=OutlierCloud(), slope=0.3, deviation=1e-4, seed=2 * seed + run) for run in range(2))
    return [FlowSetting(cases=cases, until=60)]


def agreeing_settings(scale: Scale, seed: int) -> Sequence[FlowSetting]:
    """Two points and Gaussians, where Theorem 6.2 is at home."""
    return flow_settings(scale, seed)[:2]


flows = Experiment("sarussi2021.flows", flow_settings, run_flows, seconds=15.0)
