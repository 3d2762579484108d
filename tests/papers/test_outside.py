"""Claims in files of somebody's own: found by their path, run, and computed again when a file beside them changes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from widenet import papers
from widenet.errors import InputError, UnknownName
from widenet.papers.outside import claims_in

ROOT = Path(__file__).parents[2]
PERCEPTRON = ROOT / "examples" / "perceptron.py"

THEOREM = '''
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from {helper} import SIZE
from widenet.claims import Cases, Experiment, Kind, Promised, Setting, at_most, claim


@dataclass(frozen=True, eq=False)
class Sizes(Cases):
    size: Float[np.ndarray, " run"]


def run(setting: Setting, _) -> Sizes:
    return Sizes(np.full(2, SIZE))


sizes = Experiment("own.sizes", lambda scale, seed: [Setting()], run)


@claim("own.theorem", Kind.MAIN, "my notes", reads=sizes, given=[])
def theorem(runs: Sizes) -> Promised:
    """Sizes are at most one, as far as anybody knows."""
    return {{"size": at_most(runs.size, 1.0, text="size at most $1$")}}
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a theorem, and with what it imports."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_theorem.py").write_text(THEOREM.format(helper="own_helper"))
    (tmp_path / "own_helper.py").write_text("SIZE = 0.5\n")
    yield tmp_path
    for name in ("own_theorem", "own_helper"):
        sys.modules.pop(name, None)


def widenet(*arguments: str, store: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "widenet.cli", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"WIDENET_STORE": str(store)},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_file_and_a_claim_of_it(own: Path) -> None:
    (found,) = papers.claims_by(f"{own}/own_theorem.py:theorem")
    assert found.id == "own.theorem"
    assert papers.claims_by(f"{own}/own_theorem.py") == [found]
    assert found.clauses["size"].limit == 1


def test_a_changed_file_beside_it_is_noticed(own: Path, tmp_path: Path) -> None:
    """A stale HOLDS would be worse than none."""

    def verdict() -> str:
        _, text, errors = widenet("check", f"{own}/own_theorem.py", "--json", store=tmp_path / "store")
        assert text, errors
        return json.loads(text)[0]["verdict"]

    assert verdict() == "HOLDS"
    (own / "own_helper.py").write_text("SIZE = 2.0\n")
    assert verdict() == "VIOLATED"


READS = {
    "a table that it reads": ("numbers.txt", "0.5", "2.00", "float(HERE.joinpath('numbers.txt').read_text())"),
    "a module named by a string": ("dyn.py", "SIZE = 0.5\n", "SIZE = 2.0\n", "importlib.import_module('dyn').SIZE"),
    "whatever is there": ("size_2.csv", "0.5", "2.00", "float(next(HERE.glob('*.csv')).read_text())"),
}


@pytest.mark.parametrize(("name", "before", "after", "read"), READS.values(), ids=READS)
def test_a_file_that_no_import_tells_of_is_noticed(
    own: Path, tmp_path: Path, name: str, before: str, after: str, read: str
) -> None:
    text = THEOREM.format(helper="own_helper").replace("np.full(2, SIZE)", f"np.full(2, {read})")
    (own / "own_theorem.py").write_text(
        f"import importlib\nfrom pathlib import Path\nHERE = Path(__file__).parent\n{text}"
    )

    def verdict() -> str:
        _, text, errors = widenet("check", f"{own}/own_theorem.py", "--json", store=tmp_path / "store")
        assert text, errors
        return json.loads(text)[0]["verdict"]

    (own / name).write_text(before)
    assert verdict() == "HOLDS"
    (own / name).write_text(after)
    assert verdict() == "VIOLATED"


def test_a_full_folder_gets_a_sentence(own: Path, tmp_path: Path) -> None:
    with (own / "large.bin").open("wb") as file:
        file.truncate(2**28 + 1)  # no byte of it is written
    code, _, errors = widenet("check", f"{own}/own_theorem.py", store=tmp_path / "store")
    assert code == 2
    assert f"the folder {own} of your file has 3 files of 256 MiB" in " ".join(errors.split())


def test_the_example_holds_with_equality(tmp_path: Path) -> None:
    code, text, errors = widenet("check", f"{PERCEPTRON}:perceptron", "--json", store=tmp_path)
    assert code == 0, errors
    (row,) = json.loads(text)
    assert (row["verdict"], row["tightness"], row["runs"]["tried"]) == ("HOLDS", 1.0, 9)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("broken_theorem.py", "def f(:\n", "broken_theorem.py, line 1: invalid syntax"),
        ("failing_theorem.py", "\nraise ValueError('no')\n", r"ValueError: no \(failing_theorem.py, line 2\)"),
        ("empty_theorem.py", "", "has no claim"),
        ("my-theorem.py", "", "rename it to letters"),
        ("json.py", "", "has the name of another Python module"),
    ],
)
def test_what_cannot_be_used_gets_a_sentence(own: Path, name: str, text: str, words: str) -> None:
    (own / name).write_text(text)
    with pytest.raises(InputError, match=words):
        claims_in(f"{own}/{name}")
    if name != "json.py":
        sys.modules.pop(Path(name).stem, None)


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        ('"size": at_most(runs.size.max(), 1.0)', "the judge must work on a table without runs"),
        ('"size": at_most(runs.size, [1.0, 2.0])', "got shapes (0,), (2,)"),
        ('f"n_{{len(runs)}}": at_most(runs.size, 1.0)', "got n_2 on these runs and n_0 without runs"),
        ('"Größe": at_most(runs.size, 1.0)', "promise keys must be ASCII snake_case, got 'Größe'"),
    ],
)
def test_a_claim_that_is_written_wrongly_gets_a_sentence(own: Path, tmp_path: Path, promise: str, words: str) -> None:
    right = '"size": at_most(runs.size, 1.0, text="size at most $1$")'
    assert right in THEOREM
    (own / "own_theorem.py").write_text(THEOREM.replace(right, promise).format(helper="own_helper"))
    code, text, errors = widenet("check", f"{own}/own_theorem.py:theorem", store=tmp_path / "store")
    assert (code, text) == (2, "")
    assert words in " ".join(errors.split())
    assert "Traceback" not in errors


def test_unknown_files_and_names(own: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        claims_in(f"{own}/nothing.py")
    with pytest.raises(UnknownName, match="did you mean 'theorem'"):
        claims_in(f"{own}/own_theorem.py:theorm")
