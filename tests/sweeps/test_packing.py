"""How points are packed: by time, where there is enough of it."""

import json
from collections import Counter

import numpy as np
import pytest

from tests.sweeps.conftest import PRODUCTS
from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.forecast import forecast
from widenet.sweeps.order import order_of
from widenet.sweeps.packing import MOST_PER_PACK, packed, price_of, spans_of
from widenet.sweeps.packs import Pack
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of
from widenet.sweeps.terminal import told


def sweep_of(store: Store, **row) -> Survey:
    return Survey(order_of(spec_of({"of": PRODUCTS, **row}), store), store)


@pytest.mark.parametrize("n_points", [1, 2, 15, 17, 1_000, 99_999])
@pytest.mark.parametrize("prices", [[(0, 0.0)], [(0, 0.5)], [(1, 0.01), (9, 7.0)], [(1, 7.0), (500, 0.1), (998, 0.01)]])
def test_packs_are_a_partition(n_points, prices):
    spans = list(spans_of(packed(prices, n_points)))
    assert [number for span in spans for number in span] == list(range(n_points))
    assert all(0 < len(span) <= MOST_PER_PACK for span in spans)


def test_a_pack_takes_30_to_300_seconds_from_the_cheapest_corner_to_the_dearest():
    """From 10 ms to 20 s a point: by the first two points a pack would have had 2,000 points, and 11 hours."""
    prices = [(1, 0.01), (5_000, 2.0), (9_999, 20.0)]
    spans = list(spans_of(packed(prices, 10_000)))
    seconds = np.array([price_of(prices, span) for span in spans])
    assert seconds.min() >= 30
    assert seconds.max() <= 300
    assert len(spans[0]) > 10 * len(spans[-1])


@pytest.mark.parametrize(("seconds", "n_packs"), [(0.001, 16), (0.48, 16), (0.96, 32), (1.92, 64), (7.68, 128)])
def test_little_work_is_few_packs_and_much_work_many(seconds, n_packs):
    """Of 1,000 points: 16 packs below 8 minutes of work, half a minute each up to 64 packs, then a minute each."""
    assert len(list(spans_of(packed([(0, seconds)], 1_000)))) == pytest.approx(n_packs, abs=1)


def test_a_sweep_is_measured_at_its_beginning_in_its_middle_and_at_its_end(store, log):
    sweep = sweep_of(store, over={"factor": [*range(1, 21)]})
    plan = sweep.decide()
    assert [number for number, _ in plan.prices] == [1, 11, 19]
    assert set(log.counts()) == {f"2 {factor} 0" for factor in (1, 2, 11, 12, 19, 20)}


def test_the_forecast_says_packs_runs_and_compilations(store, monkeypatch):
    def seconds(sweep, number):
        return {0: 1.5, 1: 0.5, 20: 3.0, 21: 1.0, 38: 11.0, 39: 9.0}[number]

    monkeypatch.setattr(Survey, "_seconds", seconds)
    sweep = sweep_of(store, over={"size": [2, 3, 4, 5], "factor": [*map(float, range(1, 11))]})
    lines = forecast(sweep, 2).splitlines()
    times = [sweep.seconds([span]) for span in sweep.spans()]
    assert lines[0] == "40 points, 3 runs each, 120 in all."
    sizes = [len(span) for span in sweep.spans()]
    points, took = f"{min(sizes)} to {max(sizes)}", f"{min(times):.3g} to {max(times):.3g}"
    assert lines[1] == f"{len(sizes)} packs of {points} points, which take {took} s each."
    assert lines[3] == "A point takes 0.5 to 9 s. 4 shapes are each compiled once, for 1 to 2 s."


def test_the_runs_of_a_forecast_are_those_that_you_ask_for(store):
    sweep = sweep_of(store, runs=7, over={"factor": [1.0, 2.0]})
    assert forecast(sweep, 1).splitlines()[0] == "2 points, 7 runs each, 14 in all."


def test_a_point_that_may_be_hidden_is_waited_for_as_long_as_it_was_measured_to_take(store, monkeypatch):
    asked = []
    real = Store.look_again

    def look_again(self, key, seconds):
        asked.append((key.name, seconds))
        return real(self, key, seconds)

    sweep = sweep_of(store, over={"factor": [1.0, 2.0, 3.0]})
    plan = driver.Packing(prices=[(0, 1.5), (2, 2.5)], packs=[(3, 1)])
    store.write_once(sweep.plan, plan.model_dump_json().encode())
    monkeypatch.setattr(Store, "look_again", look_again)
    driver.here(sweep, Quiet())
    assert asked == [("toy.products", 2.0)] * 3


def test_what_a_point_takes_travels_with_its_pack(store):
    sweep = sweep_of(store, over={"factor": [1.0, 2.0, 3.0]})
    plan = driver.Packing(prices=[(0, 1.0), (2, 3.0)], packs=[(1, 3)])
    store.write_once(sweep.plan, plan.model_dump_json().encode())
    assert len(sweep.missing()) == 3
    packs = [Pack.of(text) for _, text, _ in sweep.texts(sweep.spans())]
    assert [pack.seconds for pack in packs] == [1.0, 2.0, 3.0]
    assert json.loads(packs[0].text)["seconds"] == 1.0


def test_the_forecast_of_what_is_finished_is_that_nothing_is_left(store, log):
    over = {"factor": [1.0, 2.0]}
    driver.here(sweep_of(store, over=over), Quiet())
    lines = forecast(sweep_of(store, over=over), 1).splitlines()
    assert lines[2] == "0 points are missing."
    assert lines[4].startswith("Nothing was computed now")
    assert lines[5].startswith("About 0 s in 1 process (0 s on one core)")
    assert set(log.counts().values()) == {1}


def test_a_forecast_counts_the_runs_of_every_start(store):
    """Two of each length."""
    row = {"of": "sarussi2021.theorem_4_1", "runs": 2, "over": {"step_size": [0.5, 1.0]}}
    sweep = Survey(order_of(spec_of(row), store), store)
    assert forecast(sweep, 1).splitlines()[0] == "2 points, 4 runs each, 8 in all."
    driver.here(sweep, Quiet())
    found = dataset_of(sweep)
    assert found.sizes["run"] == 4
    assert (found.verdict == "INSUFFICIENT_EVIDENCE").all()
    said = "Inconclusive: end_loss (4 of 4 cases), clean_epoch (4 of 4 cases)"
    assert all(each.startswith(f"{said}. ") for each in found.warning.values)
    assert f"2 × {said[0].lower()}{said[1:]}" in told(sweep, found, Counter()).splitlines()
