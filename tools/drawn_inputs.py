"""Files, arrays and choices of all kinds, drawn by Hypothesis; `tools.drawn_files` asks for certificates about them."""

import io
import warnings
import zipfile
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_arrays


@dataclass(frozen=True)
class File:
    """A file, or the two of inputs and labels."""

    name: str
    content: bytes
    second: bytes | None = None
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Values:
    """What is given to `wn.certify`."""

    inputs: Any
    labels: Any
    choices: dict[str, Any] = field(default_factory=dict)


numbers = st.one_of(
    st.integers(-3, 3).map(str),
    st.floats(-10, 10, allow_nan=False).map("{:.3g}".format),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
oddities = st.sampled_from(
    ["", " ", "nan", "NaN", "inf", "-Infinity", "1e308", "1e999", "5e-324", "-0.0", "1,5", "1.234,5", "2021-03-04",
     "12:30", "0x10", "1_0", "１２", "½", "true", "NULL", "NA", '"', '"a', "a\"b", "'", "#", "\u202e", "\x1b[2J", "\t",
     "\0", "1 2", "$5", "50 %", "1e", "--1", "+1", "1.", ".5", "a" * 50, "9" * 400]
)  # fmt: skip
words = st.sampled_from(["a", "b", "0", "1", "-1", "+1", "1.0", "red", "blue"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Text, mostly a table of numbers with some cells of another kind."""
    columns, rows = draw(st.integers(1, 4)), draw(st.integers(0, 7))
    few = draw(st.sampled_from([(), (), (0,), (0, 1, 2)]))
    lines = []
    for row in range(rows):
        count = columns + (draw(st.integers(-1, 1)) if row in few and draw(st.booleans()) else 0)
        cells = [draw(oddities) if row in few and draw(st.booleans()) else draw(numbers) for _ in range(count)]
        lines.append([*cells, draw(oddities) if row in few and draw(st.booleans()) else draw(words)])
    if draw(st.booleans()):
        names = st.sampled_from(["x", "y", "label", "a", "length", "", "2020", "id", "x"])
        lines.insert(0, [draw(names) for _ in range(columns + 1)])
    separator = draw(st.sampled_from([",", ",", ",", ";", "\t", " ", "|"]))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]))
    text = end.join(separator.join(cells) for cells in lines) + draw(st.sampled_from(["", end]))
    return text.replace(".", ",") if draw(st.integers(0, 19)) == 0 else text


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content as it is, cut off, or with some bytes changed."""
    how = draw(st.sampled_from(["whole"] * 5 + ["cut", "changed", "more"]))
    if how == "whole" or not content:
        return content
    place = draw(st.integers(0, len(content) - 1))
    if how == "cut":
        return content[:place]
    return content[:place] + draw(st.binary(min_size=1, max_size=6)) + content[place + (how == "changed") :]


@st.composite
def text_files(draw: st.DrawFn) -> File:
    """CSV, TSV and what is called so."""
    encoding = draw(st.sampled_from(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "utf-16-le", "latin-1"]))
    content = draw(damaged(draw(tables()).encode(encoding, "replace")))
    name = draw(
        st.sampled_from(["a.csv", "a.csv", "a.tsv", "a.txt", "a.CSV", "a b.csv", "a.npz", "a.npy", "a.parquet"])
    )
    return File(name, content, options=draw(options()))


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):  # about names of fields that old versions cannot read
        np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _zipped(members: dict[str, bytes], method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def arrays() -> st.SearchStrategy[np.ndarray]:
    """Arrays of every kind NumPy has; half of them points."""
    kinds = st.one_of(drawn_arrays.scalar_dtypes(), drawn_arrays.array_dtypes())
    shapes = drawn_arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
    points = drawn_arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.floats(-9, 9))
    return points | drawn_arrays.arrays(kinds, shapes)


def labels() -> st.SearchStrategy[np.ndarray]:
    """Labels, most of which are such."""
    signs = st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=6).map(np.array)
    names = st.lists(words, min_size=1, max_size=6).map(np.array)
    return signs | names | arrays()


@st.composite
def headers(draw: st.DrawFn) -> bytes:
    """NPY files whose header says anything."""
    shape = draw(st.one_of(st.tuples(st.integers(-2, 9), st.integers(-2, 9)), st.lists(st.integers(), max_size=4)))
    kind = draw(
        st.sampled_from(["<f8", ">f4", "|O", "|u1", "<U0", "<M8[D]", "|V3", "nonsense", "<f8,<f8", "|b1", "<c16"])
    )
    words = f"{{'descr': {kind!r}, 'fortran_order': {draw(st.booleans())}, 'shape': {tuple(shape)}, }}"
    header = draw(damaged(words.encode())) + b"\n"
    version = draw(st.sampled_from([(1, 0), (2, 0), (3, 0), (9, 9)]))
    length = len(header).to_bytes(2 if version == (1, 0) else 4, "little")
    return np.lib.format.magic(*version) + length + header + draw(st.binary(max_size=80))


@st.composite
def array_files(draw: st.DrawFn) -> File:
    """NPY pairs and NPZ archives."""
    one = draw(arrays().map(_saved) | headers())
    two = draw(labels().map(_saved) | headers())
    if draw(st.booleans()):
        return File("a.npy", draw(damaged(one)), draw(damaged(two)), options=draw(options()))
    names = draw(st.sampled_from([("X", "y"), ("inputs", "labels"), ("data", "target"), ("a", "b"), ("X", "X")]))
    method = draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    ending = draw(st.sampled_from([".npy", ".npy", ".npy", ""]))
    with warnings.catch_warnings(action="ignore"):  # two members of one name
        content = _zipped(dict(zip((name + ending for name in names), (one, two), strict=True)), method)
    return File("a.npz", draw(damaged(content)), options=draw(options()))


def options() -> st.SearchStrategy[tuple[str, ...]]:
    """Mostly none."""
    edges = [
        "--label=y", "--label=1", "--label=0", "--label=", "--label=nan", "--width=3", "--width=2", "--width=-4",
        "--width=10000000", "--slope=1", "--slope=0.5", "--step-size=nan", "--step-size=1e-300", "--init-scale=-1",
        "--init-scale=1e-300", "--runs=0", "--scaling=none", "--scaling=ball", "--scaling=x", "--seed=7", "--seed=-7",
    ]  # fmt: skip
    return st.one_of(st.just(()), st.just(()), st.sampled_from(edges).map(lambda each: (each,)))


@st.composite
def values(draw: st.DrawFn) -> Values:
    """Python objects of all kinds."""
    cell = st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3), st.just(10**400))
    rows = st.lists(st.lists(cell, max_size=3), max_size=5) | st.lists(cell, max_size=3) | cell
    kinds = st.lists(cell | st.sampled_from(["a", "b"]), max_size=5) | st.none() | st.just({})
    choice = st.sampled_from(
        [{}, {}, {"width": "a"}, {"width": 2.5}, {"time": None}, {"runs": 10**9}, {"scaling": 3}, {"label": 1},
         {"seed": 2**70}, {"slope": 0}, {"step_size": float("inf")}, {"init_scale": True}]
    )  # fmt: skip
    return Values(draw(arrays() | rows), draw(labels() | kinds), draw(choice))


@st.composite
def points(draw: st.DrawFn) -> Values:
    """Points that can be read: any scale, duplicates, contradictions, constant columns; few shapes, compiled once."""
    shape = draw(st.sampled_from([(4, 1), (4, 2), (6, 2), (6, 3)]))
    entry = draw(st.sampled_from([st.integers(-2, 2).map(float), st.floats(-1, 1), st.sampled_from([0.0, 1e-9, 1.0])]))
    inputs = draw(drawn_arrays.arrays(np.float64, shape, elements=entry))
    exponent = draw(st.sampled_from([0.0, 0.0, 0.0]) | st.floats(-300, 300))
    with np.errstate(all="ignore"):
        inputs = inputs * 10.0**exponent
        if draw(st.booleans()):
            inputs = inputs * 10.0 ** draw(drawn_arrays.arrays(np.float64, shape[1], elements=st.floats(-60, 60)))
    if draw(st.booleans()):
        inputs = inputs[draw(st.lists(st.integers(0, shape[0] - 1), min_size=shape[0], max_size=shape[0]))]
    kinds = draw(st.lists(st.sampled_from("aabbc"), min_size=shape[0], max_size=shape[0]))
    choices = {"scaling": draw(st.sampled_from(["auto", "auto", "ball", "none"]))}
    return Values(inputs, kinds, choices)


inputs = st.one_of(text_files(), array_files(), values(), points(), points())
