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


ANY_ORDER = "sarussi2021.theorem_4_1"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (
            {"of": ANY_ORDER, "over": {"order": ["permutation", "cyclic", "hardest", "slowest"]}},
            "order = 'hardest' is not what sarussi2021.theorem_4_1 runs, which is 'permutation'; leave it out",
        ),
        ({"of": ANY_ORDER, "set": {"order": "hardest"}}, "order = 'hardest' is not what .*, which is 'permutation'"),
        ({"of": ANY_ORDER, "set": {"n_components": 3}}, "n_components changes nothing that sarussi2021.theorem_4_1"),
        (
            {"of": "chatterji2021.theorem_1", "over": {"n_neurons": [4, 8, 512, 1024]}},
            "chatterji2021.theorem_1 runs the same for n_neurons = 4 and 8; keep one of them",
        ),
        (
            {"of": "brutzkus2018.footnote_1", "over": {"n_neurons": [4, 8]}},
            "n_neurons changes nothing that brutzkus2018.footnote_1 runs; leave it out",
        ),
        ({"of": THEOREM, "set": {"required_margin": 2.0}}, "required_margin changes nothing that .*theorem_2 runs"),
        (
            {"of": [THEOREM, ANY_ORDER], "set": {"n_components": 3}, "over": {"step_size": [0.5, 1.0]}},
            "n_components changes nothing that any of these claims runs; leave it out",
        ),
        ({"of": THEOREM, "set": {"step_sizee": 1.0}}, "^there is no choice 'step_sizee'; did you mean 'step_size'"),
        ({"of": THEOREM, "set": {"data.n_samples": 1e3}}, "^data.n_samples must be a whole number from 1 on"),
    ],
)
def test_what_would_not_be_run_is_refused_before_anything_is_run(store, row, words):
    with pytest.raises(InputError, match=words):
        order_of(spec_of(row), store)


@pytest.mark.parametrize(
    "row",
    [
        {"of": ANY_ORDER, "set": {"order": "permutation", "n_neurons": 20}},
        {"of": ANY_ORDER, "over": {"order": ["permutation", "cyclic"], "max_updates": [40, 80, 10**6]}},
        {"of": THEOREM, "over": {"order": ["permutation", "cyclic", "hardest", "easiest", "slowest"]}},
        {"of": "brutzkus2018.section_2_zero_minimum", "over": {"n_neurons": [4, 8]}, "runs": None},
        {"of": [THEOREM, "brutzkus2019.theorem_6_3"], "set": {"diverse_only": True}, "over": {"step_size": [0.5, 1.0]}},
    ],
)
def test_what_is_run_is_not_refused(store, row):
    assert order_of(spec_of({"runs": 1, **row}), store).n_points


def test_of_several_claims_one_does_not_apply_where_it_runs_something_else(store):
    """The others are run there."""
    found = wn.sweep([THEOREM, ANY_ORDER], order=["hardest", "cyclic"], n_runs=1, store=store)
    states = found.state.transpose("of", "order").values.tolist()
    assert states == [["finished", "finished"], ["does not apply", "finished"]]
    assert "which is 'permutation'" in str(found.why.sel(of=ANY_ORDER, order="hardest").item())


def test_a_choice_that_matters_beside_another_only_is_not_refused(store, monkeypatch):
    """Here the slope is used from a width of 8 on."""
    real = ClaimSubject._at

    def at(subject, point):
        return real(subject, point if point.get("n_neurons", 8) >= 8 else {**point, "slope": 0.5})

    monkeypatch.setattr(ClaimSubject, "_at", at)
    over = {"n_neurons": [4, 8], "slope": [0.1, 0.2]}
    assert order_of(spec_of({"of": THEOREM, "over": over}), store).n_points == 4
    with pytest.raises(InputError, match="slope changes nothing"):
        order_of(spec_of({"of": THEOREM, "over": {**over, "n_neurons": [4, 6]}}), store)
