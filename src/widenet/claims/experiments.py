"""What an experiment is: runs that claims and figures read, one cell of the store per setting."""

import dataclasses
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

S = TypeVar("S", bound=ClosedModel)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Experiment(Generic[S, R]):
    """How runs are made, once for all who read them.

    Attributes:
      id: `paper.experiment`, the name of its cells.
      settings: what a scale and a seed mean; settings are closed records of plain values, the keys of the cells.
      run: computes one cell. What it returns is a frozen dataclass of NumPy arrays, numbers, text, and tuples or
        dictionaries of those, or an `xarray.Dataset`. All randomness comes from the setting, and all training is here.
      seconds: about how long one cell takes at quick scale; long ones are started first.
    """

    id: str
    settings: Callable[[Scale, int], Sequence[S]]
    run: Callable[[S, Progress], R]
    seconds: float = 1.0

    def at(self, settings: Callable[[Scale, int], Sequence[S]]) -> "Experiment[S, R]":
        """The same experiment at other settings: equal settings are equal cells, whoever reads them."""
        return dataclasses.replace(self, settings=settings)

    @property
    def result_type(self) -> type[R]:
        """What `run` returns."""
        return typing.get_type_hints(self.run)["return"]
