"""A second report of the same store computes, judges and draws nothing, and fits into one file."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.report.shown import Page
from widenet import papers, report
from widenet.records import Scale
from widenet.report.build import ONE_FILE
from widenet.run import Cells, InProcess, Kept, Plan, Results, Task, Unwatched
from widenet.run import plan as plans
from widenet.store import Store

from .conftest import STORE

LARGEST = 10_000_000
"""Bytes of the single file."""


class Counting(InProcess):
    """Does what is asked, and counts it."""

    def __init__(self) -> None:
        super().__init__()
        self.computed: list[str] = []
        self.drawn: list[str] = []

    def compute(self, tasks: Sequence[Task], *others: Any, **how: Any) -> Any:
        self.computed += [task.experiment.id for task in tasks]
        return super().compute(tasks, *others, **how)

    def call(self, *calls: Any, **how: Any) -> dict[str, Any]:
        answers = super().call(*calls, **how)
        self.drawn += answers
        return answers


@pytest.fixture(scope="module")
def second(real: Path) -> tuple[Results, Counting, list[str]]:
    """What a second report finds, and what it did for it."""
    executor, judged = Counting(), []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("judge", "show"):
            work = getattr(plans, name)
            patch.setattr(plans, name, lambda item, *rest, of=work: judged.append(item.id) or of(item, *rest))
        cells = Cells(Store(STORE), executor)
        start = time.process_time()
        plan = Plan(tuple(papers.claims_of()), papers.figures_of(), Scale.QUICK, 0, cells, Kept(cells))
        found = plan.carry_out(Unwatched(), lambda outcome: "")
        print(f"the second report found everything in {time.process_time() - start:.1f} s of processor time")
    return found, executor, judged


def test_a_second_report_computes_judges_and_draws_nothing(second: tuple[Results, Counting, list[str]]) -> None:
    found, executor, judged = second
    assert (executor.computed, judged, executor.drawn) == ([], [], [])
    assert len(found.checks) == len(papers.claims_of())
    assert sorted(found.files) == sorted(papers.figure_ids())


def test_all_pages_fit_into_one_file(second: tuple[Results, Counting, list[str]], tmp_path: Path) -> None:
    first = report.build(second[0], tmp_path / "one", papers.PAPERS, single_file=True)
    assert [each.name for each in first.parent.iterdir()] == [ONE_FILE]
    size = first.stat().st_size
    print(f"the single file has {size:,} bytes")
    assert size < LARGEST
    text = first.read_text(encoding="utf-8")
    page = Page(text)
    assert sum(attributes.get("class") == "leaf" for _, attributes in page.tags) > 400
    assert page.text.count("is left out of this single file") == 15
    assert "SIL OPEN FONT LICENSE" in text
