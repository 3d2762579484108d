"""What a change recomputes, and what it does not."""

import ast
import contextlib
import functools
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from widenet.errors import InputError
from widenet.papers import PAPERS
from widenet.run import reach as module
from widenet.run.reach import SourceNotes, digest, reach

HOUSE = {
    "__init__.py": "",
    "types.py": '"""Types."""\nSIZE = 3\n',
    "data/__init__.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from widenet.data.xor import make_xor, make_xor as make_other\n"
        "    from widenet.data.mnist import load_mnist\n"
        "HERE = 1\n"
    ),
    "data/xor.py": "from widenet.types import SIZE\ndef make_xor():\n    return SIZE\n",
    "data/mnist.py": "def load_mnist(): ...\n",
    "papers/__init__.py": "from widenet.papers import one, two\n",
    "papers/one/__init__.py": "TITLE = 'one'\n",
    "papers/one/runs/__init__.py": "",
    "papers/one/runs/trained.py": (
        "from widenet.data import make_xor\n"
        "\n"
        "LIMIT = 3\n"
        '"""Why three."""\n'
        "\n"
        "def run(setting):\n"
        '    """Train."""\n'
        "    return make_xor() * LIMIT  # a product\n"
    ),
    "papers/one/claims.py": "from widenet.papers.one.runs.trained import run\nTOLERANCE = 1e-9\n",
    "papers/two/__init__.py": "",
    "papers/two/runs.py": "from widenet.data import load_mnist\n",
}
RUNS = "widenet.papers.one.runs.trained"


@pytest.fixture
def house(tmp_path, monkeypatch) -> Path:
    for name, text in HOUSE.items():
        path = tmp_path / "widenet" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "widenet"


def forget() -> None:
    """What this process remembers of files."""
    cached = (module._digest_of_code, module._digest_of_sources, module._own_folders, module._find)
    for function in (*cached, module._file_digest, module._imported, module._read):
        function.cache_clear()


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    forget()
    yield
    forget()


def changed(house: Path, name: str, old: str, new: str, of: str = RUNS) -> bool:
    """Whether the digest follows this change of a file, which is undone afterwards."""
    path = house / name
    before, text = digest(of, house), path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    forget()
    after = digest(of, house)
    path.write_text(text)
    forget()
    assert digest(of, house) == before
    return after != before


def test_names_are_followed_through_re_exports_to_where_they_are_defined(house):
    assert reach(RUNS, house) == {RUNS, "widenet.data.xor", "widenet.types"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("papers/one/runs/trained.py", "Train.", "Train a network."),
        ("papers/one/runs/trained.py", "Why three.", "Why three, in other words."),
        ("papers/one/runs/trained.py", "  # a product", ""),
        ("papers/one/runs/trained.py", "\n\nLIMIT", "\n\n\n\nLIMIT"),
        ("types.py", "Types.", "What there is."),
        ("papers/one/claims.py", "1e-9", "1e-8"),
        ("papers/one/__init__.py", "'one'", "'another title'"),
        ("papers/two/runs.py", "load_mnist", "make_xor"),
        ("data/mnist.py", "...", "return 1"),
        ("data/__init__.py", "HERE = 1", "HERE = 2"),
    ],
)
def test_words_judges_and_other_papers_recompute_nothing(house, name, old, new):
    assert not changed(house, name, old, new)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("papers/one/runs/trained.py", "LIMIT = 3", "LIMIT = 4"),
        ("papers/one/runs/trained.py", "make_xor() *", "make_xor() +"),
        ("data/xor.py", "return SIZE", "return -SIZE"),
        ("types.py", "SIZE = 3", "SIZE = 4"),
    ],
)
def test_a_change_in_reach_recomputes(house, name, old, new):
    assert changed(house, name, old, new)


@pytest.mark.parametrize(
    ("line", "also"),
    [
        ("from widenet.data import make_other", set()),
        ("from widenet.data.xor import make_xor as x", set()),
        ("import widenet.data.mnist", {"widenet.data.mnist"}),
        ("import widenet.data.mnist as m, os", {"widenet.data.mnist"}),
        ("from widenet import data", {"widenet.data", "widenet.data.mnist"}),
        ("from widenet.data import HERE", {"widenet.data", "widenet.data.mnist"}),
        ("from widenet.data import *", {"widenet.data", "widenet.data.mnist"}),
        ("from widenet.data import mnist", {"widenet.data.mnist"}),
        ("def late():\n    from widenet.data import load_mnist", {"widenet.data.mnist"}),
        ("from ...two.runs import load_mnist", {"widenet.papers.two.runs", "widenet.data.mnist"}),
        ("from ... import two", {"widenet.papers.two"}),
        ("from ....data.mnist import load_mnist", {"widenet.data.mnist"}),
        ("from .. import TITLE", {"widenet.papers.one"}),
        ("import os.path, json", set()),
    ],
)
def test_every_way_to_import(house, line, also):
    path = house / "papers/one/runs/trained.py"
    path.write_text(f"{line}\n{path.read_text()}")
    assert reach(RUNS, house) == {RUNS, "widenet.data.xor", "widenet.types"} | also


def test_a_relative_import_in_a_package(house):
    (house / "papers/one/runs/__init__.py").write_text("from .trained import run\nfrom . import trained\n")
    (house / "papers/one/claims.py").write_text("from .runs import run\n")
    assert RUNS in reach("widenet.papers.one.claims", house)


def test_two_files_that_trade_their_text_are_a_change(house):
    before = digest("widenet.papers", house)
    one, two = house / "papers/one/__init__.py", house / "papers/two/__init__.py"
    first, second = one.read_text(), two.read_text()
    one.write_text(second)
    two.write_text(first)
    forget()
    assert digest("widenet.papers", house) != before


def test_the_package_of_somebody_else_is_followed_too(tmp_path, monkeypatch):
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "__init__.py").write_text("")
    (tmp_path / "stranger" / "runs.py").write_text(
        "from stranger.helpers import x\nimport json\nfrom widenet.records import Scale\n"
    )
    (tmp_path / "stranger" / "helpers.py").write_text("x = 1\n")
    (tmp_path / "alone_in_a_file.py").write_text("from widenet.records import Scale\n")
    monkeypatch.syspath_prepend(tmp_path)
    below = reach("widenet.records")
    assert reach("stranger.runs") == {"stranger.runs", "stranger.helpers"} | below
    assert reach("alone_in_a_file") == {"alone_in_a_file"} | below


@pytest.mark.parametrize("name", ["widenet.nowhere", "no_such_package_at_all", "no_such_package_at_all.runs"])
def test_a_module_without_source_is_refused(name):
    with pytest.raises(ValueError, match="no source of the module"):
        reach(name)


SURFACES = {"cli", "console", "figures", "plots", "report", "run", "store"}


@pytest.mark.parametrize("key", [paper.key for paper in PAPERS])
def test_runs_reach_their_own_package_and_what_lies_below(key):
    """A change in one room recomputes nothing of the other; nor does one of a judge, a drawing or a surface."""
    offenders = {}
    for file in sorted((module.ROOT / "papers" / key / "runs").glob("[!_]*.py")):
        for name in reach(f"widenet.papers.{key}.runs.{file.stem}"):
            parts = name.split(".")[1:]
            own = parts[:2] == ["papers", key] and not set(parts[2:3]) & {"claims", "figures", "drawings"}
            if parts[0] in SURFACES or (parts[0] == "papers" and not own):
                offenders.setdefault(file.name, []).append(name)
    assert offenders == {}


class TestNotes:
    """What one process read from files, the next one knows."""

    @pytest.fixture(autouse=True)
    def no_notes(self, monkeypatch):
        monkeypatch.setattr(module, "NOTES", SourceNotes())

    def next_process(self, path: Path, monkeypatch) -> None:
        forget()
        monkeypatch.setattr(module, "NOTES", SourceNotes())
        module.NOTES.read(path)

    def test_nothing_is_parsed_again(self, house, tmp_path, monkeypatch):
        path = tmp_path / "notes" / "sources.json"
        before = digest(RUNS, house), reach("widenet.papers.one.claims", house)
        module.NOTES.write(path)
        self.next_process(path, monkeypatch)
        monkeypatch.setattr(module, "_read", functools.cache(lambda path: pytest.fail(f"{path} was parsed")))
        assert (digest(RUNS, house), reach("widenet.papers.one.claims", house)) == before

    def test_an_edited_file_is_read_and_what_it_was_is_forgotten(self, house, tmp_path, monkeypatch):
        path = tmp_path / "sources.json"
        before = digest(RUNS, house)
        module.NOTES.write(path)
        (house / "types.py").write_text("SIZE = 4\n")
        self.next_process(path, monkeypatch)
        assert digest(RUNS, house) != before
        n_files = len(module.NOTES.imports)
        module.NOTES.write(path)
        self.next_process(path, monkeypatch)
        assert len(module.NOTES.earlier_imports) == n_files
        assert len(module.NOTES.earlier_digests) == 1

    @pytest.mark.parametrize("damage", [lambda text: text[:-5], lambda text: text.replace("1", "2"), lambda text: ""])
    def test_damage_is_as_good_as_nothing(self, damage, house, tmp_path, monkeypatch):
        path = tmp_path / "sources.json"
        before = digest(RUNS, house)
        module.NOTES.write(path)
        path.write_text(damage(path.read_text()))
        self.next_process(path, monkeypatch)
        assert (module.NOTES.earlier_imports, module.NOTES.earlier_digests) == ({}, {})
        assert digest(RUNS, house) == before

    def test_another_python_reads_for_itself(self, house, tmp_path, monkeypatch):
        path = tmp_path / "sources.json"
        digest(RUNS, house)
        module.NOTES.write(path)
        monkeypatch.setattr(module.platform, "python_version", lambda: "3.99.0")
        self.next_process(path, monkeypatch)
        assert (module.NOTES.earlier_imports, module.NOTES.earlier_digests) == ({}, {})

    def test_a_disk_that_refuses_ends_nothing(self, house, tmp_path):
        digest(RUNS, house)
        (tmp_path / "file").touch()
        module.NOTES.write(tmp_path / "file" / "sources.json")
        assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "widenet"]


def test_two_threads_do_not_parse_at_once(tmp_path, monkeypatch):
    """CPython may raise a SystemError where they do, as a worker of Dask did that was asked while it computed."""
    both, met = threading.Barrier(2), []
    real = ast.parse

    def parse(text):
        with contextlib.suppress(threading.BrokenBarrierError):
            met.append(both.wait(1.0))
        return real(text)

    monkeypatch.setattr(ast, "parse", parse)
    paths = [tmp_path / name for name in ("a.py", "b.py")]
    for path in paths:
        path.write_text("x = 1\n")
    threads = [threading.Thread(target=module._read, args=(path,)) for path in paths]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not met


class TestBeside:
    """What lies beside a file of somebody's own."""

    @pytest.fixture
    def own(self, tmp_path, monkeypatch) -> Path:
        folder = tmp_path / "own"
        folder.mkdir()
        (folder / "own_run.py").write_text("def run(setting): ...\n")
        (folder / "numbers.txt").write_text("1")
        monkeypatch.syspath_prepend(str(folder))
        return folder

    @pytest.mark.parametrize(
        ("name", "text", "counts"),
        [
            ("numbers.txt", "1.5", True),
            ("new.csv", "a,b", True),
            ("dyn.py", "SIZE = 1", True),
            ("broken.py", "def", True),
            ("config.toml", "size = 1", True),
            ("plan.toml", 'of = "own_run.py:sizes"\n[over]\ndim = [1, 2]', False),
            (".numbers.txt.swp", "1", False),
            ("out.log", "1", False),
            ("test_own.py", "SIZE = 1", False),
            ("exports/found.csv", "a,b", False),
            ("own_run.py", "def run(setting): ...  # a comment\n", False),
        ],
    )
    def test_what_counts(self, name: str, text: str, counts: bool, own: Path) -> None:
        before = digest("own_run")
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text(text)
        forget()
        assert (digest("own_run") != before) is counts

    def test_a_table_that_changes_while_a_process_lives(self, own: Path) -> None:
        before = digest("own_run")
        (own / "numbers.txt").write_text("1.5")
        assert digest("own_run") != before

    def test_what_the_command_prints_to(self, own: Path) -> None:
        words = "from widenet.run.reach import digest; print(digest('own_run'))"
        (own / "numbers.txt").write_text("1")
        before = digest("own_run")
        with (own / "found.txt").open("w") as file:
            file.write("earlier words")
            file.flush()
            subprocess.run([sys.executable, "-c", words], cwd=own, stdout=file, check=True)
        assert (own / "found.txt").read_text().endswith(f"{before}\n")

    def test_too_many(self, own: Path, monkeypatch) -> None:
        monkeypatch.setattr(module, "MOST_FILES", 1)
        with pytest.raises(InputError, match=r"has 2 files of 0 MiB in all.* move it to a folder of its own"):
            digest("own_run")

    def test_installed_neighbours_are_strangers(self, tmp_path: Path, monkeypatch) -> None:
        folder = tmp_path / "site-packages"
        folder.mkdir()
        (folder / "their_run.py").write_text("def run(setting): ...\n")
        monkeypatch.syspath_prepend(str(folder))
        before = digest("their_run")
        (folder / "numbers.txt").write_text("1")
        assert digest("their_run") == before
