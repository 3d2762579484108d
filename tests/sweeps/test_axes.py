"""Axes beyond choices: drawn points, several claims, an epoch of a quantity; and what a sweep is expected to cost."""

import itertools
from typing import Any

import numpy as np
import pytest

import widenet as wn
from tests.sweeps.conftest import PRODUCTS
from widenet.errors import InputError
from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.forecast import forecast
from widenet.sweeps.order import Question, order_of, subject_of
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of

THEOREM = "brutzkus2018.theorem_2"


def numbers_of_data(**values: Any) -> dict[str, Any]:
    return {f"data.{name}": each for name, each in values.items()}


def test_numbers_of_drawn_points_are_axes(store):
    found = wn.sweep(THEOREM, store=store, n_runs=2, look="updates", **numbers_of_data(dim=[3, 6], n_samples=[5, 9]))
    assert dict(found.sizes) == {"data.dim": 2, "data.n_samples": 2, "run": 2}
    assert (found.verdict == "HOLDS").all()
    alone = wn.sweep(THEOREM, store=store, n_runs=2, look="updates", **numbers_of_data(dim=6, n_samples=[9]))
    np.testing.assert_array_equal(found.updates.values[1, 1], alone.updates.values[0])


def test_kinds_of_points_are_an_axis(store):
    found = wn.sweep("chatterji2021.theorem_1", store=store, data=None, **numbers_of_data(n_samples=[8]))
    assert found.verdict.values.tolist() == ["HOLDS"]
    spec = {"of": "chatterji2021.theorem_1", "over": {"data": ["clusters", "xord"]}}
    order = order_of(spec_of(spec), store)
    assert order.shape == (2,)
    assert order.about == "points that are drawn, seed 0"


def test_points_are_drawn_once_and_kept(store):
    wn.sweep(THEOREM, store=store, n_runs=1, **numbers_of_data(dim=[3, 6]))
    again = Store(store.root)
    wn.sweep(THEOREM, store=again, n_runs=1, n_neurons=[4, 6], **numbers_of_data(dim=[3, 6]))
    kept = [path for path in store.root.glob("??/*.npz") if b"drawn data" in path.read_bytes()]
    assert len(kept) == 2


def test_several_claims_are_an_axis(store):
    claims = [THEOREM, "brutzkus2018.theorem_7", "sarussi2021.section_13_differences"]
    found = wn.sweep(claims, store=store, n_runs=1, n_neurons=[4, 8], look="updates")
    assert found["of"].values.tolist() == claims
    row = found.sel(of=THEOREM)
    alone = wn.sweep(THEOREM, store=store, n_runs=1, n_neurons=[4, 8], look="updates")
    np.testing.assert_array_equal(row.tightness, alone.tightness)
    assert (row.verdict == "HOLDS").all()
    others = found.sel(of=claims[1:])
    assert set(np.unique(others.state)) <= {"finished", "does not apply"}
    idle = others.why.values[others.state.values == "does not apply"]
    assert all("changes nothing that" in each for each in idle)


def test_a_quantity_is_looked_at_where_you_say(store):
    def row(**look: Any) -> dict[str, Any]:
        points = {"kind": "gaussians", "n_samples": 6}
        fixed = {"looks": [0, 1, 2], "half_width": 2, "points": points}
        return {"of": "sarussi2021.curves", "runs": 2, "set": fixed, "over": {"slope": [0.1, 0.5]}, "look": look}

    def swept(**look: Any):
        sweep = Survey(order_of(spec_of(row(**look)), store), store)
        driver.here(sweep, Quiet())
        return dataset_of(sweep)

    first, last = (swept(measured="angle", at={"epoch": epoch}) for epoch in (0, 2))
    assert dict(first.sizes) == {"slope": 2, "run": 2}
    assert not first.angle.equals(last.angle)
    with pytest.raises(InputError, match=r"angle has axes of its own; choose where to look: look.at = \{ epoch = 2 \}"):
        swept(measured="angle")
    with pytest.raises(InputError, match=r"epoch is one of 0, 1, 2, got 7; change look.at"):
        swept(measured="angle", at={"epoch": 7})
    with pytest.raises(InputError, match="no axis of these quantities, 'epok'; did you mean 'epoch'"):
        swept(measured="angle", at={"epok": 2})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: wn.sweep(THEOREM, **numbers_of_data(dimm=[2])),
            "no number of separable, 'data.dimm'; did you mean 'data.dim'",
        ),
        (
            lambda: wn.sweep(THEOREM, **numbers_of_data(dim=[0])),
            "of separable: dim must be a whole number of at least 1, got 0",
        ),
        (
            lambda: wn.sweep(THEOREM, **numbers_of_data(n_samples=[0.5])),
            "n_samples must be a whole number from 1 on",
        ),
        (
            lambda: wn.sweep(THEOREM, ([[0.5], [-0.5]], [1, -1]), **numbers_of_data(dim=[2])),
            "data.dim is for points that are drawn",
        ),
        (lambda: wn.sweep([THEOREM, PRODUCTS]), "an experiment alone; name one"),
        (lambda: wn.sweep([THEOREM, THEOREM]), "of has the value .* twice"),
        (lambda: wn.sweep([THEOREM, "brutzkus2018.theorem_7"], look="loss"), "no clause of these claims"),
        (lambda: wn.sweep(THEOREM, at={"epoch": 1}), "look.at is for quantities of cells"),
        (lambda: wn.sweep(PRODUCTS, at={"epoch": 1}), "have no axes of their own; leave look.at out"),
        (lambda: wn.sweep(PRODUCTS, size={"from": 2, "to": 9, "steps": 3}), "round = 1 rounds a range"),
    ],
)
def test_a_mistake_is_one_sentence(call, words, tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    with pytest.raises(InputError, match=words):
        call()


def test_ranges_are_rounded_to_multiples():
    row = {"from": 2, "to": 16, "steps": 5, "log": True, "round": 2}
    assert spec_of({"of": "x", "over": {"a": row}}).axes()["a"] == (2, 4, 6, 10, 16)


def test_the_forecast_looks_along_the_sweep(store, log):
    spec = {"of": PRODUCTS, "over": {"size": list(range(2, 12)), "factor": [0.5, 1.0, 2.0]}}
    words = forecast(Survey(order_of(spec_of(spec), store), store), 2)
    assert "30 points, 3 runs each, 90 in all." in words
    assert "24 points are missing." in words
    assert "6 points along the sweep were computed now" in words
    begun = [name.split()[0] for name in log.counts("start")]
    assert set(begun) == {"2", "7", "11"}


def test_two_orders_of_axes_share_their_points_and_agree(store):
    first: dict[str, Any] = {"step_size": [0.1, 1.0, 10.0], "slope": [0.1, 0.9]}
    second = dict(reversed(first.items()))
    found = wn.sweep(THEOREM, store=store, n_runs=2, look="updates", **first)
    again = wn.sweep(THEOREM, store=store, n_runs=2, look="updates", **second)
    assert list(again.sizes) == [*second, "run"]
    assert again.transpose(*found.sizes).identical(found)
    alone = wn.sweep(THEOREM, store=store, n_runs=2, look="updates", slope=[0.1], step_size=1.0)
    np.testing.assert_array_equal(again.updates.sel(slope=0.1, step_size=1.0), alone.updates.values[0])


def test_orders_of_axes_share_packs_tables_and_index(store, log):
    """Three axes of one class beside two of another, in any order: numbers, words and states are those of the point."""
    over = {"size": [2, 3], "n_runs": [2, 3], "factor": [0.5, 1.0, 4.0], "inner.shift": [0.0, 1.0], "seed": [0, 1]}
    found, files = None, None
    for names in itertools.islice(itertools.permutations(over), 0, None, 23):
        row = {"of": PRODUCTS, "over": {name: over[name] for name in names}}
        sweep = Survey(order_of(spec_of(row), store), store)
        driver.here(sweep, Quiet())
        now = dataset_of(sweep)
        assert tuple(now["product"].dims) == (*names, "run")
        assert wn.load(row, store=store).identical(now)
        for values in itertools.product(*over.values()):
            point = dict(zip(over, values, strict=True))
            draws = np.random.default_rng([point["seed"], point["size"]]).normal(size=point["n_runs"])
            expected = draws * point["factor"] + point["inner.shift"]
            np.testing.assert_array_equal(now["product"].sel(point).dropna("run"), expected)
        kept = sorted(path.name for path in (store.root / "sweeps").iterdir() if path.is_file())
        found, files = now if found is None else found, files or kept
        assert now.transpose(*over, "run").identical(found.transpose(*over, "run"))
        assert kept == files
    assert log.counts().total() == 48


def test_an_order_says_how_its_points_are_walked(store, monkeypatch):
    """Numbers of points mean nothing without the walk: files of another walk have other names."""
    row = {"of": PRODUCTS, "over": {"size": [2, 3], "n_runs": [2, 3]}}
    order = order_of(spec_of(row), store)
    digest = order.digest
    monkeypatch.setattr(Question, "walk", ("size", "n_runs"))
    assert Question.model_validate_json(order.text).digest != digest


def test_a_record_is_set_before_its_fields(store):
    """Whatever comes first in your file."""
    rows = [{"inner": {"shift": 1.0}, "inner.shift": 2.0}, {"inner.shift": 2.0, "inner": {"shift": 1.0}}]
    orders = [order_of(spec_of({"of": PRODUCTS, "set": row}), store) for row in rows]
    assert orders[0].digest == orders[1].digest
    tasks = [subject_of(order, store).tasks({}) for order in orders]
    assert [each[0].row["inner"] for each in tasks if isinstance(each, list)] == [{"shift": 2.0}] * 2
