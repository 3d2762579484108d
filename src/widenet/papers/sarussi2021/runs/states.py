"""Single states of networks whose neurons of one sign agree: the material of Theorem 6.2 without a trajectory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.diagnostics.agreement import agreement_margin, common_signs
from widenet.diagnostics.agreement_program import critical_margins, separate
from widenet.papers.sarussi2021.formulas import margin_threshold
from widenet.papers.sarussi2021.sources import SignedNetwork
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

SLOPES = (1 / 20, 1 / 5, 1 / 3)
HALF_WIDTH, OUTPUT_WEIGHT = 3, 0.4
TRIES = 40
"""Networks per data set, of which some get every point right."""

Values = Float[np.ndarray, " state"]
Flags = Bool[np.ndarray, " state"]


class StateSetting(ClosedModel):
    """How many small sets of whole numbers are looked at."""

    n_sets: int
    seed: int = 0


@dataclass(frozen=True, eq=False)
class AgreeingStates(Cases):
    """Networks and data sets, one entry per pair."""

    rows: ClassVar = "state"

    margins: Values  #: the normalized margin γ̄
    thresholds: Values  #: √k·αvR_x
    betas: Values  #: β of the regime
    critical: Values  #: the largest β for which V_β⁺ or V_β⁻ is not empty
    agreeing: Flags  #: whether the neurons of one sign agree on every point
    plus_on_plus: Flags  #: whether the plus neurons are right on the positive points
    minus_on_minus: Flags  #: the minus neurons on the negative points
    plus_on_minus: Flags  #: the plus neurons on the negative points
    minus_on_plus: Flags  #: the minus neurons on the positive points


def states_of(
    given: Sequence[tuple[SignedNetwork, np.ndarray, np.ndarray]], critical: Sequence[float] | None = None
) -> AgreeingStates:
    """What the theorem asks of these networks on these points; `critical` where it is known already."""
    rows = []
    for number, (network, points, labels) in enumerate(given):
        plus, minus = common_signs(network.plus, points), common_signs(network.minus, points)
        positive, norms = labels > 0, np.linalg.norm(points, axis=1)
        known = None if critical is None else critical[number]
        largest = max(each.max() for each in critical_margins(points, labels) if len(each)) if known is None else known
        rows.append(
            (
                (labels * network.outputs(points)).min() / network.norm,
                float(margin_threshold(network.slope, network.output_weight, network.half_width, norms.max())),
                float(agreement_margin(network.weights, points)),
                largest,
                (plus != 0).all() and (minus != 0).all(),
                (plus[positive] > 0).all(),
                (minus[~positive] > 0).all(),
                (plus[~positive] < 0).all(),
                (minus[positive] < 0).all(),
            )
        )
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return AgreeingStates(
        *(column.astype(np.float64) for column in columns[:4]), *(column > 0 for column in columns[4:])
    )


def run_states(setting: StateSetting, progress: Progress) -> AgreeingStates:
    """Rows around two random directions, of random lengths, that get every point right."""
    draw, found, critical = np.random.default_rng([setting.seed, 14]), [], []
    for _ in over(range(setting.n_sets), progress, "single states"):
        points, labels = _whole_numbers(draw)
        slope = float(draw.choice(SLOPES))
        largest = max(each.max() for each in critical_margins(points, labels))
        for _ in range(TRIES):
            centres = draw.normal(size=(2, 1, 2)) * draw.choice([0.3, 1.0, 3.0], size=(2, 1, 1))
            rows = centres + draw.choice([0.0, 0.1]) * draw.normal(size=(2, HALF_WIDTH, 2))
            network = SignedNetwork(rows[0], rows[1], OUTPUT_WEIGHT, slope)
            if (labels * network.outputs(points)).min() > 0:
                found.append((network, points, labels))
                critical.append(largest)
    return states_of(found, critical)


def _whole_numbers(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two or three separable points of the plane with small whole coordinates, of both classes."""
    while True:
        points = draw.integers(-3, 4, size=(int(draw.integers(2, 4)), 2)).astype(np.float64)
        labels = np.sign(points @ draw.normal(size=2))
        if (
            (labels > 0).any()
            and (labels < 0).any()
            and points.any(axis=1).all()
            and separate(points, labels).separable
        ):
            return points, labels


def state_settings(scale: Scale, seed: int) -> list[StateSetting]:
    """More sets at paper scale."""
    return [StateSetting(n_sets=60 if scale is Scale.QUICK else 300, seed=seed)]


states = Experiment("sarussi2021.states", state_settings, run_states, seconds=2.0)
