"""Random starts without a step: the first output at one point and the norm of the weights, many times."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.huberized import huberized
from widenet.papers.chatterji2021.cluster_formulas import WeightScale, bandwidth, initial_deviation
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

PIECE = 1_000_000
"""Weights that are drawn together."""


class StartSetting(ClosedModel):
    """p, d, β, the scaling, and how many starts."""

    half_width: int = Field(ge=1)
    dim: int = 2
    beta: float = 0.25
    scaling: WeightScale = "sec4"
    n_draws: int = 4000
    seed: int = 0


Draws = Float[np.ndarray, " draw"]


@dataclass(frozen=True, eq=False)
class StartDraws(Cases):
    """Starts with the same numbers."""

    rows: ClassVar = "draw"

    outputs: Draws  #: f_0 at a unit vector
    norms: Draws  #: ‖V^(0)‖/(σ√(2(d+1)p))
    half_width: Count  #: p
    dim: Count  #: d
    beta: Number  #: β
    scaling: str | np.ndarray  #: "sec4" or "exact"
    deviation: Number  #: σ


def run_start_draws(setting: StartSetting, progress: Progress) -> StartDraws:
    """Draw the starts of a setting; the unit vector is the first axis."""
    p, more = setting.half_width, setting.dim + 1
    deviation = initial_deviation(p, setting.beta, setting.scaling)
    draw = np.random.default_rng([setting.seed, p, setting.dim])
    sizes = [
        len(each) for each in np.array_split(np.arange(setting.n_draws), 1 + setting.n_draws * 2 * p * more // PIECE)
    ]
    outputs, norms = [], []
    for size in over(sizes, progress, "starts"):
        weights = draw.standard_normal((size, 2, p, more))
        activated = huberized(deviation * weights[..., 0], bandwidth(p)).sum(axis=2)
        outputs.append(activated[:, 0] - activated[:, 1])
        norms.append(np.sqrt(np.einsum("ruid,ruid->r", weights, weights) / (2 * p * more)))
    return StartDraws(
        outputs=np.concatenate(outputs),
        norms=np.concatenate(norms),
        half_width=p,
        dim=setting.dim,
        beta=setting.beta,
        scaling=setting.scaling,
        deviation=deviation,
    )


def output_settings(scale: Scale, seed: int) -> list[StartSetting]:
    """Lemma 15.3: 4000 first outputs of a network with p = 1000."""
    return [StartSetting(half_width=1000, seed=seed)]


def tail_settings(scale: Scale, seed: int) -> list[StartSetting]:
    """The tails of Appendices D.3 and D.7: 20,000 starts with p = 20."""
    return [StartSetting(half_width=20, n_draws=20_000, seed=seed)]


def outputs_on(user_data: UserData) -> list[StartSetting]:
    """The same with your seed: the law of f_0 does not depend on the data."""
    return output_settings(Scale.QUICK, user_data.choices.seed)


start_draws = Experiment("chatterji2021.start_draws", tail_settings, run_start_draws, seconds=1.0)
first_outputs = start_draws.at(output_settings, on=outputs_on)
