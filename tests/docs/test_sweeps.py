"""The sweeps of docs/sweeps.md run as they are printed, and the maps of examples/ ask what there is to ask."""

import numpy as np
import pandas as pd
import pytest

from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.order import order_of
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import read_spec

from .pages import DOCS, ROOT, blocks

PRINTED = [block.text for block in blocks(DOCS / "sweeps.md") if block.language == "toml"]
MAPS = sorted((ROOT / "examples" / "maps").glob("*.toml"))


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store")


@pytest.mark.parametrize("text", PRINTED, ids=[text.partition("\n")[0] for text in PRINTED])
def test_a_printed_sweep_runs(text, tmp_path, store):
    points = np.random.default_rng(0).uniform(-1, 1, size=(12, 3))
    names = [*"abc", "label"]
    leaves = pd.DataFrame(np.column_stack([points, np.sign(points[:, 0])]), columns=names)
    leaves.to_csv(tmp_path / "leaves.csv", index=False)
    (tmp_path / "spec.toml").write_text(text, encoding="utf-8")
    sweep = Survey(order_of(read_spec(tmp_path / "spec.toml"), store), store)
    driver.here(sweep, Quiet())
    found = dataset_of(sweep)
    assert (found.state == "finished").all(), found.why.values
    assert np.isfinite(found.updates).all()


def test_there_are_printed_sweeps_and_maps():
    assert len(PRINTED) >= 2
    assert len(MAPS) >= 10


@pytest.mark.parametrize("path", MAPS, ids=[path.stem for path in MAPS])
def test_a_map_asks_what_there_is_to_ask(path, store):
    """Its claims or its experiment, its axes, its values and its quantities are there; nothing is trained."""
    order = order_of(read_spec(path), store)
    assert order.n_points > 1
    assert order.look
