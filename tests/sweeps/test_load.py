"""`wn.load`: what is finished, from the index beside the sweep; numbers are read when they are used."""

from pathlib import Path

import numpy as np
import pytest

import widenet as wn
from tests.sweeps.conftest import PRODUCTS
from widenet.store import Store
from widenet.sweeps import driver, tables
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.order import order_of
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of
from widenet.sweeps.tables import PackTable

GRID = {"size": [2, 3, 4], "factor": [0.5, 1.0, 4.0]}


@pytest.fixture
def reads(monkeypatch) -> list[tuple[int, int]]:
    """The packs whose tables were read."""
    found, read = [], PackTable.read

    def counted(self: PackTable, store: Store) -> bool:
        found.append(tuple(self.key.parameters["points"]))
        return read(self, store)

    monkeypatch.setattr(tables.PackTable, "read", counted)
    return found


@pytest.fixture
def swept(store, log):
    return wn.sweep(PRODUCTS, store=store, **GRID)


def row_of(**over):
    return {"of": PRODUCTS, "over": over or GRID}


def test_opening_reads_no_table_and_a_quantity_reads_each_once(store, swept, reads):
    reads.clear()
    found = wn.load(row_of(), store=store)
    assert dict(found.sizes) == {"size": 3, "factor": 3, "run": 3}
    assert (found.state == "finished").all()
    assert not reads
    assert found["product"].sel(size=3, factor=4.0).equals(swept["product"].sel(size=3, factor=4.0))
    assert found.identical(swept)
    assert sorted(reads) == sorted(set(reads))
    assert len(reads) == 9


def test_a_lost_index_is_written_anew(store, swept, reads):
    (index,) = (store.root / "sweeps").glob("*.index")
    lines = sorted(index.read_text().splitlines())
    index.unlink()
    assert wn.load(row_of(), store=store).identical(swept)
    assert sorted(index.read_text().splitlines()) == lines
    reads.clear()
    wn.load(row_of(), store=store)
    assert not reads


def test_half_a_line_is_no_line(store, swept):
    (index,) = (store.root / "sweeps").glob("*.index")
    text = index.read_text()
    index.write_text(text[: len(text) // 2])
    assert wn.load(row_of(), store=store).identical(swept)


def test_a_table_that_is_damaged_later_is_measured_from_its_cells(store, swept, log):
    found = wn.load(row_of(), store=store)
    table = next(path for path in (store.root / "sweeps").glob("??/*.npz"))
    table.write_bytes(table.read_bytes()[:100])
    assert found.identical(swept)
    assert set(log.counts().values()) == {1}


def test_points_of_other_lengths_end_in_nan(store):
    sweep = Survey(order_of(spec_of(row_of(n_runs=[2, 5])), store), store)
    driver.here(sweep, Quiet())
    found = dataset_of(sweep)
    assert dict(found.sizes) == {"n_runs": 2, "run": 5}
    assert np.isnan(found["product"].sel(n_runs=2)).sum() == 3


def damage(folder: Path) -> Path:
    """Cut the first file of cells in this folder."""
    path = next(folder.glob("??/*.npz"))
    path.write_bytes(path.read_bytes()[:100])
    return path


def test_a_damaged_table_is_set_aside_and_written_again(store, swept, log):
    path = damage(store.root / "sweeps")
    assert wn.sweep(PRODUCTS, store=Store(store.root), **GRID).identical(swept)
    assert [each.name for each in (store.root / "sweeps" / "damaged").iterdir()] == [path.name]
    assert path.stat().st_size > 100
    assert set(log.counts().values()) == {1}


@pytest.mark.parametrize("is_gone", [False, True])
def test_points_whose_table_and_cells_are_damaged_are_computed_again(store, swept, log, is_gone):
    damage(store.root / "sweeps")
    for cell in store.root.glob("??/*.npz"):
        cell.write_bytes(b"")
        if is_gone:
            cell.unlink()
    again = Survey(order_of(spec_of(row_of()), store), store)
    assert len(again.missing()) == 1, "the other tables have what their cells had"
    counts = driver.here(again, Quiet())
    assert counts == {"computed": 1}
    assert dataset_of(again).identical(swept)
    assert sorted(log.counts().values()) == [1] * 8 + [2]
    assert not Survey(again.order, Store(store.root)).missing()


def test_points_whose_table_and_cells_are_damaged_are_missing_when_nothing_is_computed(store, swept):
    damage(store.root / "sweeps")
    for cell in store.root.glob("??/*.npz"):
        cell.unlink()
    found = wn.load(row_of(), store=store).load()
    states = found.state.values.ravel().tolist()
    assert sorted(states) == ["finished"] * 8 + ["missing"]
    assert (found["product"].isnull().all("run") == (found.state == "missing")).all()


def test_what_is_finished_is_shown_without_packs_and_index(store, swept):
    for path in (*(store.root / "sweeps").glob("*.packs"), *(store.root / "sweeps").glob("*.index")):
        path.unlink()
    assert wn.load(row_of(), store=store).identical(swept)


def test_what_was_asked_for_is_there_while_nothing_is_finished(store, log):
    found = wn.load({**row_of(), "look": {"measured": "product"}}, store=store)
    assert found["product"].dims == ("size", "factor")
    assert found["product"].isnull().all()
    assert (found.state == "missing").all()
    assert not log.counts("start")
