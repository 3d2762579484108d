"""A theorem of your own that is written wrongly: one sentence with what was given, rule and fix, and exit code 2."""

import json
import os
import subprocess
import sys

import pytest

THEOREM = '''
import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims import ROUNDING, Cases, Experiment, Kind, Setting, at_most, claim, hypothesis


class Size(Setting):
    n: int = 3


@dataclass(frozen=True, eq=False)
class Table(Cases):
    a: Float[np.ndarray, " run"]
    b: Float[np.ndarray, " run"]


def run(setting: Size, _) -> Table:
    return Table(np.ones(2), np.ones(2))


tables = Experiment("own.NAME", lambda scale, seed: [Size()], run)


@hypothesis("size")
def size(runs: Table):
    return at_most(runs.a, 3)


@claim("own.NAME", Kind.MAIN, "notes", reads=tables, given=[size])
def theorem(runs: Table):
    """a ≤ 2."""
    return {"a": at_most(runs.a, 2)}
'''
RETURNED, PROMISED, ANNOTATED = "Table(np.ones(2), np.ones(2))", "at_most(runs.a, 2)", 'b: Float[np.ndarray, " run"]'
COLUMN = "column 'a' of Table must be a NumPy array with the axis 'run', got"

MISTAKES = {
    "a_list": (RETURNED, "Table([1.0, 2.0], np.ones(2))", f"{COLUMN} a list; np.asarray(…) makes one"),
    "nothing": (RETURNED, "Table(None, np.ones(2))", f"{COLUMN} None; give one entry per run"),
    "a_number": (RETURNED, "Table(1.0, np.ones(2))", f"{COLUMN} 1.0; give one entry per run"),
    "a_matrix": (
        RETURNED,
        "Table(np.ones((2, 2)), np.ones(2))",
        f"{COLUMN} shape (2, 2); return another array, or name",
    ),
    "objects": (
        RETURNED,
        "Table(np.array([1.0, None]), np.ones(2))",
        "column 'a' of Table must hold booleans, numbers",
    ),
    "two_lengths": (RETURNED, "Table(np.ones(2), np.ones(3))", "axis 'run' has length 2 in a and 3 in b; columns with"),
    "a_dict": (
        RETURNED,
        "dict(a=np.ones(2))",
        "run must return Table, as its annotation says, got dict; return Table(…)",
    ),
    "not_annotated": (" -> Table", "", "run must say what it returns, got no return annotation; annotate"),
    "no_axes": (
        ANNOTATED,
        "b: np.ndarray",
        "column 'b' of Table is annotated np.ndarray, which names no axes; annotate it",
    ),
    "name_taken": (
        ANNOTATED,
        ANNOTATED.replace("b", "cell", 1),
        "no column can be called 'cell', which every table has;",
    ),
    "partial": (
        "[Size()], run",
        "[Size()], functools.partial(run)",
        "run must be a function of a setting and progress, got",
    ),
    "closure": (
        "[Size()], run",
        "[Size()], (lambda n: lambda setting, progress: run(Size(n=n), progress))(4)",
        "run must be a function of a setting and progress, got one that takes n from around it; make each value",
    ),
    "arrays_set": (
        "n: int = 3",
        "n: np.ndarray = 3",
        "a setting holds plain values (numbers, text, tuples and other settin",
    ),
    "given_array": (
        "at_most(runs.a, 3)",
        "runs.a <= 3",
        "the hypothesis 'size' must come from at_most, at_least, less_than",
    ),
    "promised_array": (
        PROMISED,
        "runs.a <= 2",
        "the promise 'a' must come from at_most, at_least, less_than, more_than",
    ),
    "unknown_axis": (
        PROMISED,
        'at_most(runs.per("step").a, 2)',
        "Table has no axis 'step' for per('step'), its axes are run,",
    ),
    "a_loop": (
        '{"a": at_most(runs.a, 2)}',
        '{f"a{i}": at_most(each, 2) for i, each in enumerate(runs.a)}',
        "promise keys must not depend on data, got a0, a1 on these runs and none without runs; put what",
    ),
}
"""By the name of a file: what is written there in place of which words, and what is answered."""

CHECK_ALL = """
import contextlib, io, json, sys
from widenet import cli
answers = {}
for place in json.load(sys.stdin):
    sys.argv, code = ["widenet", "check", place], 0
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()) as errors:
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code or 0
    answers[place] = (code, printed.getvalue(), errors.getvalue())
json.dump(answers, sys.stdout)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Exit code, output and errors of `widenet check`, for the theorem and for each mistake in it."""
    folder = tmp_path_factory.mktemp("mistakes")
    places = {}
    for name, (right, wrong, _) in {"right": ("", "", ""), **MISTAKES}.items():
        assert right in THEOREM, name
        file = folder / name / f"own_{name}.py"
        file.parent.mkdir()
        file.write_text(THEOREM.replace(right, wrong, 1 if right else 0).replace("NAME", name), encoding="utf-8")
        places[f"{file}:theorem"] = name
    done = subprocess.run(
        [sys.executable, "-c", CHECK_ALL],
        input=json.dumps(list(places)),
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"WIDENET_STORE": str(folder / "store"), "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {places[place]: answer for place, answer in json.loads(done.stdout).items()}


def test_the_theorem_without_a_mistake_holds(answers: dict[str, tuple[int, str, str]]) -> None:
    code, text, _ = answers["right"]
    assert code == 0
    assert "✓ holds" in text


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_sentence(name: str, answers: dict[str, tuple[int, str, str]]) -> None:
    code, text, errors = answers[name]
    assert (code, text) == (2, ""), errors
    (sentence,) = [line for line in errors.splitlines() if not line.startswith("[")]
    assert MISTAKES[name][2] in sentence
