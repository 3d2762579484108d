"""How many neurons have a large pseudo gradient: for residuals drawn, met in training, or of one wrong point."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Count
from widenet.claims.experiments import Experiment
from widenet.claims.user_data import Choices
from widenet.papers.li2018.formulas import best_large_share, target_share
from widenet.papers.li2018.sources import HEXAGON, TOY, DataSetting, OnData, OwnSample, Sample, structure_numbers
from widenet.papers.li2018.user_data import on_points
from widenet.progress import Progress
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork, descend, residuals, start_softmax


class LargeGradientSetting(DataSetting):
    """One network of this width, and how many residuals of each kind are tried; `n_wrong` points are wrong in turn."""

    width: int = 2048
    n_random: int = 60
    n_steps: int = 200
    every: int = 10
    n_wrong: int = 6
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LargeGradients(OnData):
    """How many neurons of one network have a large pseudo gradient, for many residuals."""

    shares: Float[np.ndarray, " case"]  #: the share of neurons with ‖∂̃L/∂w_r‖ ≥ v/2
    targets: Float[np.ndarray, " case"]  #: as Lemma 5.2 is held against
    kinds: Float[np.ndarray, " case"]  #: 0 met in training, 1 drawn, 2 of one wrong point
    width: Count


class _Followed:
    """One start on one sample."""

    def __init__(self, start: SoftmaxNetwork, sample: Sample):
        self.start, self.sample, self.gates = start, sample, start.gates(sample.points)
        self.best = [
            target_share(best_large_share(sample.points[sample.classes != kind] @ point))
            for point, kind in zip(sample.points, sample.classes, strict=True)
        ]

    def norms(self, logits: np.ndarray) -> tuple[np.ndarray, float]:
        """‖∂̃L/∂w_r‖/v, and the target at the point where v is attained; every point is a component here."""
        sample = self.sample
        weighted = sample.shares[:, None] * residuals(logits, sample.classes)
        own = weighted[np.arange(len(logits)), sample.classes]
        slope = ((weighted @ self.start.votes) * self.gates).T @ sample.points
        return np.linalg.norm(slope, axis=1) / own.max(), self.best[int(own.argmax())]


SURE = 20.0
"""An output of this size at one class, and 0 at the others, leaves residuals of 2e-9."""


def one_wrong(sample: Sample, count: int) -> Iterator[Float[np.ndarray, "point kind"]]:
    """Outputs that are sure and right at all points but one: there undecided, or sure of another class.

    Nothing that other points add helps the neurons that are off at this one: so few have a large gradient.
    """
    right = SURE * np.eye(sample.n_classes)[sample.classes]
    for place in np.unique(np.linspace(0, len(right) - 1, count).astype(int)) if count else ():
        for there in (np.zeros(sample.n_classes), *SURE * np.eye(sample.n_classes)):
            logits = right.copy()
            logits[place] = there
            if logits[place].argmax() != sample.classes[place] or not there.any():
                yield logits


def run_large_gradients(setting: LargeGradientSetting, progress: Progress) -> LargeGradients:
    """Residuals from a training, from random outputs, and from outputs that are right but at one point."""
    draw = np.random.default_rng([setting.seed, 52])
    sample = setting.data.draw(setting.seed)
    start = start_softmax(draw, setting.width, sample.points.shape[1], sample.n_classes)
    followed, rows = _Followed(start, sample), []

    def keep(logits: np.ndarray, kind: int) -> None:
        norms, target = followed.norms(logits)
        rows.append((float((norms >= 0.5).mean()), target, kind))

    steps = descend(start, sample.points, sample.classes, sample.shares, 2 / setting.width, setting.n_steps)
    for step in steps:
        if step.number % setting.every == 0:
            keep(step.logits, 0)
    shape = (len(sample.points), sample.n_classes)
    for _ in range(setting.n_random):
        keep(draw.normal(size=shape) * np.exp(draw.uniform(-2, 2)), 1)
    progress(0.3, "large gradients")

    for logits in one_wrong(sample, setting.n_wrong):
        keep(logits, 2)
    progress(1.0, "large gradients")
    measured = sample.measured()
    return LargeGradients(
        *np.array(rows).T,
        **structure_numbers(measured),
        norm_error=sample.norm_error,
        width=setting.width,
    )


def large_gradient_settings(scale: Scale, seed: int) -> list[LargeGradientSetting]:
    """Toys."""
    count = 2 if scale is Scale.QUICK else 10
    return [LargeGradientSetting(data=TOY, seed=1000 * seed + number) for number in range(count)]


def hexagon_gradients(scale: Scale, seed: int) -> list[LargeGradientSetting]:
    """The antipodal hexagon."""
    return [LargeGradientSetting(data=HEXAGON, width=500, n_random=0, n_steps=3000, every=3000, n_wrong=0, seed=seed)]


@on_points(most=150, single=True)
def own_large_gradients(data: OwnSample, choices: Choices) -> list[LargeGradientSetting]:
    """One network, of your width or m = 2048."""
    width = choices.chosen("n_neurons") or 2048
    return [LargeGradientSetting(data=data, width=width, n_random=20, n_steps=60, seed=choices.seed)]


large_gradients = Experiment(
    "li2018.large_gradients", large_gradient_settings, run_large_gradients, seconds=1.0, on=own_large_gradients
)
