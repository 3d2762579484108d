"""Input that cannot be used: one sentence and exit code 2, in bounded memory and time, and nothing is written."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.certificates import hostile
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates.reading import read
from widenet.claims import Verdict
from widenet.cli import app
from widenet.data import archives, text
from widenet.errors import DataError

SMALL = tomllib.loads(hostile.SENTENCES.read_text())
MOST_MEMORY = 1500 * 2**20
"""Of which half is what Python, NumPy and JAX take by themselves."""


def refusal_of(path: Path, **choices) -> str:
    with pytest.raises(DataError) as refusal:
        read(path, path if path.suffix == ".npy" else None, **choices)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400
    return str(refusal.value)


def test_every_small_file_has_its_sentence():
    assert set(SMALL) == {path.name for path in hostile.FOLDER.iterdir() if path.is_file()} - {
        "__init__.py", hostile.SENTENCES.name,
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_small_file(name):
    assert refusal_of(hostile.FOLDER / name) == SMALL[name]


@pytest.mark.parametrize("name", sorted(hostile.MADE), ids=ascii)
def test_a_file_made_by_code(tmp_path, monkeypatch, name):
    if name == "many_rows.csv":  # a million of them are read below
        monkeypatch.setattr(archives, "MOST_ROWS", 1000)
        monkeypatch.setattr(text, "MOST_ROWS", 1000)
    refusal = refusal_of(hostile.make(name, tmp_path))
    assert re.search(hostile.MADE[name][1], refusal), refusal


def test_paths_that_cannot_be(tmp_path):
    for name, message in (
        (".", "is a folder"),
        ("none.csv", "there is no file"),
        ("nul\0.csv", "cannot be read"),
        ("x" * 5000 + ".csv", "cannot be read: file name too long"),
        ("a.csv/b.csv", "there is no file|cannot be read"),
    ):
        assert re.search(message, refusal_of(tmp_path / name))


def test_everything_is_refused_in_bounded_memory(tmp_path):
    """In a process that may not take more: all files in turn, a million rows too, and what it took at most."""
    for name in hostile.MADE:
        hostile.make(name, tmp_path)
    program = (
        "import pathlib, resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({MOST_MEMORY}, {MOST_MEMORY}))\n"
        "from widenet.certificates.reading import read\n"
        "from widenet.errors import DataError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    try:\n"
        "        read(path, path if path.suffix == '.npy' else None)\n"
        "    except DataError as refusal:\n"
        "        assert 'not enough memory' not in str(refusal)\n"
        "    else:\n"
        "        raise SystemExit(f'{path.name} was read')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )

    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400 * 2**10  # in KiB


@pytest.fixture
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def invoke(*arguments):
    return CliRunner().invoke(app, ["certify", *map(str, arguments)], prog_name="widenet")


def test_the_command_says_one_sentence_and_writes_nothing(tmp_path, monkeypatch, toy_papers):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    folder = tmp_path / "files"
    folder.mkdir()
    made = [name for name, (content, _) in hostile.MADE.items() if not isinstance(content, bytes) or len(content) < 1e5]
    named = [hostile.FOLDER / name for name in SMALL]
    named += [hostile.make(name, folder) for name in made if not name.startswith(("bomb", "many", "sparse_text"))]
    for path in named:
        pair = [path, path] if path.suffix == ".npy" else [path]
        refused(invoke(*pair, "--out", tmp_path / "out"))
    assert {path.name for path in tmp_path.iterdir()} == {"files"}


@pytest.mark.parametrize(
    "option",
    [
        *("--width=3", "--width=0", "--width=-2", "--width=1000000000000", "--width=1e3", "--width=wide", "--width="),
        *("--step-size=0", "--step-size=-1", "--step-size=nan", "--step-size=inf", "--step-size=fast"),
        *("--init-scale=0", "--init-scale=nan", "--init-scale=1e308", "--slope=1", "--slope=-1", "--slope=nan"),
        *("--runs=0", "--runs=1.5", "--runs=1000000000", "--time=0", "--time=-1", "--time=nan", "--time=1e308"),
        *("--seed=-1", "--seed=1e400", "--seed=99999999999999999999", "--scaling=", "--scaling=best"),
        *("--label=", "--label=colour", "--label=0", "--label=4", "--label=-1", "--label=" + "9" * 5000),
        *("--label=\x1b[31m", "--colour=red", "--out="),
    ],
    ids=ascii,
)
def test_a_choice_that_cannot_be(tmp_path, monkeypatch, toy_papers, option):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "flowers.csv"
    path.write_text(hostile.FLOWERS)
    refused(invoke(path, option))
    assert {each.name for each in tmp_path.iterdir()} == {"flowers.csv"}


def refused(result) -> None:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("widenet: ")
    assert line.endswith((".", "?"))
    assert line.isprintable()
    assert len(line) < 500


ARRAYS = {
    "no labels": ([[1.0]], None, "no labels"),
    "ragged": ([[1.0], [2.0, 3.0]], [1, 2], "row 0 has 1 entries and row 1 has 2"),
    "ragged labels": ([[1.0], [2.0]], [[1], [2, 3]], "ragged"),
    "complex": ([[1j], [2.0]], [1, 2], "complex"),
    "dates": (np.zeros((2, 1), "M8[D]"), [1, 2], "datetime64"),
    "words": ([["a"], ["b"]], [1, 2], r"inputs\[0, 0\] is 'a', not a number"),
    "decimal commas": ([["1"], ["1,5"]], [1, 2], r"inputs\[1, 0\] is '1,5', not a number"),
    "whole numbers beyond float64": ([[10**400], [1]], [1, 2], r"inputs\[0, 0\] is 1000"),
    "whole numbers beyond words": ([[10**5000], [1]], [1, 2], "is a int that is too large"),
    "objects": ([[{}], [1]], [1, 2], r"inputs\[0, 0\] is {}, not a number"),
    "one axis": ([1.0, 2.0], [1, 2], "two axes"),
    "no axis": (1.0, [1, 2], "two axes"),
    "no points": (np.zeros((0, 3)), [], "two axes"),
    "no pixels": (np.zeros((0, 3, 3)), [], "two axes"),
    "too few labels": ([[1.0], [2.0]], [1, 2, 3], "2 inputs and 3 labels"),
    "two axes of labels": ([[1.0], [2.0]], [[1, 2], [3, 4]], "one axis"),
    "no label": ([[1.0], [2.0]], [1, np.nan], "row 2 is nan"),
    "none for a label": ([[1.0], [2.0], [3.0]], ["a", None, "b"], "row 2 is missing"),
    "missing in a frame": ([[1.0], [2.0], [3.0]], pd.Series(["a", pd.NA, "b"]), "row 2 is (missing|nan)"),
    "masked label": ([[1.0], [2.0]], np.ma.array([1, 2], mask=[False, True]), "row 2 is missing"),
    "masked": (np.ma.array([[1.0], [2.0]], mask=[[False], [True]]), [1, 2], r"inputs\[1, 0\] is masked"),
    "infinite": ([[1.0], [np.inf]], [1, 2], "row 2, coordinate 1 is inf"),
    "missing": (pd.DataFrame({"a": pd.array([1, None], "Int64")}), [1, 2], r"coordinate 1 \(a\) is nan"),
    "words in a frame": (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), None, "'a' holds"),
    "one column": (pd.DataFrame({"b": [1, 2]}), None, "fewer than two columns"),
    "two labels": (pd.DataFrame([[1, 2], [3, 4]], columns=["y", "y"]), None, "columns 'y' and 'y'"),
    "a broad cast": (np.broadcast_to(0.0, (10**6, 10**4)), [1, 2], "more than 25,000,000 numbers"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_cannot_be_used(name):
    inputs, labels, message = ARRAYS[name]
    with pytest.raises(DataError, match=message) as refusal:
        read(inputs, labels)
    assert "\n" not in str(refusal.value)


CHOICES = [
    *({"label": "a"}, {"width": "wide"}, {"width": 4.5}, {"width": []}, {"step_size": "1,5"}, {"drop": ["a"]}),
    *({"time": "long"}, {"time": 10**400}, {"runs": 2.0}, {"runs": True}, {"scaling": None}, {"scaling": []}),
    *({"seed": -1}, {"seed": "a"}, {"slope": float("nan")}, {"slope": "0.2a"}, {"width": {}}),
]


def test_choices_of_another_kind():
    """In a process whose functions do not look at the types of their arguments."""
    program = (
        "import widenet as wn\n"
        "from math import nan\n"
        "from widenet.errors import InputError\n"
        f"for choice in {CHOICES!r}:\n"
        "    try:\n"
        "        wn.certify([[1.0], [2.0]], [0, 1], **choice)\n"
        "    except InputError as refusal:\n"
        "        print(refusal)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == len(CHOICES)


ODD = {
    "mark.csv": "\ufeff" + hostile.FLOWERS,
    "windows.csv": hostile.FLOWERS.replace("\n", "\r\n"),
    "old_macintosh.csv": hostile.FLOWERS.replace("\n", "\r"),
    "no_last_end.csv": hostile.FLOWERS.rstrip(),
    "quotes.csv": hostile.FLOWERS.replace("rose", '"rose"').replace("1.5", '"1.5"'),
    "blank_lines.csv": hostile.FLOWERS.replace("\n", "\n\n"),
    "blanks.csv": hostile.FLOWERS.replace(",", " , "),
    "semicolons.csv": hostile.FLOWERS.replace(",", ";"),
    "tabs.tsv": hostile.FLOWERS.replace(",", "\t"),
    "no_names.csv": hostile.FLOWERS.partition("\n")[2],
    "same_names.csv": hostile.FLOWERS.replace("width", "length"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_that_can_be_used(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(ODD[name].encode())
    table = read(path)
    assert table.inputs.tolist() == [[1.4, 0.2], [1.5, 0.1], [4.7, 1.4], [4.9, 1.8]]
    assert table.class_names == ("lily", "rose")
    assert table.classes.tolist() == [1, 1, 0, 0]


def test_the_number_of_a_column_is_not_taken_for_a_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("3,2,1\n1,5,2\n3,6,1\n1,7,2\n")
    table = read(path, label="1")
    assert (len(table.inputs), table.label, table.class_names) == (4, "column 1", ("1", "3"))


def test_labels_that_float64_does_not_tell_apart():
    inputs = [[1.0], [2.0], [3.0], [4.0]]
    large = [2**53, 2**53 + 1] * 2
    assert read(inputs, large).class_names == (str(2**53), str(2**53 + 1))
    assert read(inputs, np.array(large)).classes.tolist() == [0, 1, 0, 1]
    assert len(set(read(inputs, [1.0, 1.0 + 1e-12] * 2).class_names)) == 2
    long = ["a" * 100 + "b", "a" * 100 + "c"] * 2
    assert len(set(read(inputs, long).class_names)) == 2


def test_names_are_shown_without_what_a_terminal_would_obey(tmp_path):
    path = tmp_path / "na\x1bme\n.csv"
    path.write_bytes("x\x1b[2J,ki\x07nd\n1,a\x1b\n2,b\u202e\n".encode())
    table = read(path)
    for name in (*table.class_names, *table.columns, table.label, table.source):
        assert name.isprintable()


@pytest.mark.parametrize(
    "table",
    [
        "1,2,a\n1,2,b\n3,4,a\n5,6,b\n",
        "1e99,1e-99,a\n-1e99,1e-99,b\n1e98,0,a\n2e97,-1e-99,b\n",
        "7,1e-99,0,a\n7,2e-99,0,b\n7,3e-99,1e-98,a\n7,4e-99,1e-99,b\n",
        "0,0,a\n0,0,b\n0,1,a\n1,0,b\n",
    ],
)
def test_no_verdict_is_wrong_about_extreme_tables(tmp_path, toy_papers, table):
    path = tmp_path / "a.csv"
    path.write_text(table)
    result = invoke(path, "--runs", 2, "--effort", 0.001, "--json", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["rows"]
    assert Verdict.VIOLATED not in {row["evidence"]["verdict"] for row in rows if row["evidence"]}
