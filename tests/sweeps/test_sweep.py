"""Sweeps from Python: axes, values, refusals, and what is kept."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import widenet as wn
from tests.sweeps.conftest import NAMED, PLAIN, PRODUCTS
from widenet.errors import InputError, StoreError
from widenet.store import Store
from widenet.sweeps import driver, packing
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.order import order_of, subject_of
from widenet.sweeps.packing import spans_of
from widenet.sweeps.packs import tasks_at
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of
from widenet.sweeps.status import retry, status_of
from widenet.sweeps.terminal import told

from . import toy

THEOREM = "brutzkus2018.theorem_2"
GRID: dict[str, Any] = {"size": [2, 5], "factor": [0.5, 1.0, 4.0]}


def sweep_of(store: Store, **row) -> Survey:
    return Survey(order_of(spec_of({"of": PRODUCTS, "over": GRID, **row}), store), store)


def test_axes_are_named_and_values_are_those_of_single_runs(store, log):
    found = wn.sweep(PRODUCTS, store=store, n_runs=4, **GRID)
    assert dict(found.sizes) == {"size": 2, "factor": 3, "run": 4}
    for size in GRID["size"]:
        for factor in GRID["factor"]:
            alone = toy.run(toy.ToySetting(size=size, factor=factor, n_runs=4), wn.silent)
            np.testing.assert_array_equal(found["product"].sel(size=size, factor=factor), alone.product)
    assert (found.state == "finished").all()


def test_points_of_one_shape_follow_each_other(store):
    order = sweep_of(store, over={"factor": [0.5, 1.0], "size": [2, 5]}).order
    assert order.walk == ("size", "factor")
    assert [order.point(number) for number in range(3)] == [
        {"factor": 0.5, "size": 2},
        {"factor": 1.0, "size": 2},
        {"factor": 0.5, "size": 5},
    ]
    walked = np.array([order.point(number)["factor"] for number in range(4)])
    assert order.along_axes(walked).tolist() == [[0.5, 0.5], [1.0, 1.0]]


def test_a_second_sweep_computes_nothing(store, log):
    first = wn.sweep(PRODUCTS, store=store, **GRID)
    second = wn.sweep(PRODUCTS, store=store, **GRID)
    assert first.identical(second)
    assert set(log.counts().values()) == {1}


def test_a_larger_sweep_finds_the_points_of_a_smaller(store, log):
    wn.sweep(PRODUCTS, store=store, factor=[0.5, 1.0])
    wn.sweep(PRODUCTS, store=store, factor=[0.25, 0.5, 1.0, 2.0])
    assert set(log.counts().values()) == {1}
    assert len(log.counts()) == 4


def test_a_fixed_value_is_no_axis_and_fields_of_records_have_dots(store):
    shifts: dict[str, Any] = {"inner.shift": [0.0, 10.0]}
    found = wn.sweep(PRODUCTS, store=store, size=7, **shifts)
    difference = found["product"].sel({"inner.shift": 10.0}) - found["product"].sel({"inner.shift": 0.0})
    np.testing.assert_allclose(difference, 10)


def test_look_at_one_quantity_also_a_computed_one(store):
    found = wn.sweep(PRODUCTS, store=store, look="double", factor=[1.0, 2.0])
    assert set(found.data_vars) == {"double", "state", "why"}
    np.testing.assert_array_equal(found.double.sel(factor=2.0), 2 * found.double.sel(factor=1.0))


def test_a_claim_over_choices(store):
    found = wn.sweep(THEOREM, "separable", n_neurons=[4, 8], step_size=[0.5, 2.0], n_runs=2, store=store)
    alone = wn.sweep(THEOREM, "separable", n_neurons=[8], step_size=[2.0], n_runs=2, store=store)
    assert dict(found.sizes) == {"n_neurons": 2, "step_size": 2, "run": 2}
    assert (found.verdict == "HOLDS").all()
    assert (found.updates <= found.updates_promised).all()
    np.testing.assert_array_equal(found.updates.sel(n_neurons=8, step_size=2.0), alone.updates.squeeze())


def test_a_promise_that_is_kept_by_far_says_so(store):
    found = wn.sweep(THEOREM, "separable", slope=[0.001, 0.5], n_runs=1, store=store)
    words = "Tested far from the edge: the closest case uses 0.0001 % of what is promised."
    assert found.warning.values.tolist() == [words, ""]
    row = {"of": THEOREM, "data": "separable", "over": {"slope": [0.001, 0.5]}, "runs": 1}
    survey = Survey(order_of(spec_of(row), store), store)
    assert "1 × tested far from the edge: the closest case uses less" in told(survey, found, Counter())


def test_a_claim_on_own_arrays_agrees_with_check_on(store):
    rng = np.random.default_rng(0)
    data, _ = wn.scale_to_unit_ball(wn.from_arrays(points := rng.normal(size=(8, 3)), np.sign(points[:, 0])))
    found = wn.sweep(THEOREM, data, n_neurons=[4, 8], n_runs=2, store=store)
    answer = wn.check_on(data, THEOREM, n_neurons=8, n_runs=2, store=store)[THEOREM]
    assert isinstance(answer, wn.Evidence)
    np.testing.assert_array_equal(found.updates.sel(n_neurons=8), answer.part("updates").cases.measured)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: wn.sweep(THEOREM, n_neuron=[2, 4]), "no choice 'n_neuron'; did you mean 'n_neurons'"),
        (lambda: wn.sweep(THEOREM, n_neurons=[2, 3]), "n_neurons must be a multiple of 2, got 3"),
        (lambda: wn.sweep(THEOREM, n_components=[1, 2]), "n_components changes nothing that brutzkus2018.theorem_2"),
        (lambda: wn.sweep(THEOREM, look="update"), "no clause or quantity of .* 'update'; did you mean 'updates'"),
        (lambda: wn.sweep(THEOREM, "leaves.csv"), "there is no file 'leaves.csv'"),
        (lambda: wn.sweep(THEOREM, "seperable"), "no file or data set 'seperable'; did you mean 'separable'"),
        (lambda: wn.sweep("brutzkus2018.theorem_22"), "no claim or experiment .* did you mean"),
        (lambda: wn.sweep("brutzkus2018.relu_zero_loss_as_printed", n_neurons=[2, 4]), "does not apply|no claim"),
        (lambda: wn.sweep(PRODUCTS, factr=[1.0]), "no field of .* 'factr'; did you mean 'factor'"),
        (lambda: wn.sweep(PRODUCTS, size=["a"]), "size must be a valid integer"),
        (lambda: wn.sweep(PRODUCTS, look="quotient"), "no quantity of toy.products, 'quotient'"),
        (lambda: wn.sweep(PRODUCTS, "separable"), "is an experiment and takes no data"),
        (lambda: wn.sweep(PRODUCTS.replace("products", "product"), size=[1]), "did you mean 'products'"),
    ],
)
def test_a_mistake_is_told_before_anything_is_run(call, words, log, tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path / "store"))
    with pytest.raises(InputError, match=words):
        call()
    assert not log.counts("start")


def test_packs_are_fixed_by_the_first_who_writes_them_down(store):
    sweep = sweep_of(store)
    assert sweep.decide().packs == [(1, 6)]
    sweep.plan.write_bytes(sweep.plan.read_bytes().replace(b"[[1,6]]", b"[[4,1],[2,1]]"))
    assert sweep_of(store).spans() == [range(4), range(4, 6)]


def test_numbers_do_not_depend_on_the_packing(tmp_path, monkeypatch):
    found = []
    for least in (1, 2, 6):
        monkeypatch.setattr(packing, "FEW", least)
        found.append(wn.sweep(PRODUCTS, store=Store(tmp_path / str(least)), **GRID))
    assert found[0].identical(found[1])
    assert found[0].identical(found[2])


def test_shares_are_a_partition_and_help_with_the_rest():
    spans = list(spans_of([(3, 33), (1, 1)]))
    own = [[span for span in spans if driver.hash_of(span) % 4 == i - 1] for i in range(1, 5)]
    assert sorted(span.start for each in own for span in each) == [span.start for span in spans]
    assert all(own)
    for i in range(1, 5):
        walk = driver.in_order_of(spans, i, 4)
        assert walk[: len(own[i - 1])] == own[i - 1]
        assert sorted(span.start for span in walk) == [span.start for span in spans]
    assert driver.in_order_of(spans, 1, 4)[-20:] != driver.in_order_of(spans, 2, 4)[-20:]


def test_a_point_that_fails_keeps_its_error_and_ends_nothing(store, log, trouble):
    trouble.write_text("0.5 99\n")
    sweep = sweep_of(store)
    driver.here(sweep, Quiet())
    found = dataset_of(sweep)
    assert found.state.sel(factor=0.5).values.tolist() == ["failed", "failed"]
    assert "no product with 0.5" in str(found.why.sel(size=2, factor=0.5).item())
    assert (found.state.sel(factor=[1.0, 4.0]) == "finished").all()
    assert np.isnan(found["product"].sel(factor=0.5)).all()
    assert log.counts("start")["2 0.5 0"] == 2, "a point is tried twice"
    driver.here(sweep_of(store), Quiet())
    assert log.counts("start")["2 0.5 0"] == 2, "and not again"


def test_a_passing_failure_is_tried_again(store, log, trouble):
    trouble.write_text("0.5 1\n")
    sweep = sweep_of(store)
    driver.here(sweep, Quiet())
    assert (dataset_of(sweep).state == "finished").all()
    assert log.counts("end")["2 0.5 0"] == 1


def test_retry_lets_failed_points_be_tried_again(store, log, trouble):
    trouble.write_text("0.5 99\n")
    sweep = sweep_of(store)
    driver.here(sweep, Quiet())
    assert status_of(sweep).counts == {"finished": 4, "failed": 2}
    trouble.write_text("")
    retry(sweep)
    driver.here(sweep, Quiet())
    assert status_of(sweep).counts == {"finished": 6}


def test_status_of_a_sweep_that_was_not_begun(store):
    assert status_of(sweep_of(store)).counts == {"missing": 6}


def test_status_while_the_first_points_are_measured(store):
    """No packs are known yet: what is finished or at work is found by the cells."""
    sweep = sweep_of(store)
    sweep.pilot()
    assert not sweep.is_decided
    assert status_of(sweep).counts == {"finished": 2, "missing": 4}
    tasks = tasks_at(sweep.order, subject_of(sweep.order, store), 3)
    assert isinstance(tasks, list)
    with store.claiming(tasks[0].key):
        assert status_of(sweep).counts == {"finished": 2, "at work": 1, "missing": 3}


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_cell_is_set_aside_and_computed_again(store, log, damage):
    first = wn.sweep(PRODUCTS, store=store, **GRID)
    path = next(store.root.glob("??/*.npz"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(b"" if damage == "empty" else data[: len(data) // 2] if damage == "cut" else bytes(data))
    for table in (store.root / "sweeps").rglob("*.npz"):
        table.unlink()
    assert wn.sweep(PRODUCTS, store=Store(store.root), **GRID).identical(first)
    assert [each.name for each in (store.root / "damaged").iterdir()] == [path.name]
    assert sorted(log.counts().values()) == [1, 1, 1, 1, 1, 2]


def test_load_computes_nothing_and_shows_what_is_finished(store, tmp_path, log, trouble):
    spec = tmp_path / "a.toml"
    spec.write_text(f'of = "{PRODUCTS}"\ntries = 1\n[over]\nfactor = [0.5, 1.0]\n')
    assert (wn.load(spec, store=store).state == "missing").all()
    assert not log.counts("start")
    found = wn.sweep(PRODUCTS, store=store, factor=[0.5, 1.0])
    assert wn.load(spec, store=store).identical(found)


def test_seeds_and_kinds_of_points_are_axes_from_python(store):
    found = wn.sweep(THEOREM, ["separable", "clusters"], n_runs=2, seed=[0, 1], store=store)
    assert dict(found.sizes) == {"data": 2, "seed": 2, "run": 2}
    alone = wn.sweep(THEOREM, "clusters", n_runs=2, seed=[1], store=store)
    assert found.state.values.ravel().tolist() == ["finished"] * 4
    np.testing.assert_array_equal(found.updates.sel(data="clusters", seed=1), alone.updates.squeeze())
    fields = wn.sweep(PRODUCTS, seed=[0, 1], store=store)
    assert (fields["product"].sel(seed=0) != fields["product"].sel(seed=1)).all()


def test_quantities_of_the_cells_of_a_claim_are_looked_at(store):
    """The last margin is no clause; the clause beside it is what it was."""
    both = wn.sweep(THEOREM, "separable", n_neurons=[4, 8], n_runs=2, store=store, look=("updates", "last_margin"))
    alone = wn.sweep(THEOREM, "separable", n_neurons=[4, 8], n_runs=2, store=store, look="updates")
    assert both.updates.equals(alone.updates)
    assert both["last_margin"].dims == ("n_neurons", "run")
    assert (both["last_margin"] >= 1).all()


def test_a_mistyped_field_of_a_plain_record_is_refused_before_anything_is_run(store, log):
    with pytest.raises(InputError, match=r"no quantity of toy\.plain, 'amout'; did you mean 'amount'"):
        wn.sweep(PLAIN, look="amout", factor=[1.0], store=store)
    assert not log.counts("start")
    assert wn.sweep(PLAIN, look="amount", factor=[1.0], store=store).amount.values.tolist() == [2.0]


def test_a_mistyped_quantity_of_an_array_with_names_is_refused_after_its_first_cell(store, log):
    with pytest.raises(InputError, match="no quantity, 'amout'; did you mean 'amount'"):
        wn.sweep(NAMED, look="amout", factor=[1.0, 2.0, 3.0], store=store)
    assert log.counts("start").total() == 1
    with pytest.raises(InputError, match="no quantity, 'amout'"):
        wn.sweep(NAMED, look="amout", factor=[1.0, 2.0, 3.0], store=store)
    assert log.counts("start").total() == 1, "and not again"
    assert wn.sweep(NAMED, look="amount", factor=[1.0], store=store).amount.values.tolist() == [2.0]


def test_a_store_that_cannot_be_written_is_no_obstacle(store, monkeypatch, capsys):
    first = wn.sweep(PRODUCTS, store=store, factor=[0.5])
    real = Store._writing

    def refuse(self):
        if self.root.is_relative_to(store.root):
            raise StoreError(f"cannot write results to {self.root}: read-only file system;")
        return real(self)

    monkeypatch.setattr(Store, "_writing", refuse)
    found = wn.sweep(PRODUCTS, store=store, factor=[0.5, 1.0])
    assert "read-only file system; Until then nothing that is computed is kept." in capsys.readouterr().err
    assert found.sel(factor=[0.5])["product"].equals(first["product"])
    assert (found.state == "finished").all()
