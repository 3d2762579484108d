"""From a reader's data to a certificate: read, prepare, look, train, ask."""

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from widenet.certificates.certainty import repeat
from widenet.certificates.certificate import Certificate, Findings
from widenet.certificates.data_forms import views_of
from widenet.certificates.ensemble import EnsembleSetting
from widenet.certificates.fixes import small_changes
from widenet.certificates.plane import plane_of
from widenet.certificates.portrait import portray
from widenet.certificates.preparation import SEARCH_SECONDS, Scaling, prepare, varying_columns
from widenet.certificates.promises import promises_of
from widenet.certificates.reading import Table, read
from widenet.certificates.rows import ask_again, ask_all, claims_by_weight, ordered
from widenet.certificates.samples import drawn_points
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.training import epochs_for, summed, train
from widenet.claims.user_data import Choices, UserData
from widenet.data.archives import shown
from widenet.errors import InputError
from widenet.progress import Progress, silent, stretch
from widenet.run.cells import versions
from widenet.run.outcomes import cells_of, version
from widenet.store import Store
from widenet.types import Dataset

RUNS, MOST_RUNS, SECONDS = 64, 10_000, 45.0
MOST_SECONDS, LARGEST_SCALE = 1e7, 1e30
MOST_WEIGHTS = 10_000_000
"""The most weights of a network that a reader may ask for."""
LEAST_WIDTH, PER_CLASS = 20, 10
NUMBERS_PER_SECOND, LEAST_TRAINED = 40_000, 500
"""Networks are given at most so many numbers, per second of the reader's time, and at least so many points."""
FOR_MAIN, FOR_CHANGES, FOR_FEW = 0.6, 0.4, 0.7
"""The shares of the time left that main results may take, changes, and statements about a few points."""


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
    time: float | int = SECONDS,
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
      width: neurons of the network, an even number.
      step_size, init_scale, slope: of SGD; the length of each neuron's weights at the start; of the Leaky ReLU.
      runs: networks that are trained.
      time: seconds of computing after which nothing new is begun; they count from when the papers are loaded and the
        data was looked at.

    Other arguments:
      scaling: "auto", "ball" or "none"; see `widenet.certificates.preparation.Scaling`.
      seed: of held-out points, starts and orders; with time enough, the same seed gives the same certificate.
      store: where runs are kept and found; by default where the command line keeps them. The data is not kept.
      progress: told the fraction done.

    Raises:
      InputError: the data cannot be used, or a choice is wrong; one sentence.
      StoreError: the store cannot be read or written.
    """
    wishes = Wishes.checked(width, step_size, init_scale, slope, runs, time, scaling, seed)
    table = inputs if isinstance(inputs, Table) else read(inputs, labels, label=label)
    return make(table, wishes, store, progress)


@dataclass(frozen=True)
class Wishes:
    """What a reader may choose, once it is known to make sense.

    Attributes:
      choices: for theorems.
      has_width: whether she chose the width.
      runs, seconds, scaling: as in `certify`.
    """

    choices: Choices
    has_width: bool
    runs: int
    seconds: float
    scaling: Scaling

    @classmethod
    def checked(
        cls, width: Any, step_size: Any, init_scale: Any, slope: Any, runs: Any, time: Any, scaling: str, seed: Any
    ) -> "Wishes":
        """Those of a reader.

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
            runs=_count("runs", runs, MOST_RUNS),
            seconds=_positive("time", time, MOST_SECONDS),
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
    time, choices = wishes.seconds, wishes.choices_for(len(table.class_names), table.inputs.shape[1])
    if wishes.scaling is not Scaling.NONE:
        varying_columns(table.inputs)  # what is refused is refused before anything is begun
    progress(0.0, "loading the papers")
    main, others = claims_by_weight()
    progress(0.01, "looking at the data")
    searches = TimeLimit(SEARCH_SECONDS)
    prepared = prepare(table, wishes.scaling, choices.seed, searches)
    portrait = portray(table, prepared, searches)
    clock = TimeLimit(time)  # facts about large data would leave no time for theorems
    whole, few = views_of(table, prepared, portrait, choices, time)
    cells = cells_of(store)
    most = max(int(NUMBERS_PER_SECOND * time) // prepared.data.dim, LEAST_TRAINED)
    trained = drawn_points(np.asarray(prepared.data.labels), most, choices.seed)
    data = prepared.data[trained]
    digest = UserData(data, choices).digest
    setting = _networks(choices, len(table.class_names), wishes, data, digest)
    progress(0.05, "compiling the training of networks")
    ensemble = train(setting, cells, clock, stretch(progress, 0.05, 0.35))
    rows = ask_all(main, whole, cells, clock.share(FOR_MAIN), stretch(progress, 0.35, 0.6))
    changes = small_changes(rows, whole, cells, clock.share(FOR_CHANGES), stretch(progress, 0.6, 0.65))
    rows += ask_all(others, whole, cells, clock, stretch(progress, 0.65, 0.8))
    if few is not None:
        rows = ask_again(rows, few, cells, clock.share(FOR_FEW), stretch(progress, 0.8, 0.9))
    if clock.left > 0 and (ensemble is None or ensemble.setting.n_runs < wishes.runs):
        # What was compiled in the first try is there now.
        ensemble = train(setting, cells, clock, stretch(progress, 0.9, 0.95)) or ensemble
    certainty = None if ensemble is None else repeat(ensemble, cells, clock, stretch(progress, 0.9, 1.0))
    rows, plane = ordered(rows), plane_of(prepared)
    findings = Findings(
        portrait=portrait,
        choices=choices,
        rows=tuple(rows),
        promises=tuple(promises_of(rows)),
        changes=tuple(changes),
        training=None if ensemble is None else summed(ensemble, wishes.runs, portrait.clashing(prepared.rows[trained])),
        certainty=certainty,
        has_boundary=plane.boundary is not None,
        seconds=searches.waited,
        computed=searches.worked,
        time=clock.seconds,
        unasked=sum(row.is_open for row in rows),
        version=version(),
        versions=versions(),
    )
    return Certificate(findings, table, prepared, ensemble, plane)


def _choices(given: dict[str, Any]) -> Choices:
    """The reader's choices for theorems; what she left open is chosen."""
    try:
        return Choices(**{name: value for name, value in given.items() if value is not None})
    except InputError as refusal:
        raise InputError(str(refusal).replace("n_neurons", "width", 1)) from None


def _networks(choices: Choices, n_classes: int, wishes: Wishes, data: Dataset, digest: str) -> EnsembleSetting:
    """How the networks are trained."""
    neurons, runs = choices.n_neurons, wishes.runs
    return EnsembleSetting(
        own_data=digest,
        n_classes=n_classes,
        n_runs=runs,
        n_neurons=neurons,
        slope=choices.slope,
        step_size=choices.step_size,
        init_scale=neurons**-0.5 if choices.init_scale is None else choices.init_scale,
        max_epochs=epochs_for(data.n_samples, data.dim, neurons, runs, n_classes, wishes.seconds),
        seed=choices.seed,
    )


def _count(name: str, value: Any, most: int) -> int:
    number = int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else 0
    if not 1 <= number <= most:
        raise InputError(f"{name} must be a whole number between 1 and {most:,}, got {shown(value)}.")
    return number


def _positive(name: str, value: Any, most: float) -> float:
    number: Any = value if isinstance(value, numbers.Real) and not isinstance(value, bool) else 0
    if not 0 < number <= most:
        raise InputError(f"{name} must be a positive number, at most {most:g}, got {shown(value)}.")
    return float(number)
