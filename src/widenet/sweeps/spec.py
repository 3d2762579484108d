"""What a sweep asks: a claim or an experiment, over which of its choices, and what to look at."""

import enum
import itertools
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from widenet.errors import InputError, UnknownName
from widenet.records import ClosedModel, Scale, Whole
from widenet.seeds import LARGEST_SEED

MOST_POINTS = 10_000_000
OF = "of"

Value = bool | int | float | str


class Range(ClosedModel):
    """Values between two ends, both included: equal steps, or equal ratios with `log`.

    `round` moves them to its multiples, and drops what is then there twice.
    """

    start: float | int = Field(alias="from")
    to: float | int
    steps: int = Field(ge=1, le=1_000_000)
    log: bool = False
    round: int | None = Field(default=None, ge=1)

    def values(self, name: str) -> list[Value]:
        """Whole numbers where both ends are whole and all values come out whole.

        Raises:
          InputError: an end that is not finite, or ratios from one that is not positive.
        """
        if not (math.isfinite(self.start) and math.isfinite(self.to)):
            raise InputError(f"{name}: a range needs finite ends, got {self.start} to {self.to}.")
        if self.log and min(self.start, self.to) <= 0:
            raise InputError(f"{name}: a range with log = true needs positive ends, got {self.start} to {self.to}.")
        between = np.geomspace if self.log else np.linspace
        values = [float(f"{each:.12g}") for each in between(self.start, self.to, self.steps).tolist()]
        if self.round is not None:
            return list(dict.fromkeys(self.round * round(each / self.round) for each in values))
        if isinstance(self.start, int) and isinstance(self.to, int) and all(each.is_integer() for each in values):
            return [int(each) for each in values]
        return list(values)


class Look(ClosedModel):
    """What is kept of each point.

    Attributes:
      measured: clauses of the claim by key, or quantities of the cells; all of them if left out.
      at: of quantities with axes of their own, such as the epoch, the value that is looked at.
    """

    measured: str | tuple[str, ...] = ()
    at: dict[str, Value] = Field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """As a list."""
        return (self.measured,) if isinstance(self.measured, str) else self.measured


class Spec(ClosedModel):
    """A sweep.

    Attributes:
      of: the id of a claim or an experiment, or `file.py:name`; or several claims, which are then the first axis.
      data: the name of a file, or of a data set of `widenet list data`; the paper's own kind of data if left out.
      label: the column of the labels, by name or number.
      runs: networks per point.
      scale, setting: of an experiment, which of its settings the other fields come from.
      fixed: choices or fields that are the same at every point; `[set]` in a file.
      over: choices or fields with several values.
      tries: how often a point that fails is tried.
    """

    of: str | tuple[str, ...]
    data: str | None = None
    label: str | None = None
    runs: Whole | None = Field(default=None, ge=1, le=1_000_000)
    seed: Whole = Field(default=0, ge=0, le=LARGEST_SEED)
    scale: Scale = Scale.QUICK
    setting: int = Field(default=0, ge=0)
    fixed: dict[str, Any] = Field(default_factory=dict, alias="set")
    over: dict[str, Range | tuple[Value, ...]] = Field(default_factory=dict)
    look: Look = Look()
    tries: int = Field(default=2, ge=1, le=100)

    @property
    def ids(self) -> tuple[str, ...]:
        """What is asked, as a list."""
        return (self.of,) if isinstance(self.of, str) else self.of

    def axes(self) -> dict[str, tuple[Value, ...]]:
        """The values of each axis, in the order of the file.

        Raises:
          InputError: an axis without values, with a value twice or one that is not finite, or with text beside numbers;
            or too many points.
        """
        found = {} if isinstance(self.of, str) else {OF: self.of}
        found |= {
            name: tuple(each.values(name)) if isinstance(each, Range) else each for name, each in self.over.items()
        }
        for name, values in found.items():
            if not values:
                raise InputError(f"{name} has no values; name at least one.")
            for value in values:
                if isinstance(value, float) and not math.isfinite(value):
                    raise InputError(f"{name} must have finite values, got {value}; leave it out.")
            if len(set(values)) < len(values):
                twice = next(each for each in values if values.count(each) > 1)
                raise InputError(f"{name} has the value {twice!r} twice; leave one out.")
            if len({isinstance(each, str) for each in values}) > 1:
                raise InputError(f"{name} has text beside numbers: {', '.join(map(repr, values[:5]))}.")
            if name in self.fixed:
                raise InputError(f"{name} has one value under set and several under over; leave one out.")
        if math.prod(map(len, found.values())) > MOST_POINTS:
            raise InputError(f"the sweep has more than {MOST_POINTS:,} points; take fewer values.")
        return found


def read_spec(path: Path | str) -> Spec:
    """The sweep that a TOML file describes; names of files in it are seen from its folder.

    Raises:
      InputError: there is no such file, it is not TOML, or it has an unknown key or a wrong value.
    """
    path = Path(path)
    try:
        row = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(path)!r}: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {str(error)[:1].lower()}{str(error)[1:]}.") from None
    spec = spec_of(row, f"{path}: ")

    def beside(name: str) -> str:
        found = path.parent / name
        return str(found) if (path.parent / name.partition(":")[0]).is_file() else name

    of = beside(spec.of) if isinstance(spec.of, str) else tuple(map(beside, spec.of))
    return spec.model_copy(update={"of": of, "data": None if spec.data is None else beside(spec.data)})


def spec_of(row: Mapping[str, Any], where: str = "") -> Spec:
    """The sweep that these values describe.

    Raises:
      InputError: an unknown key or a wrong value; `where` is put before the sentence.
    """
    known = [field.alias or name for name, field in Spec.model_fields.items()]
    _require_known(row, known, where)
    if isinstance(row.get("look"), Mapping):
        _require_known(row["look"], [*Look.model_fields], f"{where}look: ")
    over = row.get("over", {})
    for name, values in over.items() if isinstance(over, Mapping) else ():
        if isinstance(values, Mapping):
            _require_known(
                values, [field.alias or key for key, field in Range.model_fields.items()], f"{where}{name}: "
            )
    if "of" not in row:
        raise InputError(f'{where}name a claim or an experiment: of = "brutzkus2018.theorem_2".')
    try:
        return Spec.model_validate({**row, "over": {name: _plain(each) for name, each in over.items()}})
    except (ValidationError, AttributeError) as error:
        raise InputError(f"{where}{_sentence(error)}") from None


def _require_known(row: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for name in row:
        if name not in known:
            raise InputError(f"{where}{UnknownName('key', name, known)}")


def _plain(values: Any) -> Any:
    """One value as an axis of one; NumPy's numbers as Python's."""
    if isinstance(values, Mapping | Range):
        return values
    several = values if isinstance(values, list | tuple | np.ndarray | range) else [values]
    return tuple(
        each.value if isinstance(each, enum.Enum) else each.item() if isinstance(each, np.generic) else each
        for each in several
    )


def _sentence(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "over is a table of axes, such as n_neurons = [4, 64]."
    first = error.errors()[0]
    words = [str(each) for each in first["loc"] if each not in ("Range", "tuple[union[bool,int,float,str],...]")]
    place = ".".join(itertools.takewhile(lambda each: each not in ("bool", "int", "float", "str"), words))
    if first["type"] == "missing":
        return f"{place} is missing; a range has from, to and steps, such as {{ from = 1, to = 9, steps = 3 }}."
    return f"{place}: {first['msg'].replace('Input should', 'must')}, got {first['input']!r}."
