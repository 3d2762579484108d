"""From your data to a certificate: read, prepare, look, train, ask."""

import math
import numbers
import time as clocks
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from widenet.certificates.allowances import allowances
from widenet.certificates.certainty import repeat
from widenet.certificates.certificate import Certificate, Findings
from widenet.certificates.data_forms import views_of
from widenet.certificates.fixes import small_changes
from widenet.certificates.plane import plane_of
from widenet.certificates.portrait import portray
from widenet.certificates.preparation import MOST_POINTS, Scaling, prepare, varying_columns
from widenet.certificates.promises import promises_of
from widenet.certificates.reading import Table, read
from widenet.certificates.rows import ask_again, ask_all, claims_by_weight, ordered
from widenet.certificates.samples import drawn_points
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.width_study import MOST_EFFORT, StudySetting, study_widths
from widenet.claims.user_data import Choices
from widenet.data.archives import shown
from widenet.diagnostics.work import Work
from widenet.errors import InputError
from widenet.progress import Progress, silent, stretch
from widenet.run.cells import versions
from widenet.run.outcomes import cells_of, version
from widenet.store import Store

RUNS, FEWEST_RUNS, MOST_RUNS = 5, 2, 100
MOST_SECONDS, LARGEST_SCALE = 1e7, 1e30
MOST_WEIGHTS = 10_000_000
"""The most weights of a network that you may ask for."""
LEAST_WIDTH, PER_CLASS = 20, 10
MOST_NUMBERS, LEAST_TRAINED = 1_800_000, 500
"""Networks are given at most so many numbers, and at least so many points."""
FOR_MAIN, FOR_CHANGES, FOR_FEW = 0.6, 0.4, 0.7
"""With a time limit: the shares of the time left that main results may take, changes, and statements about a few
points."""


def certify(
    inputs: Any,
    labels: Any = None,
    *,
    label: str | int | None = None,
    width: int | None = None,
    step_size: float | int | None = None,
    init_scale: float | int | None = None,
    slope: float | int | None = None,
    runs: int = RUNS,
    effort: float | int = 1.0,
    time: float | int | None = None,
    drop: Sequence[str | int] = (),
    scaling: str = "auto",
    seed: int = 0,
    store: Store | None = None,
    progress: Progress = silent,
) -> Certificate:
    """What theory guarantees about this data, and what training really does there.

    Main arguments:
      inputs, labels: arrays, data frames, or the name of a .csv, .tsv, .npz, .npy or .parquet file, which may hold the
        labels too. Two or more classes, in numbers or words.
      label: the column of the labels, by name or by number from 1; else one called label, y, target or class, or the
        last one.
      width: neurons of the networks of theorems, an even number; the width is also tried beside the usual ones.
      step_size, init_scale: of SGD in theorems; the length of each neuron's weights at the start, there.
      slope: of the Leaky ReLU, of all networks.
      runs: networks of each width, each with its own start and its own held-out points: of 5, each has a fifth.
      effort: how many times the usual work networks may take.

    Other arguments:
      time: seconds of computing after which nothing new is begun; by default there is no limit. What is missing then
        is said to be missing.
      drop: columns to leave out, by name or by number from 1.
      scaling: "auto", "ball" or "none"; see `widenet.certificates.preparation.Scaling`.
      seed: of held-out points, starts and orders; the same seed gives the same certificate.
      store: where runs are kept and found; by default where the command line keeps them. The data is not kept.
      progress: told the fraction done.

    Raises:
      InputError: the data cannot be used, or a choice is wrong; one sentence.
      StoreError: the store cannot be read or written.
    """
    wishes = Wishes.checked(width, step_size, init_scale, slope, runs, effort, time, scaling, seed)
    table = inputs if isinstance(inputs, Table) else read(inputs, labels, label=label, drop=drop)
    return make(table, wishes, store, progress)


@dataclass(frozen=True)
class Wishes:
    """What you may choose, once it is known to make sense.

    Attributes:
      choices: for theorems.
      has_width: whether you chose the width.
      runs, effort, scaling: as in `certify`.
      seconds: the time limit; infinite without one.
    """

    choices: Choices
    has_width: bool
    runs: int
    effort: float
    seconds: float
    scaling: Scaling

    @classmethod
    def checked(
        cls,
        width: Any,
        step_size: Any,
        init_scale: Any,
        slope: Any,
        runs: Any,
        effort: Any,
        time: Any,
        scaling: str,
        seed: Any,
    ) -> "Wishes":
        """Yours.

        Raises:
          InputError: one of them is wrong; one sentence.
        """
        if init_scale is not None:
            init_scale = _positive("init_scale", init_scale, LARGEST_SCALE)
        given = {
            "n_neurons": width,
            "step_size": step_size,
            "init_scale": init_scale,
            "slope": slope,
            "seed": seed or None,
        }
        return cls(
            choices=_choices(given),
            has_width=width is not None,
            runs=_count("runs", runs, FEWEST_RUNS, MOST_RUNS),
            effort=_positive("effort", effort, MOST_EFFORT),
            seconds=math.inf if time is None else _positive("time", time, MOST_SECONDS),
            scaling=Scaling.named(scaling),
        )

    def choices_for(self, n_classes: int, columns: int) -> Choices:
        """The choices for data of so many classes and columns: more classes want more neurons.

        Raises:
          InputError: a network of the chosen width would have too many weights.
        """
        if self.has_width and self.choices.n_neurons * columns > MOST_WEIGHTS:
            raise InputError(
                f"width {shown(self.choices.n_neurons)} with {columns:,} columns makes more than {MOST_WEIGHTS:,} "
                "weights; take a smaller one."
            )
        if self.has_width or n_classes == 2:
            return self.choices
        wider = self.choices.model_copy(update={"n_neurons": max(LEAST_WIDTH, PER_CLASS * n_classes)})
        wider.model_fields_set.discard("n_neurons")  # you did not choose it
        return wider


def make(table: Table, wishes: Wishes, store: Store | None = None, progress: Progress = silent) -> Certificate:
    """The certificate of a table that was read; see `certify`.

    Raises:
      InputError: the data cannot be used.
      StoreError: the store cannot be read or written.
    """
    began, worked = clocks.monotonic(), clocks.process_time()
    choices = wishes.choices_for(len(table.class_names), table.inputs.shape[1])
    if wishes.scaling is not Scaling.NONE:
        varying_columns(table.inputs)  # what is refused is refused before anything is begun
    progress(0.0, "loading the papers")
    main, others = claims_by_weight()
    progress(0.01, "looking at the data")
    searches = Work()
    prepared = prepare(table, wishes.scaling, choices.seed, searches)
    portrait = portray(table, prepared, searches, choices.seed)
    clock, cells = TimeLimit(wishes.seconds), cells_of(store)
    whole, few = views_of(table, prepared, portrait, choices)
    progress(0.05, "training networks")
    found = study_widths(_asked(table, wishes, choices), cells, clock.share(FOR_MAIN), stretch(progress, 0.05, 0.45))
    study, runs = (None, {}) if found is None else found
    rows = ask_all(main, whole, cells, clock.share(FOR_MAIN), stretch(progress, 0.45, 0.65))
    tried = [each.n_neurons for each in study.results] if study is not None else []
    even = [width for width in tried if width % 2 == 0]
    allowed = allowances(rows, whole, even, cells, clock.share(FOR_MAIN), stretch(progress, 0.65, 0.7))
    changes = small_changes(rows, whole, cells, clock.share(FOR_CHANGES), stretch(progress, 0.7, 0.75))
    rows += ask_all(others, whole, cells, clock, stretch(progress, 0.75, 0.85))
    if few is not None:
        rows = ask_again(rows, few, cells, clock.share(FOR_FEW), stretch(progress, 0.85, 0.95))
    best = None if study is None else runs[study.best.n_neurons]
    certainty = None if best is None else repeat(best, cells, clock, stretch(progress, 0.95, 1.0))
    rows, plane = ordered(rows), plane_of(prepared)
    findings = Findings(
        portrait=portrait,
        choices=choices,
        rows=tuple(rows),
        promises=tuple(promises_of(rows)),
        changes=tuple(changes),
        study=study,
        allowances=tuple(allowed),
        certainty=certainty,
        has_boundary=plane.boundary is not None,
        seconds=clocks.monotonic() - began,
        computed=clocks.process_time() - worked,
        time=None if math.isinf(wishes.seconds) else wishes.seconds,
        unasked=sum(row.is_open for row in rows),
        version=version(),
        versions=versions(),
    )
    return Certificate(findings, table, prepared, runs, plane)


def _asked(table: Table, wishes: Wishes, choices: Choices) -> StudySetting:
    """Which networks are trained, on which points."""
    most = min(MOST_POINTS, max(MOST_NUMBERS // table.inputs.shape[1], LEAST_TRAINED))
    rows = drawn_points(table.classes, most, choices.seed)
    return StudySetting(
        inputs=table.inputs[rows],
        labels=table.classes[rows],
        names=table.class_names,
        points=len(table.classes),
        width=choices.n_neurons if wishes.has_width else None,
        n_networks=wishes.runs,
        effort=wishes.effort,
        slope=choices.slope,
        scales=wishes.scaling is Scaling.AUTO,
        seed=choices.seed,
    )


def _choices(given: dict[str, Any]) -> Choices:
    """Your choices for theorems; what you left open is chosen."""
    try:
        return Choices(**{name: value for name, value in given.items() if value is not None})
    except InputError as refusal:
        raise InputError(str(refusal).replace("n_neurons", "width", 1)) from None


def _count(name: str, value: Any, least: int, most: int) -> int:
    number = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else 0
    if not least <= number <= most:
        raise InputError(f"{name} must be a whole number between {least} and {most:,}, got {shown(value)}.")
    return number


def _positive(name: str, value: Any, most: float) -> float:
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else 0
    if not 0 < number <= most:
        raise InputError(f"{name} must be a positive number, at most {most:g}, got {shown(value)}.")
    return float(number)
