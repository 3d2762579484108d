"""Section 7.2: ReLU networks with output weights ±1, trained on the points e_1, …, e_d."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.claims.cases import Cases, column
from widenet.claims.experiments import Experiment
from widenet.papers.brutzkus2018.runs.flat_balls import INSIDE, try_ball
from widenet.papers.brutzkus2018.runs.online import OnlineRuns, OnlineStart, mean_hinge, train_online
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale


class BasisShape(ClosedModel):
    """A batch of runs that share dimension d, half-width k, step size η and the bound C on entries of W_0."""

    n_runs: int
    dim: int
    half_width: int
    step_size: float
    entry_bound: float = 1.0


class BasisSetting(ClosedModel):
    """Batches whose starts are drawn one after the other."""

    shapes: tuple[BasisShape, ...]
    mixed_labels: bool = False  #: labels are drawn too; otherwise every label is +1
    perturbations: int = 200  #: random directions in which the ball around each stuck end is tried; 0 tries no balls
    seed: int = 0


@dataclass(frozen=True, eq=False)
class StuckBalls:
    """The balls around the ends at positive loss."""

    run: Int[np.ndarray, " stuck"]  #: which run of the batch
    radius: Float[np.ndarray, " stuck"]  #: of the ball in which the loss should be constant
    changed: Int[np.ndarray, " stuck"]  #: in how many of the directions tried it was not
    moving: Int[np.ndarray, " stuck"]  #: points that would still make an update there
    tried: int  #: how many directions there were


@dataclass(frozen=True, eq=False)
class BasisBatch(Cases):
    """A batch before and after training; `balls` is None where none were tried."""

    start: OnlineStart
    runs: OnlineRuns
    balls: StuckBalls | None = None

    @column
    def stuck(self) -> Bool[np.ndarray, "run sample"]:
        """K_0."""
        return self.start.stuck(self.start.weights)

    @column
    def losses(self) -> Float[np.ndarray, " run"]:
        """The training loss at the end."""
        return mean_hinge(self.runs.outputs, self.start.labels)


@dataclass(frozen=True, eq=False)
class BasisRuns:
    """What a setting leaves: one batch per shape."""

    cases: tuple[BasisBatch, ...]


def basis_start(draw: np.random.Generator, shape: BasisShape, *, mixed_labels: bool = False, seed: int) -> OnlineStart:
    """The points e_1, …, e_d, and networks whose entries are uniform on [−C, C]."""
    bound, dim = shape.entry_bound, shape.dim
    weights = draw.uniform(-bound, bound, (shape.n_runs, 2 * shape.half_width, dim))
    labels = draw.choice([-1.0, 1.0], (shape.n_runs, dim)) if mixed_labels else np.ones((shape.n_runs, dim))
    return OnlineStart(np.eye(dim), labels, weights, shape.step_size, entry_bound=bound, seed=seed)


def train_batch(
    start: OnlineStart, *, perturbations: int = 0, max_passes: int = 2000, radius_factor: float = INSIDE
) -> BasisBatch:
    """Train a batch, and try the balls around its stuck ends."""
    runs = train_online(start, watch_stuck=True, max_passes=max_passes)
    batch = BasisBatch(start, runs)
    if perturbations == 0:
        return batch
    return dataclasses.replace(batch, balls=stuck_balls(batch, perturbations, radius_factor))


def stuck_balls(batch: BasisBatch, perturbations: int, radius_factor: float = INSIDE) -> StuckBalls:
    """The ball around the end of every run that ended at a positive loss."""
    start, final = batch.start, batch.runs.weights
    bad = np.flatnonzero(batch.runs.ended & (batch.losses > 0))
    draw = np.random.default_rng([start.seed, 2])
    tried = []
    for run in bad:
        one = dataclasses.replace(start, labels=start.labels[run][None], weights=final[run][None])
        tried.append(try_ball(one, final[run], draw, perturbations=perturbations, radius_factor=radius_factor))
    return StuckBalls(
        bad,
        np.array([ball.radius for ball in tried]),
        np.array([ball.changed for ball in tried], int),
        start.would_update(final)[bad].sum(axis=1),
        perturbations + 2,
    )


def run_basis(setting: BasisSetting, progress: Progress) -> BasisRuns:
    """Draw and train the batches of a setting."""
    draw = np.random.default_rng([setting.seed, 72 + setting.mixed_labels])
    starts = [
        basis_start(draw, shape, mixed_labels=setting.mixed_labels, seed=setting.seed + index)
        for index, shape in enumerate(setting.shapes)
    ]
    batches = over(starts, progress, "batches of ReLU runs on orthonormal points")
    return BasisRuns(tuple(train_batch(start, perturbations=setting.perturbations) for start in batches))


def basis_settings(scale: Scale, seed: int) -> list[BasisSetting]:
    """From always stuck to mostly solved."""
    n_runs = 100 if scale is Scale.QUICK else 400
    shapes = ((8, 2, 0.1), (8, 3, 1.5), (20, 3, 0.3), (50, 6, 0.7))
    return [
        BasisSetting(
            shapes=tuple(BasisShape(n_runs=n_runs, dim=d, half_width=k, step_size=eta) for d, k, eta in shapes),
            seed=seed,
        )
    ]


def mixed_settings(scale: Scale, seed: int) -> list[BasisSetting]:
    """The same shapes with labels of both signs."""
    return [
        setting.model_copy(update={"mixed_labels": True, "perturbations": 0}) for setting in basis_settings(scale, seed)
    ]


basis = Experiment("brutzkus2018.basis", basis_settings, run_basis, seconds=0.6)
