"""Gradient descent with steps Q₁ log²(1/L), iterate by iterate: one training for all inequalities of Section 3.4.

At the losses of Theorem 1 a step moves the weights by less than float64 can add to them. So the way from the start is
kept beside the start, and what a step changes (log L, log ‖V‖) is computed from the step itself, not as a difference of
two large numbers: gains keep some twelve digits however small they are. No square of a gradient is formed either: those
underflow from losses of 1e-154 on.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count, Number, column
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import (
    HuberNetwork,
    Labels,
    Points,
    huberized,
    huberized_change,
    huberized_slope,
    length,
    log_mean_loss,
    pulls,
    relative_loss_change,
)
from widenet.papers.chatterji2021.formulas import (
    LEAST_LOG_LOSS,
    equation_5_threshold,
    largest_step_scale,
    scheduled_step,
)
from widenet.papers.chatterji2021.runs.starts import (
    MOST_FITTED,
    PER_POINT,
    built_half_width,
    clash,
    dual_start,
    isolating_start,
)
from widenet.papers.chatterji2021.sources import Axes, OwnReducedPoints, ReducedPointsSetting, Sphere
from widenet.papers.chatterji2021.user_data import other_runs, other_width, reason_in_inputs, sentences
from widenet.progress import Progress
from widenet.records import Scale

Iterates = Float[np.ndarray, " iterate"]
PerStep = Float[np.ndarray, " step"]


class LogisticDescentSetting(ReducedPointsSetting):
    """One run.

    Attributes:
      half_width: p.
      start: "dual" (one unit sees one point alone) or "isolating" (one unit per cap without points of the other label).
      start_loss: L₁.
      spread, background: of a dual start; see there.
      step_share: Q₁/Q̃₁.
      rate_share: Q₂/Q̃₂(Q₁).
      n_steps: how many steps are followed.
    """

    half_width: int = Field(ge=1)
    start: Literal["dual", "isolating"] = "dual"
    start_loss: float = Field(gt=0)
    spread: float = 0.0
    background: float = 0.0
    step_share: float = Field(default=1.0, gt=0)
    rate_share: float = Field(default=1.0, gt=0)
    n_steps: int = Field(default=1000, ge=1)
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LogisticDescent(Cases):
    """One run of gradient descent, iterate by iterate; there is one step less than iterates."""

    n_samples: Count  #: n
    half_width: Count  #: p
    bandwidth: Number  #: h
    unit_error: Number  #: the largest |‖x‖ − 1|
    label_error: Number  #: the largest distance of a label from ±1
    step_scale: Number  #: Q₁
    rate_share: Number  #: Q₂/Q̃₂(Q₁)
    left_float64: bool | np.ndarray  #: whether it ended before its last step, at a loss that is no number of float64
    log_losses: Iterates  #: log L_t
    norms: Iterates  #: ‖V^(t)‖
    gradient_norms: Iterates  #: ‖∇L_t‖
    alignments: Iterates  #: −⟨∇L_t, V^(t)⟩
    largest_margins: Iterates  #: max y f(x)
    steps: PerStep  #: α_t, as taken: ‖V^(t+1) − V^(t)‖/‖∇L_t‖
    gains: PerStep  #: log(L_t/L_{t+1})
    stretches: PerStep  #: log(‖V^(t+1)‖/‖V^(t)‖)

    @column
    def losses(self) -> Iterates:
        """L_t."""
        return np.exp(self.log_losses)

    @column
    def gained(self) -> Iterates:
        """log(L₁/L_t)."""
        return np.concatenate([[0.0], np.cumsum(self.gains)])

    @column
    def stretched(self) -> Iterates:
        """log(‖V^(t)‖/‖V^(1)‖)."""
        return np.concatenate([[0.0], np.cumsum(self.stretches)])


def descend(
    start: HuberNetwork,
    points: Points,
    labels: Labels,
    *,
    n_steps: int,
    step_share: float = 1.0,
    rate_share: float = 1.0,
    step_scale: float | None = None,
) -> LogisticDescent:
    """Follow the run; `step_scale` is Q₁ where it is not a share of Q̃₁."""
    h, signs, n = start.bandwidth, start.signs, len(labels)
    log_loss = float(log_mean_loss(start.margins(points, labels)))
    if step_scale is None:
        step_scale = step_share * float(largest_step_scale(start.norm, np.exp(log_loss), start.half_width))
    weights, way, norm_square = start.weights, np.zeros_like(start.weights), start.norm**2
    kept: dict[str, list[float]] = {name: [] for name in _KEPT}
    for taken in range(n_steps + 1):
        products = points @ weights.T
        margins = labels * (huberized(products, h) @ signs)
        pushes = (pulls(margins) * labels)[:, None] * huberized_slope(products, h) * signs
        slope = -pushes.T @ points / n
        norm, size = float(np.sqrt(norm_square)), length(slope)
        aligned = -float((slope * weights).sum())
        _write(kept, (log_loss, norm, size, aligned, float(margins.max())), _KEPT[:5])
        if taken == n_steps or log_loss < LEAST_LOG_LOSS:
            break
        before, way = way, way - scheduled_step(step_scale, log_loss) * slope
        change = way - before
        moved = labels * (huberized_change(products, points @ change.T, h) @ signs)
        gain = -float(np.log1p(relative_loss_change(margins, moved)))
        grown = 2 * float((weights * change).sum()) + float((change * change).sum())
        stretch = float(np.log1p(grown / norm_square)) / 2
        _write(kept, (length(change) / size if size else np.nan, gain, stretch), _KEPT[5:])
        weights, log_loss, norm_square = start.weights + way, log_loss - gain, norm_square + grown
    lengths = np.linalg.norm(points, axis=1)
    return LogisticDescent(
        n_samples=n,
        half_width=start.half_width,
        bandwidth=h,
        unit_error=float(np.abs(lengths - 1).max()),
        label_error=float(np.abs(np.abs(labels) - 1).max()),
        step_scale=step_scale,
        rate_share=rate_share,
        left_float64=len(kept["steps"]) < n_steps,
        **{name: np.array(values) for name, values in kept.items()},
    )


_KEPT = (
    "log_losses", "norms", "gradient_norms", "alignments", "largest_margins", "steps", "gains", "stretches",
)  # fmt: skip


def _write(kept: dict[str, list[float]], values: tuple[float, ...], names: tuple[str, ...]) -> None:
    for name, value in zip(names, values, strict=True):
        kept[name].append(float(value))


def start_of(setting: LogisticDescentSetting) -> tuple[HuberNetwork, Points, Labels]:
    """The network that a run starts from, and its data.

    Raises:
      ValueError: the data has no start of this kind; whoever asks about your data looks first.
    """
    points, labels = setting.points.draw(setting.seed)
    if setting.start == "dual":
        start = dual_start(
            points,
            labels,
            setting.half_width,
            setting.start_loss,
            spread=setting.spread,
            background=setting.background,
            seed=setting.seed,
        )
    else:
        start = isolating_start(points, labels, setting.half_width, setting.start_loss)
    if start is None:
        raise ValueError("points of different labels are equal, or too close for float64")
    return start, points, labels


def run_descent(setting: LogisticDescentSetting, progress: Progress) -> LogisticDescent:
    """Build the start and follow it."""
    found = descend(
        *start_of(setting),
        n_steps=setting.n_steps,
        step_share=setting.step_share,
        rate_share=setting.rate_share,
    )
    progress(1.0, "gradient descent")
    return found


def descent_settings(scale: Scale, seed: int) -> list[LogisticDescentSetting]:
    """From two to 64 points, uniform and spread margins; orthonormal inputs, where the rate is nearest to its bound."""
    n_steps, longest = (1000, 10_000) if scale is Scale.QUICK else (2000, 200_000)
    pair = Sphere(n_samples=2, dim=2)
    four = Sphere(n_samples=4, dim=6)
    eight, many = Sphere(n_samples=8, dim=12), Sphere(n_samples=64, dim=80)

    def run(
        points: Sphere | Axes, half_width: int, start_loss: float, n_steps: int = n_steps, **more: Any
    ) -> LogisticDescentSetting:
        return LogisticDescentSetting(
            points=points, half_width=half_width, start_loss=start_loss, n_steps=n_steps, seed=seed, **more
        )

    return [
        run(pair, 1, 6e-7, longest),
        run(pair, 4, 6e-7),
        run(pair, 50, 6e-7, background=0.3),
        run(four, 4, 9e-9),
        run(four, 4, 9e-9, spread=0.2),
        run(four, 4, 9e-9, step_share=1 / 3, rate_share=0.9),
        run(eight, 8, 1.4e-10, background=0.1),
        run(many, 32, 5e-16, 100),
        run(Axes(n_samples=2), 2, 1e-7, 200),
        run(Axes(n_samples=3), 5, 2e-8, 200),
    ]


def runs_on(user_data: UserData) -> Applied | NotApplicable:
    """From a start that is built on your data, where (5) gives Lemma 10."""
    if (reason := reason_in_inputs(user_data)) is not None:
        return reason
    n = len(user_data.labels)
    if n > MOST_FITTED:
        return NotApplicable(
            f"The start of Theorem 1 is built with a neuron per point here, for at most {MOST_FITTED}."
        )
    if found := clash(user_data):
        return NotApplicable(f"No start with so small a loss can be built: {found}.")
    n_steps, half_width = 300 if n <= 50 else 50, built_half_width(user_data)
    setting = LogisticDescentSetting(
        points=OwnReducedPoints(own_data=user_data.digest),
        half_width=half_width,
        start="isolating",
        start_loss=0.9 * equation_5_threshold(n),
        n_steps=min(n_steps, user_data.choices.max_updates or n_steps),
        seed=user_data.choices.seed,
    )
    note = sentences(
        other_width(user_data, 2 * half_width, why=PER_POINT),
        other_runs(user_data, 1, why="the start is built, not drawn"),
    )
    return Applied([setting], note)


def possible_runs_on(user_data: UserData) -> Applied:
    """The same, or none where none can be started: for claims that also read single networks."""
    runs = runs_on(user_data)
    return Applied([]) if isinstance(runs, NotApplicable) else runs


descents = Experiment("chatterji2021.descents", descent_settings, run_descent, seconds=0.5, on=runs_on)
possible_descents = descents.at(descent_settings, on=possible_runs_on)
