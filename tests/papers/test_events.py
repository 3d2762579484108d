"""Which cases a promise is about: every surface names them, and none of them lies outside of the event of the claim.

`Promise.event` says which runs are counted as outside, and `where=` of a promise which cases it looks at. Both are
written by hand. Here runs of a toy leave the event one after the other: every column of yes and no that decides it is
turned in the first run.
"""

import importlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from jaxtyping import Bool, Float

from tests.papers.test_columns import PAPERS, cells_in
from widenet import papers
from widenet.claims import Fact, Promise, Rate, Sides, at_most
from widenet.claims.base import Claim
from widenet.claims.cases import Cases, columns_of
from widenet.claims.sides import SOME

HERE = Path(__file__).parent


@pytest.mark.parametrize("paper", PAPERS)
def test_cases_that_a_promise_picks_have_a_name(paper: str) -> None:
    clauses = [(claim.id, each.key, each.event) for claim in papers.claims_of(paper) for each in claim.clauses.values()]
    assert [each for each in clauses if each[2] == SOME] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_no_promise_looks_at_a_run_outside_of_the_event(paper: str) -> None:
    asked = 0
    for claim, toy in toys_with_an_event(paper):
        cells = [cells_in(kind, own) for kind, own in zip(claim.kinds, toy.runs(claim), strict=True)]
        before = outside(claim, cells)
        changed = [outside(claim, each) for each in with_one_answer_turned(claim, cells)]
        assert [keys for _, keys in (before, *changed) if keys] == [], claim.id
        asked += any(count != before[0] for count, _ in changed)
    assert asked >= {"brutzkus2019": 25}.get(paper, 0), "in most of these claims a run was made to leave the event"


def toys_with_an_event(paper: str) -> list[tuple[Claim, Any]]:
    """The claims whose judge says which runs are outside, with the toy of their controls."""
    found: dict[str, tuple[Claim, Any]] = {}
    for path in sorted((HERE / paper / "claims").glob("test_*.py")):
        module = importlib.import_module(f"tests.papers.{paper}.claims.{path.stem}")
        for test in vars(module).values():
            for claim in getattr(test, "claims", ()):
                if claim.id not in found and promised(claim, [[] for _ in claim.kinds]).event is not None:
                    found[claim.id] = claim, test.toy
    return list(found.values())


def promised(claim: Claim, cells: list[list[Any]]) -> Any:
    """What it promises of these cells."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return claim.promise(*(kind.join(own) for kind, own in zip(claim.kinds, cells, strict=True)))


def with_one_answer_turned(claim: Claim, cells: list[list[Any]]) -> Any:
    """The cells with one column of yes and no turned in the first run, for every such column of the first records."""
    first = cells[0][0]
    for name, about in columns_of(claim.kinds[0]).items():
        if about.dtype is not np.bool_ or first.rows not in about.axes[:1]:
            continue
        turned = np.array(getattr(first, name))
        turned[0] = ~turned[0]
        yield [[first.replace(**{name: turned}), *cells[0][1:]], *cells[1:]]


def outside(claim: Claim, cells: list[list[Any]]) -> tuple[int, list[str]]:
    """How many runs are outside, and the promises that look at one of them all the same."""
    promise = promised(claim, cells)
    event = np.atleast_1d(promise.event)
    table = claim.kinds[0].join(cells[0])
    looking = {key: looked_at(part) for key, part in promise.parts.items()}
    rows = {key: rows_of(table, event, len(each)) for key, each in looking.items()}
    keys = [key for key, each in looking.items() if (own := rows[key]) is not None and (each & ~own).any()]
    return int((~event).sum()), keys


def looked_at(part: Any) -> np.ndarray:
    """The cases that a promise looks at, flat."""
    match part:
        case Sides():
            return part.scored
        case Rate():
            return np.broadcast_to(np.asarray(part.where, bool), np.shape(np.atleast_1d(part.failed))).ravel()
        case Fact():
            chosen = True if part.where is None else part.where
            return np.broadcast_to(np.asarray(chosen, bool), np.shape(np.atleast_1d(part.holds))).ravel()
    raise TypeError(type(part))


def rows_of(table: Cases, event: np.ndarray, n_cases: int) -> np.ndarray | None:
    """For each of so many cases whether its run lies in the event; None where they are no rows of this table."""
    if n_cases == len(event):
        return event
    if len(event) != len(table):
        return None
    for axis in {axis for about in columns_of(type(table)).values() for axis in about.axes if not axis.isdigit()}:
        if len(runs := table.per(axis).run) == n_cases:
            return event[runs]
    return None


@dataclass(frozen=True, eq=False)
class Steps(Cases):
    inside: Bool[np.ndarray, " run"]
    end: Float[np.ndarray, " run"]
    loss: Float[np.ndarray, "run step"]


@pytest.mark.parametrize("axis", ["run", "step"])
@pytest.mark.parametrize("kind", ["sides", "fact", "rate"])
@pytest.mark.parametrize("is_picked", [True, False])
def test_control(axis: str, kind: str, is_picked: bool) -> None:
    def promise(runs: Any) -> Promise:
        rows = runs.per(axis)
        loss, where = rows.end, rows.inside | (not is_picked)
        part = {
            "sides": lambda: at_most(loss, 1.0, where=where, event="runs"),
            "fact": lambda: Fact(loss < 1, where=where, event="runs"),
            "rate": lambda: Rate(loss > 1, 0.1, where=where, event="runs"),
        }[kind]()
        return Promise({"a": part}, event=runs.inside)

    claim: Any = SimpleNamespace(kinds=(Steps,), promise=promise)
    cells = [cells_in(Steps, [Steps(np.array([True, False]), np.ones(2), np.ones((2, 3)))])]
    assert outside(claim, cells) == (1, [] if is_picked else ["a"])
    assert [count for count, _ in (outside(claim, each) for each in with_one_answer_turned(claim, cells))] == [2]
