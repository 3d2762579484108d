"""Whether a larger network helps: networks of many widths and their rivals, tried on the same held-out points."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy.special
import scipy.stats
from jaxtyping import Bool, Float, Int

from widenet.certificates.rivals import BENDING, LINEAR, MAJORITY, ModelAnswers, predictions
from widenet.certificates.time_limit import OutOfTime, TimeLimit
from widenet.certificates.widths import (
    BATCH,
    NOWHERE,
    Ending,
    StudiedWidth,
    StudiedWidthSetting,
    held_out_parts,
    large_passes,
    widths,
)
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
"""The widest networks are left out where the work would allow fewer for all; more work allows more than the most."""
FEWEST_WIDTHS = 3
MOST_EFFORT = 1e6
"""The most of the usual work that may be asked for."""
ROUND = tuple(float(f"{first}e{power}") for power in range(-6, 7) for first in (1, 2, 5))
"""The efforts that are offered."""
RISK = 0.05
FALLING = 0.9
"""A network still learns if its loss, at the end of its large steps, is below this share of that halfway."""


class Score(ClosedModel):
    """How often something errs on held-out points.

    Attributes:
      wrong, points: so many of so many.
      limits: binomial 95 % limits of its error on points like these, computed as if these were independent. Networks
        share training points, and a width is chosen on the same points, so the limits are approximate.
      class_errors: the share of each class that it gets wrong; None for a class without held-out points.
      class_points, class_limits: the held-out points of each class, and the limits of its error.
      balanced_error: the mean of the errors of the classes, as if they were equally common; None without points.
      auc: of two classes, the area under the ROC curve: the share of pairs of held-out points, one of each class, that
        are ranked rightly, where a tie counts half. The mean over the parts that have both classes; None without one.
    """

    wrong: int
    points: int
    limits: tuple[float, float]
    class_errors: tuple[float | None, ...]
    class_points: tuple[int, ...]
    class_limits: tuple[tuple[float, float] | None, ...]
    balanced_error: float | None
    auc: float | None

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
      stopped, spent, diverged: how many ended because a loss was small enough, because they had made all passes that
        the work allows, and because weights became infinite.
      passes, updates, seconds: over the data, of the weights, and of training: the middle network.
      parameters: weights of a network.
    """

    n_neurons: int
    score: Score
    fitted: int
    train_errors: tuple[float, ...]
    learning: int
    stopped: int
    spent: int
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
    """Two that were tried on the same points, and an exact sign test of the points that only one of them gets wrong.

    Attributes:
      first, second: widths, or the names of rivals.
      only_first, only_second: points that only one of them gets wrong.
      chance: of counts that are no more even, if each such point were as likely to be the one's as the other's.
      risk: the chance below which a difference counts as measured.
    """

    first: str
    second: str
    only_first: int
    only_second: int
    chance: float
    risk: float

    @property
    def is_worse(self) -> bool:
        """Whether the first errs measurably more."""
        return self.only_first > self.only_second and self.chance <= self.risk

    @property
    def is_better(self) -> bool:
        """Whether the first errs measurably less."""
        return self.only_first < self.only_second and self.chance <= self.risk


class MoreWork(ClosedModel):
    """What an effort allows.

    Attributes:
      effort: how many times the usual work.
      passes: of each network over the data, at most.
      widest: neurons.
    """

    effort: float
    passes: int
    widest: int


class WidthStudy(ClosedModel):
    """Networks of many widths, and what became of them.

    Attributes:
      points, used: of your data, and those that networks get, at random.
      trained_on: points of each network; the others of `used` are held out from it.
      n_networks: of each width.
      passes: over the data, at most.
      work, effort: products that training may cost, and how many times the usual number that is.
      by_column: the number of parts in which networks divide each column by its own standard deviation.
      constant: how many columns are left out because they are constant in the training points, the fewest and the most.
      results: by width.
      left_out: widths that the work does not allow.
      cut_off: widths that a time limit did not allow.
      for_passes, for_widths: the smallest round effort that allows twice the passes, and that allows more widths.
      rivals: on the same points.
      majority: the name of the most common class.
      differences: comparisons between widths, at a risk of 5 % for all together.
      to_majority: comparisons of each width with the most common class, at a risk of 5 % for all together.
      to_rivals: comparisons of the width that is enough with each rival, at a risk of 5 % each.
      from_linear: comparisons of the linear classifier with rivals that bend, at a risk of 5 % for all together.
      enough: the smallest width that no larger one is measurably better than; None where that is not known.
      fits_from: from which width on every network gets every training point right; None where the largest does not.
    """

    points: int
    used: int
    trained_on: tuple[int, ...]
    n_networks: int
    passes: int
    work: float
    effort: float
    slope: float
    by_column: int
    constant: tuple[int, int]
    results: tuple[WidthResult, ...]
    left_out: tuple[int, ...]
    cut_off: tuple[int, ...]
    for_passes: MoreWork | None
    for_widths: MoreWork | None
    rivals: tuple[Rival, ...]
    majority: str
    differences: tuple[Difference, ...]
    to_majority: tuple[Difference, ...]
    to_rivals: tuple[Difference, ...]
    from_linear: tuple[Difference, ...]
    enough: int | None
    fits_from: int | None

    @property
    def best(self) -> WidthResult:
        """The networks of the width that is enough; where that is not known, of the width that errs least."""
        chosen = [each for each in self.results if each.n_neurons == self.enough]
        return chosen[0] if chosen else min(self.results, key=lambda each: (each.score.error, each.n_neurons))

    @property
    def is_open(self) -> bool:
        """Whether more work, or another way of training, may lead to networks that err less than `best`."""
        return bool(self.cut_off or self.left_out or self.unfinished or self.ahead)

    @property
    def unfinished(self) -> list[WidthResult]:
        """Networks, no narrower than `best`, that were still learning when their work was spent.

        Where wider ones fit every point, these show what more work would lead to.
        """
        wide = [each for each in self.results if each.n_neurons >= self.best.n_neurons]
        fitting = max((each.n_neurons for each in wide if each.fitted == self.n_networks), default=0)
        return [each for each in wide if each.learning and each.n_neurons > fitting]

    @property
    def ahead(self) -> list[Rival]:
        """Rivals that bend, and err measurably less than `best`."""
        names = [each.second for each in self.to_rivals if each.second in BENDING and each.is_worse]
        return [each for each in self.rivals if each.name in names]

    @property
    def offer(self) -> MoreWork | None:
        """The work that is advised where something is open."""
        return self.for_passes if self.unfinished else self.for_widths if self.left_out else None

    @property
    def held_out(self) -> int:
        """The number of points that some network was not trained on."""
        return self.results[0].score.points

    @property
    def beats_majority(self) -> bool:
        """Whether the networks of some width err measurably less than who always answers the most common class."""
        return any(each.is_better for each in self.to_majority)

    @property
    def fewest_seen(self) -> int:
        """The fewest points, all one way, by which the comparisons between widths measure a difference."""
        return fewest_measured(min(each.risk for each in self.differences))

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


class WorkPlan(NamedTuple):
    """How many widths of a growing grid the work allows, and how many passes over the data for each."""

    n_widths: int
    passes: int


def planned(grid: Sequence[int], points: int, dim: int, outputs: int, n_networks: int, effort: float) -> WorkPlan:
    """What the work allows. All widths make the same number of passes.

    It depends on sizes alone, never on how fast a machine is.
    """
    work, most = WORK * effort, int(MOST_PASSES * max(effort, 1.0))
    for count in range(len(grid), 0, -1):
        each = n_networks * sum(cost_of_pass(width, points, dim, outputs) for width in grid[:count])
        passes = int(min(max(work / each, 1), most))
        enough = min(MOST_PASSES, max(FEWEST_PASSES, FEWEST_UPDATES * BATCH // points))
        if passes >= enough or count <= FEWEST_WIDTHS:
            return WorkPlan(count, max(passes, FEWEST_PASSES))
    raise ValueError("a grid has a width")


def offers(
    grid: Sequence[int], points: int, dim: int, outputs: int, n_networks: int, effort: float
) -> tuple[MoreWork | None, MoreWork | None]:
    """The smallest of the round efforts that allows twice the passes, and that which allows more widths."""
    now, for_passes, for_widths = planned(grid, points, dim, outputs, n_networks, effort), None, None
    for more in (each for each in ROUND if effort < each <= MOST_EFFORT):
        plan = planned(grid, points, dim, outputs, n_networks, more)
        offer = MoreWork(effort=more, passes=plan.passes, widest=grid[plan.n_widths - 1])
        if for_passes is None and plan.passes >= 2 * now.passes:
            for_passes = offer
        if for_widths is None and plan.n_widths > now.n_widths:
            for_widths = offer
    return for_passes, for_widths


def study_widths(
    asked: StudySetting, cells: Cells, clock: TimeLimit, progress: Progress = silent
) -> tuple[WidthStudy, Mapping[int, StudiedWidth]] | None:
    """Train and compare; None where a time limit allows not a single width.

    Raises:
      StoreError: the store cannot be read or written.
    """
    parts = held_out_parts(asked.inputs, asked.labels, asked.n_networks, asked.seed)
    dim, trained_on = asked.inputs.shape[1], max(int((parts != number).sum()) for number in range(asked.n_networks))
    own = [] if asked.width is None else [asked.width]
    grid: list[int] = sorted({*GRID, *own})
    count, passes = planned(grid, trained_on, dim, asked.outputs, asked.n_networks, asked.effort)
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
    rivals = dict(predictions(asked.inputs, asked.labels, parts, scales=asked.scales))
    left_out = tuple(width for width in grid if width not in chosen)
    cut_off = tuple(width for width in chosen if width not in runs)
    more = offers(grid, trained_on, dim, asked.outputs, asked.n_networks, asked.effort)
    return compared(asked, runs, rivals, left_out, cut_off, more), runs


def compared(
    asked: StudySetting,
    runs: Mapping[int, StudiedWidth],
    rivals: Mapping[str, ModelAnswers],
    left_out: tuple[int, ...],
    cut_off: tuple[int, ...],
    more: tuple[MoreWork | None, MoreWork | None],
) -> WidthStudy:
    """What all of them did, and who errs measurably more than whom."""
    classes, tried, any_width = len(asked.names), sorted(runs), next(iter(runs.values()))
    held_out = any_width.parts != NOWHERE
    kinds = asked.labels[held_out]
    wrong = {str(width): found.predicted[held_out] != kinds for width, found in runs.items()}
    wrong |= {name: found.predicted[held_out] != kinds for name, found in rivals.items()}
    ranked = {str(width): found.scores for width, found in runs.items()}
    ranked |= {name: found.scores for name, found in rivals.items()}

    def score(name: str) -> Score:
        found = area(ranked[name][held_out], kinds, any_width.parts[held_out]) if classes == 2 else None
        return score_of(wrong[name], kinds, classes, found)

    differences = _differences(list(itertools.combinations(map(str, tried), 2)), wrong)
    better = {int(each.first) for each in differences if each.is_worse}
    enough = next(width for width in tried if width not in better) if kinds.size else None
    results = tuple(_result(runs[width], score(str(width))) for width in tried)
    fits_from = None
    for each in reversed(results):
        if each.fitted < asked.n_networks:
            break
        fits_from = each.n_neurons
    bending = [name for name in rivals if name in BENDING]
    return WidthStudy(
        points=asked.points,
        used=len(asked.labels),
        trained_on=tuple(any_width.trained_on.tolist()),
        n_networks=asked.n_networks,
        passes=any_width.setting.passes,
        work=WORK * asked.effort,
        effort=asked.effort,
        slope=asked.slope,
        by_column=int(any_width.by_column.sum()),
        constant=_ends(any_width.n_constant),
        results=results,
        left_out=left_out,
        cut_off=cut_off,
        for_passes=more[0],
        for_widths=more[1],
        rivals=tuple(Rival(name=name, score=score(name)) for name in rivals),
        majority=asked.names[int(np.bincount(asked.labels).argmax())],
        differences=differences,
        to_majority=_differences([(str(width), MAJORITY) for width in tried], wrong),
        to_rivals=() if enough is None else tuple(_difference(str(enough), name, wrong, RISK) for name in rivals),
        from_linear=_differences([(LINEAR, name) for name in bending], wrong),
        enough=enough,
        fits_from=fits_from,
    )


def _ends(counts: Int[np.ndarray, " network"]) -> tuple[int, int]:
    return int(counts.min()), int(counts.max())


def area(
    scores: Float[np.ndarray, " point"], kinds: Int[np.ndarray, " point"], parts: Int[np.ndarray, " point"]
) -> float | None:
    """Under the ROC curve of classes 0 and 1, by ranks in which ties share theirs: the mean of parts that have both."""
    found = []
    for part in np.unique(parts):
        own = parts == part
        second = kinds[own] == 1
        pairs, count = int(second.sum()) * int((~second).sum()), int(second.sum())
        if pairs:
            ranks = scipy.stats.rankdata(scores[own])
            found.append((ranks[second].sum() - count * (count + 1) / 2) / pairs)
    return float(np.mean(found)) if found else None


def score_of(
    wrong: Bool[np.ndarray, " point"], kinds: Int[np.ndarray, " point"], classes: int, auc: float | None
) -> Score:
    """How often, in all and of each class, with binomial 95 % limits."""
    count = int(wrong.sum())
    shares = [wrong[kinds == kind] for kind in range(classes)]
    return Score(
        wrong=count,
        points=len(wrong),
        limits=clopper_pearson(count, len(wrong), 1 - RISK / 2),
        class_errors=tuple(float(own.mean()) if len(own) else None for own in shares),
        class_points=tuple(map(len, shares)),
        class_limits=tuple(
            clopper_pearson(int(own.sum()), len(own), 1 - RISK / 2) if len(own) else None for own in shares
        ),
        balanced_error=float(np.mean([own.mean() for own in shares if len(own)])) if len(wrong) else None,
        auc=auc,
    )


def _differences(
    pairs: Sequence[tuple[str, str]], wrong: Mapping[str, Bool[np.ndarray, " point"]]
) -> tuple[Difference, ...]:
    """Comparisons at a risk of 5 % for all of them together."""
    return tuple(_difference(first, second, wrong, RISK / len(pairs)) for first, second in pairs)


def _difference(first: str, second: str, wrong: Mapping[str, Bool[np.ndarray, " point"]], risk: float) -> Difference:
    one, other = wrong[first], wrong[second]
    only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
    chance = chance_of(only_first, only_second)
    return Difference(
        first=first, second=second, only_first=only_first, only_second=only_second, chance=chance, risk=risk
    )


def chance_of(one: int, other: int) -> float:
    """That so many fair coins fall no more evenly: the exact two-sided sign test."""
    return min(1.0, 2 * float(scipy.special.bdtr(min(one, other), one + other, 0.5)))


def fewest_measured(risk: float) -> int:
    """The fewest points, all one way, of which the sign test says at this risk that they are no chance."""
    return next(count for count in itertools.count(1) if chance_of(0, count) <= risk)


def _result(found: StudiedWidth, score: Score) -> WidthResult:
    updates = found.passes * -(-found.trained_on // BATCH)
    return WidthResult(
        n_neurons=found.setting.n_neurons,
        score=score,
        fitted=int(found.fits.sum()),
        train_errors=tuple(found.train_error.tolist()),
        learning=int((still_learning(found) & ~found.fits).sum()),
        stopped=int((found.endings == Ending.FITTED).sum()),
        spent=int((found.endings == Ending.SPENT).sum()),
        diverged=int(found.diverged.sum()),
        passes=int(np.median(found.passes)),
        updates=int(np.median(updates)),
        seconds=float(np.median(found.seconds)),
        parameters=found.hidden.size + found.bias.size + found.output.size,
    )


def still_learning(found: StudiedWidth) -> Bool[np.ndarray, " network"]:
    """Which networks lose much less at the end of their large steps than halfway, so that more of them may help."""
    last = large_passes(found.setting.passes)
    span = max(1, last // 10)
    late = found.losses[:, last - span : last].mean(axis=1)
    half = found.losses[:, last // 2 : last // 2 + span].mean(axis=1)
    return (found.endings == Ending.SPENT) & (late < FALLING * half)
