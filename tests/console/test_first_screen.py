"""The last lines of a report: whole words at every width."""

import dataclasses
from pathlib import Path

import pytest

from tests.report.fake_outcomes import FINDING, HOLDING, STEP, checked, drawn
from widenet.console.first_screen import first_screen
from widenet.console.wording import Tone, forms
from widenet.records import Form
from widenet.run import Results


def lines_at(width: int) -> list[str]:
    figure = drawn()
    several = [
        dataclasses.replace(figure, figure=dataclasses.replace(figure.figure, id=f"toy2020.figure_{number}"))
        for number in (1, 2, 3)
    ]
    checks = [checked(each) for each in (STEP, HOLDING, FINDING)]
    asked = tuple(each.claim.id for each in checks)
    results = Results(checks, several, asked=asked)
    return [line.plain for line in first_screen(results, Path("report/index.html"), None, 12.4, width)]


def test_the_counts_name_the_signs_of_the_bars() -> None:
    assert lines_at(120)[0] == "3 statements   ▇ 2 hold   ◆ 1 false as printed   12 s"
    assert lines_at(30)[:2] == ["3 statements   ▇ 2 hold", "◆ 1 false as printed   12 s"]


def test_a_line_says_whose_statements_they_are() -> None:
    assert lines_at(120)[1] == "3 as printed (2 hold, 1 false)"
    several = [(Form.PAPER, Tone.GOOD), (Form.PRINTED, Tone.FINDING), (Form.PAPER, Tone.OPEN), (Form.REPAIR, Tone.GOOD)]
    told = forms([*several, (Form.OURS, Tone.GOOD)])
    assert told == "3 as printed (1 hold, 1 false, 1 open), 1 repaired, 1 ours"
    assert forms([]) == ""


@pytest.mark.parametrize(
    ("width", "names"), [(100, "  figure_1  figure_2  figure_3"), (82, "  figure_1  figure_2  +1"), (62, "")]
)
def test_figures_that_differ_are_named_whole(width: int, names: str) -> None:
    (row,) = (line for line in lines_at(width) if line.startswith("toy2020"))
    assert row.endswith(f"figures 3 of 6{names}")
    assert len(row) <= width


def test_a_figure_whose_own_rows_alone_fail_is_not_named() -> None:
    figure = drawn()
    rows = [each.model_copy(update={"added": True}) for each in figure.comparisons]
    agreeing = [each for each in figure.comparisons if each.agrees]
    figure = dataclasses.replace(figure, comparisons=[*agreeing, *rows])
    (row,) = (
        line.plain
        for line in first_screen(Results([], [figure], asked=("toy2020.figure_1",)), Path("x"), None, 1.0, 100)
        if line.plain.startswith("toy2020")
    )
    assert any(each.verdict == "NOT AS EXPECTED" for each in rows)
    assert row.endswith(f"figures {len(agreeing)} of {len(agreeing)}")
