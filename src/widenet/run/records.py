"""A result as what a cell holds (plain arrays under dotted names), and back.

A result is a frozen dataclass whose fields are NumPy arrays, numbers, text, fractions, enumerations, closed records,
other such dataclasses, and tuples, lists or dictionaries of those; or an `xarray.Dataset`. The types of its fields say
how it is read, so a field with a choice of types (`int | float`) must be one whose array tells which.
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

COUNT, KEYS = "length", "keys"
KINDS = {"b": bool, "i": int, "u": int, "f": float, "U": str}
"""NumPy's letters for single values."""


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
    """The result of this type that `encode` took apart. Its arrays are shared, and cannot be written to.

    Raises:
      TypeError: no cell can hold a result of this type.
    """
    arrays = {name: array.view() for name, array in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    return decode_dataset(arrays, layout) if kind is xr.Dataset else _build(kind, "", arrays)


def _flatten(value: Any, name: str, into: dict[str, np.ndarray]) -> None:
    match value:
        case None:
            return
        case ClosedModel():
            into[_own(name)] = np.array(value.model_dump_json())
        case enum.Enum():
            into[_own(name)] = np.array(value.value)
        case Fraction():
            into[_own(name)] = np.array(str(value))
        case bool() | int() | float() | str() | np.generic() | np.ndarray():
            into[_own(name)] = _plain(value, name)
        case tuple() | list():
            into[_join(name, COUNT)] = np.array(len(value))
            for index, item in enumerate(value):
                _flatten(item, _join(name, str(index)), into)
        case Mapping():
            if not all(isinstance(key, (str, int)) for key in value):
                raise TypeError(f"{name} must have words or whole numbers as its keys")
            into[_join(name, KEYS)] = np.array(list(value))
            for index, item in enumerate(value.values()):
                _flatten(item, _join(name, str(index)), into)
        case _ if dataclasses.is_dataclass(value):
            for field in dataclasses.fields(value):
                _flatten(getattr(value, field.name), _join(name, field.name), into)
        case _:
            plain = "Numbers, words and NumPy arrays are; np.asarray makes one of an array of JAX."
            what = type(value).__name__
            raise TypeError(f"{name or 'a result'} must be plain to be kept in a cell, got {what}. {plain}")


def _plain(value: Any, name: str) -> np.ndarray:
    array = np.asarray(value)
    if isinstance(value, int) and array.dtype.kind == "O":
        return np.array(str(value))  # beyond 64 bits
    if array.dtype.kind == "O":
        raise TypeError(f"{name} must hold booleans, numbers or text, got {type(value).__name__} objects")
    return array


def _build(kind: Any, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _build(arguments[0], name, arrays)
    if origin in (types.UnionType, typing.Union):
        return _build_one_of([each for each in arguments if each is not type(None)], name, arrays)
    if origin in (tuple, list):
        count = int(arrays[_join(name, COUNT)])
        alike = origin is list or (len(arguments) == 2 and arguments[1] is ...)
        each = arguments[:1] * count if alike else arguments
        return origin(_build(item, _join(name, str(index)), arrays) for index, item in enumerate(each))
    if origin is dict:
        keys = [arguments[0](key) for key in arrays[_join(name, KEYS)].tolist()]
        return {key: _build(arguments[1], _join(name, str(index)), arrays) for index, key in enumerate(keys)}
    if _is_array(kind):
        if _own(name) not in arrays:
            raise TypeError(
                f"{_own(name)} must be a NumPy array, as its annotation says; np.asarray(…) makes one of a list"
            )
        return arrays[_own(name)]
    if not isinstance(kind, type):
        raise TypeError(f"{name} has the type {kind}, which no cell can hold")
    return _build_plain(kind, name, arrays)


def _build_one_of(kinds: list[Any], name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value of a field that may be None, or a number of one type or another."""
    if name not in arrays and not any(each.startswith(f"{name}.") for each in arrays):
        return None
    if len(kinds) > 1:
        # Fractions, enumerations and records are text in a cell: beside another type nothing would tell them apart.
        is_told = all(_is_array(each) or each in KINDS.values() for each in kinds)
        kinds = [each for each in kinds if is_told and name in arrays and _fits(each, arrays[name])]
    if len(kinds) != 1:
        raise TypeError(f"{name} may have several types, and its array does not tell which")
    return _build(kinds[0], name, arrays)


def _fits(kind: Any, array: np.ndarray) -> bool:
    return _is_array(kind) if array.ndim else kind is KINDS.get(array.dtype.kind)


def _is_array(kind: Any) -> bool:
    """`np.ndarray`, with or without a dtype, or a type of jaxtyping."""
    return kind is np.ndarray or typing.get_origin(kind) is np.ndarray or hasattr(kind, "array_type")


def _build_plain(kind: type, name: str, arrays: Mapping[str, np.ndarray]) -> Any:
    if issubclass(kind, ClosedModel):
        return kind.model_validate_json(str(arrays[_own(name)]))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        made = {
            field.name: _build(hints[field.name], _join(name, field.name), arrays)
            for field in dataclasses.fields(kind)
            if field.init
        }
        return kind(**made)
    if issubclass(kind, (enum.Enum, Fraction, bool, int, float, str)):
        return kind(arrays[_own(name)].item())
    raise TypeError(f"{name} has the type {kind.__name__}, which no cell can hold")


def _own(name: str) -> str:
    """An array has a name also where it is the whole result."""
    return name or "value"


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
