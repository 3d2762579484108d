"""A result as what a cell holds (plain arrays under dotted names), and back.

A result is a frozen dataclass whose fields are NumPy arrays, numbers, text, fractions, enumerations, closed records,
other such dataclasses, and tuples or dictionaries of those; or an `xarray.Dataset`. The types of its fields say how it
is read.
"""

import dataclasses
import enum
import types
import typing
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from widenet.records import ClosedModel
from widenet.store.datasets import decode_dataset, encode_dataset

COUNT = "length"


def encode(result: Any) -> tuple[dict[str, np.ndarray], Any]:
    """The arrays of a result by name, and the JSON that is needed beside them.

    Raises:
      TypeError: it holds something that is not plain.
    """
    if isinstance(result, xr.Dataset):
        return encode_dataset(result)
    arrays: dict[str, np.ndarray] = {}
    _flatten(result, "", arrays)
    return arrays, None


def decode(kind: Any, arrays: Mapping[str, np.ndarray], layout: Any) -> Any:
    """The result of this type that `encode` took apart. Its arrays are shared, and cannot be written to."""
    if kind is xr.Dataset:
        return decode_dataset(arrays, layout)
    for array in arrays.values():
        array.setflags(write=False)
    return _build(kind, "", arrays)


def _flatten(value: Any, name: str, into: dict[str, np.ndarray]) -> None:
    match value:
        case None:
            return
        case ClosedModel():
            into[name] = np.array(value.model_dump_json())
        case enum.Enum():
            into[name] = np.array(value.value)
        case Fraction():
            into[name] = np.array(str(value))
        case bool() | int() | float() | str() | np.generic() | np.ndarray():
            into[name] = _plain(value, name)
        case tuple() | list():
            into[_join(name, COUNT)] = np.array(len(value))
            for index, item in enumerate(value):
                _flatten(item, _join(name, str(index)), into)
        case Mapping():
            for key, item in value.items():
                _flatten(item, _join(name, str(key)), into)
        case _ if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                _flatten(getattr(value, field.name), _join(name, field.name), into)
        case _:
            raise TypeError(f"{name or 'a result'} must be plain to be kept in a cell, got {type(value).__name__}")


def _plain(value: Any, name: str) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind == "O":
        raise TypeError(f"{name} must hold booleans, numbers or text, got {type(value).__name__} objects")
    return array


def _build(kind: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _build(arguments[0], name, arrays)
    if origin in (types.UnionType, typing.Union):
        present = name in arrays or any(each.startswith(f"{name}.") for each in arrays)
        others = [each for each in arguments if each is not type(None)]
        return _build(others[0], name, arrays) if present else None
    if origin in (tuple, list):
        count = int(arrays[_join(name, COUNT)])
        each = arguments[:1] * count if (len(arguments) == 2 and arguments[1] is ...) or origin is list else arguments
        return origin(_build(item, _join(name, str(index)), arrays) for index, item in enumerate(each))
    if origin is dict:
        keys = dict.fromkeys(
            each.removeprefix(f"{name}.").split(".")[0] for each in arrays if each.startswith(f"{name}.")
        )
        return {key: _build(arguments[1], _join(name, key), arrays) for key in keys}
    if origin is np.ndarray or kind is np.ndarray or hasattr(kind, "array_type"):
        return arrays[name]
    if not isinstance(kind, type):
        raise TypeError(f"{name} has the type {kind}, which no cell can hold")
    return _build_plain(kind, name, arrays)


def _build_plain(kind: type, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    if issubclass(kind, ClosedModel):
        return kind.model_validate_json(str(arrays[name]))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        made = {
            field.name: _build(hints[field.name], _join(name, field.name), arrays)
            for field in dataclasses.fields(kind)
            if field.init
        }
        return kind(**made)
    if issubclass(kind, (enum.Enum, Fraction, bool, int, float, str)):
        return kind(arrays[name].item())
    raise TypeError(f"{name} has the type {kind.__name__}, which no cell can hold")


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
