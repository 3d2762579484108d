"""Gradients of small samples and of batches against those of many points, row by row."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Count, Number
from widenet.claims.experiments import Experiment
from widenet.papers.li2018.sources import Caps, Mixture, OnData, structure_numbers
from widenet.papers.li2018.user_data import needs_the_law
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.small.softmax import gradient, start_softmax

SIZES = (16, 64, 256)


class BatchSetting(ClosedModel):
    """One network; batches of several sizes drawn afresh, and many points in place of the law of the data."""

    data: Mixture
    width: int = 500
    sizes: tuple[int, ...] = SIZES
    n_batches: int = 300
    n_reference: int = 20_000
    copies: bool = False
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Batches(OnData):
    """Gradients of batches of several sizes, and of the mean."""

    batch_sizes: Float[np.ndarray, " size"]
    gaps: Float[np.ndarray, "size batch"]  #: max_r ‖batch gradient − mean gradient‖
    largest_vote: Number
    width: Count
    large: Number  #: the share of neurons whose mean pseudo gradient exceeds v/4
    distance: Number


def run_batches(setting: BatchSetting, progress: Progress) -> Batches:
    """At the start, where gradient and pseudo gradient are the same. `copies` makes batches of one point, a control."""
    draw = np.random.default_rng([setting.seed, 53])
    many = setting.data.draw(setting.seed, fresh=1, n_points=setting.n_reference)
    network = start_softmax(draw, setting.width, many.points.shape[1], many.n_classes)
    mean, step = np.zeros_like(network.hidden), 2000
    wrong = []
    for first in range(0, setting.n_reference, step):
        rows = slice(first, first + step)
        logits = network.logits(many.points[rows])
        shares = np.full(len(logits), 1 / setting.n_reference)
        mean += gradient(network, many.points[rows], many.classes[rows], shares, logits=logits)
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        wrong.append(1 - exp[np.arange(len(exp)), many.classes[rows]] / exp.sum(axis=1))
    progress(0.5, "batches")
    gaps = np.zeros((len(setting.sizes), setting.n_batches))
    for place, size in enumerate(setting.sizes):
        pool = setting.data.draw(setting.seed, fresh=2 + place, n_points=size * setting.n_batches)
        for number in range(setting.n_batches):
            rows = np.arange(number * size, (number + 1) * size)
            rows = np.full(size, rows[0]) if setting.copies else rows
            slope = gradient(network, pool.points[rows], pool.classes[rows], np.full(size, 1 / size))
            gaps[place, number] = np.linalg.norm(slope - mean, axis=1).max()
    progress(1.0, "batches")
    largest = many.residual_max(np.concatenate(wrong))
    few = setting.data.draw(setting.seed, fresh=1, n_points=2000).measured()
    return Batches(
        batch_sizes=np.array(setting.sizes, np.float64),
        gaps=gaps,
        largest_vote=network.largest_vote,
        width=setting.width,
        norm_error=many.norm_error,
        large=float((np.linalg.norm(mean, axis=1) >= largest / 4).mean()),
        distance=few.distance,
        **structure_numbers(few),
    )


def batch_settings(scale: Scale, seed: int) -> list[BatchSetting]:
    """Caps of three classes."""
    many = BatchSetting(data=Caps(dim=20), seed=seed)
    return [many if scale is Scale.QUICK else many.model_copy(update={"n_batches": 2000, "n_reference": 100_000})]


batches = Experiment("li2018.batches", batch_settings, run_batches, seconds=2.0, on=needs_the_law)
