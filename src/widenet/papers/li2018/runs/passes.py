"""One pass of mini-batch SGD over fresh points: the setting of Theorem 4.1."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Count, Number
from widenet.claims.experiments import Experiment
from widenet.claims.tolerances import IDENTITY, ROUNDING, STEP
from widenet.claims.user_data import Choices
from widenet.diagnostics.patterns import flip_share
from widenet.papers.li2018.formulas import logit_bound, loss_bound
from widenet.papers.li2018.sources import (
    HEXAGON,
    Caps,
    Gaussians,
    OnData,
    OwnSample,
    Polygon,
    Sample,
    structure_numbers,
)
from widenet.papers.li2018.user_data import on_points
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale
from widenet.training.small.softmax import (
    SoftmaxNetwork,
    cross_entropies,
    decided_rightly,
    descend_by_batches,
    start_softmax,
    wrong_mass,
)


class PassSetting(ClosedModel):
    """A width, η = scaled_step/m, and T batches of B points each; tested on fresh points.

    Points of a polygon, or of a reader, are drawn with replacement; those of mixtures are fresh.
    """

    data: Caps | Gaussians | Polygon | OwnSample
    width: int = 800
    scaled_step: float = 2.0
    batch_size: int = 32
    n_steps: int = 200
    n_test: int = 2000
    seed: int = 0


Points = Float[np.ndarray, " point"]
Times = Float[np.ndarray, " time"]


@dataclass(frozen=True, eq=False)
class Pass(OnData):
    """One run, at its end, on test points."""

    error: Number  #: share of test points that are not decided rightly
    residual: Number  #: v_max
    flips: Number  #: share of changed patterns
    distance: Number  #: from the start, relative
    gaps: Points  #: max_i |f_i − g_i|
    gap_bounds: Points  #: Σ |a_{i,r}|‖w_r − w_r⁰‖ over the neurons that flipped there, at the output closest to it
    update_accuracy: Number  #: of the part of f from W^T − W⁰ under the gates at the end
    start_accuracy: Number  #: and of that from W⁰
    times: Times  #: steps at which outputs were looked at
    logits: Times  #: |f_i(x)| where it comes closest to its bound
    logit_bounds: Times
    losses: Times  #: and the same for the loss
    loss_bounds: Times
    width: Count
    n_components: Count
    own: bool | np.ndarray  #: whether it is a reader's data, of which nobody knows how many steps are enough


def draw_training(setting: PassSetting) -> tuple[Sample, np.ndarray, Sample]:
    """(points, batches of their numbers, test points)."""
    count = setting.n_steps * setting.batch_size
    match setting.data:
        case Caps() | Gaussians():
            sample = setting.data.draw(setting.seed, fresh=1, n_points=count)
            test = setting.data.draw(setting.seed, fresh=2, n_points=setting.n_test)
            return sample, np.arange(count).reshape(-1, setting.batch_size), test
    sample = setting.data.draw(setting.seed)
    draw = np.random.default_rng([setting.seed, 81])
    return sample, draw.choice(len(sample.points), (setting.n_steps, setting.batch_size), p=sample.shares), sample


def gap_to_gated(start: SoftmaxNetwork, end: SoftmaxNetwork, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Per point, |f_i − g_i| and its bound at the output i where the first is the largest share of the second.

    Where one neuron flipped, the share is the same for every output, and where none did, both are 0: of
    outputs that are equal up to rounding the one with the largest bound is taken.
    """
    first = start.gates(sample.points)
    flipped = first != end.gates(sample.points)
    moved = np.linalg.norm(end.hidden - start.hidden, axis=1)
    gaps = np.abs(end.logits(sample.points) - end.gated_logits(sample.points, first))
    bounds = (flipped * moved) @ np.abs(end.votes).T
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(bounds > 0, gaps / bounds, np.where(gaps > IDENTITY, np.inf, 0.0))
        top = shares.max(axis=1, keepdims=True) * (1 - STEP)
        near = (shares >= top) | ((bounds > 0) & (gaps + ROUNDING >= top * bounds))
    place = np.where(near, bounds, -1.0).argmax(axis=1)
    rows = np.arange(len(gaps))
    return gaps[rows, place], bounds[rows, place]


def run_pass(setting: PassSetting, progress: Progress) -> Pass:
    """Train on one pass, and look at fresh points."""
    sample, batches, test = draw_training(setting)
    draw = np.random.default_rng([setting.seed, 80])
    start = start_softmax(draw, setting.width, sample.points.shape[1], sample.n_classes)
    eta, every = setting.scaled_step / setting.width, max(1, setting.n_steps // 10)
    few = Sample(test.points[:200], test.classes[:200], test.components[:200], test.shares[:200])
    first_size = np.abs(start.logits(few.points))
    rows, end = [], start
    for number, network, _ in descend_by_batches(start, sample.points, sample.classes, batches, eta):
        if number % every == 0:
            logits = network.logits(few.points)
            bound = logit_bound(first_size, start.largest_vote, eta, float(number), setting.width).ravel()
            size = np.abs(logits).ravel()
            # With few neurons all may be off at a point: there both sides are 0.
            place = np.divide(size, bound, out=np.zeros(len(size)), where=bound > 0).argmax()
            limits = loss_bound(sample.n_classes, np.abs(logits).max(axis=1))
            losses = cross_entropies(logits, few.classes)
            worst = (losses - limits).argmax()
            rows.append((number, size[place], bound[place], losses[worst], limits[worst]))
        end = network
    progress(0.8, "a pass of SGD")
    times = np.array(rows).T
    logits, gates = end.logits(test.points), end.gates(test.points)
    gaps, bounds = gap_to_gated(start, end, test)
    # Of a law a part is enough; a reader's points are all there is.
    structure = (test if isinstance(setting.data, OwnSample) else few).measured()
    update = SoftmaxNetwork(end.hidden - start.hidden, end.votes)
    progress(1.0, "a pass of SGD")
    return Pass(
        error=float(test.shares @ ~decided_rightly(logits, test.classes)),
        residual=test.residual_max(wrong_mass(logits, test.classes)),
        flips=flip_share(start.preactivations(test.points), end.preactivations(test.points)),
        distance=float(np.linalg.norm(end.hidden - start.hidden) / np.linalg.norm(start.hidden)),
        gaps=gaps,
        gap_bounds=bounds,
        update_accuracy=float(decided_rightly(update.gated_logits(test.points, gates), test.classes).mean()),
        start_accuracy=float(decided_rightly(start.gated_logits(test.points, gates), test.classes).mean()),
        times=times[0],
        logits=times[1],
        logit_bounds=times[2],
        losses=times[3],
        loss_bounds=times[4],
        width=setting.width,
        **structure_numbers(structure),
        n_components=structure.n_components,
        norm_error=sample.norm_error,
        own=isinstance(setting.data, OwnSample),
    )


def theorem_settings(scale: Scale, seed: int) -> list[PassSetting]:
    """Twenty runs at one width: 20 of 20 can show a failure rate of at most 0.15."""
    width, count = (400, 20) if scale is Scale.QUICK else (3200, 60)
    return [PassSetting(data=Caps(), width=width, seed=1000 * seed + number) for number in range(count)]


def pass_widths_settings(scale: Scale, seed: int) -> list[PassSetting]:
    """Four widths; the third is that of the theorem."""
    widths, count = ((25, 100, 400, 1600), 4) if scale is Scale.QUICK else ((50, 200, 800, 3200), 20)
    return [
        PassSetting(data=Caps(), width=width, seed=1000 * seed + number) for width in widths for number in range(count)
    ]


def cancellation_settings(scale: Scale, seed: int) -> list[PassSetting]:
    """Eight runs at the largest width, half of them those of the widths."""
    width, count = (1600, 8) if scale is Scale.QUICK else (3200, 20)
    return [PassSetting(data=Caps(), width=width, seed=1000 * seed + number) for number in range(count)]


def hexagon_passes(scale: Scale, seed: int) -> list[PassSetting]:
    """The antipodal hexagon."""
    return [PassSetting(data=HEXAGON, width=400, n_steps=100, seed=1000 * seed + number) for number in range(5)]


FROM_ROWS = "Batches are drawn from these points with replacement, and errors are counted on the same points."
MOST_PASSES = 20


def passes_on(data: OwnSample, n_runs: int, seed: int) -> list[PassSetting]:
    """Your points, drawn with replacement."""
    n_steps = min(400, 40 + 4 * len(data.draw(seed).points))
    return [
        PassSetting(data=data, width=400, n_steps=n_steps, batch_size=16, seed=seed + number)
        for number in range(n_runs)
    ]


@on_points(most_runs=MOST_PASSES, remark=FROM_ROWS)
def own_passes(data: OwnSample, choices: Choices) -> list[PassSetting]:
    """At one width and step: those that you chose, or m = 400 and η = 2/m."""
    width = choices.chosen("n_neurons") or 400
    step = choices.chosen("step_size")
    changes = {"width": width, "scaled_step": 2.0 if step is None else step * width}
    runs = passes_on(data, min(MOST_PASSES, choices.n_runs or MOST_PASSES), choices.seed)
    return [setting.model_copy(update=changes) for setting in runs]


@on_points(most=300, remark=FROM_ROWS)
def own_pass_widths(data: OwnSample, choices: Choices) -> list[PassSetting]:
    """At three widths, of which one is that of the others."""
    return [
        setting.model_copy(update={"width": width})
        for width in (100, 400, 1600)
        for setting in passes_on(data, 3, choices.seed)
    ]


passes = Experiment("li2018.passes", theorem_settings, run_pass, seconds=0.5)
theorem_passes = dataclasses.replace(passes, on=own_passes)
passes_at_widths = dataclasses.replace(passes, settings=pass_widths_settings, on=own_pass_widths)
