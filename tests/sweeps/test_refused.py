"""Points that cannot be computed: each says why, and ends no other."""

import pytest

import widenet as wn
from tests.sweeps.conftest import PAIRS
from widenet.errors import InputError
from widenet.sweeps.driver import Quiet, Survey, here
from widenet.sweeps.order import order_of
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import spec_of
from widenet.sweeps.status import retry, status_of
from widenet.sweeps.subjects import ClaimSubject

THEOREM = "brutzkus2018.theorem_2"


def survey(store, **over) -> Survey:
    return Survey(order_of(spec_of({"of": PAIRS, "over": over}), store), store)


def test_a_point_that_its_record_refuses_ends_no_other(store):
    """k = 8 is refused beside n = 5 of the setting and beside an n of the sweep, but not beside the other."""
    found = wn.sweep(PAIRS, k=[1, 8], n=[10, 5], store=store)
    assert found.state.values.tolist() == [["finished", "finished"], ["finished", "does not apply"]]
    assert found["product"].isel(run=0).fillna(-1).values.tolist() == [[1, 1], [8, -1]]
    assert str(found.why.sel(k=8, n=5).item()) == "toy.pairs: k must be at most n, got 8 of 5."
    assert status_of(survey(store, k=[1, 8], n=[10, 5])).counts == {"finished": 3, "does not apply": 1}


def test_an_error_in_a_record_is_that_of_its_point(store):
    sweep = survey(store, k=[1, 2], n=[13, 5])
    here(sweep, Quiet())
    found = dataset_of(sweep)
    assert found.state.values.tolist() == [["failed", "finished"]] * 2
    assert str(found.why.sel(k=2, n=13).item()) == f"{sweep.order.title} failed: ZeroDivisionError: thirteen"
    assert status_of(sweep).counts == {"finished": 2, "failed": 2}
    retry(sweep)
    assert here(sweep, Quiet()) == {"failed": 2}, "the others are in packs of their own"


@pytest.mark.parametrize("over", [{"k": [1, 8]}, {"k": [1, 12], "n": [5, 10]}])
def test_a_value_that_no_point_takes_is_refused_before_anything_is_run(store, over):
    with pytest.raises(InputError, match=r"k must be at most n, got (8|12) of 5"):
        survey(store, **over)


def test_a_value_of_another_type_is_refused_whatever_stands_beside_it(store):
    with pytest.raises(InputError, match="k must be a valid integer"):
        survey(store, k=["a", "b"], n=[5, 10])


def test_an_error_of_what_a_claim_runs_on_data_is_that_of_its_point(store, monkeypatch):
    real = ClaimSubject._at

    def at(subject, point):
        if point.get("n_neurons") == 4:
            raise ValueError("four neurons are too few")
        return real(subject, point)

    monkeypatch.setattr(ClaimSubject, "_at", at)
    found = wn.sweep(THEOREM, "separable", n_neurons=[4, 8], n_runs=2, store=store)
    assert found.state.values.tolist() == ["failed", "finished"]
    assert "ValueError: four neurons are too few" in str(found.why.sel(n_neurons=4).item())


def test_kinds_and_numbers_of_drawn_points_are_axes_together(store):
    """A number that only some kinds have is refused where a kind does not have it."""
    over = {"data": ["separable", "xord"], "data.dim": [5, 8]}
    row = {"of": THEOREM, "runs": 2, "over": over}
    sweep = Survey(order_of(spec_of(row), store), store)
    here(sweep, Quiet())
    found = dataset_of(sweep)
    assert (found.state.sel(data="separable") == "finished").all()
    assert (found.state.sel(data="xord") == "does not apply").all()
    assert "no number of xord, 'data.dim'" in str(found.why.sel({"data": "xord", "data.dim": 5}).item())
