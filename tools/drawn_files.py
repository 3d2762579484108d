"""python -m tools.drawn_files --count 10000: certificates are asked for about drawn files and arrays of all kinds.

Nothing may raise but one sentence with exit code 2, and then nothing is written; what is accepted gets a certificate
without a refuted theorem. Hypothesis draws: text of all sorts (ragged, other encodings, decimal commas, dates, quotes,
NaN, cut off), arrays and archives that lie or are damaged, Python objects, scales from 1e-300 to 1e300, duplicates,
contradictions, and choices at their edges. Every accepted input is read, prepared and looked at, and its screen and
JSON are made; every so many of them (--every) is trained on, and asked about by all theorems of all papers. Block
number n of examples is the same each time. Results are kept in build/drawn_files.jsonl, one line per block, so an
interrupted look goes on where it stopped.
"""

import argparse
import collections
import contextlib
import io
import json
import logging
import os
import resource
import tempfile
import time
import traceback
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import hypothesis
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn_arrays

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "drawn_files.jsonl"
BLOCK, TROUBLES = 250, 40
FOR_LOOKING, FOR_ASKING = 1e-6, 15.0
"""Seconds that a certificate may take: one that only looks at the data, and one that asks all theorems."""

DRAWING = [
    hypothesis.HealthCheck.too_slow,
    hypothesis.HealthCheck.data_too_large,
    hypothesis.HealthCheck.filter_too_much,
]
"""Inputs may be slow to draw."""


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


def look_at(given: File | Values, seconds: float = FOR_LOOKING) -> dict[str, Any]:
    """What comes of an input: what it was refused with, or verdicts; and everything that must not be."""
    began = time.process_time()
    train = mock.patch("widenet.certificates.making.train", return_value=None)
    with (
        train if seconds == FOR_LOOKING else contextlib.nullcontext(),
        warnings.catch_warnings(action="ignore"),
        tempfile.TemporaryDirectory() as folder,
    ):
        os.environ["WIDENET_STORE"] = f"{folder}/store"
        logging.disable(logging.CRITICAL)
        try:
            row = _file(given, Path(folder), seconds) if isinstance(given, File) else _values(given, seconds)
        except Exception:
            row = {"trouble": f"raised: {traceback.format_exc()[-1200:]}"}
        finally:
            logging.disable(logging.NOTSET)
    return row | {"kind": _kind(given), "seconds": time.process_time() - began}


def _kind(given: File | Values) -> str:
    return given.name.rpartition(".")[2].lower() if isinstance(given, File) else "values"


def _values(given: Values, seconds: float) -> dict[str, Any]:
    import widenet as wn
    from widenet.errors import InputError

    try:
        found = wn.certify(given.inputs, given.labels, **({"time": seconds, "runs": 1} | given.choices))
    except InputError as refusal:
        return _sentence(str(refusal))
    return _certificate(found)


def _file(given: File, folder: Path, seconds: float) -> dict[str, Any]:
    """Through the command; what is accepted there, as far as its page, is made without the page, which takes longer."""
    from typer.testing import CliRunner

    import widenet as wn
    from widenet.certificates.reading import read
    from widenet.cli import app
    from widenet.errors import InputError

    paths = [folder / given.name]
    paths[0].write_bytes(given.content)
    if given.second is not None:
        paths.append(folder / "labels.npy")
        paths[1].write_bytes(given.second)
    label = next((each.partition("=")[2] for each in given.options if each.startswith("--label")), None)
    others = [each for each in given.options if not each.startswith("--label")]
    try:
        table = read(*paths, label=label)
        if not others:
            return _certificate(wn.certify(table, time=seconds, runs=1))
    except InputError as refusal:
        said = str(refusal)
    else:
        said = ""
    told = CliRunner().invoke(
        app,
        ["certify", *map(str, paths), *given.options, f"--time={seconds}", f"--out={folder}/out"],
        prog_name="widenet",
    )
    if told.exception is not None and not isinstance(told.exception, SystemExit):
        return {"trouble": f"raised: {''.join(traceback.format_exception(told.exception))[-1200:]}"}
    if told.exit_code == 0 and not said:
        return {"certified": {}}
    left = {path.name for path in folder.iterdir()} - {path.name for path in paths}
    lines = told.stderr.splitlines()
    if told.exit_code != 2 or told.stdout or len(lines) != 1 or left:
        return {"trouble": f"exit code {told.exit_code}, stdout {told.stdout[:200]!r}, stderr {lines}, left {left}"}
    return _sentence(lines[0].removeprefix("widenet: "))


def _sentence(said: str) -> dict[str, Any]:
    if not said.isprintable() or not said.endswith((".", "?")) or len(said) > 500:
        return {"trouble": f"not a sentence: {said[:600]!r}"}
    return {"refused": said}


def _certificate(found: Any) -> dict[str, Any]:
    from widenet.claims import Verdict
    from widenet.claims.base import expected_of

    said = {row.id: row.verdict for row in found.findings.rows if row.verdict is not None}
    row: dict[str, Any] = {"certified": dict(collections.Counter(verdict.value for verdict in said.values()))}
    refuted = [id for id, verdict in said.items() if verdict is Verdict.VIOLATED and expected_of(id) is Verdict.HOLDS]
    mishaps = [row.silence for row in found.findings.rows if row.is_open and "time" not in row.silence]
    json.loads(found.to_json(), parse_constant=_no_json)
    odd = {sign for sign in repr(found) if not sign.isprintable()} - {"\n", "\N{NO-BREAK SPACE}"}
    if refuted or mishaps or odd:
        row["trouble"] = f"refuted {refuted}, mishaps {mishaps}, signs {odd}"
    return row


def _no_json(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def look(block: int, count: int, every: int) -> dict[str, Any]:
    """One block of examples."""
    rows: list[dict[str, Any]] = []
    accepted = 0

    @hypothesis.seed(block)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate,),
        suppress_health_check=DRAWING,
    )
    @hypothesis.given(inputs)
    def each(given: File | Values) -> None:
        nonlocal accepted
        row = look_at(given)
        if "certified" in row and isinstance(given, Values):
            accepted += 1
            if every and accepted % every == 0:
                row = look_at(given, FOR_ASKING) | {"asked": True}
        if "trouble" in row:
            row["given"] = repr(given)[:1500]
        rows.append(row)

    each()
    verdicts: collections.Counter[str] = collections.Counter()
    for row in rows:
        verdicts.update(row.get("certified", {}))
    return {
        "block": block,
        "inputs": len(rows),
        "kinds": dict(collections.Counter(row["kind"] for row in rows)),
        "refused": sum("refused" in row for row in rows),
        "certified": sum("certified" in row for row in rows),
        "asked": sum("asked" in row for row in rows),
        "verdicts": dict(verdicts),
        "sentences": sorted({row["refused"] for row in rows if "refused" in row}),
        "slowest": max(row["seconds"] for row in rows if "asked" not in row),
        "slowest_asked": max((row["seconds"] for row in rows if "asked" in row), default=0.0),
        "mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10,
        "troubles": [row for row in rows if "trouble" in row][:TROUBLES],
    }


def summary(blocks: list[dict[str, Any]]) -> str:
    """The counts in words."""
    total = collections.Counter()
    kinds, verdicts = collections.Counter(), collections.Counter()
    for each in blocks:
        total.update({name: each[name] for name in ("inputs", "refused", "certified", "asked")})
        kinds.update(each["kinds"])
        verdicts.update(each["verdicts"])
    troubles = [trouble for each in blocks for trouble in each["troubles"]]
    return "\n".join(
        [
            f"{total['inputs']} inputs {dict(kinds)}: {total['refused']} refused in a sentence, {total['certified']} "
            f"with a certificate ({total['asked']} of them asked about by all theorems), {len(troubles)} with trouble",
            f"verdicts: {dict(verdicts.most_common())}",
            f"seconds of an input: at most {max(each['slowest'] for each in blocks):.1f}, where theorems are asked "
            f"{max(each['slowest_asked'] for each in blocks):.1f}; "
            f"at most {max(each['mebibytes'] for each in blocks):.0f} MiB of memory",
            *(f"{trouble['trouble']}\n    {trouble['given']}" for trouble in troubles[:TROUBLES]),
        ]
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.drawn_files", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="so many inputs, in blocks of 250")
    parser.add_argument("--every", type=int, default=0, help="of the accepted arrays every so many is asked about")
    parser.add_argument("--first", type=int, default=0, help="the first block")
    asked = parser.parse_args()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    known = {row["block"]: row for row in map(json.loads, RESULTS.read_text().splitlines())} if RESULTS.exists() else {}
    wanted = range(asked.first, asked.first + -(-asked.count // BLOCK))
    with RESULTS.open("a") as lines:
        for block in wanted:
            if block not in known:
                known[block] = look(block, min(BLOCK, asked.count), asked.every)
                lines.write(json.dumps(known[block]) + "\n")
                lines.flush()
                print(summary([known[block]]), flush=True)
    print("\nall of them:\n" + summary([known[block] for block in wanted]))


if __name__ == "__main__":
    main()
