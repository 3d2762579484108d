"""The numbers of a figure as plain files: one JSON with everything, and a CSV per set of axes.

Quantities with the same axes share a CSV in long form, so that nothing is repeated and nothing is averaged twice
by accident: `updates` has one row per run and does not reappear for every epoch.
"""

import json
import math
from collections import defaultdict
from typing import Any

import numpy as np
import xarray as xr


def plain_files(stem: str, numbers: xr.Dataset, about: dict[str, Any]) -> dict[str, bytes]:
    """File name to content. `about` (what was run, what it is compared with) goes first in the JSON."""
    content = {
        **about,
        "attributes": {str(name): _strict(np.asarray(value).tolist()) for name, value in numbers.attrs.items()},
        "coordinates": {str(name): _values(axis) for name, axis in numbers.coords.items()},
        "quantities": {
            str(name): {"axes": [str(axis) for axis in array.dims], "values": _values(array)}
            for name, array in numbers.data_vars.items()
        },
    }
    files = {f"{stem}.json": (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()}
    for axes, names in _by_axes(numbers).items():
        # A row without a single number is a run that does not exist: narrow networks have more runs than wide ones.
        table = numbers[names].reset_coords(drop=True).to_dataframe(dim_order=axes).dropna(how="all")
        files[f"{stem}.{'-'.join(axes)}.csv"] = table.to_csv(lineterminator="\n").encode()
    return files


def _by_axes(numbers: xr.Dataset) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, array in numbers.data_vars.items():
        if array.dims:  # a single number is in the JSON
            groups[tuple(str(axis) for axis in array.dims)].append(str(name))
    return groups


def _values(array: xr.DataArray) -> Any:
    return _strict(np.asarray(array.values).tolist())


def _strict(value: Any) -> Any:
    """JSON has neither NaN (a run that does not exist: null) nor infinity (a string)."""
    if isinstance(value, list):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
