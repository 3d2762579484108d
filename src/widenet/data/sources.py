"""Data as records of plain values that settings of several papers name: points given one by one, and your own."""

from typing import Literal

import numpy as np

from widenet.data.gaussians import Labels, Points
from widenet.data.own import recall_points
from widenet.records import ClosedModel


class ListedPoints(ClosedModel):
    """Points given one by one."""

    kind: Literal["listed"] = "listed"
    inputs: tuple[tuple[float, ...], ...]
    labels: tuple[float, ...]

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        return np.asarray(self.inputs, np.float64), np.asarray(self.labels, np.float64)


class OwnPoints(ClosedModel):
    """Your own data, by its digest."""

    kind: Literal["own"] = "own"
    own_data: str

    def draw(self, seed: int) -> tuple[Points, Labels]:
        """The same for every seed."""
        return recall_points(self.own_data)
