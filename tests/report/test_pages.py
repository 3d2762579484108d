"""The report: true, escaped, offline, whole or not at all."""

import dataclasses
import datetime
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from widenet import report
from widenet.claims import Claim
from widenet.claims.base import Verdict, undecided
from widenet.errors import InputError, StoreError
from widenet.figures.archive import archive
from widenet.papers.base import Paper
from widenet.report.build import ONE_FILE
from widenet.report.changes import ChangedEntry, SinceLast
from widenet.report.what_was_run import run_totals
from widenet.run import CheckOutcome

from .fake_outcomes import (
    EMPTY_PAPER,
    FAILING,
    FINDING,
    HOLDING,
    MOVING,
    PAPER,
    STEP,
    TREND,
    UNMET,
    VACUOUS,
    checked,
    circumstances,
    claim,
    drawn,
    results,
    with_evidence,
)
from .shown import Page, agrees, counts_in, numbers_in, pages_of

CHECKS = [checked(each) for each in (STEP, HOLDING, FINDING, UNMET, VACUOUS, TREND)]
PAPERS = (PAPER, EMPTY_PAPER)
TODAY = datetime.date(2026, 11, 18)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return report.build(results(CHECKS, drawn(), drawn(MOVING)), tmp_path / "report", PAPERS)


@pytest.fixture
def pages(built: Path) -> dict[str, Page]:
    return pages_of(built.parent)


def test_the_id_with_a_slash_is_the_address(pages: dict[str, Page]) -> None:
    ids = [each.claim.id for each in CHECKS] + ["toy2020.figure_1", "toy2020.figure_2"]
    of_papers = {"toy2020/index.html", "empty2021/index.html"}
    general = {"index.html", "findings.html", "open.html", "figures.html", "certificates.html"}
    assert set(pages) == general | of_papers | {id.replace(".", "/") + ".html" for id in ids}


def test_the_first_page_says_what_came_out(pages: dict[str, Page]) -> None:
    for words in (
        "6 statements of one paper about wide networks, run as programs: 3 hold , 1 is false as printed",
        "and 2 decide nothing.",
        "Whose statements: ",
        "Of 2 numbers and trends printed with the papers’ figures, 1 comes out and 1 does not .",
        "quick scale, seed 0",
        "No statement of this paper was checked.",
        "Toys converge at every width.",
    ):
        assert words in pages["index.html"].text, words


def test_runs_that_two_statements_read_are_counted_once(tmp_path: Path) -> None:
    def read(which: Claim, *cells: str) -> CheckOutcome:
        return dataclasses.replace(checked(which), circumstances=circumstances(cells=list(cells)))

    first, second, third = read(STEP, "a", "b"), read(HOLDING, "b"), read(FINDING, "c")
    tried = [each.evidence.runs.tried for each in (first, second, third)]
    totals = run_totals([first, second, third])
    assert (totals.runs, totals.cases) == (max(tried[:2]) + tried[2], 0)
    assert run_totals([first, first]).runs == tried[0]
    generated = run_totals([first, checked(TREND), read(TREND)])
    assert generated.cases == 2 * checked(TREND).evidence.runs.tried
    page = Page(report.build(results([first, second, third]), tmp_path / "report", PAPERS).read_text(encoding="utf-8"))
    assert f"at least {totals.runs} runs of 0 experiments, each counted once." in page.text


def test_every_statement_is_a_dot_in_the_picture(pages: dict[str, Page]) -> None:
    dots = [
        attributes["href"] or ""
        for tag, attributes in pages["index.html"].tags
        if tag == "a" and "d" in (attributes.get("class") or "").split()
    ]
    assert sorted(dots) == sorted(each.claim.id.replace(".", "/") + ".html" for each in CHECKS)
    totals = re.search(r"all papers ([\d ]+)", pages["index.html"].text)
    assert totals
    assert sum(map(int, totals[1].split())) == len(CHECKS)


@pytest.mark.parametrize(
    ("id", "words"),
    [
        (HOLDING.id, ("Holds", "321 ≤ 12,345", "64 , 2 diverged", "2 of 2 met", "at most M_k updates")),
        (FINDING.id, ("False as printed", "broken in 3 of 3", "The printed count lacks a ceiling.")),
        (UNMET.id, ("Hypotheses not met", "1 of 2 met", "Row 7 is too close.", "fails by −0.5")),
        (VACUOUS.id, ("Holds vacuously", "The promise says no more than what is trivially true.")),
        (
            STEP.id,
            ("The conclusion has no two sides to draw", "checked in 64 cases", "toy2020/claims/theorems.py, line"),
        ),
    ],
)
def test_a_claim_page_has_what_was_found(pages: dict[str, Page], id: str, words: tuple[str, ...]) -> None:
    page = pages[id.replace(".", "/") + ".html"]
    for each in (*words, f"widenet check {id} --scale quick --seed 0", "@inproceedings{toy2020,", id):
        assert each in page.text, (each, page.text)


def test_an_undecided_hypothesis_says_so(tmp_path: Path) -> None:
    open_ = undecided("separable", "margin of the data", "≥ 1", why="no search found an answer")
    outcome = with_evidence(checked(HOLDING), hypotheses=(open_,))
    folder = report.build(results([outcome]), tmp_path / "report", PAPERS).parent
    page = Page((folder / "toy2020/theorem_2.html").read_text(encoding="utf-8"))
    for words in ("Insufficient evidence", "0 of 1 met, 1 undecided", "not known", "no search found an answer"):
        assert words in page.text, words


def test_every_case_is_a_dot_under_the_wall(pages: dict[str, Page]) -> None:
    for outcome in CHECKS:
        page = pages[outcome.claim.id.replace(".", "/") + ".html"]
        dots = [a for tag, a in page.tags if tag == "path" and (a.get("class") or "").startswith("dots")]
        n_dots, n_broken = (
            sum((a["d"] or "").count("M") for a in dots if (a["class"] == "dots b") >= broken)
            for broken in (False, True)
        )
        drawn_parts = [each for each in outcome.evidence.parts if each.sides]
        assert n_dots == sum(len(each.sides) for each in drawn_parts), outcome.claim.id
        assert n_broken == sum(each.broken for each in drawn_parts), outcome.claim.id


def test_a_figure_page_tells_the_papers_rows_from_our_own(tmp_path: Path) -> None:
    own = drawn().comparisons[0].model_copy(update={"added": True, "name": "a control of ours", "reported": "nothing"})
    figure = drawn()
    figure.comparisons.append(own)
    folder = report.build(results([], figure), tmp_path / "report", PAPERS).parent
    text = Page((folder / "toy2020/figure_1.html").read_text(encoding="utf-8")).text
    for words in ("1 of 2 numbers and trends agrees with the paper; what does not:", "differs", "[a, b]", "[a] pilot"):
        assert words in text, words
    paper, _, ours = text.partition("Our own rows")
    assert "a control of ours" in ours
    assert "a control of ours" not in paper
    assert "as expected" in ours


def test_a_sentence_of_the_paper_in_another_reading_is_no_row_of_our_own(tmp_path: Path) -> None:
    figure = drawn()
    stated = figure.comparisons[0]
    other = stated.model_copy(update={"name": "as drawn: the same", "added": True})
    own = other.model_copy(update={"name": "beside it", "reported": "nothing about this"})
    folder = report.build(
        results([], dataclasses.replace(figure, comparisons=[stated, other, own])), tmp_path / "report", PAPERS
    ).parent
    text = Page((folder / "toy2020/figure_1.html").read_text(encoding="utf-8")).text
    paper, _, rest = text.partition("The other reading, at quick scale")
    reading, _, ours = rest.partition("Our own rows, at quick scale")
    assert "What the paper says, and these numbers, at quick scale" in paper
    assert "as drawn: the same" in reading
    assert f"“{stated.reported}”" in reading
    assert "beside it" in ours
    assert "as drawn: the same" not in ours


def test_agreement_that_tests_little_says_so_and_drawings_have_a_scale(tmp_path: Path) -> None:
    figure = drawn()
    figure.comparisons[0] = figure.comparisons[0].model_copy(update={"interval": (-0.1, 0.3)})
    folder = report.build(results([], figure), tmp_path / "report", PAPERS).parent
    page = Page((folder / "toy2020/figure_1.html").read_text(encoding="utf-8"))
    assert page.text.count("the interval is wider than the band: little is tested") == 1
    strips = re.findall(r'<svg class="compared".*?</svg>', (folder / "toy2020/figure_1.html").read_text("utf-8"), re.S)
    assert len(strips) == 2
    for strip in strips:
        labels = re.findall(r"<text[^>]*>([^<]*)</text>", strip)
        assert len(labels) >= 2
        assert len(set(labels)) == len(labels)


def test_figures_and_the_statements_that_they_illustrate_name_each_other(pages: dict[str, Page]) -> None:
    figure, claim = pages["toy2020/figure_1.html"], pages["toy2020/theorem_2.html"]
    assert "../toy2020/theorem_2.html" in [attributes.get("href") for _, attributes in figure.tags]
    assert "Statements that it illustrates" in figure.text
    assert "../toy2020/figure_1.html" in [attributes.get("href") for _, attributes in claim.tags]
    assert "Figure 1, shows it" in claim.text
    assert "Statements that it illustrates" not in pages["toy2020/figure_2.html"].text


def test_a_figure_page_has_the_setting_of_the_paper_beside_ours(pages: dict[str, Page]) -> None:
    text = pages["toy2020/figure_1.html"].text
    assert "The paper “Three neurons”, and 64 points." in text
    assert "Here The step size is not stated in the paper." in text
    assert "It draws no such figure." in pages["toy2020/figure_2.html"].text


def test_what_differs_at_the_papers_own_scale_is_said_wherever_the_figure_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = drawn()
    figure.comparisons[:] = [each.model_copy(update={"band": (-math.inf, math.inf)}) for each in figure.comparisons]
    differing = [each.model_copy(update={"band": (1e9, 2e9)}) for each in figure.comparisons]
    kept = archive(figure.figure.id, figure.numbers, differing, {**figure.row(), "scale": "paper"}, TODAY)
    monkeypatch.setattr("widenet.report.pages.archived", lambda id: kept)
    shown = pages_of(report.build(results([], figure), tmp_path / "report", PAPERS).parent)
    for address, words in {
        "toy2020/figure_1.html": "2 of 2 numbers and trends agree with the paper. At the paper’s own scale 0 of 2",
        "figures.html": "At the paper’s own scale 0 of 2 agree",
        "toy2020/index.html": "2 of 2 numbers come out, at the paper’s own scale 0 of 2",
        "index.html": "At the papers’ own scale, where it was run, 0 of 2 come out.",
        "findings.html": "Numbers under figures, at the papers’ own scale 2",
    }.items():
        assert words in shown[address].text, (address, shown[address].text)


def test_the_numbers_are_those_of_the_results(built: Path, pages: dict[str, Page]) -> None:
    found = json.loads((built.parent / "results.json").read_text(encoding="utf-8"))
    n_read = 0
    for row in (*found["checks"], *found["figures"]):
        known = {*numbers_in(row), *counts_in(row)}
        page = pages[row["id"].replace(".", "/") + ".html"]
        for value, shown in page.numbers:
            assert float(value) in known, (row["id"], value)
            assert agrees(value, shown), (row["id"], value, shown)
            n_read += 1
    assert n_read > 40


def test_no_request_leaves_the_folder(built: Path, pages: dict[str, Page]) -> None:
    for address, page in pages.items():
        policy = next(a["content"] or "" for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "http" not in policy
        folder = (built.parent / address).parent
        for tag, attributes in page.tags:
            assert tag not in {"iframe", "object", "embed", "form", "base", "style"}
            assert not {"srcset", "action", "background"} & set(attributes)
            assert not any(name.startswith("on") for name in attributes)
            for target in filter(None, (attributes.get("src"), attributes.get("href"))):
                if ":" in target:
                    assert tag == "a"
                    assert re.fullmatch(r"https://arxiv\.org/abs/[\w.]+", target)
                    assert attributes["rel"] == "noreferrer"
                    continue
                place, _, part = target.partition("#")
                file = folder / place if place else built.parent / address
                assert file.is_file(), (address, target)
                if part:
                    assert part in Page(file.read_text(encoding="utf-8")).attributes("id"), (address, target)
    style = (built.parent / "assets/style.css").read_text(encoding="utf-8")
    assert re.findall(r"url\((.{0,20})", style) == ["data:font/woff2;base"]
    assert "@import" not in style


def test_names_on_a_page_are_unique(pages: dict[str, Page]) -> None:
    for address, page in pages.items():
        names = page.attributes("id")
        assert len(names) == len(set(names)), address


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    evil = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>{{ 7007 * 7007 }}"
    hostile = with_evidence(checked(claim(f"toy2020.{evil}", statement=evil)), note=evil, details={evil: evil})
    paper = Paper("toy2020", evil, evil, evil, evil, evil)
    for single in (False, True):
        first = report.build(results([hostile]), tmp_path / f"r{single}", [paper], single)
        for page in pages_of(first.parent).values():
            scripts = [attributes for tag, attributes in page.tags if tag == "script"]
            assert len(scripts) == 2
            assert not [tag for tag, _ in page.tags if tag == "img"]
            assert "49098049" not in page.text
            assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
        index = first.parent / "assets/search-index.js"
        assert single or "</script" not in index.read_text(encoding="utf-8")
        assert {path.parent.parent for path in first.parent.rglob("*.html")} <= {first.parent, first.parent.parent}


def test_the_search_has_a_row_for_each_statement_and_figure(built: Path, pages: dict[str, Page]) -> None:
    text = (built.parent / "assets/search-index.js").read_text(encoding="utf-8")
    rows = json.loads(text.removeprefix("const PAGES = ").removesuffix(";\n"))
    assert len(rows) == len(CHECKS) + 2 + 2  # two figures, two papers
    assert {row["page"] for row in rows} <= set(pages)
    assert {row["is"] for row in rows} >= {"holds", "false as printed", "differs"}


def test_the_same_results_lie_beside_the_pages(built: Path) -> None:
    found = json.loads((built.parent / "results.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in found["checks"]] == [outcome.claim.id for outcome in CHECKS]
    assert found["schema"] == 4
    assert found["figures"][0]["comparisons"][0]["verdict"] == "AGREES"
    written = {path.suffix for path in (built.parent / "figures").iterdir()}
    assert written == {".svg", ".pdf", ".png", ".gif", ".json", ".csv"}
    assert (built.parent / "assets/STIX-LICENSE.txt").read_text(encoding="utf-8").count("SIL OPEN FONT LICENSE")


def test_one_file_has_every_page_and_nothing_beside_it(tmp_path: Path, pages: dict[str, Page]) -> None:
    first = report.build(results(CHECKS, drawn(), drawn(MOVING)), tmp_path / "one", PAPERS, single_file=True)
    assert [path.name for path in first.parent.iterdir()] == [ONE_FILE]
    page = Page(first.read_text(encoding="utf-8"))
    names = page.attributes("id")
    assert len(names) == len(set(names))
    leaves = [a["id"] for tag, a in page.tags if a.get("class") == "leaf"]
    assert len(leaves) == len(pages)
    targets = [each for each in page.attributes("href") if not each.startswith("https://arxiv.org/")]
    assert {each[0] for each in targets} == {"#"}
    assert {each[1:] for each in targets} <= set(names)
    assert all(each.startswith("data:image/svg+xml") for each in page.attributes("src"))
    assert "SIL OPEN FONT LICENSE" in page.text
    assert "What this file leaves out" in page.text
    policy = next(a["content"] or "" for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert re.search(r"script-src 'sha256-[^' ]+' 'sha256-[^' ]+';", policy)


def test_nothing_to_report_is_reported(tmp_path: Path) -> None:
    page = Page(report.build(results([]), tmp_path / "r", PAPERS).read_text(encoding="utf-8"))
    assert "0 statements of no papers" in page.text
    assert "nothing was run" in page.text


def test_an_alarm_stands_on_the_first_page(tmp_path: Path) -> None:
    step = claim("toy2020.lemma_a_2", Verdict.VIOLATED, kind=STEP.kind)
    failing = dataclasses.replace(FAILING, id="toy2020.theorem_8")
    first = report.build(results([checked(step), checked(failing)]), tmp_path / "r", PAPERS)
    assert "2 should hold and do not" in Page(first.read_text(encoding="utf-8")).text
    findings = Page((first.parent / "findings.html").read_text(encoding="utf-8")).text
    assert "Not expected to fail" in findings
    page = Page((first.parent / "toy2020/lemma_a_2.html").read_text(encoding="utf-8")).text
    assert "Violated" in page
    assert "The hypotheses are met and the conclusion was measured to fail." in page


def test_the_first_page_says_what_changed(tmp_path: Path) -> None:
    def told(changed: SinceLast | None) -> str:
        page = report.build(results(CHECKS), tmp_path / "report", PAPERS, changed=changed)
        return pages_of(page.parent)["index.html"].text

    id = CHECKS[1].claim.id
    text = told(
        SinceLast(
            verdicts=(ChangedEntry(id=id, before="CONSTANT_UNSPECIFIED", after="HOLDS"),),
            parts=(ChangedEntry(id=id, what="updates", before=None, after=True),),
            numbers=(ChangedEntry(id=id, what="updates", before=3.0, after=4.0),),
            gone=("toy2020.lost",),
        )
    )
    for words in ("open constant → holds", "undecided → kept", "3 → 4", "Gone: toy2020.lost"):
        assert words in text
    assert "Every verdict, part and number is as it was." in told(SinceLast())
    assert "Since the last report" not in told(None)


def test_a_report_replaces_an_earlier_one_whole(built: Path) -> None:
    again = report.build(results(CHECKS[:1]), built.parent, PAPERS)
    assert again == built
    assert list((built.parent / "figures").iterdir()) == []
    assert [path.name for path in (built.parent / "toy2020").iterdir() if path.name != "index.html"] == [
        f"{STEP.name}.html"
    ]
    assert [path.name for path in built.parent.parent.iterdir()] == ["report"]


def test_papers_of_an_earlier_report_are_replaced_too(built: Path) -> None:
    report.prepare(built.parent, [EMPTY_PAPER])
    report.build(results([]), built.parent, [EMPTY_PAPER])
    assert not (built.parent / "toy2020").exists()


def test_a_failure_keeps_the_earlier_report(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = built.read_bytes()

    def full_disk(*args: Any, **kwargs: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(StoreError, match="no space left on device"):
        report.build(results(CHECKS, drawn()), built.parent, PAPERS)
    assert built.read_bytes() == before
    assert [path.name for path in built.parent.parent.iterdir()] == ["report"]


def test_a_failed_swap_puts_the_earlier_report_back(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, replace = built.read_bytes(), Path.replace

    def refuse_new(source: Path, target: Path) -> Path:
        if source.name.endswith(".new"):
            raise PermissionError(13, "Permission denied")
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", refuse_new)
    with pytest.raises(StoreError):
        report.build(results(CHECKS[:1]), built.parent, PAPERS)
    assert built.read_bytes() == before
    assert [path.name for path in built.parent.parent.iterdir()] == ["report"]


def test_a_folder_with_other_files_is_refused(built: Path) -> None:
    (built.parent / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        report.prepare(built.parent)
    with pytest.raises(InputError, match=r"thesis\.tex"):
        report.build(results(CHECKS), built.parent, PAPERS)
    assert (built.parent / "thesis.tex").read_text() == "years of work"


def test_the_current_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    for folder in (Path(), Path("..")):
        with pytest.raises(InputError, match="the folder you are in"):
            report.prepare(folder)


def test_a_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    report.build(results([]), tmp_path / "link", PAPERS)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "index.html").is_file()


def test_a_promise_that_was_not_seen_is_not_told_as_broken(pages: dict[str, Page]) -> None:
    text = pages["certificates.html"].text
    assert "promises seen to be kept" in text
    assert "Those that were not seen to be kept need not be broken" in text


def test_the_keyboard_can_skip_the_dots(built: Path) -> None:
    text = built.read_text(encoding="utf-8")
    link, first_dot, end = (text.index(each) for each in ("Skip the dots</a>", '<a class="d ', 'id="after-dots"'))
    assert link < first_dot < end
    assert '#after-dots">Skip the dots' in text
    assert '<a class="d ' not in text[end:]
