"""Gradient descent until every training point is decided rightly: true labels against permuted and arbitrary ones."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Count, Number
from widenet.claims.experiments import Experiment
from widenet.diagnostics.components import is_obstructed
from widenet.diagnostics.spectra import singular_values
from widenet.papers.li2018.sources import HEXAGON, Gaussians, Polygon, Sample, SphereLabels
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.small.softmax import SoftmaxNetwork, decided_rightly, descend, start_softmax


class LabelFitSetting(ClosedModel):
    """Points, a width, η = scaled_step/m, and at most so many steps; labels may be permuted among the points.

    `twice` adds the first point once more with another label.
    """

    data: Gaussians | SphereLabels | Polygon
    width: int = 500
    scaled_step: float = 5.0
    max_steps: int = 6000
    permuted: bool = False
    twice: bool = False
    n_test: int = 0
    accuracy: float = 1.0
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LabelFit(Cases):
    """Where a descent first decided enough points rightly, or where it was cut off."""

    steps: Count  #: taken
    accuracy: Number  #: on the training points
    distance: Number  #: ‖W − W⁰‖
    relative: Number  #: and over ‖W⁰‖
    test_accuracy: Number  #: on fresh points, NaN without
    truncated: Number  #: the same with the update cut to rank kl, to its largest singular values
    gap: Number  #: σ_kl/σ_{kl+1} of the update
    weight_gap: Number  #: the same of W
    permuted: bool | np.ndarray
    n_components: Count
    per_class: Count
    nearest: Number  #: the smallest distance of two training points
    parallel: Number  #: and of one from a mirror image of another
    norm_error: Number
    obstructed: bool | np.ndarray  #: whether antipodal points make it impossible for every network
    seed: Count
    spectrum: Float[np.ndarray, " place"]


def training_points(setting: LabelFitSetting) -> Sample:
    """As drawn; with the labels permuted; or with one point twice."""
    sample = setting.data.draw(setting.seed)
    points, classes, components = sample.points, sample.classes, sample.components
    if setting.permuted:
        order = np.random.default_rng([setting.seed, 84]).permutation(len(classes))
        classes = classes[order]
    if setting.twice:
        points = np.concatenate([points, points[:1]])
        classes = np.append(classes, (classes[0] + 1) % sample.n_classes)
        components = np.append(components, components.max() + 1)
    return Sample(points, classes, components, np.full(len(points), 1 / len(points)))


def run_fit(setting: LabelFitSetting, progress: Progress) -> LabelFit:
    """Descend until the accuracy is reached."""
    sample = training_points(setting)
    n_classes = setting.data.draw(setting.seed).n_classes
    draw = np.random.default_rng([setting.seed, 85])
    start = start_softmax(draw, setting.width, sample.points.shape[1], n_classes)
    eta, end, steps, accuracy = setting.scaled_step / setting.width, start, 0, 0.0
    for step in descend(start, sample.points, sample.classes, sample.shares, eta, setting.max_steps):
        accuracy = float(decided_rightly(step.logits, sample.classes).mean())
        end, steps = step.network, step.number
        if accuracy >= setting.accuracy:
            break
        if steps % 200 == 0:
            progress(min(0.9, steps / setting.max_steps), "fitting labels")
    update = end.hidden - start.hidden
    values, weights = singular_values(update), singular_values(end.hidden)
    place = len(np.unique(setting.data.draw(setting.seed).components))
    test_accuracy, truncated = np.nan, np.nan
    if setting.n_test and isinstance(setting.data, Gaussians):
        test = setting.data.draw(setting.seed, fresh=1, n_points=setting.n_test)
        left, _, right = np.linalg.svd(update, full_matrices=False)
        low = (left[:, :place] * values[:place]) @ right[:place]
        test_accuracy = float(decided_rightly(end.logits(test.points), test.classes).mean())
        cut = SoftmaxNetwork(start.hidden + low, start.votes)
        truncated = float(decided_rightly(cut.logits(test.points), test.classes).mean())
    apart = np.linalg.norm(sample.points[:, None] - sample.points, axis=2) + 9 * np.eye(len(sample.points))
    mirrored = np.linalg.norm(sample.points[:, None] + sample.points, axis=2) + 9 * np.eye(len(sample.points))
    beyond = min(place, len(values) - 1)
    progress(1.0, "fitting labels")
    return LabelFit(
        steps=steps,
        accuracy=accuracy,
        distance=float(np.linalg.norm(update)),
        relative=float(np.linalg.norm(update) / np.linalg.norm(start.hidden)),
        test_accuracy=float(test_accuracy),
        truncated=float(truncated),
        gap=float(values[beyond - 1] / max(values[beyond], 1e-300)),
        weight_gap=float(weights[beyond - 1] / weights[beyond]),
        permuted=setting.permuted,
        n_components=place,
        per_class=setting.data.per_class if isinstance(setting.data, Gaussians) else 1,
        nearest=float(apart.min()),
        parallel=float(mirrored.min()),
        norm_error=sample.norm_error,
        obstructed=is_obstructed(sample.points, sample.classes),
        seed=setting.seed,
        spectrum=values,
    )


CLOUDS = Gaussians(n_classes=5, per_class=1, dim=50, mean_scale=1.0, spread=0.3, n_points=100)
"""Five classes of one component each."""
MIXTURE = Gaussians(dim=100, n_points=160)
"""The mixture of Section 7 with fewer dimensions and points."""


def structure_settings(scale: Scale, seed: int) -> list[LabelFitSetting]:
    """True and permuted labels on the same points, which alternate."""
    seeds = 5 if scale is Scale.QUICK else 10
    return [
        LabelFitSetting(data=CLOUDS, permuted=permuted, max_steps=20_000, seed=1000 * seed + number)
        for number in range(seeds)
        for permuted in (False, True)
    ]


def bias_settings(scale: Scale, seed: int) -> list[LabelFitSetting]:
    """True and permuted labels on the mixture, with fresh points to test."""
    data, width, step = (MIXTURE, 400, 20.0) if scale is Scale.QUICK else (Gaussians(n_points=200), 2000, 10.0)
    return [
        LabelFitSetting(
            data=data, width=width, permuted=permuted, scaled_step=step, n_test=1000, seed=1000 * seed + number
        )
        for number in range(3)
        for permuted in (False, True)
    ]


def arbitrary_settings(scale: Scale, seed: int) -> list[LabelFitSetting]:
    """Points of the sphere with labels that know nothing of them."""
    return [LabelFitSetting(data=SphereLabels(), max_steps=4000, seed=1000 * seed + number) for number in range(3)]


def hexagon_fits(scale: Scale, seed: int) -> list[LabelFitSetting]:
    """Six points with labels that no network fits."""
    return [LabelFitSetting(data=HEXAGON, width=200, max_steps=300, seed=seed)]


def component_settings(scale: Scale, seed: int) -> list[LabelFitSetting]:
    """One, two, four and seven components per class, until 0.98 of the training points are decided rightly."""
    seeds = 3 if scale is Scale.QUICK else 5
    return [
        LabelFitSetting(
            data=MIXTURE.model_copy(update={"per_class": per_class}),
            accuracy=0.98,
            max_steps=1000,
            seed=1000 * seed + number,
        )
        for per_class in (1, 2, 4, 7)
        for number in range(seeds)
    ]


fits = Experiment("li2018.fits", structure_settings, run_fit, seconds=2.0)
