"""What Sections 3.3 and Appendix B say about single networks and single steps, measured on many networks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Float
from pydantic import Field

from widenet.claims.applicability import NotApplicable
from widenet.claims.cases import Cases
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import UserData
from widenet.diagnostics.curvature import DENSE, hessian_norm
from widenet.diagnostics.huberized import (
    HuberNetwork,
    gradient,
    hessian_blocks,
    huberized_change,
    length,
    log_mean_loss,
    pulls,
    relative_loss_change,
)
from widenet.papers.chatterji2021.formulas import SHARP
from widenet.papers.chatterji2021.sources import Case, OwnCases, OwnReducedPoints, PlacedCases, RandomCases, ThinCases
from widenet.papers.chatterji2021.user_data import reason_in_inputs
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

SHARES = (1 / 100, 1 / 30, 1 / (3 * SHARP))
"""pαL of the steps that Lemma 8 and its sharper form are tried with."""
PLACES = 9
"""Points of a segment that are looked at."""
SMALL = 300
"""Weights up to which Hessians are diagonalized; some twenty are looked at per network, so larger ones by products."""

PerNetwork = Float[np.ndarray, " network"]
PerNetworkStep = Float[np.ndarray, "network step"]


class NetworkSetting(ClosedModel):
    """Which networks are looked at."""

    networks: Annotated[RandomCases | PlacedCases | ThinCases | OwnCases, Field(discriminator="kind")]


@dataclass(frozen=True, eq=False)
class NetworkLooks(Cases):
    """Single networks; NaN where something was not looked at."""

    rows: ClassVar = "network"

    n_samples: PerNetwork  #: n
    half_width: PerNetwork  #: p
    bandwidth: PerNetwork  #: h
    unit_error: PerNetwork  #: the largest |‖x‖ − 1|
    label_error: PerNetwork  #: the largest distance of a label from ±1
    losses: PerNetwork  #: L
    pulls: PerNetwork  #: mean g
    norms: PerNetwork  #: ‖V‖
    gradient_norms: PerNetwork  #: ‖∇L‖
    hessian_norms: PerNetwork  #: ‖∇²L‖
    off_diagonals: PerNetwork  #: the largest ‖∇_{v_i}∇_{v_j}L‖ with i ≠ j
    diagonals: PerNetwork  #: the largest ‖∇²_{v_i}L‖
    alignments: PerNetwork  #: −⟨∇L, V⟩
    weighted_margins: PerNetwork  #: mean(g y f(x))
    largest_margins: PerNetwork  #: max y f(x)
    steps: PerNetworkStep  #: α, for each of `SHARES`
    efficiencies: PerNetworkStep  #: (L − L')/(α‖∇L‖²), L' after the step
    segment_hessians: PerNetwork  #: the largest ‖∇²L‖ on the way of the step of Lemma 8
    segment_losses: PerNetwork  #: the largest L there
    local_steps: PerNetwork  #: a step 1/(3M)
    local_smoothness: PerNetwork  #: M, a bound on ‖∇²L‖ on its way
    local_efficiencies: PerNetwork  #: (L − L')/(α‖∇L‖²) of it


def look_at(cases: Iterable[Case]) -> NetworkLooks:
    """All numbers of all networks."""
    rows = [_look(case) for case in cases]
    return NetworkLooks(**{name: np.array([row[name] for row in rows]) for name in rows[0]})


def _look(case: Case) -> dict[str, object]:
    network, points, labels = case.network, case.points, case.labels
    margins = network.margins(points, labels)
    loss, pull, slope = float(np.exp(log_mean_loss(margins))), pulls(margins), gradient(network, points, labels)
    p = network.half_width
    steps = np.array(SHARES) / (p * loss)
    segment = _segment(case, slope, steps[SHARES.index(1 / 30)])
    return {
        "n_samples": float(len(labels)),
        "half_width": float(p),
        "bandwidth": network.bandwidth,
        "unit_error": float(np.abs(np.linalg.norm(points, axis=1) - 1).max()),
        "label_error": float(np.abs(np.abs(labels) - 1).max()),
        "losses": loss,
        "pulls": float(pull.mean()),
        "norms": network.norm,
        "gradient_norms": length(slope),
        "hessian_norms": _curve(case, network),
        **_blocks(case),
        "alignments": -float((slope * network.weights).sum()),
        "weighted_margins": float((pull * margins).mean()),
        "largest_margins": float(margins.max()),
        "steps": steps,
        "efficiencies": np.array([_efficiency(case, slope, step) for step in steps]),
        "segment_hessians": segment[0],
        "segment_losses": segment[1],
        **_local(case, slope),
    }


def _blocks(case: Case) -> dict[str, float]:
    rows = len(case.network.weights)
    if case.network.weights.size > DENSE:
        return {"off_diagonals": float("nan"), "diagonals": float("nan")}
    sizes = np.abs(np.linalg.eigvalsh(hessian_blocks(case.network, case.points, case.labels))).max(axis=-1)
    return {"off_diagonals": float(sizes[~np.eye(rows, dtype=bool)].max()), "diagonals": float(np.diag(sizes).max())}


def _efficiency(case: Case, slope: np.ndarray, step: float) -> float:
    """(L − L')/(α‖∇L‖²); NaN where the gradient is 0."""
    network, points, labels = case.network, case.points, case.labels
    size = length(slope)
    if not size or not np.isfinite(step):
        return float("nan")
    margins = network.margins(points, labels)
    changes = huberized_change(network.preactivations(points), -step * (points @ slope.T), network.bandwidth)
    fell = -float(relative_loss_change(margins, labels * (changes @ network.signs)))
    return fell / (step * size) * (float(np.exp(log_mean_loss(margins))) / size)


def _segment(case: Case, slope: np.ndarray, step: float) -> tuple[float, float]:
    """The largest ‖∇²L‖ and L at places of the way from V to V − α∇L."""
    seen = [_at(case, slope, part * step) for part in np.linspace(0, 1, PLACES)]
    return max(each[0] for each in seen), max(each[1] for each in seen)


def _at(case: Case, slope: np.ndarray, step: float) -> tuple[float, float]:
    moved = HuberNetwork(case.network.weights - step * slope, case.network.bandwidth)
    loss = float(np.exp(log_mean_loss(moved.margins(case.points, case.labels))))
    return _curve(case, moved), loss


def _curve(case: Case, network: HuberNetwork) -> float:
    return hessian_norm(network, case.points, case.labels, dense=SMALL)


def _local(case: Case, slope: np.ndarray) -> dict[str, float]:
    """A step 1/(3M), as long as Lemma 5 allows."""
    names = ("local_steps", "local_smoothness", "local_efficiencies")
    start = _curve(case, case.network)
    if not start or not slope.any():
        return dict.fromkeys(names, float("nan"))
    bound = _smoothness(case, slope, 1 / (3 * start))
    return dict(zip(names, (1 / (3 * bound), bound, _efficiency(case, slope, 1 / (3 * bound))), strict=True))


def _smoothness(case: Case, slope: np.ndarray, step: float) -> float:
    """M ≥ ‖∇²L‖ on the way of this step.

    Where no pre-activation changes its piece of φ, the Hessian is continuous, and its largest norm among the places is
    taken, a thousandth more if it is not the one at the start. Where one does, κp times a bound on L: between two
    places L grows by at most √(2p) times their distance (Lemma 7).
    """
    network = case.network
    h, p = network.bandwidth, network.half_width
    before = network.preactivations(case.points)
    after = before - step * (case.points @ slope.T)
    pieces = [np.digitize(z, [0.0, h]) for z in (before, after)]
    seen = [_at(case, slope, part * step) for part in np.linspace(0, 1, PLACES)]
    largest = max(each[0] for each in seen)
    if (pieces[0] == pieces[1]).all():
        return largest if largest == seen[0][0] else 1.001 * largest
    apart = step * length(slope) / (2 * (PLACES - 1))
    loss = max(each[1] for each in seen) + np.sqrt(2 * p) * apart
    return max(largest, SHARP * p * float(loss))


def run_networks(setting: NetworkSetting, progress: Progress) -> NetworkLooks:
    """Make the networks and look at them."""
    found = look_at(setting.networks.cases())
    progress(1.0, "networks")
    return found


def network_settings(scale: Scale, seed: int) -> Sequence[NetworkSetting]:
    """Two batches of random networks, and the placed ones."""
    count = 150 if scale is Scale.QUICK else 1000
    batches = [NetworkSetting(networks=RandomCases(n_networks=count, seed=2 * seed + half)) for half in (0, 1)]
    return [*batches, NetworkSetting(networks=PlacedCases())]


def looks_on(user_data: UserData) -> list[NetworkSetting] | NotApplicable:
    """Networks of the chosen width with random rows, on your data."""
    if (reason := reason_in_inputs(user_data)) is not None:
        return reason
    half_width = user_data.choices.n_neurons // 2
    if 2 * half_width * (user_data.inputs.shape[1] + 1) > DENSE:
        return NotApplicable(f"Hessians are looked at whole here, with at most {DENSE} weights; choose fewer neurons.")
    cases = OwnCases(
        points=OwnReducedPoints(own_data=user_data.digest),
        half_width=half_width,
        n_networks=user_data.choices.n_runs or (3 if len(user_data.labels) > 100 else 6),
        seed=user_data.choices.seed,
    )
    return [NetworkSetting(networks=cases)]


def thin_settings(scale: Scale, seed: int) -> list[NetworkSetting]:
    """The networks on which (5) gives Lemma 10 with nothing to spare."""
    return [NetworkSetting(networks=ThinCases())]


networks = Experiment("chatterji2021.networks", network_settings, run_networks, seconds=3.0, on=looks_on)
thin_networks = networks.at(thin_settings, on=lambda user_data: [])
"""They are built, so there are none on your data."""
