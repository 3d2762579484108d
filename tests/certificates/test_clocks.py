"""What a certificate states does not depend on a clock."""

import itertools
import time
from typing import Any

import numpy as np
import pytest

import widenet as wn
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates.time_limit import TimeLimit

CLOCKS = ("monotonic", "perf_counter", "process_time", "time")


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


def facts(inputs, labels, store) -> Any:
    """A certificate without what tells how long it took."""

    def without_seconds(found):
        if isinstance(found, dict):
            return {key: without_seconds(each) for key, each in found.items() if key not in ("seconds", "computed")}
        return [without_seconds(each) for each in found] if isinstance(found, list) else found

    return without_seconds(wn.certify(inputs, labels, runs=2, effort=1e-3, store=store).to_dict())


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_clock_that_jumps_by_an_hour_whenever_it_is_read_changes_no_fact(tmp_path, monkeypatch, n_classes, flipped):
    draw = np.random.default_rng(n_classes)
    labels = np.arange(60) % n_classes
    inputs = draw.normal(size=(60, 2)) / 4 + 3 * np.column_stack([labels == 0, labels == 1])
    labels[0] = (labels[0] + flipped) % n_classes
    usual = facts(inputs, labels, wn.Store(tmp_path / "usual"))
    readings = []
    for name in CLOCKS:
        hours = itertools.count(getattr(time, name)(), 3600.0)
        monkeypatch.setattr(time, name, lambda hours=hours: readings.append(0) or next(hours))
    monkeypatch.setattr(TimeLimit.__init__, "__defaults__", (time.process_time, time.monotonic))
    jumping = facts(inputs, labels, wn.Store(tmp_path / "jumping"))
    assert readings
    assert jumping == usual
    assert usual["portrait"]["separability"][-1]["separable"] is not None
