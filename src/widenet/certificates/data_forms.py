"""The forms of your data that theorems are asked about: as prepared, and changed in ways that cost little."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from widenet.certificates.portrait import Portrait
from widenet.certificates.preparation import Prepared
from widenet.certificates.reading import Table
from widenet.certificates.samples import drawn_points
from widenet.claims.user_data import Choices, UserData
from widenet.types import Dataset

FEW = 50
"""Many steps of proofs are followed on at most so many points."""
AT_RANDOM = "drawn at random"
"""What the name of a view says that has not all the points."""


@dataclass(frozen=True, eq=False)
class DataForm:
    """One form of the data.

    Attributes:
      name: what was changed, in a few words; "" for the data as it was prepared.
      user_data: the points, with your choices.
      rows: which row of what you gave each of them is (from 0).
    """

    name: str
    user_data: UserData
    rows: np.ndarray


def views_of(
    table: Table, prepared: Prepared, portrait: Portrait, choices: Choices
) -> tuple[list[DataForm], DataForm | None]:
    """The data as it was prepared, or a part of it; for many classes, one of them and the rest; points of length 1. And
    a few points.

    The few are for statements that follow every point, and None where there are not many.
    """
    data, rows, names = prepared.data, prepared.rows, []
    if prepared.record.used < prepared.record.points:
        part = drawn_points(np.asarray(data.labels), prepared.record.used, choices.seed)
        data, rows, names = data[part], rows[part], [f"{len(part):,} points {AT_RANDOM}"]
        views = [DataForm(names[0], UserData(data, choices), table.rows[rows])]
    else:
        views = [DataForm("", _known(UserData(data, choices), prepared), table.rows[rows])]
    best = max(portrait.separability, key=lambda each: each.theorem_margin or 0.0, default=None)
    if len(table.class_names) > 2 and best is not None and best.class_number is not None:
        signs = np.where(table.classes[rows] == best.class_number, 1.0, -1.0)
        data, names = Dataset(data.inputs, jnp.asarray(signs)), [best.between, *names]
        views.append(DataForm(", ".join(names), UserData(data, choices), table.rows[rows]))
    if (units := _of_length_one(data)) is not None:
        data, names = units, [*names, "points of length 1"]
        views.append(DataForm(", ".join(names), UserData(data, choices), table.rows[rows]))
    if data.n_samples <= FEW:
        return views, None
    few = drawn_points(np.asarray(data.labels), FEW, choices.seed)
    names = [*(name for name in names if not name.endswith(AT_RANDOM)), f"{FEW} points {AT_RANDOM}"]
    return views, DataForm(", ".join(names), UserData(data[few], choices), table.rows[rows[few]])


def _known(user_data: UserData, prepared: Prepared) -> UserData:
    """The same data, which need not find out again what separates it."""
    found = prepared.with_bias if prepared.record.has_bias else prepared.through_origin
    if found is not None:
        vars(user_data)["separation"] = found  # where functools.cached_property would keep it
    return user_data


def _of_length_one(data: Dataset) -> Dataset | None:
    """Each point divided by its length; None where that changes nothing, or a point is 0."""
    points = np.asarray(data.inputs, np.float64)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    if not norms.all() or np.abs(norms - 1).max() <= 1e-9:
        return None
    return Dataset(jnp.asarray(points / norms), data.labels)
