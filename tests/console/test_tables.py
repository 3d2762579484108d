"""Tables at the widths of real terminals."""

import sys

import pytest
from rich.console import Console

from tests.report.fake_outcomes import claim, evidence
from widenet.claims.base import Runs, Verdict
from widenet.console import tables
from widenet.run import CheckOutcome
from widenet.types import Scale

LONG = "brutzkus2019.observation_diverse_probability_as_printed"
NAMES = ("brutzkus2019.theorem_3_3_iterations_as_printed", LONG, "brutzkus2019.theorem_6_4")


def outcome(name: str) -> CheckOutcome:
    verdict = Verdict.VIOLATED if name.endswith("_as_printed") else Verdict.HOLDS
    found = evidence(verdict, runs=Runs(tried=24_576, unfinished=414), tightness=0.006123)
    return CheckOutcome(claim(name, verdict), Scale.QUICK, 0, found, 12.3, reused=True)


def at_width(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table = tables.verdict_table([outcome(name) for name in NAMES])
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [70, 80, 100, 120, 160])
def test_verdicts_are_whole_at_every_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = at_width(width, monkeypatch)
    text = "\n".join(lines)
    assert "…" not in text
    assert all(len(line) <= width for line in lines)
    assert text.count("FALSE AS PRINTED") == 2 + 1  # the last one is in the sums
    assert text.count("0.006123") == len(NAMES)
    assert ("24,576 (414 ✗)" in text) == (width >= 120)


def test_a_narrow_terminal_folds_only_the_longest_id(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(at_width(80, monkeypatch))
    assert [name for name in NAMES if name not in text] == [LONG]


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_of_claims_leaves_room_for_the_statement(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    rows = [{"id": LONG, "kind": "construction", "statement": "x" * 500}]
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(tables.listing_table("claims", rows))
    (line,) = (line for line in captured.get().splitlines() if "x" in line and "observation" in line)
    assert LONG in line
    assert line.count("x") >= width - 62
