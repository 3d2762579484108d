"""The forms of a reader's data that theorems are asked about: as prepared, and changed in ways that cost little."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from widenet.certificates.portrait import Portrait
from widenet.certificates.preparation import Prepared
from widenet.certificates.reading import Table
from widenet.claims.specimen import Choices, Specimen
from widenet.types import Dataset

FEW = 50
"""Many steps of proofs are followed on at most so many points."""


@dataclass(frozen=True, eq=False)
class View:
    """One form of the data.

    Attributes:
      name: what was changed, in a few words; "" for the data as it was prepared.
    """

    name: str
    specimen: Specimen


def views_of(table: Table, prepared: Prepared, portrait: Portrait, choices: Choices) -> tuple[list[View], View | None]:
    """The data as it was prepared; for many classes, one of them and the rest; points of length 1. And a few of them.

    The few are for statements that follow every point, and None where there are not many.
    """
    views = [View("", Specimen(prepared.data, choices))]
    data, names = prepared.data, []
    best = max(portrait.separability, key=lambda each: each.margin or 0.0, default=None)
    if len(table.class_names) > 2 and best is not None and best.class_number is not None:
        signs = np.where(table.classes[prepared.rows] == best.class_number, 1.0, -1.0)
        data, names = Dataset(prepared.data.inputs, jnp.asarray(signs)), [best.between]
        views.append(View(best.between, Specimen(data, choices)))
    if (units := _of_length_one(data)) is not None:
        data, names = units, [*names, "points of length 1"]
        views.append(View(", ".join(names), Specimen(data, choices)))
    if data.n_samples <= FEW:
        return views, None
    names = [*names, f"{FEW} points drawn at random"]
    return views, View(", ".join(names), Specimen(data[_few(np.asarray(data.labels), choices.seed)], choices))


def _of_length_one(data: Dataset) -> Dataset | None:
    """Each point divided by its length; None where that changes nothing, or a point is 0."""
    points = np.asarray(data.inputs, np.float64)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    if not norms.all() or np.abs(norms - 1).max() <= 1e-9:
        return None
    return Dataset(jnp.asarray(points / norms), data.labels)


def _few(labels: np.ndarray, seed: int) -> np.ndarray:
    """Rows of a few points, every class among them."""
    firsts = np.unique(labels, return_index=True)[1]
    drawn = np.random.default_rng([seed, 13]).permutation(len(labels))
    return np.sort(np.concatenate([firsts, drawn[~np.isin(drawn, firsts)]])[:FEW])
