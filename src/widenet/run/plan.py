"""Many claims and figures at once: every missing cell first, on all cores, then verdicts and drawings."""

import functools
import itertools
import math
from collections import Counter, deque
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

from widenet import plots
from widenet.claims import Claim, Experiment
from widenet.figures import Figure
from widenet.figures.archive import place_of as place_of_archive
from widenet.records import Scale
from widenet.run.cells import Cells, Task, tasks_of
from widenet.run.failures import Failure, tried
from widenet.run.kept import Kept, Place
from widenet.run.outcomes import CheckOutcome, FigureOutcome, NotComputed, judge, show
from widenet.run.watch import WorkWatch
from widenet.run.workers import Call

ANIMATION, ARCHIVE = "animation of", "paper-scale drawing of"
OutcomeWords = Callable[[CheckOutcome | FigureOutcome | NotComputed], str]
"""An outcome in a few words, for a line of progress."""

TO_JUDGE, TO_DRAW, TO_ANIMATE = 0.03, 1.5, 6.0
"""About how many seconds it takes to judge a claim, to draw a figure, and to draw one that moves."""


@dataclass
class Results:
    """What came out, in the order in which it was asked for; the files of a figure by its id.

    `not_computed` has the claims and figures without a result, because something that they need failed. `asked` has the
    ids of all of them.
    """

    checks: list[CheckOutcome] = field(default_factory=list)
    figures: list[FigureOutcome] = field(default_factory=list)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    not_computed: list[NotComputed] = field(default_factory=list)
    asked: tuple[str, ...] = ()

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """All of it as JSON values, in the order in which it was asked for; what was not computed is among it."""
        rows = {"checks": [each.row() for each in self.checks], "figures": [each.row() for each in self.figures]}
        for each in self.not_computed:
            rows["checks" if isinstance(each.item, Claim) else "figures"].append(each.row())
        places = {id: place for place, id in enumerate(self.asked)}
        return {noun: sorted(each, key=lambda row: places.get(row["id"], 0)) for noun, each in rows.items()}


@dataclass(frozen=True, eq=False)
class Plan:
    """What is asked for, and what has to be done for it."""

    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    scale: Scale
    seed: int
    cells: Cells
    kept: Kept | None = None
    """Outcomes and drawings of earlier reports; without it, everything is judged and drawn."""

    @functools.cached_property
    def missing(self) -> list[Task]:
        """The cells that have to be computed."""
        experiments = dict.fromkeys(each for item in (*self.claims, *self.figures) for each in item.reads)
        return self.cells.missing(task for each in experiments for task in self._tasks_of(each))

    def _tasks_of(self, experiment: Experiment) -> list[Task]:
        try:
            return tasks_of([experiment], self.scale, self.seed)[0]
        except Exception:
            return []  # whoever reads it asks for its settings again, and is told why there are none

    @functools.cached_property
    def moving(self) -> frozenset[str]:
        """The figures that have an animation."""
        return frozenset(figure.id for figure in self.figures if plots.moves(figure))

    @functools.cached_property
    def shipped(self) -> frozenset[str]:
        """The figures whose result at paper scale ships with the package. A report draws it beside its own."""
        if self.kept is None:
            return frozenset()
        return frozenset(figure.id for figure in self.figures if place_of_archive(figure.id).is_file())

    @property
    def n_pieces(self) -> int:
        """Cells to compute, claims to judge, figures to reduce, and what is drawn of them."""
        n_drawings = sum(len(self._names(figure)) for figure in self.figures)
        return len(self.missing) + len(self.claims) + len(self.figures) + n_drawings

    @property
    def pieces_by_paper(self) -> Counter[str]:
        """How many of them each paper has, in the order of the papers."""
        pieces = Counter(each.paper for each in (*self.claims, *self.figures))
        pieces.update(figure.paper for figure in self.figures for _ in self._names(figure))
        pieces.update(task.experiment.id.partition(".")[0] for task in self.missing)
        return pieces

    @property
    def seconds(self) -> float:
        """About how long all of it takes on one core."""
        judging = TO_JUDGE * (len(self.claims) + len(self.figures))
        return sum(task.experiment.seconds for task in self.missing) + judging + self._seconds_to_draw

    @property
    def _seconds_to_draw(self) -> float:
        return math.fsum(self._seconds_of(name) for figure in self.figures for name in self._names(figure))

    def carry_out(self, watch: WorkWatch, in_words: OutcomeWords) -> Results:
        """Compute what is missing, then find verdicts while workers draw.

        Raises:
          StoreError: the store cannot be read or written.
        """
        self.cells.fill(self.missing, watch)
        results, drawings = Results(asked=tuple(each.id for each in (*self.claims, *self.figures))), deque[Call]()
        drawn = self._drawn_before(watch)
        pieces = itertools.chain(self._reduce(results, drawings, drawn), self._judge(results))
        meanwhile = (watch.end(name, in_words(outcome), TO_JUDGE) for name, outcome in pieces)
        seconds = self._seconds_to_draw - sum(self._seconds_of(name) for name in drawn)
        new = self.cells.executor.call(drawings, watch, meanwhile, seconds)
        for outcome in results.figures:
            self._keep_files(outcome.figure, new)
            self._take_files(outcome.figure, drawn | new, results)
        if self.kept is not None:
            self.kept.note_sources()
        results.figures = [each for each in results.figures if each.figure.id in results.files]
        results.figures.sort(key=lambda outcome: self.figures.index(outcome.figure))
        return results

    @functools.cached_property
    def _places(self) -> dict[str, Place]:
        """Where outcomes are kept, once all cells are there."""
        if self.kept is None:
            return {}
        found = {item.id: self._place_of(item) for item in (*self.claims, *self.figures)}
        return {id: place for id, place in found.items() if place is not None}

    def _place_of(self, item: Claim | Figure) -> Place | None:
        try:
            return None if self.kept is None else self.kept.place_of(item, self.scale, self.seed)
        except Exception:
            return None  # it is found anew, and whoever finds it says what is wrong

    def _drawn_before(self, watch: WorkWatch) -> dict[str, Any]:
        """The pictures and animations that an earlier report drew from the same numbers, by the same code."""
        drawn = {}
        for figure in self.figures:
            for name in self._names(figure):
                place = self._place_of_drawing(figure, name)
                if place is None or self.kept is None or self.cells.fresh:
                    continue
                files = self.kept.files(plots.drawing_of(figure), name, place)
                if files is not None:
                    drawn[name] = files
                    watch.end(name, "unchanged", self._seconds_of(name))
        return drawn

    def _keep_files(self, figure: Figure, new: dict[str, Any]) -> None:
        for name in self._names(figure):
            place = self._place_of_drawing(figure, name)
            if self.kept is not None and place is not None and isinstance(new.get(name), dict):
                self.kept.keep_files(plots.drawing_of(figure), name, place, new[name])

    def _names(self, figure: Figure) -> list[str]:
        """Of the picture of a figure, of its animation if it moves, and of the picture at paper scale if it ships."""
        names = [_picture(figure.id)]
        names += [_animation(figure.id)] if figure.id in self.moving else []
        return names + ([_archive(figure.id)] if figure.id in self.shipped else [])

    def _place_of_drawing(self, figure: Figure, name: str) -> Place | None:
        place = self._places.get(figure.id)
        if place is None or self.kept is None or name != _archive(figure.id):
            return place
        return self.kept.at_paper_scale(figure, place)

    def _seconds_of(self, name: str) -> float:
        return TO_ANIMATE if name.startswith(ANIMATION) else TO_DRAW

    def _take_files(self, figure: Figure, drawn: dict[str, Any], results: Results) -> None:
        made = [drawn[name] for name in self._names(figure) if name in drawn]
        failure = next((each for each in made if isinstance(each, Failure)), None)
        if failure is not None:
            results.not_computed.append(NotComputed(figure, failure, self.scale, self.seed))
        else:
            results.files[figure.id] = {name: content for files in made for name, content in files.items()}

    def _found(self, item: Claim | Figure, find: Callable[..., Any], results: Results) -> Any:
        """The outcome of a claim or a figure; where something it needs failed, a `NotComputed`, which is noted."""
        place = self._places.get(item.id)
        if self.kept is not None and place is not None and not self.cells.fresh:
            found = self.kept.find(item, place, self.scale, self.seed)
            if found is not None:
                return found
        found = tried(item.id, functools.partial(find, item, self.scale, self.seed, self.cells))
        if self.kept is not None and place is not None and not isinstance(found, Failure):
            self.kept.keep(found, place)
        if isinstance(found, Failure):
            found = NotComputed(item, found, self.scale, self.seed)
            results.not_computed.append(found)
        return found

    def _reduce(
        self, results: Results, drawings: deque[Call], drawn: Container[str]
    ) -> Iterator[tuple[str, FigureOutcome | NotComputed]]:
        """The figures, one by one, those that move first; what is left to draw of them is added to `drawings`."""
        for figure in sorted(self.figures, key=lambda each: each.id not in self.moving):
            outcome = self._found(figure, show, results)
            if isinstance(outcome, FigureOutcome):
                results.figures.append(outcome)
                # The longest first: those that move, then those with many numbers.
                waiting = sorted([*drawings, *self._drawings(outcome, drawn)], key=_size, reverse=True)
                drawings.clear()
                drawings.extend(waiting)
            yield figure.id, outcome

    def _judge(self, results: Results) -> Iterator[tuple[str, CheckOutcome | NotComputed]]:
        """The claims, one by one."""
        for claim in self.claims:
            outcome = self._found(claim, judge, results)
            if isinstance(outcome, CheckOutcome):
                results.checks.append(outcome)
            yield claim.id, outcome

    def _drawings(self, outcome: FigureOutcome, drawn: Container[str]) -> Iterator[Call]:
        id, drawing = outcome.figure.id, plots.drawing_of(outcome.figure)
        if id in self.moving and _animation(id) not in drawn:
            yield Call(_animation(id), plots.animation_files, (drawing, id, outcome.numbers), TO_ANIMATE)
        if _picture(id) not in drawn:
            arguments = (drawing, id, outcome.numbers, outcome.row())
            yield Call(_picture(id), plots.picture_files, arguments, TO_DRAW)
        if id in self.shipped and _archive(id) not in drawn:
            yield Call(_archive(id), plots.archived_files, (drawing, id), TO_DRAW)


def _size(drawing: Call) -> tuple[float, int]:
    return drawing.seconds, sum(each.nbytes for each in drawing.arguments if isinstance(each, xr.Dataset))


def _picture(figure_id: str) -> str:
    return f"drawing of {figure_id}"


def _animation(figure_id: str) -> str:
    return f"{ANIMATION} {figure_id}"


def _archive(figure_id: str) -> str:
    return f"{ARCHIVE} {figure_id}"
