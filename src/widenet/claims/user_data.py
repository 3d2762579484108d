"""Your data, with what was found out about it, once, and the reader's choices."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from pydantic import Field

from widenet.claims.applicability import NotApplicable
from widenet.data.own import keep
from widenet.diagnostics import Separation, find_separator
from widenet.errors import DataError
from widenet.records import ClosedModel
from widenet.seeds import LARGEST_SEED
from widenet.types import Dataset

__all__ = ["Choices", "NotApplicable", "UserData"]


class Choices(ClosedModel):
    """What a reader may choose; claims that need something else say so.

    Attributes:
      n_runs: networks trained per statement about single runs; each claim's own number if left out.
      n_neurons: the width of networks whose width is free, even.
      slope: α of the Leaky ReLU.
      step_size: η of networks whose step is free.
      init_scale: R, the length of each neuron's first weights, in statements where it is free; the paper's if left out.
      max_updates: updates after which a run is cut off; each claim's own number if left out. Claims that need more say
        so or leave it undecided.
      required_margin: γ of the hinge loss of XORD networks.
      diverse_only: whether statements about XORD leave out points that are not diverse.
      seed: of initial weights and orders.
    """

    n_runs: int | None = Field(default=None, ge=1)
    n_neurons: int = Field(default=20, ge=2, multiple_of=2)
    slope: float = Field(default=0.2, gt=0, lt=1)
    step_size: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    init_scale: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_updates: int | None = Field(default=None, ge=1)
    required_margin: float = Field(default=8.0, gt=0, allow_inf_nan=False)
    diverse_only: bool = False
    seed: int = Field(default=0, ge=0, le=LARGEST_SEED)


@dataclass(frozen=True, eq=False)
class UserData:
    """Your data and choices. What several claims need to know about the data is found out once."""

    data: Dataset
    choices: Choices = field(default_factory=Choices)

    def __post_init__(self) -> None:
        """Refuse what no claim could speak about.

        Raises:
          DataError: several data sets at once, none, or numbers that are not finite.
        """
        if self.data.inputs.ndim != 2 or not self.data.n_samples:
            raise DataError(f"user data is one data set with at least one point, got {self.data.inputs.shape}.")
        if not (np.isfinite(self.inputs).all() and np.isfinite(self.labels).all()):
            raise DataError("inputs and labels must be finite; widenet.data.from_arrays says where they are not.")

    @functools.cached_property
    def digest(self) -> str:
        """What settings name the data by; from here on their runs find it."""
        return keep(self.data)

    @functools.cached_property
    def inputs(self) -> np.ndarray:
        """The inputs in float64."""
        return np.asarray(self.data.inputs, np.float64)

    @functools.cached_property
    def labels(self) -> np.ndarray:
        """The labels in float64."""
        return np.asarray(self.data.labels, np.float64)

    @functools.cached_property
    def classes(self) -> tuple[float, ...]:
        """The labels that occur, in order."""
        return tuple(float(value) for value in np.unique(self.labels))

    @property
    def has_signs_as_labels(self) -> bool:
        """Whether both labels, −1 and +1, occur and no other."""
        return self.classes == (-1.0, 1.0)

    @functools.cached_property
    def largest_norm(self) -> float:
        """max ‖x‖."""
        return float(np.linalg.norm(self.inputs, axis=1).max())

    @functools.cached_property
    def separation(self) -> Separation:
        """A separator through the origin with its certificate, or a proof that there is none.

        Raises:
          DataError: labels other than −1 and +1; a claim that needs it looks at `classes` first.
        """
        return find_separator(self.data)

    def unused(self, instead: Mapping[str, str]) -> str:
        """A sentence about the choices that do not reach the runs; "" where the user made none of them.

        Arguments:
          instead: for the name of a choice, what is used in its place, in words.
        """
        chosen = {name: getattr(self.choices, name) for name in sorted(self.choices.model_fields_set)}
        words = [
            f"{name} = {value} ({instead[name]})"
            for name, value in chosen.items()
            if name in instead and value is not None
        ]
        return f"Not used here: {', '.join(words)}." if words else ""
