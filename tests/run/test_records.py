"""Results as cells hold them, and back."""

import dataclasses
import enum
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from jaxtyping import Float, Int

from widenet.records import ClosedModel, Scale
from widenet.run.records import decode, encode
from widenet.store import CellKey, Store


class Setting(ClosedModel):
    width: int
    limit: float


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    values: Float[np.ndarray, " step"]
    share: Fraction


@dataclass(frozen=True)
class Result:
    matrix: Float[np.ndarray, "row column"]
    counts: Int[np.ndarray, " run"]
    plain: np.ndarray
    names: np.ndarray
    n: int
    huge: int
    rate: float
    ok: bool
    words: str
    scale: Scale
    colour: Colour
    setting: Setting
    inner: Inner
    pair: tuple[int, float]
    many: tuple[Inner, ...]
    texts: list[str]
    by_name: dict[str, float]
    by_width: dict[int, Inner]
    nothing: Inner | None
    something: float | None
    either: int | float
    array_or_number: Float[np.ndarray, " x"] | float
    later: int = field(init=False, default=3)

    @property
    def double(self) -> float:
        return 2 * self.rate


def make() -> Result:
    inner = Inner(np.arange(3.0), Fraction(10**30 + 1, 7))
    return Result(
        matrix=np.ones((2, 3)),
        counts=np.array([1, 2]),
        plain=np.array([[True]]),
        names=np.array(["a", "η"]),
        n=3,
        huge=10**40,
        rate=float("nan"),
        ok=True,
        words="",
        scale=Scale.PAPER,
        colour=Colour.BLUE,
        setting=Setting(width=4, limit=float("inf")),
        inner=inner,
        pair=(1, 0.5),
        many=(inner, inner),
        texts=["x", "y/z"],
        by_name={"a.b/c": 1.0, "": 2.0},
        by_width={10: inner, 2: inner},
        nothing=None,
        something=0.25,
        either=0.5,
        array_or_number=np.zeros(2),
    )


def assert_same(one: Any, two: Any) -> None:
    assert type(one) is type(two)
    if dataclasses.is_dataclass(one):
        for each in dataclasses.fields(one):
            assert_same(getattr(one, each.name), getattr(two, each.name))
    elif isinstance(one, np.ndarray):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(two)
        for left, right in zip(one, two, strict=True):
            assert_same(left, right)
    elif isinstance(one, dict):
        assert list(one) == list(two)
        for key in one:
            assert_same(one[key], two[key])
    else:
        assert one == two or one != one


def through_a_store(result: Any, kind: Any, tmp_path) -> Any:
    store, key = Store(tmp_path), CellKey("toy.x", {}, "1")
    arrays, layout = encode(result)
    store.put(key, arrays, {"layout": layout})
    cell = store.get(key)
    assert cell is not None
    return decode(kind, cell.arrays, cell.content["layout"])


def test_everything_plain_survives_the_store(tmp_path):
    assert_same(through_a_store(make(), Result, tmp_path), make())


@pytest.mark.parametrize(("kind", "value"), [(float, 0.5), (int, 3), (str, "words"), (np.ndarray, np.arange(3))])
def test_a_result_may_be_a_single_value(kind, value, tmp_path):
    assert_same(through_a_store(value, kind, tmp_path), value)


def test_collections_may_be_the_result(tmp_path):
    assert through_a_store((1, 2, 3), tuple[int, ...], tmp_path / "a") == (1, 2, 3)
    assert through_a_store({"x": 1.0}, dict[str, float], tmp_path / "b") == {"x": 1.0}
    assert through_a_store({}, dict[str, float], tmp_path / "c") == {}
    assert through_a_store((), tuple[int, ...], tmp_path / "d") == ()


def test_numbers_with_named_axes_survive(tmp_path):
    numbers = xr.Dataset({"error": (("width", "run"), np.ones((2, 3)))}, coords={"width": [1, 2]}, attrs={"a": 1})
    xr.testing.assert_identical(through_a_store(numbers, xr.Dataset, tmp_path), numbers)


def test_arrays_that_many_read_cannot_be_written_to():
    result = decode(Inner, *encode(Inner(np.arange(3.0), Fraction(1, 2))))
    with pytest.raises(ValueError, match="read-only"):
        result.values[0] = 7.0


def test_encoding_leaves_the_original_as_it_was():
    original = Inner(np.arange(3.0), Fraction(1, 2))
    decode(Inner, *encode(original))
    original.values[0] = 7.0
    assert original.values[0] == 7.0


class Pair(NamedTuple):
    one: int
    two: int


@dataclass(frozen=True)
class Holder:
    value: Any


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "value must be plain to be kept in a cell, got object"),
        (jnp.ones(2), r"got ArrayImpl\. Numbers, words and NumPy arrays are; np\.asarray makes one"),
        ({1, 2}, "value must be plain to be kept in a cell, got set"),
        (np.array([Fraction(1, 2)]), "value must hold booleans, numbers or text"),
        ({(1, 2): 3}, "value must have words or whole numbers as its keys"),
    ],
)
def test_what_is_not_plain_is_refused_by_name(value, words):
    with pytest.raises(TypeError, match=words):
        encode(Holder(value))


@pytest.mark.parametrize("values", [[1.0, 2.0], None])
def test_what_is_no_array_where_one_is_annotated_is_refused_by_name(values):
    with pytest.raises(TypeError, match="values must be a NumPy array, as its annotation says"):
        decode(Inner, *encode(Inner(values, Fraction(1, 2))))


@dataclass(frozen=True)
class Unreadable:
    pair: Pair


@dataclass(frozen=True)
class Ambiguous:
    value: str | Fraction


def test_what_cannot_be_read_again_is_refused():
    with pytest.raises(TypeError, match="pair has the type Pair"):
        decode(Unreadable, *encode(Unreadable(Pair(1, 2))))
    with pytest.raises(TypeError, match="value has the type"):
        decode(Holder, *encode(Holder(1)))
    with pytest.raises(TypeError, match="value may have several types"):
        decode(Ambiguous, *encode(Ambiguous(Fraction(1, 2))))
