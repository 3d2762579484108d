"""Your data, with what was found out about it, once, and your choices."""

import copy
import dataclasses
import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, Strict, ValidationError

from widenet.claims.applicability import Applied, NotApplicable
from widenet.data.own import keep
from widenet.diagnostics import Separation, find_separator
from widenet.errors import DataError, InputError, UnknownName
from widenet.records import ClosedModel, Real, Whole
from widenet.seeds import LARGEST_SEED
from widenet.types import Dataset, require_dataset

__all__ = ["Choices", "NotApplicable", "Order", "UserData"]


class Order(enum.StrEnum):
    """Which sample comes next; the last three look at the network, and take only samples that make an update."""

    PERMUTATION = "permutation"
    """All samples in a new random order, again and again."""
    CYCLIC = "cyclic"
    """All samples in their order, again and again."""
    WITH_REPLACEMENT = "with replacement"
    """Independent uniform draws."""
    HARDEST = "hardest"
    """The smallest y N(x)."""
    EASIEST = "easiest"
    """The largest y N(x) below 1."""
    SLOWEST = "slowest"
    """The smallest cosine of the angle between W and W* after the update."""


class Choices(ClosedModel):
    """What you may choose for the runs on your data. Evidence names the choices that do not reach its claim.

    Attributes:
      n_runs: networks trained per statement about single runs; each claim's own number if left out.
      n_neurons: the width of networks whose width is free, even. Claims of `li2018`, and those of `brutzkus2019` about
        wide networks, keep the width of their regime if it is left out.
      slope: α of the Leaky ReLU.
      step_size: η of networks whose step is free.
      init_scale: R, the length of each neuron's first weights, in statements where it is free; the paper's if left out.
      output_weight: v of a second layer ±v, in statements where it is free; 1/√n_neurons if left out.
      order: which sample comes next, in statements about any order; a name of `Order`, such as "hardest".
      n_components: components per class, of `li2018`; those that its assumptions allow if left out.
      max_updates: updates after which a run is stopped; each claim's own number if left out. Claims that need more say
        so or leave it undecided.
      required_margin: γ of the hinge loss of XORD networks.
      diverse_only: whether statements about XORD leave out points that are not diverse.
      seed: of initial weights and orders.
    """

    n_runs: Whole | None = Field(default=None, ge=1)
    n_neurons: Whole = Field(default=20, ge=2, multiple_of=2)
    slope: Real = Field(default=0.2, gt=0, lt=1)
    step_size: Real = Field(default=1.0, gt=0, allow_inf_nan=False)
    init_scale: Real | None = Field(default=None, gt=0, allow_inf_nan=False)
    output_weight: Real | None = Field(default=None, gt=0, allow_inf_nan=False)
    order: Order | None = None
    n_components: Whole | None = Field(default=None, ge=1)
    max_updates: Whole | None = Field(default=None, ge=1)
    required_margin: Real = Field(default=8.0, gt=0, allow_inf_nan=False)
    diverse_only: Annotated[bool, Strict()] = False
    seed: Whole = Field(default=0, ge=0, le=LARGEST_SEED)

    def __init__(self, **given: Any):
        """Those that you name; the others are left to the claims.

        Raises:
          InputError: a name is unknown, or a value is wrong.
        """
        for name in given:
            if name not in type(self).model_fields:
                raise UnknownName("choice", name, type(self).model_fields)
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(_refusal(str(first["loc"][0]), first["msg"], given)) from None

    def chosen(self, name: str) -> Any:
        """The value that you chose, or None where you left it to the claims."""
        return getattr(self, name) if name in self.model_fields_set else None


def _refusal(name: str, message: str, given: Mapping[str, Any]) -> str:
    value, must = given[name], message.partition(",")[0].replace("Input should", "must")
    if name == "order":
        must = f"must be one of {', '.join(Order)}"
    several = np.ndim(value) > 0 if isinstance(value, list | tuple | np.ndarray) else False
    advice = "; name several values in widenet.sweep" if several else ""
    return f"{name} {must}, got {value!r}{advice}."


OTHERWISE: Mapping[str, tuple[Any, ...]] = {
    "n_runs": (None, 1, 2, 3),
    "n_neurons": (20, 24, 200, 2000),
    "slope": (0.2, 0.4),
    "step_size": (1.0, 0.5),
    "init_scale": (None, 0.5, 1.0),
    "output_weight": (None, 0.5, 1.0),
    "order": (None, *Order),
    "n_components": (None, 1, 2, 3),
    "max_updates": (None, 1, 10, 1000),
    "required_margin": (8.0, 1.0),
    "diverse_only": (False, True),
    "seed": (0, 1),
}
"""Other values of each choice: where none of them changes what is run, the choice does not reach the runs."""


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
        require_dataset(self.data)
        if not isinstance(self.choices, Choices):
            raise InputError(f"choices must be widenet.Choices(…), got {self.choices!r}.")
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

    def but(self, **choices: Any) -> "UserData":
        """The same data with other choices; what was found out about it is kept."""
        other = copy.copy(self)
        vars(other).pop("_reached", None)
        object.__setattr__(other, "choices", Choices(**{**self._made(), **choices}))
        return other

    def unreached(self, ways: Sequence[Callable[["UserData"], Any]]) -> dict[str, Any]:
        """Your choices that change nothing that is run on this data in any of these ways, such as `claim.ways`."""
        return {name: value for name, value in self._made().items() if not any(self._reaches(name, on) for on in ways)}

    def _reaches(self, name: str, on: Callable[["UserData"], Any]) -> bool:
        """Whether another value of this choice changes what is run; found out once for all claims that run it."""
        known = vars(self).setdefault("_reached", {})
        if (name, on) not in known:
            found = _settings(on(self))
            others = (_settings(on(self.but(**{name: other}))) for other in OTHERWISE[name])
            known[name, on] = not all(_same(found, each) for each in others)
        return known[name, on]

    def _made(self) -> dict[str, Any]:
        chosen = {name: self.choices.chosen(name) for name in sorted(self.choices.model_fields_set)}
        return {name: value for name, value in chosen.items() if value is not None}


def _settings(answer: Any) -> Any:
    return answer.settings if isinstance(answer, Applied) else answer


def _same(first: Any, second: Any) -> bool:
    """Whether two answers are the same settings, or material with the same numbers."""
    if type(first) is not type(second):
        return False
    if isinstance(first, BaseModel | str):
        return bool(first == second)
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if dataclasses.is_dataclass(first):
        names = [each.name for each in dataclasses.fields(first)]
        return all(_same(getattr(first, name), getattr(second, name)) for name in names)
    return bool(first == second) or (first != first and second != second)  # NaN
