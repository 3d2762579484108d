"""Tables at the widths of real terminals."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tests.report.fake_outcomes import FIGURE, checked, circumstances, claim
from widenet import papers
from widenet.claims.base import Evidence, Hypothesis, Part, Runs, Verdict, undecided
from widenet.console import tables, wording
from widenet.console.catalogue import about
from widenet.figures import Comparison
from widenet.figures.base import ANY
from widenet.papers import index
from widenet.run import CheckOutcome, FigureOutcome, Results

LONG = "brutzkus2019.observation_diverse_probability_as_printed"
NAMES = ("brutzkus2019.theorem_3_3_iterations_as_printed", LONG, "brutzkus2019.theorem_6_4")


def outcome(name: str) -> CheckOutcome:
    verdict = Verdict.VIOLATED if name.endswith("_as_printed") else Verdict.HOLDS
    part = Part(name="bound", kept=verdict is Verdict.HOLDS, measured=1.0, promised=2.0, tightness=0.006123)
    found = Evidence(hypotheses=(), parts=(part,), runs=Runs(tried=24_576, unfinished=414))
    return CheckOutcome(claim(name, verdict), found, circumstances(seconds=12.3, reused=True))


def printed(width: int, monkeypatch: pytest.MonkeyPatch, make: Callable[[], RenderableType]) -> list[str]:
    """The lines on a terminal of this width."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(make())
    lines = captured.get().splitlines()
    assert all(len(line) <= width for line in lines)
    return lines


def at_width(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return printed(width, monkeypatch, lambda: tables.verdict_table(Results([outcome(name) for name in NAMES])))


@pytest.mark.parametrize("width", [70, 80, 100, 120, 160])
def test_verdicts_are_whole_at_every_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = at_width(width, monkeypatch)
    text = "\n".join(lines)
    assert "…" not in text
    assert all(len(line) <= width for line in lines)
    assert text.count("false as printed") == 2 + 1  # the last one is in the sums
    assert text.count("0.006123") == len(NAMES)
    assert ("24,576 (414 ✗)" in text) == (width >= 120)


def test_a_narrow_terminal_folds_only_the_longest_id(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(at_width(80, monkeypatch))
    assert [name for name in NAMES if name not in text] == [LONG]


@pytest.mark.parametrize("width", [60, 80])
def test_a_folded_id_ends_its_lines_after_a_dot_or_an_underscore(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    column = [line.split("  ")[0].strip() for line in at_width(width, monkeypatch)]
    (start,) = (place for place, line in enumerate(column) if "brutzkus2019" in line and LONG.startswith(line))
    pieces = [column[start]]
    while "".join(pieces) != LONG:
        pieces.append(column[start + len(pieces)])
        assert LONG.startswith("".join(pieces))
    assert len(pieces) > 1
    assert all(piece.endswith(("_", ".")) for piece in pieces[:-1])


@pytest.mark.parametrize("width", [80, 100])
def test_the_list_of_claims_leaves_room_for_the_statement(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    rows = [{"id": LONG, "kind": "construction", "title": "", "statement": "x" * 500}]
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(tables.listing_table("claims", rows))
    lines = captured.get().splitlines()
    paper, name = LONG.split(".")
    assert any(f"{paper}.NAME" in line for line in lines)
    (line,) = (line for line in lines if "x" in line and "observation" in line)
    assert name in line
    assert line.count("x") >= width - len(name) - 8


COMPARISONS = [
    Comparison(
        name="(a) one-sided Kolmogorov–Smirnov p, largest over all of the networks",
        reported="increasing the number of channels improves the generalization performance",
        measured=-0.005461,
        interval=(-0.015461, 0.03679),
        band=(-0.001, 0.654),
    ),
    Comparison(name="runs", reported="62 of 100", measured=0.57, interval=None, band=(0.43, 0.79)),
]
HYPOTHESES = [
    Hypothesis(
        key="unequal_output_weights_v_v_in",
        name="unequal output weights (+v, …, −v) in the least favourable initialization",
        required="≤ 0 (to 1e-12)",
        actual=0.0,
        slack=9.999e-13,
        met=True,
    ),
    Hypothesis(
        key="separable", name="separable", required="through the origin", actual="no certificate", slack=None, met=False
    ),
    undecided("margin", "margin of the data", "≥ 1", why=""),
]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_no_word_is_broken_and_nothing_is_dropped(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = printed(width, monkeypatch, lambda: tables.comparison_table(COMPARISONS))
    found = " ".join(compared).replace(",", "").split()
    for each in COMPARISONS:
        assert set(f"{each.name} {each.reported}".replace(",", "").split()) <= set(found)
    assert {"-0.005461", "-0.01546", "0.03679", "-0.001", "0.654"} <= set(found)
    assert found.count("agrees") + found.count("differs") == len(COMPARISONS)
    supposed = printed(width, monkeypatch, lambda: tables.hypothesis_table(HYPOTHESES))
    found = " ".join(supposed).replace(",", "").split()
    for each in HYPOTHESES:
        assert set(f"{each.name} {each.required} {each.actual}".replace(",", "").replace("0.0", "0").split()) <= set(
            found
        )
    assert "9.999e-13" in found
    assert {"yes", "no", "undecided"} <= set(found)


PARTS = [
    Part(name="at most M_k updates, whatever the order", kept=True, sense="≤", measured=321.0, promised=12345.0,
         tightness=0.026, n_cases=64),
    Part(name="loss exactly 0 at the end", kept=None, n_cases=64, undecided=2),
    Part(name="margin of the separator", kept=False, sense="≥", measured=0.5, promised=1.0, tightness=2.0, n_cases=64,
         broken=3),
    Part(name="share", kept=True, sense="≤", measured=0.5, promised=2.0, tightness=0.25, vacuous=True, n_cases=1),
]  # fmt: skip


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_part_of_a_conclusion_is_shown_whole(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(width, monkeypatch, lambda: tables.part_table(PARTS))
    text = " ".join(" ".join(lines).split())
    for each in PARTS:
        assert set(each.name.split()) <= set(text.split())
    for words in ("321 ≤ 12,345", "0.5 < 1", "✓ kept", "? undecided in 2 of 64", "✗ broken in 3 of 64", "0.026"):
        assert words in text
    assert "○ kept, vacuously" in text


def test_a_block_shows_parts_only_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    single = outcome("brutzkus2019.theorem_6_4")
    several = CheckOutcome(
        single.claim, single.evidence.model_copy(update={"parts": tuple(PARTS)}), single.circumstances
    )
    assert "measured, promised" not in "\n".join(printed(100, monkeypatch, lambda: tables.check_block(single)))
    assert "measured, promised" in "\n".join(printed(100, monkeypatch, lambda: tables.check_block(several)))


def test_why_a_hypothesis_is_not_met(monkeypatch: pytest.MonkeyPatch) -> None:
    unmet = checked(claim("toy2020.x", Verdict.HYPOTHESES_NOT_MET))
    lines = printed(100, monkeypatch, lambda: tables.check_block(unmet))
    assert "✗ margin of [w*, x]: Row 7 is too close." in [line.strip() for line in lines]
    assert wording.reasons(HYPOTHESES) == []


def test_a_hypothesis_that_could_not_be_decided_is_not_called_unmet(monkeypatch: pytest.MonkeyPatch) -> None:
    single = outcome("brutzkus2019.theorem_6_4")
    hypotheses = (HYPOTHESES[0], undecided("separable", "separable", "≥ 1", why="no search found an answer"))
    evidence = single.evidence.model_copy(update={"hypotheses": hypotheses})
    shown = CheckOutcome(single.claim, evidence, single.circumstances)
    lines = [line.strip() for line in printed(100, monkeypatch, lambda: tables.check_block(shown))]
    assert "? separable: no search found an answer" in lines
    assert any("insufficient evidence" in line for line in lines)
    assert any(line.endswith("? undecided") for line in lines)
    assert not any("✗" in line for line in lines)
    assert wording.how_many_met(hypotheses) == "1 of 2 met, 1 undecided"
    assert wording.how_many_met(HYPOTHESES[:2]) == "1 of 2 met"


def test_wide_terminals_and_pipes_get_a_table_and_narrow_ones_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_row(width: int) -> str:
        lines = printed(width, monkeypatch, lambda: tables.comparison_table(COMPARISONS))
        return next(line for line in lines if "Kolmogorov" in line or "one-sided" in line)

    assert "increasing" in first_row(120)
    assert "increasing" not in first_row(80)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    block = tables.comparison_table(COMPARISONS)
    assert isinstance(block, Group)
    assert [type(each) for each in block.renderables] == [Text, Text, Table]


def test_why_a_band_and_that_it_was_moved_stand_below(monkeypatch: pytest.MonkeyPatch) -> None:
    common: dict[str, Any] = {"reported": "falls", "measured": 1.5, "interval": None, "band": (1.0, 2.0)}
    theorem = Comparison(name="two", **common, basis="Theorem 2 allows it.")
    rows = [
        theorem.model_copy(update={"name": "one", "moved": "0 to 1 at first; 1.5 came out."}),
        theorem,
        theorem.model_copy(update={"name": "three", "reported": "1.5", "basis": ""}),
        theorem.model_copy(update={"name": "four", "band": ANY, "added": True, "basis": "no statement of the paper"}),
    ]
    for width in (200, 60):
        text = " ".join(" ".join(printed(width, monkeypatch, lambda: tables.comparison_table(rows))).split())
        assert "[a] Theorem 2 allows it; the band was changed. Before: 0 to 1 at first; 1.5 came out" in text
        assert "[b] Theorem 2 allows it [c] no statement of the paper" in text
        for name in ("one [a]", "two [b]", "three", "four [c]"):
            assert name in text
        assert "∞" not in text


def drawing(comparisons: list[Comparison]) -> FigureOutcome:
    return FigureOutcome(FIGURE, xr.Dataset(), comparisons, circumstances(seconds=12.3, reused=True))


def test_a_figure_says_first_what_comes_out_and_keeps_the_rows_of_the_paper_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [Path("figures") / f"{FIGURE.id}.{ending}" for ending in ("svg", "width-run.csv")]
    ours = COMPARISONS[0].model_copy(update={"added": True, "name": "level", "basis": "of our own"})
    rows = [ours, *COMPARISONS]
    for width in (60, 80, 120):
        text = " ".join(
            " ".join(printed(width, monkeypatch, lambda: tables.figure_block(drawing(rows), files))).split()
        )
        assert f"{FIGURE.id} ✗ 1 of 2 numbers and trends of the paper comes out quick scale, seed 0, 12.3 s" in text
        places = [text.index(words) for words in ("What the paper says", "62 of 100", "Our own rows", "level [a]")]
        assert places == sorted(places)
    text = " ".join(" ".join(printed(80, monkeypatch, lambda: tables.figure_block(drawing([ours]), files))).split())
    assert "· the paper prints no number about this" in text
    assert "What the paper says" not in text
    assert text.endswith(f"wrote figures/{FIGURE.id}.svg, .width-run.csv")


def test_a_statement_that_leaves_a_constant_open_has_the_word_of_the_pages() -> None:
    single = outcome("brutzkus2019.theorem_6_4")
    evidence = single.evidence.model_copy(update={"open_constant": "C_4"})
    assert evidence.verdict is Verdict.CONSTANT_UNSPECIFIED
    assert wording.badge(single.claim, evidence).word == "open constant"


def test_a_median_beyond_all_numbers_has_its_sign() -> None:
    part = PARTS[0].model_copy(update={"median_tightness": math.inf})
    assert wording.tested(part) == "64 cases, median tightness ∞"
    assert (
        wording.tested(PARTS[0].model_copy(update={"median_tightness": 0.0312})) == "64 cases, median tightness 0.031"
    )


@pytest.mark.parametrize(("width", "columns"), [(120, 5), (70, 4), (60, 3)])
def test_the_list_of_papers_drops_what_matters_least(width: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"key": "brutzkus2018", "claims": 56, "figures": 7, "venue": "ICLR 2018", "title": "Over-parameterized " * 3}
    lines = printed(width, monkeypatch, lambda: tables.listing_table("papers", [row]))
    (header,) = (line for line in lines if "key" in line)
    assert len(header.split()) == columns
    assert sum(line.count("Over-parameterized") for line in lines) == 3


def test_a_very_narrow_list_of_claims_keeps_its_ids_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": LONG, "kind": "construction", "title": "", "statement": "x" * 500}]
    lines = printed(60, monkeypatch, lambda: tables.listing_table("claims", rows))
    assert any(LONG.split(".")[1] in line for line in lines)
    assert not any("xx" in line for line in lines)


def timed(peer: str, steps: int, note: str) -> dict[str, Any]:
    sizes = {"runs": 16, "steps": steps}
    times = {"us_per_step_per_run": 1234.5, "ratio_to_ours": 10.25, "compile_seconds": 0.5, "limit_us": None}
    place = {"workload": "linear_steps", "device": "a processor, 2 cores", "dtype": "float32"}
    return {**place, "peer": peer, "sizes": sizes, **times, "note": note}


TIMED = [
    timed("widenet (pattern sets)", 256, "57.31 s for 4000 trainings, 12,345,678 iterations"),
    timed("widenet (pattern sets)", 65_536, ""),
    timed("JAX vmap of scan", 256, "one run at a time, torch.optim.SGD, compiled"),
]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("several", [True, False])
def test_times_and_their_notes_are_whole_at_every_width(
    width: int, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = TIMED if several else TIMED[:1]
    lines = printed(width, monkeypatch, lambda: tables.bench_block(rows, ["A remark about them."]))
    found = " ".join(lines).replace(":", "").split()
    for row in rows:
        assert set(f"{row['peer']} {row['note']} A remark about them.".split()) <= set(found)
    assert found.count("1,234") == found.count("10.25") == found.count("0.5") == len(rows)
    assert "…" not in " ".join(lines)


def test_notes_of_times_move_below_the_table_and_then_into_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_note(width: int) -> tuple[bool, bool]:
        lines = printed(width, monkeypatch, lambda: tables.bench_block(TIMED[:1], ()))
        peer = next((line for line in lines if "pattern sets" in line and "10.25" in line), "")
        return bool(peer), "57.31" in peer

    assert with_note(160) == (True, True)
    assert with_note(62) == (True, False)
    assert with_note(40) == (False, False)


def test_marks_go_on_beyond_the_alphabet() -> None:
    assert [wording.mark(place) for place in (0, 25, 26, 52)] == ["a", "z", "aa", "aaa"]


ROWS = [about(row["id"]) for row in index.claim_rows(papers.PAPERS)]


@pytest.mark.parametrize("key", [paper.key for paper in papers.PAPERS])
def test_show_keeps_every_star_of_the_mathematics(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row for row in ROWS if row["paper"] == key]
    for row in rows:
        texts = [
            row["where"],
            row["title"],
            row["statement"],
            row["remark"],
            *(each["text"] for each in row["clauses"]),
        ]
        for entry in row["symbols"]:
            texts += [entry["symbol"], entry["meaning"]]
        texts += [wording.clause(each) for each in row["clauses"]]
        texts += [row["finding"][name] for name in ("fails", "holds", "conclusion")] if row["finding"] else []
        lines = printed(1000, monkeypatch, lambda row=row: Group(*tables.about(row)))
        assert "\n".join(lines).count("*") == "".join(texts).count("*"), row["id"]


def test_a_list_of_claims_cuts_titles_visibly_and_marks_those_that_are_false(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row for row in ROWS if row["paper"] == "brutzkus2018"]
    lines = printed(80, monkeypatch, lambda: tables.listing_table("claims", rows))
    by_name = {line.split()[0]: line.strip() for line in lines if line.strip()}
    for row in rows:
        line = by_name[row["id"].partition(".")[2]]
        title = line.split(maxsplit=1)[1]
        sign = {"VIOLATED": "! ", "CONSTANT_UNSPECIFIED": "? "}.get(row["expected_verdict"], "")
        whole = sign + " ".join(row["title"].replace("$", "").split())
        assert title == whole or (title.endswith("…") and whole.startswith(title.removesuffix("…").rstrip())), line
    assert "! false as printed, ? open constant" in lines[-1]
