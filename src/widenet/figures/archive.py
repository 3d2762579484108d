"""Results at paper scale that travel with the package: numbers, comparisons and circumstances, without cells.

A run at the paper's own sizes takes minutes on a GPU, so its result ships as one compressed JSON file per figure:
`papers/<key>/paper_scale/<id>.json.gz`. Pictures are not in it; they are drawn from the numbers by the same module that
draws the quick ones. `widenet figure ID --scale paper --archive` writes such a file.
"""

import datetime
import functools
import gzip
import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr
from pydantic import Field, JsonValue, ValidationError, model_validator

from widenet.errors import InputError
from widenet.figures.base import Comparison
from widenet.records import ClosedModel, Scale

PAPERS = Path(__file__).parents[1] / "papers"
FOLDER, SUFFIX = "paper_scale", ".json.gz"
KINDS = {"b": bool, "i": int, "u": int, "f": (int, float, type(None)), "U": str}
"""What JSON has for NumPy's kinds of values; a NaN is null."""
INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


class PlainArray(ClosedModel):
    """A labelled array as JSON: its axes, shape and dtype, and its values in C order."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str = Field(pattern=r"^([biufU])[0-9]*$")
    values: list[bool | int | float | str | None]

    @model_validator(mode="after")
    def _fits(self) -> "PlainArray":
        if len(self.axes) != len(self.shape) or math.prod(self.shape) != len(self.values):
            raise ValueError(f"{len(self.values)} values do not fill the shape {self.shape} of the axes {self.axes}")
        kind = self.dtype[0]
        for value in self.values:
            is_infinite = kind == "f" and value in INFINITIES
            is_wrong_bool = isinstance(value, bool) is not (kind == "b")
            if not is_infinite and (is_wrong_bool or not isinstance(value, KINDS[kind])):
                raise ValueError(f"{value!r} is no value of an array of dtype {self.dtype}")
        return self

    @classmethod
    def of(cls, array: xr.DataArray) -> "PlainArray":
        """The JSON form of an array of booleans, numbers or text.

        Raises:
          TypeError: it holds something else.
        """
        values = np.asarray(array.values)
        if values.dtype.kind == "O" and all(isinstance(item, str) for item in values.flat):
            values = values.astype(np.str_)  # pandas keeps the text of an index as objects
        if values.dtype.kind not in KINDS:
            raise TypeError(f"{array.name} must hold booleans, numbers or text, got dtype {values.dtype}")
        kind, size = values.dtype.kind, values.dtype.itemsize
        return cls(
            axes=tuple(map(str, array.dims)),
            shape=values.shape,
            dtype=kind if kind == "U" else f"{kind}{size}",
            values=[_to_json(value) for value in values.ravel().tolist()],
        )

    @property
    def variable(self) -> tuple[tuple[str, ...], np.ndarray]:
        """Axes and values, as xarray takes them."""
        values = [_from_json(value) for value in self.values] if self.dtype[0] == "f" else self.values
        return self.axes, np.array(values, self.dtype).reshape(self.shape)


class Archived(ClosedModel):
    """A figure at paper scale, as it was computed once.

    Attributes:
      format: the version of this record.
      config: the settings of its cells, in JSON values.
      seconds, machine, versions, version: of the computation: its time, the device, the libraries, and widenet.
      date: of the run.
      left_out: quantities that were not kept. The figure is drawn without the panels that show them.
    """

    format: Literal[1] = 1
    id: str
    scale: Scale
    seed: int
    config: JsonValue
    seconds: float
    machine: str
    date: datetime.date
    versions: dict[str, str]
    version: str
    comparisons: tuple[Comparison, ...]
    attributes: dict[str, JsonValue]
    coordinates: dict[str, PlainArray]
    quantities: dict[str, PlainArray]
    left_out: tuple[str, ...] = ()

    @property
    def is_drawable(self) -> bool:
        """Whether all quantities of the figure are here, so that its whole sheet can be drawn."""
        return not self.left_out

    @functools.cached_property
    def numbers(self) -> xr.Dataset:
        """The numbers with named axes, as the figure's `reduce` returned them. Tuples among attributes are lists."""
        return xr.Dataset(
            {name: array.variable for name, array in self.quantities.items()},
            {name: array.variable for name, array in self.coordinates.items()},
            {name: _from_json(value) for name, value in self.attributes.items()},
        )

    def to_bytes(self) -> bytes:
        """The file. Equal results give equal bytes."""
        return gzip.compress(self.model_dump_json().encode(), mtime=0)

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> "Archived":
        """The result in this file.

        Raises:
          InputError: the bytes are not such a file.
        """
        try:
            return cls.model_validate_json(gzip.decompress(content))
        except (OSError, EOFError, ValueError) as error:
            why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise InputError(f"{name} is no archive of a figure: {why}; make it again.") from error


def archive(
    id: str,
    numbers: xr.Dataset,
    comparisons: Iterable[Comparison],
    circumstances: Mapping[str, Any],
    date: datetime.date,
) -> Archived:
    """The archive of a figure. `circumstances` are those of its outcome's row; what belongs to one store is dropped."""
    kept = ("scale", "seed", "config", "seconds", "machine", "versions", "version")
    return Archived(
        id=id,
        **{name: circumstances[name] for name in kept},
        date=date,
        comparisons=tuple(comparisons),
        attributes={str(name): _to_json(np.asarray(value).tolist()) for name, value in numbers.attrs.items()},
        coordinates={str(name): PlainArray.of(axis) for name, axis in numbers.coords.items()},
        quantities={str(name): PlainArray.of(array) for name, array in numbers.data_vars.items()},
    )


def file_name(figure_id: str) -> str:
    """The name of a figure's archive."""
    return f"{figure_id}{SUFFIX}"


def place_of(figure_id: str) -> Path:
    """Where the archive of a figure lies, or would lie."""
    return PAPERS / figure_id.partition(".")[0] / FOLDER / file_name(figure_id)


def digest_of_archive(figure_id: str) -> str | None:
    """What tells the file of a figure's archive from any other; None where there is none."""
    path = place_of(figure_id)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def archived(figure_id: str) -> Archived | None:
    """The result at paper scale that ships with the package; None where there is none.

    Raises:
      InputError: the file is damaged.
    """
    path = place_of(figure_id)
    return Archived.from_bytes(path.read_bytes(), path.name) if path.is_file() else None


def _to_json(value: Any) -> Any:
    """JSON has neither NaN (null) nor infinity (a word)."""
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if isinstance(value, str):
        return INFINITIES.get(value, value)
    return math.nan if value is None else value
