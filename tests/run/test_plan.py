"""Many claims and figures at once: all cells first, then verdicts and drawings."""

import dataclasses

import pytest

from tests.packages import TOY
from tests.packages.toy2020.runs.numbers import LOG, Numbers
from tests.report.fake_outcomes import FAILING, FIGURE, FINDING, HOLDING, MOVING, STEP, TREND, UNMET, checked
from widenet import papers
from widenet.console.exit_codes import code_of
from widenet.console.progress import Meter
from widenet.console.wording import by_cause, in_short
from widenet.records import Scale
from widenet.run import Cells, Failure, InProcess, NotComputed, Plan, Processes, Results
from widenet.store import Store


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY,))


@pytest.fixture
def log(tmp_path, monkeypatch):
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv(LOG, str(path))
    return lambda: path.read_text().count("start")


class Heard:
    """A watch that remembers names and the seconds that were promised for them."""

    def __init__(self):
        self.begun: list[str] = []
        self.ended: list[tuple[str, float]] = []

    def begin(self, name, seconds=1.0):
        self.begun.append(name)
        return lambda fraction, words: None

    def end(self, name, words, seconds=1.0):
        self.ended.append((name, seconds))


def planned(store: Store, executor=None, **options) -> Plan:
    cells = Cells(store, executor or InProcess(), **options)
    return Plan((STEP, HOLDING, TREND), (FIGURE, MOVING), Scale.QUICK, 0, cells)


def test_everything_is_computed_once_and_comes_back_in_the_order_asked_for(tmp_path, log):
    plan, heard = planned(Store(tmp_path / "store")), Heard()
    assert [task.experiment.id for task in plan.missing] == ["toy2020.numbers"] * 3 + ["toy2020.curves"]
    results = plan.carry_out(heard, in_short)
    assert log() == 4
    assert [each.claim for each in results.checks] == [STEP, HOLDING, TREND]
    assert [each.figure for each in results.figures] == [FIGURE, MOVING]
    assert f"{MOVING.id}.gif" in results.files[MOVING.id]
    assert f"{FIGURE.id}.gif" not in results.files[FIGURE.id]
    assert {f"{FIGURE.id}.{form}" for form in ("svg", "pdf", "png", "json")} <= set(results.files[FIGURE.id])
    names = [name for name, _ in heard.ended]
    assert names.index("toy2020.curves") < names.index(STEP.id), "cells come first"
    assert names.index(f"animation of {MOVING.id}") < names.index(f"drawing of {FIGURE.id}"), "the longest come first"


def test_the_pieces_that_are_announced_are_those_that_end(tmp_path):
    for missing in (4, 0):
        plan, heard = planned(Store(tmp_path / "store")), Heard()
        assert len(plan.missing) == missing
        n_pieces, seconds = plan.n_pieces, plan.seconds
        plan.carry_out(heard, in_short)
        assert len(heard.ended) == len({name for name, _ in heard.ended}) == n_pieces
        assert sum(seconds for _, seconds in heard.ended) == pytest.approx(seconds)
        meter = Meter(seconds)
        for name, share in heard.ended:
            meter.finish(name, share)
        assert meter.share == pytest.approx(1.0)


def test_what_is_stored_is_not_computed_and_fresh_computes_it(tmp_path, log):
    store = Store(tmp_path / "store")
    planned(store).carry_out(Heard(), in_short)
    assert all(each.circumstances.reused for each in planned(store).carry_out(Heard(), in_short).checks[1:])
    assert log() == 4
    fresh = planned(store, fresh=True).carry_out(Heard(), in_short)
    assert log() == 8
    assert not any(each.circumstances.reused for each in fresh.checks)


def test_workers_draw_the_same_files(tmp_path):
    store = Store(tmp_path / "store")
    alone = planned(store).carry_out(Heard(), in_short)
    with Processes(2, worth_a_process=0.0) as two:
        together = planned(store, two).carry_out(Heard(), in_short)
    assert together.files.keys() == alone.files.keys()
    for id, files in alone.files.items():
        assert {name: content for name, content in together.files[id].items() if not name.endswith("json")} == {
            name: content for name, content in files.items() if not name.endswith("json")
        }
    assert [each.evidence for each in together.checks] == [each.evidence for each in alone.checks]


def test_nothing_to_do_is_nothing_done(tmp_path):
    plan = Plan((), (), Scale.QUICK, 0, Cells(Store(tmp_path / "store"), InProcess()))
    assert (plan.n_pieces, plan.seconds) == (0, 0.0)
    results = plan.carry_out(Heard(), in_short)
    assert (results.checks, results.figures, results.files) == ([], [], {})


def failing(experiment, **changes):
    """The same experiment with something that raises in its place."""

    def raises(*_):
        raise ValueError("these rows do not fit\ntheir data")

    raises.__module__ = experiment.run.__module__
    raises.__annotations__ = experiment.run.__annotations__
    return dataclasses.replace(experiment, id="toy2020.broken", **{name: raises for name in changes})


@pytest.mark.parametrize("what", ["run", "settings"])
def test_a_failed_cell_leaves_its_claims_and_figures_without_a_result_and_no_other(tmp_path, what):
    (experiment,) = HOLDING.reads
    broken = failing(experiment, **{what: True})
    claims = (STEP, dataclasses.replace(HOLDING, reads=(broken,)), TREND)
    figures = (dataclasses.replace(FIGURE, reads=(broken,)), MOVING)
    plan = Plan(claims, figures, Scale.QUICK, 7, Cells(Store(tmp_path / "store"), InProcess()))
    heard = Heard()
    results = plan.carry_out(heard, in_short)
    assert [each.claim for each in results.checks] == [STEP, TREND]
    assert [each.figure for each in results.figures] == [MOVING]
    assert results.files.keys() == {MOVING.id}
    assert [each.item.id for each in results.not_computed] == [FIGURE.id, HOLDING.id]
    for each in results.not_computed:
        assert each.failure.sentence.endswith("failed: ValueError: these rows do not fit their data")
        assert "raise ValueError" in each.failure.traceback
    rows = results.rows()
    assert [row["id"] for row in rows["checks"]] == [STEP.id, HOLDING.id, TREND.id]
    assert [row["verdict"] for row in rows["checks"]][1] == "NOT_COMPUTED"
    assert rows["checks"][1]["seed"] == 7
    assert rows["checks"][1]["expected"] is False
    assert [row["id"] for row in rows["figures"]] == [FIGURE.id, MOVING.id]
    assert code_of(results) == 3


def raising(*_):
    raise ZeroDivisionError


def undefined(runs: Numbers):
    raise ZeroDivisionError


def test_a_judge_or_a_drawing_that_fails_ends_no_other(tmp_path, monkeypatch):
    claims = (STEP, dataclasses.replace(HOLDING, judge=undefined))
    monkeypatch.setattr("widenet.plots.picture_files", raising)
    plan = Plan(claims, (FIGURE,), Scale.QUICK, 0, Cells(Store(tmp_path / "store"), InProcess()))
    results = plan.carry_out(Heard(), in_short)
    assert [each.claim for each in results.checks] == [STEP]
    assert (results.figures, results.files) == ([], {})
    causes = by_cause(results.not_computed)
    assert causes == {
        f"{HOLDING.id} failed: ZeroDivisionError": [HOLDING.id],
        f"drawing of {FIGURE.id} failed: ZeroDivisionError": [FIGURE.id],
    }


def test_a_violation_counts_before_what_is_open():
    violated, open_, fine = (checked(each) for each in (FAILING, UNMET, HOLDING))
    lost = NotComputed(HOLDING, Failure("x failed: y"), Scale.QUICK, 0)
    assert code_of(Results([fine])) == 0
    assert code_of(Results([fine, checked(FINDING)])) == 0
    assert code_of(Results([fine], not_computed=[lost])) == 3
    assert code_of(Results([fine, open_])) == 3
    assert code_of(Results([fine, open_, violated], not_computed=[lost])) == 1
