"""An archive gives back the very numbers it was made from, and refuses a file that is not one."""

import datetime
import gzip
import json
import math
from typing import Any

import numpy as np
import pytest
import xarray as xr

from widenet.errors import InputError
from widenet.figures import Comparison
from widenet.figures.archive import PAPERS, SUFFIX, Archived, PlainArray, archive, archived, place_of

SHIPPED = sorted(path.name.removesuffix(SUFFIX) for path in PAPERS.glob(f"*/paper_scale/*{SUFFIX}"))
ROW = {
    "scale": "paper", "seed": 3, "config": [{"experiment": "toy.runs", "width": 5, "steps": [0.1, 1.0]}],
    "seconds": 61.25, "machine": "cpu", "versions": {"jax": "0.11"}, "version": "0.1.0",
    "reused": True, "cells": ["0" * 64],
}  # fmt: skip
NUMBERS = xr.Dataset(
    {
        "share": (("width", "run"), np.array([[0.1, np.nan, 1 / 3], [np.inf, -np.inf, 5e-324]])),
        "coarse": (("width",), np.array([1 / 3, 16777217.0], np.float32)),
        "count": (("width",), np.array([2**62 + 1, -5])),
        "solved": (("run", "width"), np.array([[True, False], [False, False], [True, True]])),
        "alone": ((), 0.1 + 0.2),
        "nothing": (("width", "none"), np.zeros((2, 0))),
    },
    coords={"width": [10, 1000], "law": ("run", ["ball", "sphère", ""]), "seed": 7},
    attrs={"n_train": 3000, "rate": 1e-17, "names": ["a", "b"], "bound": math.inf},
)
COMPARISON = Comparison(name="a", reported="95 %", measured=0.1 + 0.2, interval=(0.0, 1.0), band=(-math.inf, 1.0))
TODAY = datetime.date(2026, 11, 18)


def made(**changes: Any) -> Archived:
    return archive("toy2020.one", NUMBERS, [COMPARISON], ROW, TODAY).model_copy(update=changes)


def altered(change: dict[str, Any]) -> bytes:
    return gzip.compress(json.dumps(json.loads(gzip.decompress(made().to_bytes())) | change).encode())


def test_numbers_come_back_exactly() -> None:
    back = Archived.from_bytes(made().to_bytes(), "one")
    assert back == made()
    xr.testing.assert_identical(back.numbers, NUMBERS)
    for name in NUMBERS.variables:
        assert back.numbers[name].dtype == NUMBERS[name].dtype, name
        assert np.asarray(back.numbers[name]).tobytes() == np.asarray(NUMBERS[name]).tobytes(), name
    assert back.comparisons == (COMPARISON,)
    assert (back.date, back.machine, back.seconds, back.seed) == (TODAY, "cpu", 61.25, 3)
    assert back.is_drawable


def test_equal_results_are_equal_bytes_and_no_cell_is_named() -> None:
    assert made().to_bytes() == made().to_bytes()
    assert "0" * 64 not in gzip.decompress(made().to_bytes()).decode()


@pytest.mark.parametrize("id", SHIPPED)
def test_what_ships_can_be_read(id: str) -> None:
    found = archived(id)
    assert found is not None
    assert (found.id, found.scale) == (id, "paper")
    assert found.numbers.data_vars
    assert found.comparisons
    assert not set(found.left_out) & set(found.numbers.data_vars)
    assert Archived.from_bytes(found.to_bytes(), id) == found
    assert place_of(id).stat().st_size < 200_000


def test_fifteen_ship() -> None:
    assert len(SHIPPED) == 15
    assert archived("brutzkus2019.figure_1") is None
    assert archived("nobody1999.figure_1") is None


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", gzip.compress(b"{}"), gzip.compress(b"no json"), made().to_bytes()[:-9], altered({"format": 2}),
        altered({"more": 1}), altered({"seconds": "soon"}),
    ],
    ids=["empty", "not packed", "no fields", "no JSON", "cut off", "another format", "one field more", "a wrong field"],
)  # fmt: skip
def test_damage_is_one_sentence(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^one is no archive of a figure: .*make it again\.$"):
        Archived.from_bytes(content, "one")


@pytest.mark.parametrize(
    ("shape", "dtype", "values"),
    [
        ((3,), "f8", [1.0, 2.0]), ((2,), "f8", [1.0, "two"]), ((2,), "i8", [1, 2.5]), ((2,), "b1", [True, 1]),
        ((2,), "i8", [1, True]), ((1,), "U", [None]), ((1,), "O", [1]), ((1, 1), "f8", [1.0]),
    ],
)  # fmt: skip
def test_an_array_that_does_not_fit_is_refused(shape: tuple[int, ...], dtype: str, values: list[Any]) -> None:
    with pytest.raises(ValueError, match="valid"):
        PlainArray(axes=("run",), shape=shape, dtype=dtype, values=values)


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="booleans, numbers or text"):
        PlainArray.of(xr.DataArray(np.array([1, None], dtype=object), name="mixed"))
