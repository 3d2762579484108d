"""An `xarray.Dataset` as what a cell holds (plain arrays and JSON), and back, exactly."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from widenet.store.keys import plain_json


def encode_dataset(dataset: xr.Dataset) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a data set by name, and the JSON that puts them together again.

    Variables and coordinates hold booleans, numbers or text. Attributes hold JSON values; a tuple among them
    comes back as a list.

    Raises:
      TypeError, ValueError: a name that is not a string, a variable or an attribute that is neither.
    """
    arrays: dict[str, np.ndarray] = {}
    variables: list[dict[str, Any]] = []
    for name, variable in dataset.variables.items():
        if not isinstance(name, str):
            raise TypeError(f"a variable's name must be a string, got {name!r}")
        arrays[name] = _plain_values(name, variable)
        variables.append(
            {
                "name": name,
                "dims": plain_json(variable.dims, f"the axes of {name}"),
                "coordinate": name in dataset.coords,
                "attrs": plain_json(variable.attrs, f"{name}.attrs"),
            }
        )
    return arrays, {"variables": variables, "attrs": plain_json(dataset.attrs, "attrs")}


def decode_dataset(arrays: Mapping[str, np.ndarray], layout: Mapping[str, Any]) -> xr.Dataset:
    """The data set that `encode_dataset` took apart."""
    data: dict[str, xr.Variable] = {}
    coordinates: dict[str, xr.Variable] = {}
    for entry in layout["variables"]:
        group = coordinates if entry["coordinate"] else data
        group[entry["name"]] = xr.Variable(entry["dims"], arrays[entry["name"]], entry["attrs"])
    return xr.Dataset(data, coordinates, layout["attrs"])


def _plain_values(name: str, variable: xr.Variable) -> np.ndarray:
    values = np.asarray(variable.values)
    if values.dtype.kind != "O":
        return values
    # pandas keeps the text of an index as objects; only text may be turned back into plain text.
    if not all(isinstance(item, str) for item in values.flat):
        raise TypeError(f"the variable {name!r} must hold booleans, numbers or text, got Python objects")
    return values.astype(np.str_)
