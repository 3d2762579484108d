"""`widenet store`: sizes by experiment, and what is removed by name, age and version."""

import json
import os
import time

import pytest
from typer.testing import CliRunner

from widenet.cli import app
from widenet.console import stores
from widenet.errors import InputError
from widenet.papers import find_claim
from widenet.run.reach import digest
from widenet.store import CellKey, Store

EXPERIMENT = find_claim("brutzkus2018.theorem_2").reads[0]
OLD = CellKey(EXPERIMENT.id, {"a": 1}, "other code")
NEW = CellKey(EXPERIMENT.id, {"a": 1}, digest(EXPERIMENT.run.__module__))
YOURS = CellKey("mine.products", {"a": 1}, "whatever")


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    found = Store(tmp_path / "store")
    for key in (OLD, NEW, YOURS):
        found.put(key, {"a": list(range(100))})
    last_month = time.time() - 40 * 86_400
    os.utime(found.path(YOURS), (last_month, last_month))
    (found.root / "00").mkdir(exist_ok=True)
    return found


def invoke(*arguments, code=0):
    result = CliRunner().invoke(app, ["store", *arguments], prog_name="widenet")
    assert result.exit_code == code, result.output
    return result


def left(store: Store) -> list[CellKey]:
    return [key for key in (OLD, NEW, YOURS) if store.holds(key)]


def test_sizes_by_experiment(store):
    row = json.loads(invoke("--json").stdout)
    assert {each["name"]: each["files"] for each in row["rows"]} == {EXPERIMENT.id: 2, "mine.products": 1}
    assert row["bytes"] == sum(path.stat().st_size for path in store.root.rglob("*.npz"))
    assert f"{EXPERIMENT.id}         2" in invoke().stdout
    assert len(left(store)) == 3


@pytest.mark.parametrize(
    ("arguments", "goes"),
    [
        (["--name", "mine.*"], [YOURS]),
        (["--older", "30d"], [YOURS]),
        (["--stale"], [OLD]),
        (["--stale", "--older", "30d"], []),
        (["--name", "*"], [OLD, NEW, YOURS]),
    ],
)
def test_what_is_asked_for_is_shown_and_removed_with_yes_alone(store, arguments, goes):
    answer = invoke(*arguments, "--json")
    assert json.loads(answer.stdout)["files"] == len(goes)
    assert ("add --yes" in answer.stderr) == bool(goes)
    assert len(left(store)) == 3
    assert json.loads(invoke(*arguments, "--yes", "--json").stdout)["removed"] == len(goes)
    assert left(store) == [key for key in (OLD, NEW, YOURS) if key not in goes]


def test_a_damaged_cell_has_a_line_of_its_own(store):
    store.path(OLD).write_bytes(b"half")
    assert "unreadable" in invoke().stdout


def test_an_empty_store(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "nowhere"))
    assert invoke().stdout.startswith("nothing of the kind is in")


@pytest.mark.parametrize(("answer", "removed"), [("y", 1), ("yes", 1), ("", 0), ("n", 0)])
def test_on_a_terminal_it_asks(store, monkeypatch, answer, removed, capsys):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert stores.carry_out(store, "mine.*", None, False, False)["removed"] == removed
    assert "mine.products: 1 files" in capsys.readouterr().err


def test_mistakes_are_one_sentence(store):
    with pytest.raises(InputError, match="--older takes a number with h, d or w"):
        stores.days_of("30 days")
    assert "--yes removes what" in invoke("--yes", code=2).stderr
