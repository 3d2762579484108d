"""What the claims of this paper ask of a reader's data before they speak about it."""

import math

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Silence
from widenet.claims.specimen import Specimen
from widenet.diagnostics.curvature import DENSE
from widenet.papers.chatterji2021.claims.choices import other_runs, other_width, sentences
from widenet.papers.chatterji2021.formulas import equation_5_threshold
from widenet.papers.chatterji2021.runs.cases import OwnCases
from widenet.papers.chatterji2021.runs.descents import DescentSetting
from widenet.papers.chatterji2021.runs.networks import NetworkSetting
from widenet.papers.chatterji2021.runs.starts import CLOSEST, fewest_neurons
from widenet.papers.chatterji2021.settings import OwnPoints, reduced_points

MOST_POINTS = 2000
"""Networks are looked at on the whole set; with more points that would take minutes."""
MOST_FITTED = 200
"""The start of Theorem 1 has a neuron for every point."""
PER_POINT = "the start needs one for each distinct point of a label, and as many of the other sign"
UNIT = 1e-6
"""Inputs whose norms are farther from 1 were not meant to be unit vectors."""


def silence_over_inputs(specimen: Specimen) -> Silence | None:
    """Labels other than −1 and +1, inputs that are no unit vectors, and too many points are reasons for silence."""
    if not set(specimen.classes) <= {-1.0, 1.0}:
        found = ", ".join(f"{label:g}" for label in specimen.classes[:5])
        return Silence(f"It is about labels −1 and +1, and this data has the labels {found}.")
    if len(specimen.labels) > MOST_POINTS:
        return Silence(f"All points are looked at together here, at most {MOST_POINTS} of them.")
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(specimen.inputs, axis=1)
    if not np.abs(norms - 1).max() <= UNIT:
        return Silence(f"It is about inputs of norm 1, and {lengths_in_words(norms)}")
    return None


def lengths_in_words(norms: Float[np.ndarray, " point"]) -> str:
    """What a reader whose inputs are no unit vectors can do about it."""
    error = float(np.abs(norms - 1).max())
    if error <= UNIT:
        return (
            f"these norms are 1 to {error:.0e} only. Divide every row by its norm once more, in float64, and ask again."
        )
    return (
        f"this data has norms from {norms.min():.3g} to {norms.max():.3g}. Divide every row by its norm and ask again."
    )


def looks_on(specimen: Specimen) -> list[NetworkSetting] | Silence:
    """Networks of the chosen width with random rows, on the reader's data."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    half_width = specimen.choices.n_neurons // 2
    if 2 * half_width * (specimen.inputs.shape[1] + 1) > DENSE:
        return Silence(f"Hessians are looked at whole here, with at most {DENSE} weights; choose fewer neurons.")
    cases = OwnCases(
        points=OwnPoints(own_data=specimen.digest),
        half_width=half_width,
        n_networks=specimen.choices.n_runs or (3 if len(specimen.labels) > 100 else 6),
        seed=specimen.choices.seed,
    )
    return [NetworkSetting(networks=cases)]


def clash(specimen: Specimen) -> str:
    """Why no network of this paper has a small loss on the data, in one sentence; "" where one can be built."""
    points, labels = reduced_points(specimen.inputs), specimen.labels
    inner = np.where(labels[:, None] != labels, 2 * (points @ points.T) - 1, -1.0)
    first, second = np.unravel_index(int(inner.argmax()), inner.shape)
    if inner[first, second] <= 1 - CLOSEST:
        return ""
    pair = f"points {min(first, second) + 1} and {max(first, second) + 1}"
    if (specimen.inputs[first] == specimen.inputs[second]).all():
        least = 2 * math.log(2) / len(labels)
        return f"{pair} are equal and have different labels, so L ≥ 2 log 2/n = {least:.3g} for every network"
    return f"{pair} have different labels and are too close for a network in float64 to tell them apart"


def runs_on(specimen: Specimen) -> list[DescentSetting] | Silence:
    """From a start that is built on the reader's data, where (5) gives Lemma 10."""
    if (reason := silence_over_inputs(specimen)) is not None:
        return reason
    n = len(specimen.labels)
    if n > MOST_FITTED:
        return Silence(f"The start of Theorem 1 is built with a neuron per point here, for at most {MOST_FITTED}.")
    if found := clash(specimen):
        return Silence(f"No start with so small a loss can be built: {found}.")
    n_steps, half_width = 300 if n <= 50 else 50, built_half_width(specimen)
    return [
        DescentSetting(
            points=OwnPoints(own_data=specimen.digest),
            half_width=half_width,
            start="isolating",
            start_loss=0.9 * equation_5_threshold(n),
            n_steps=min(n_steps, specimen.choices.max_updates or n_steps),
            seed=specimen.choices.seed,
            unmet=sentences(
                other_width(specimen, 2 * half_width, why=PER_POINT),
                other_runs(specimen, 1, why="the start is built, not drawn"),
            ),
        )
    ]


def built_half_width(specimen: Specimen) -> int:
    """p of the chosen width, or as many as the built start needs."""
    return max(specimen.choices.n_neurons // 2, fewest_neurons(reduced_points(specimen.inputs), specimen.labels))


def looks_and_runs_on(specimen: Specimen) -> tuple[list[NetworkSetting], list[DescentSetting]] | Silence:
    """Both; without runs where none can be started."""
    looks, runs = looks_on(specimen), runs_on(specimen)
    if isinstance(looks, Silence):
        return looks
    return looks, [] if isinstance(runs, Silence) else runs


def runs_and_no_looks_on(specimen: Specimen) -> tuple[list[DescentSetting], list[NetworkSetting]] | Silence:
    """Runs alone, for a claim that is also judged on placed networks."""
    runs = runs_on(specimen)
    return runs if isinstance(runs, Silence) else (runs, [])
