"""Commands without a store that can be written: they compute all the same, and say that nothing is kept."""

import collections
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.sweeps import toy
from tests.sweeps.conftest import PRODUCTS
from widenet.cli import app
from widenet.errors import StoreError
from widenet.store import CellKey, Store
from widenet.store.unkept import with_store

KEY = CellKey("toy", {"a": 1}, "1")


@pytest.fixture
def usual(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    return Store(tmp_path / "store")


@pytest.fixture
def read_only(usual, tmp_path):
    """A store that a mount makes read-only, so that it is so for every user."""
    usual.put(KEY, {"a": [1]})
    if not _mounted("--bind", str(usual.root), str(usual.root)):
        pytest.skip("mounting is not allowed here")
    subprocess.run(["mount", "-o", "remount,ro,bind", str(usual.root)], check=True)
    yield usual
    subprocess.run(["umount", str(usual.root)], check=True)


@pytest.fixture
def tiny(usual):
    """A store on a disk of 64 kB."""
    usual.root.mkdir()
    if not _mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", str(usual.root)):
        pytest.skip("mounting is not allowed here")
    yield usual
    subprocess.run(["umount", str(usual.root)], check=True)


def _mounted(*arguments: str) -> bool:
    if shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def invoke(*arguments):
    result = CliRunner().invoke(app, [str(each) for each in arguments], prog_name="widenet")
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def spec(tmp_path) -> Path:
    path = tmp_path / "a.toml"
    path.write_text(f'of = "{PRODUCTS}"\n[over]\nsize = [2, 3]\nfactor = [1, 0.5]\n')
    return path


def test_a_read_only_store_is_read_and_nothing_is_kept(read_only, spec, capsys):
    found = with_store(lambda store: (store.get(KEY), store.put(CellKey("toy", {"a": 2}, "1"), {"a": [2]}), store.root))
    assert found[0] is not None
    assert found[1]
    assert not found[2].exists()
    assert "read-only file system; set WIDENET_STORE" in capsys.readouterr().err
    answer = invoke("sweep", spec, "--json")
    assert [row["state"] for row in json.loads(answer.stdout)] == ["finished"] * 4
    assert "nothing that is computed is kept" in answer.stderr


def test_a_store_that_fills_up_on_the_way_is_left(tiny, spec):
    (tiny.root / "full").write_bytes(bytes(2**15))
    answer = invoke("sweep", spec, "--json")
    assert [row["state"] for row in json.loads(answer.stdout)] == ["finished"] * 4
    assert "no space left on device; free some space there or set WIDENET_STORE" in answer.stderr
    assert "nothing that is computed is kept" in answer.stderr


def test_a_check_on_a_full_disk_has_its_verdict(tiny):
    (tiny.root / "full").write_bytes(bytes(2**15))
    rows = json.loads(invoke("check", "brutzkus2018.footnote_1", "brutzkus2018.theorem_7", "--json").stdout)
    assert {row["verdict"] for row in rows} == {"HOLDS"}


def test_no_store_reads_nothing_and_leaves_nothing(usual, spec, tmp_path, monkeypatch):
    monkeypatch.setenv(toy.LOG, str(tmp_path / "log"))
    invoke("sweep", spec)
    files = sorted(usual.root.rglob("*"))
    answer = invoke("sweep", spec, "--no-store")
    assert answer.stderr == ""
    assert sorted(usual.root.rglob("*")) == files
    ended = [line.split()[2:] for line in (tmp_path / "log").read_text().splitlines() if line.startswith("end")]
    assert set(collections.Counter(map(tuple, ended)).values()) == {2}
    invoke("check", "brutzkus2018.theorem_7", "--no-store")
    assert sorted(usual.root.rglob("*")) == files


def test_no_store_goes_with_nothing_that_reads_one(spec, usual):
    result = CliRunner().invoke(app, ["sweep", str(spec), "--no-store", "--status"], prog_name="widenet")
    assert result.exit_code == 2
    assert "--no-store keeps nothing" in result.stderr


def test_another_error_of_the_store_is_raised(usual):
    def work(store: Store) -> None:
        raise StoreError("the data is not there.")

    with pytest.raises(StoreError, match="the data is not there"):
        with_store(work)
