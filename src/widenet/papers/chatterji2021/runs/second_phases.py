"""Gradient descent after the first step of Theorem 2, with the step size of its proof, on the centres of XOR."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import huberized, huberized_slope, log_mean_loss, pulls
from widenet.networks.arrays import plus_minus_weights
from widenet.papers.chatterji2021.cluster_formulas import (
    STEP_CONSTANT,
    bandwidth,
    first_step_size,
    initial_deviation,
)
from widenet.papers.chatterji2021.cluster_sources import Centres, ClusterSetting, LabelledClusters, OwnClusters
from widenet.papers.chatterji2021.runs.first_steps import ABOUT_WIDE
from widenet.papers.chatterji2021.user_data import other_width, reason_in_clusters
from widenet.progress import Progress
from widenet.records import Scale


class LaterStepsSetting(ClusterSetting):
    """One run with the numbers of Theorem 2, in reduced coordinates.

    Attributes:
      start: Gaussian, with a first step of α_0 before the iterates are counted; or "isolating" units, p/2 around each
        of four centres, made to have the loss `first_loss`.
      schedule: the step size is this times log²(1/L_t)·e²/(120p); 1 but for controls.
    """

    half_width: int = Field(ge=2, multiple_of=2)
    beta: float = 0.25
    start: Literal["gaussian", "isolating"] = "gaussian"
    first_loss: float = 9e-9
    n_steps: int = 6000
    schedule: float = 1.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LaterSteps(Cases):
    """Iterates t = 1, 2, … of one run."""

    losses: Float[np.ndarray, " iterate"]  #: L_t
    norm: Number  #: ‖V^(1)‖ in reduced coordinates
    step_scale: Number  #: Q_1, what multiplies log²(1/L_t)
    half_width: Count  #: p
    bandwidth: Number  #: h
    beta: Number  #: β
    dim: Count  #: d
    n_points: Count  #: n
    unit_error: Number  #: the largest distance of ‖x‖² from 1
    start: str | np.ndarray  #: "gaussian" or "isolating"


@dataclass(frozen=True, eq=False)
class _CopiedRows:
    """Rows of a network, each of which stands for `copies` equal units."""

    weights: Float[np.ndarray, "row dim"]
    signs: Float[np.ndarray, " row"]
    copies: float


def run_second_phases(setting: LaterStepsSetting, progress: Progress) -> LaterSteps:
    """Train the run of a setting."""
    drawn, p = setting.points.draw(setting.seed), setting.half_width
    h, step_scale = bandwidth(p), setting.schedule * STEP_CONSTANT / p
    rows = _isolating(drawn, setting) if setting.start == "isolating" else _gaussian(drawn, setting)
    weights, inputs, pushed = rows.weights.copy(), drawn.reduced, rows.signs[:, None] / len(drawn.labels)
    taken, losses, norm = 0 if setting.start == "gaussian" else 1, [], math.nan
    while len(losses) < setting.n_steps:
        products = weights @ inputs.T
        margins = drawn.labels * (rows.copies * (rows.signs @ huberized(products, h)))
        log_loss = float(log_mean_loss(margins))
        if taken:
            losses.append(math.exp(log_loss))
            step = step_scale * log_loss**2
        else:
            step = first_step_size(p, setting.beta, "exact")
        if taken == 1:
            norm = math.sqrt(rows.copies) * float(np.linalg.norm(weights))
        weights += step * pushed * ((pulls(margins) * drawn.labels * huberized_slope(products, h)) @ inputs)
        taken += 1
        if taken % 500 == 0:
            progress(len(losses) / setting.n_steps, "steps")
    return LaterSteps(
        losses=np.array(losses),
        norm=norm,
        step_scale=step_scale,
        half_width=p,
        bandwidth=h,
        beta=setting.beta,
        dim=drawn.points.shape[1],
        n_points=len(drawn.labels),
        unit_error=float(np.abs((inputs**2).sum(axis=1) - 1).max()),
        start=setting.start,
    )


def _gaussian(drawn: LabelledClusters, setting: LaterStepsSetting) -> _CopiedRows:
    deviation = initial_deviation(setting.half_width, setting.beta, "exact")
    draw = np.random.default_rng([setting.seed, setting.half_width, 2])
    weights = deviation * draw.standard_normal((2 * setting.half_width, drawn.reduced.shape[1]))
    return _CopiedRows(weights, plus_minus_weights(setting.half_width), 1.0)


def _isolating(drawn: LabelledClusters, setting: LaterStepsSetting) -> _CopiedRows:
    """For each centre μ_k, p/2 units with the row (c/q)(μ_k, −1/2): active there and at no other centre."""
    q = setting.half_width / 2
    margin = -math.log(math.expm1(setting.first_loss))
    scale = 2 * (margin + q * bandwidth(setting.half_width) / 2)
    rows = np.concatenate([drawn.shape.centres, np.full((4, 1), -0.5)], axis=1)
    return _CopiedRows(math.sqrt(2) * scale / q * rows, np.array([1.0, 1.0, -1.0, -1.0]), q)


def random_phases(scale: Scale, seed: int) -> list[LaterStepsSetting]:
    """Two widths from random starts."""
    return [LaterStepsSetting(points=Centres(), half_width=p, seed=seed) for p in (200, 1000)]


def isolating_phases(scale: Scale, seed: int) -> list[LaterStepsSetting]:
    """A start at which every hypothesis of Theorem 1 is met."""
    steps = 1000 if scale is Scale.QUICK else 20_000
    return [LaterStepsSetting(points=Centres(), half_width=30_000, start="isolating", n_steps=steps)]


OWN_STEPS = 3000
"""Steps on your data."""


def phases_on(user_data: UserData) -> Applied | NotApplicable:
    """Runs on your data, from random starts with the numbers of Theorem 2."""
    if (reason := reason_in_clusters(user_data)) is not None:
        return reason
    own, seed = OwnClusters(own_data=user_data.digest), user_data.choices.seed
    steps = min(OWN_STEPS, user_data.choices.max_updates or OWN_STEPS)
    if steps < 2:
        return NotApplicable("It is about the steps after the first one, and max_updates allows one.")
    settings = [
        LaterStepsSetting(points=own, half_width=200, n_steps=steps, seed=seed + run)
        for run in range(user_data.choices.n_runs or 1)
    ]
    return Applied(settings, other_width(user_data, 400, why=ABOUT_WIDE))


centre_phases = Experiment("chatterji2021.second_phases", random_phases, run_second_phases, seconds=2.0)
"""On the centres of XOR alone."""
second_phases = centre_phases.at(random_phases, on=phases_on)
