"""The key of a cell, and the one JSON text it is hashed from."""

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def plain_json(value: Any, where: str) -> Any:
    """A copy of `value` in JSON's own types; anything JSON cannot hold exactly is refused.

    Tuples become lists. `where` names the value in the error.

    Raises:
      TypeError: a value or a mapping key of another type.
      ValueError: NaN or an infinity, which JSON has no word for.
    """
    # Enumerations and numpy's float64 are subclasses of str, int and float: the copy strips them.
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{where} must be finite to be written as JSON, got {float(value)}")
            return float(value)
        case list() | tuple():
            return [plain_json(item, f"{where}[{index}]") for index, item in enumerate(value)]
        case Mapping():
            # json would turn the key 1 into "1" and let two different keys meet in one cell.
            for name in value:
                if not isinstance(name, str):
                    raise TypeError(f"{where} must have strings as its keys, got {name!r}")
            return {str.__str__(name): plain_json(item, f"{where}.{name}") for name, item in value.items()}
    raise TypeError(f"{where} must be a JSON value, got {type(value).__name__}: {value!r:.80}")


def canonical_json(value: Any, where: str = "value") -> str:
    """The one text of a JSON value: sorted keys, no white space, ASCII only."""
    return json.dumps(plain_json(value, where), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any, where: str = "value") -> str:
    """The SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value, where).encode("ascii")).hexdigest()


@dataclass(frozen=True)
class CellKey:
    """What a result depends on. Two equal keys are the same cell.

    Attributes:
      name: the experiment that computes it (`brutzkus2018.recorded_runs`).
      parameters: its setting as JSON values, seed and precision among them; copied, so that a later change cannot
        reach the key.
      version: the program that computes it.
    """

    name: str
    parameters: Mapping[str, Any]
    version: str

    def __post_init__(self) -> None:
        """Keep a plain copy of the parameters, or refuse them."""
        object.__setattr__(self, "parameters", plain_json(self.parameters, "parameters"))

    def as_json(self) -> dict[str, Any]:
        """The key as a JSON object."""
        return {
            "name": self.name,
            "parameters": self.parameters,
            "version": self.version,
        }

    @functools.cached_property
    def digest(self) -> str:
        """The name of the cell: 64 hexadecimal digits."""
        return digest_of(self.as_json(), "key")
