"""What the claims of this paper do with your data: how rows are prepared, what is run on them, and when they do not
apply.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from widenet.claims.silence import Applied, Silence
from widenet.claims.specimen import Choices, Specimen
from widenet.papers.li2018.runs.descents import DescentSetting, own_settings, own_widths
from widenet.papers.li2018.runs.large_gradients import LargeGradientSetting
from widenet.papers.li2018.runs.passes import PassSetting, own_pass_widths, own_passes
from widenet.papers.li2018.settings import OwnPoints, Sample, prepare

MOST_POINTS = 1000
FOLLOWED = "Every neuron is followed on every point here"
MOST_DIMENSIONS = 4000

Setting = TypeVar("Setting", PassSetting, DescentSetting, LargeGradientSetting)


def prepared(specimen: Specimen, *, most: int = MOST_POINTS, for_what: str = FOLLOWED) -> Sample | Silence:
    """The reader's points with norm 1, their classes numbered, and the components found; or why not."""
    if len(specimen.classes) < 2:
        return Silence("It is about two classes or more, and this data has one.")
    if len(specimen.classes) > 100:
        return Silence(f"It is about classes, and this data has {len(specimen.classes)} different labels.")
    if len(specimen.labels) > most:
        return Silence(f"{for_what}, on at most {most} points.")
    if specimen.inputs.shape[1] > MOST_DIMENSIONS:
        return Silence(f"Networks are kept whole here, in at most {MOST_DIMENSIONS} dimensions.")
    norms = np.abs(specimen.inputs).max(axis=1)
    present = specimen.labels[norms > 0]
    if len(np.unique(present)) < 2:
        return Silence("It is about directions, and only one class has a point other than 0.")
    if norms.max() > 1e150 or norms[norms > 0].min() < 1e-150:
        return Silence("The norms of these points overflow or vanish; bring them to usual units.")
    return prepare(specimen.digest)[0]


def own_points(specimen: Specimen, *, most: int = MOST_POINTS, single: bool = False) -> OwnPoints | Silence:
    """The same data as a part of a setting."""
    found = prepared(specimen, most=most)
    return found if isinstance(found, Silence) else OwnPoints(own_data=specimen.digest, single=single)


def cut_off(settings: Sequence[Setting], specimen: Specimen) -> list[Setting]:
    """The same runs with no more steps than the reader's `max_updates`."""
    most = specimen.choices.max_updates
    allowed = [each.n_steps if most is None else min(each.n_steps, most) for each in settings]
    return [each.model_copy(update={"n_steps": steps}) for each, steps in zip(settings, allowed, strict=True)]


def runs_of(specimen: Specimen, usual: int, most: int) -> int:
    """The reader's `n_runs`, but not more than this; `on_points` says so where it is fewer."""
    return min(most, specimen.choices.n_runs or usual)


DIVIDED = "every row was divided by its norm"
Speaks = Callable[[Specimen], Any]


def on_points(*, honours: Sequence[str] = (), most_runs: int = 0, remark: str = "") -> Callable[[Speaks], Speaks]:
    """Adds, to what is run on a reader's points, how the rows were prepared and which choices are not followed.

    (A2), which is true of any rows that were divided by their norms, is marked as such.

    Arguments:
      honours: the choices that are followed; `seed` is, everywhere.
      most_runs: the most runs that are made, where `n_runs` is among them.
      remark: a sentence of its own, behind the others.
    """

    def declare(settings_on: Speaks) -> Speaks:
        @functools.wraps(settings_on)
        def on(specimen: Specimen) -> Applied | Silence:
            found = settings_on(specimen)
            if isinstance(found, Silence):
                return found
            done = prepare(specimen.digest)[1]
            words = (done.sentence, remark, not_followed(specimen.choices, honours, most_runs))
            return Applied(found, " ".join(filter(None, words)), {"unit_norm": DIVIDED} if done.rescales else {})

        return on

    return declare


def on_sample(measure: Callable[[Sample, int], Any], *, most: int = MOST_POINTS, for_what: str = FOLLOWED) -> Speaks:
    """How a claim that draws material applies: `measure` gets the prepared points and the seed."""

    @on_points()
    def on(specimen: Specimen) -> Any:
        sample = prepared(specimen, most=most, for_what=for_what)
        return sample if isinstance(sample, Silence) else measure(sample, specimen.choices.seed)

    return on


def not_followed(choices: Choices, honours: Sequence[str], most_runs: int) -> str:
    """The reader's choices that a check does not follow, in a sentence; "" where there are none."""
    chosen = {name: value for name, value in choices if value != type(choices).model_fields[name].default}
    words = [f"{name} = {value:g}" for name, value in chosen.items() if name not in (*honours, "seed")]
    if "n_runs" in honours and (choices.n_runs or 0) > most_runs:
        words.append(f"n_runs = {choices.n_runs} (at most {most_runs})")
    return f"Not used here: {', '.join(words)}." if words else ""


def needs_the_law(specimen: Specimen) -> Silence:
    """How statements about fresh batches speak about a data set."""
    return Silence("It is about fresh batches from the law of the data, and of a data set only the points are known.")


# ── descents ──

MOST_DESCENTS = 3
descended = on_points(honours=("n_runs", "max_updates"), most_runs=MOST_DESCENTS)


@descended
def own_descents(specimen: Specimen) -> list[DescentSetting] | Silence:
    """Descents on a reader's points, the same for all statements about single steps."""
    data = own_points(specimen, most=300, single=True)
    if isinstance(data, Silence):
        return data
    return cut_off(own_settings(data, specimen.choices.seed, runs_of(specimen, 2, MOST_DESCENTS)), specimen)


def own_descents_of_few_dimensions(specimen: Specimen) -> Applied | Silence:
    """The same, where singular values are taken of the weights."""
    found = own_descents(specimen)
    if isinstance(found, Silence) or specimen.inputs.shape[1] <= 300:
        return found
    return Silence("Singular values of the weights are taken here, in at most 300 dimensions.")


@on_points(honours=("max_updates",))
def own_descents_of_widths(specimen: Specimen) -> list[DescentSetting] | Silence:
    """Descents at three widths, three starts each."""
    data = own_points(specimen, most=150, single=True)
    if isinstance(data, Silence):
        return data
    settings, allowed = own_widths(data, specimen.choices.seed), specimen.choices.max_updates
    if allowed is not None and allowed < settings[0].n_steps:
        return Silence(f"It needs {settings[0].n_steps} steps at each width, and max_updates allows {allowed}.")
    return settings


def needs_all_steps(specimen: Specimen) -> Silence:
    """How the statement about the number of steps speaks about a data set."""
    return Silence("It counts the steps until every residual is small, and how many that takes here is not known.")


# ── passes of SGD ──

FROM_ROWS = "Batches are drawn from these points with replacement, and errors are counted on the same points."
MOST_PASSES = 20


@on_points(honours=("n_runs", "max_updates"), most_runs=MOST_PASSES, remark=FROM_ROWS)
def own_runs(specimen: Specimen) -> list[PassSetting] | Silence:
    """Passes over a reader's points, the same for all statements about them."""
    sample, data = prepared(specimen), own_points(specimen)
    if isinstance(sample, Silence) or isinstance(data, Silence):
        return Silence(str(sample))
    runs = runs_of(specimen, MOST_PASSES, MOST_PASSES)
    return cut_off(own_passes(data, specimen.choices.seed, runs, len(sample.points)), specimen)


@on_points(honours=("max_updates",), remark=FROM_ROWS)
def own_runs_of_widths(specimen: Specimen) -> list[PassSetting] | Silence:
    """Passes at three widths."""
    sample, data = prepared(specimen, most=300), own_points(specimen, most=300)
    if isinstance(sample, Silence) or isinstance(data, Silence):
        return Silence(str(sample))
    return cut_off(own_pass_widths(data, specimen.choices.seed, len(sample.points)), specimen)


# ── large gradients ──


@on_points(honours=("max_updates",))
def own_large_gradients(specimen: Specimen) -> list[LargeGradientSetting] | Silence:
    """One network on a reader's points."""
    data = own_points(specimen, most=150, single=True)
    if isinstance(data, Silence):
        return data
    return cut_off([LargeGradientSetting(data=data, n_random=20, n_steps=60, seed=specimen.choices.seed)], specimen)
