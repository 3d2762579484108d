"""Whether a larger network helps: networks of many widths and their rivals, tried on the same held-out points."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from widenet.certificates.rivals import predictions
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.certificates.widths import BATCH, SETTLING, StudiedWidth, StudiedWidthSetting, held_out_points, widths
from widenet.claims.statistics import clopper_pearson
from widenet.data.own import keep
from widenet.progress import Progress, silent, stretch
from widenet.records import ClosedModel
from widenet.run.cells import Cells, Task
from widenet.run.outcomes import read_all
from widenet.run.watch import InTurn
from widenet.types import Dataset

GRID = (4, 16, 64, 256, 1024, 4096)
"""Neurons."""
WORK, PER_STEP = 5e10, 6000
"""How many products all networks together may cost, and what a step costs besides its products, in products."""
FEWEST_UPDATES, FEWEST_PASSES, MOST_PASSES = 8_000, 12, 1000
"""The widest networks are left out where the work would allow fewer for all."""
FEWEST_WIDTHS = 3
CONFIDENCE = 0.95
FALLING = 0.9
"""A network still learns if its loss, at the end of its large steps, is below this share of that halfway."""


class Score(ClosedModel):
    """How often something errs on held-out points.

    Attributes:
      wrong, points: so many of so many.
      limits: 95 % limits of its error on points like these.
      class_errors: the share of each class that it gets wrong; None for a class without held-out points.
    """

    wrong: int
    points: int
    limits: tuple[float, float]
    class_errors: tuple[float | None, ...]

    @property
    def error(self) -> float:
        """The share of wrong answers; NaN without points."""
        return self.wrong / self.points if self.points else math.nan


class Rival(ClosedModel):
    """What networks are compared with."""

    name: str
    score: Score


class WidthResult(ClosedModel):
    """The networks of one width.

    Attributes:
      score: on held-out points, each of which one network was tried on.
      fitted: how many networks get every training point right.
      train_errors: the share of training points that each gets wrong.
      learning: how many were still learning when their work was spent, and fit not every point.
      diverged: how many did.
      passes, updates, seconds: over the data, of the weights, and of training: the middle network.
      parameters: weights of a network.
    """

    n_neurons: int
    score: Score
    fitted: int
    train_errors: tuple[float, ...]
    learning: int
    diverged: int
    passes: int
    updates: int
    seconds: float
    parameters: int

    @property
    def train_error(self) -> float:
        """Of the middle network."""
        return float(np.median(self.train_errors))


class Difference(ClosedModel):
    """Two that were tried on the same points.

    Attributes:
      first, second: widths, or the name of a rival.
      only_first, only_second: points that only one of them gets wrong.
      low, high: limits for how much more often the first errs than the second, of all points.
    """

    first: str
    second: str
    only_first: int
    only_second: int
    low: float
    high: float

    @property
    def is_worse(self) -> bool:
        """Whether the first certainly errs more."""
        return self.low > 0

    @property
    def is_better(self) -> bool:
        """Whether the first certainly errs less."""
        return self.high < 0


class WidthStudy(ClosedModel):
    """Networks of many widths, and what became of them.

    Attributes:
      points, used: of your data, and those that networks get, at random.
      trained_on: points of each network; the others of `used` are held out from it.
      n_networks: of each width.
      passes: over the data, at most.
      work, effort: products that training may cost, and how many times the usual number that is.
      results: by width.
      left_out: widths that the work does not allow.
      cut_off: widths that a time limit did not allow.
      rivals: on the same points.
      majority: the name of the most common class.
      differences: comparisons between widths, all of which hold together in 95 of 100 cases.
      to_rivals: comparisons of the width that is enough with each rival.
      enough: the smallest width that no larger one is better than; None where that is not known.
      fits_from: from which width on every network gets every training point right; None where the largest does not.
    """

    points: int
    used: int
    trained_on: int
    n_networks: int
    passes: int
    work: float
    effort: float
    slope: float
    results: tuple[WidthResult, ...]
    left_out: tuple[int, ...]
    cut_off: tuple[int, ...]
    rivals: tuple[Rival, ...]
    majority: str
    differences: tuple[Difference, ...]
    to_rivals: tuple[Difference, ...]
    enough: int | None
    fits_from: int | None

    @property
    def best(self) -> WidthResult:
        """The networks of the width that is enough; where that is not known, of the width that errs least."""
        chosen = [each for each in self.results if each.n_neurons == self.enough]
        return chosen[0] if chosen else min(self.results, key=lambda each: (each.score.error, each.n_neurons))

    @property
    def is_cut(self) -> bool:
        """Whether networks that may err less than `best` were still learning, or cut off by a time limit."""
        return bool(self.cut_off or self.unfinished)

    @property
    def unfinished(self) -> list[WidthResult]:
        """Networks, no narrower than `best`, that more work may make better than it.

        Those whose training points are already fitted better than held-out ones by more than chance only learn by heart
        what they see, and where wider ones fit every point, these show what more work would lead to.
        """
        wide = [each for each in self.results if each.n_neurons >= self.best.n_neurons]
        fitting = max((each.n_neurons for each in wide if each.fitted == self.n_networks), default=0)
        return [
            each
            for each in wide
            if each.learning and each.n_neurons > fitting and each.train_error >= each.score.limits[0]
        ]

    @property
    def held_out(self) -> int:
        """The number of points that some network was not trained on."""
        return self.results[0].score.points

    def difference(self, first: int, second: int) -> Difference:
        """Of two widths, the first the smaller one."""
        pair = (str(first), str(second))
        return next(each for each in self.differences if (each.first, each.second) == pair)

    def rival(self, name: str) -> Rival | None:
        """The rival of this name."""
        return next((each for each in self.rivals if each.name == name), None)

    def against(self, name: str) -> Difference | None:
        """How the width that is enough compares with a rival."""
        return next((each for each in self.to_rivals if each.second == name), None)


@dataclass(frozen=True, eq=False)
class StudySetting:
    """What is studied.

    Attributes:
      inputs, labels, names: points as they were given, the numbers of their classes, and the classes' names.
      points: how many there are in all.
      width: one that you chose, or None.
      n_networks: of each width.
      effort: how many times the usual work.
    """

    inputs: Float[np.ndarray, "sample dim"]
    labels: Int[np.ndarray, " sample"]
    names: tuple[str, ...]
    points: int
    width: int | None
    n_networks: int
    effort: float
    slope: float
    scales: bool
    seed: int

    @property
    def outputs(self) -> int:
        """Of a network."""
        return 1 if len(self.names) == 2 else len(self.names)


def cost_of_pass(n_neurons: int, points: int, dim: int, outputs: int) -> float:
    """What a pass over so many points costs a network, in products."""
    return float(-(-points // BATCH) * (PER_STEP + BATCH * n_neurons * (dim + outputs + 1)))


def planned(grid: Sequence[int], points: int, dim: int, outputs: int, n_networks: int, work: float) -> tuple[int, int]:
    """How many widths of a growing grid the work allows, and how many passes over the data for each.

    All widths make the same number of passes. It depends on sizes alone, never on how fast a machine is.
    """
    for count in range(len(grid), 0, -1):
        each = n_networks * sum(cost_of_pass(width, points, dim, outputs) for width in grid[:count])
        passes = int(min(max(work / each, 1), MOST_PASSES))
        enough = min(MOST_PASSES, max(FEWEST_PASSES, FEWEST_UPDATES * BATCH // points))
        if passes >= enough or count <= FEWEST_WIDTHS:
            return count, max(passes, min(FEWEST_PASSES, MOST_PASSES))
    raise ValueError("a grid has a width")


def study_widths(
    asked: StudySetting, cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> tuple[WidthStudy, Mapping[int, StudiedWidth]] | None:
    """Train and compare; None where a time limit allows not a single width.

    Raises:
      StoreError: the store cannot be read or written.
    """
    held_out = held_out_points(asked.labels, asked.n_networks, asked.seed)
    dim, trained_on = asked.inputs.shape[1], len(asked.labels) - held_out.shape[1]
    own = [] if asked.width is None else [asked.width]
    grid: list[int] = sorted({*GRID, *own})
    work = WORK * asked.effort
    count, passes = planned(grid, trained_on, dim, asked.outputs, asked.n_networks, work)
    chosen: list[int] = sorted({*grid[:count], *own})
    digest = keep(Dataset(jnp.asarray(asked.inputs), jnp.asarray(asked.labels, jnp.float64)))
    costs = np.cumsum([0.0, *(cost_of_pass(width, trained_on, dim, asked.outputs) for width in chosen)])
    shares, runs = 0.9 * costs / costs[-1], dict[int, StudiedWidth]()
    for place, width in enumerate(chosen):
        setting = StudiedWidthSetting(
            own_data=digest, n_classes=len(asked.names), n_neurons=width, n_networks=asked.n_networks, passes=passes,
            slope=asked.slope, scales=asked.scales, seed=asked.seed,
        )  # fmt: skip
        if clock.left <= 0:
            break
        try:
            part = stretch(progress, float(shares[place]), float(shares[place + 1]))
            ((reading,),) = read_all([[Task(widths, setting)]], cells, InTurn(clock.watched(part), 1))
        except OutOfTime:
            break
        runs[width] = reading.result
    if not runs:
        return None
    progress(0.9, "comparing with other models")
    rivals = dict(predictions(asked.inputs, asked.labels, held_out, scales=asked.scales))
    truth = asked.labels[held_out]
    left_out = tuple(width for width in grid if width not in chosen)
    cut_off = tuple(width for width in chosen if width not in runs)
    return compared(asked, runs, rivals, truth, trained_on, passes, left_out, cut_off), runs


def compared(
    asked: StudySetting,
    runs: Mapping[int, StudiedWidth],
    rivals: Mapping[str, Int[np.ndarray, "part point"]],
    truth: Int[np.ndarray, "part point"],
    trained_on: int,
    passes: int,
    left_out: tuple[int, ...],
    cut_off: tuple[int, ...],
) -> WidthStudy:
    """What all of them did, and who certainly errs more than whom."""
    classes = len(asked.names)
    wrong = {str(width): (found.predicted != truth).ravel() for width, found in runs.items()}
    wrong |= {name: (found != truth).ravel() for name, found in rivals.items()}
    kinds, tried = truth.ravel(), sorted(runs)
    pairs = [(one, other) for one in tried for other in tried if one < other]
    together = 1 - (1 - CONFIDENCE) / max(len(pairs), 1)
    differences = tuple(_difference(str(one), str(other), wrong, together) for one, other in pairs)
    better = {int(each.first) for each in differences if each.is_worse}
    enough = next(width for width in tried if width not in better) if truth.size else None
    results = tuple(_result(runs[width], score_of(wrong[str(width)], kinds, classes)) for width in tried)
    fits_from = None
    for each in reversed(results):
        if each.fitted < asked.n_networks:
            break
        fits_from = each.n_neurons
    best = str(enough if enough is not None else tried[0])
    return WidthStudy(
        points=asked.points,
        used=len(asked.labels),
        trained_on=trained_on,
        n_networks=asked.n_networks,
        passes=passes,
        work=WORK * asked.effort,
        effort=asked.effort,
        slope=asked.slope,
        results=results,
        left_out=left_out,
        cut_off=cut_off,
        rivals=tuple(Rival(name=name, score=score_of(wrong[name], kinds, classes)) for name in rivals),
        majority=asked.names[int(np.bincount(asked.labels).argmax())],
        differences=differences,
        to_rivals=tuple(_difference(best, name, wrong, CONFIDENCE) for name in rivals) if truth.size else (),
        enough=enough,
        fits_from=fits_from,
    )


def score_of(wrong: Bool[np.ndarray, " point"], kinds: Int[np.ndarray, " point"], classes: int) -> Score:
    """How often, in all and of each class, with exact 95 % limits."""
    count = int(wrong.sum())
    shares = [wrong[kinds == kind] for kind in range(classes)]
    return Score(
        wrong=count,
        points=len(wrong),
        limits=clopper_pearson(count, len(wrong), (1 + CONFIDENCE) / 2),
        class_errors=tuple(float(own.mean()) if len(own) else None for own in shares),
    )


def _difference(first: str, second: str, wrong: Mapping[str, Bool[np.ndarray, " point"]], level: float) -> Difference:
    one, other = wrong[first], wrong[second]
    only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
    low, high = limits_of_difference(only_first, only_second, len(one), level)
    return Difference(first=first, second=second, only_first=only_first, only_second=only_second, low=low, high=high)


def limits_of_difference(only_first: int, only_second: int, points: int, level: float) -> tuple[float, float]:
    """Limits for how much more often the first errs: exact for the share of the points that only one gets wrong."""
    apart = only_first + only_second
    if not apart:
        return 0.0, 0.0
    low, high = clopper_pearson(only_first, apart, (1 + level) / 2)
    return (2 * low - 1) * apart / points, (2 * high - 1) * apart / points


def _result(found: StudiedWidth, score: Score) -> WidthResult:
    passes, steps = int(np.median(found.passes)), -(-found.trained_on // BATCH)
    fits = (found.train_error == 0) & ~found.diverged
    return WidthResult(
        n_neurons=found.setting.n_neurons,
        score=score,
        fitted=int(fits.sum()),
        train_errors=tuple(found.train_error.tolist()),
        learning=int((still_learning(found) & ~fits).sum()),
        diverged=int(found.diverged.sum()),
        passes=passes,
        updates=passes * steps,
        seconds=float(np.median(found.seconds)),
        parameters=found.hidden.size + found.bias.size + found.output.size,
    )


def still_learning(found: StudiedWidth) -> Bool[np.ndarray, " network"]:
    """Which networks lose much less at the end of their large steps than halfway, so that more of them may help."""
    last = found.setting.passes - max(1, found.setting.passes // SETTLING)
    span = max(1, last // 10)
    late = found.losses[:, last - span : last]
    half = found.losses[:, last // 2 : last // 2 + span]
    return late.mean(axis=1) < FALLING * half.mean(axis=1)  # NaN, of a network that fitted before: no
