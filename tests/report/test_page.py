"""The report: true, escaped, offline, whole or not at all."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from widenet import report
from widenet.claims.base import Verdict, undecided
from widenet.errors import InputError, StoreError
from widenet.papers.base import Paper

from .fake_outcomes import (
    EMPTY_PAPER,
    FAILING,
    FINDING,
    HOLDING,
    PAPER,
    STEP,
    UNMET,
    VACUOUS,
    checked,
    claim,
    drawn,
    results,
    with_evidence,
)

CHECKS = [checked(each) for each in (STEP, HOLDING, FINDING, UNMET, VACUOUS)]
PAPERS = (PAPER, EMPTY_PAPER)
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags close in order."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return report.build(results(CHECKS, drawn()), tmp_path / "report", PAPERS)


def test_the_page_says_what_was_found(built: Path) -> None:
    page = Page(built.read_text(encoding="utf-8"))
    for words in (
        "5 claims checked",
        "quick scale, seed 0",
        "✓ HOLDS",
        "! FALSE AS PRINTED",
        "? HYPOTHESES NOT MET",
        "○ HOLDS VACUOUSLY",
        "The printed count lacks a ceiling.",
        "12,345",
        "64, 2 diverged",
        "Hypotheses: 1 of 2 met",
        "✗ margin of [w*, x]: Row 7 is too close.",
        "The 2 parts of the conclusion",
        "at most M_k updates",
        "321 ≤ 12,345",
        "✗ broken in 3 of 3",
        "✓ kept",
        "1 of 2 figure comparisons agree",
        "good for all widths [a, b]",
        "✗ DIFFERS",
        "[a] pilot",
        "No claim of this paper is a program yet.",
    ):
        assert words in page.text, words


def test_an_undecided_hypothesis_stands_open_and_says_so(tmp_path: Path) -> None:
    open_ = undecided("separable", "margin of the data", "≥ 1", why="no search found an answer")
    outcome = with_evidence(checked(HOLDING), hypotheses=(open_,))
    page = Page(report.build(results([outcome]), tmp_path / "report", PAPERS).read_text(encoding="utf-8"))
    for words in (
        "? INSUFFICIENT EVIDENCE",
        "Hypotheses: 0 of 1 met, 1 undecided",
        "margin of the data ≥ 1 not known – ? undecided",
        "? margin of the data: no search found an answer",
    ):
        assert words in page.text, words
    assert ("details", {"open": None}) in page.tags


def test_parts_stand_open_where_the_conclusion_fails(built: Path) -> None:
    text = built.read_text(encoding="utf-8")
    for each, is_open in ((HOLDING, False), (FINDING, True)):
        article = text.partition(f'<article id="{each.id}"')[2].partition("</article>")[0]
        assert ('<details open>\n<summary class="small">The 2 parts' in article) == is_open
    single = text.partition(f'<article id="{STEP.id}"')[2].partition("</article>")[0]
    assert "parts of the conclusion" not in single


def test_the_table_of_papers_can_be_read_on_a_narrow_window(built: Path) -> None:
    """Its headings wrap, and where even that is not enough rows are stacked and every number says what it counts."""
    text = built.read_text(encoding="utf-8")
    table = re.search(r"<nav.*?</nav>", text, re.DOTALL)
    assert table
    headings = re.findall(r"<th[^>]*>([^<]*)</th>", table[0])
    assert headings[0] == "paper"
    rows = re.findall(r"<tr><td>.*?</tr>", table[0], re.DOTALL)
    assert len(rows) == len(PAPERS)
    for row in rows:
        assert re.findall(r'<td class="number" data-name="([^"]*)">', row) == headings[1:]
    wrapping = re.search(r"nav th, nav th.number \{([^}]*)\}", text)
    assert wrapping
    assert "white-space: normal" in wrapping[1]
    narrow = text.partition("@media (max-width: 27rem) {")[2].partition("\n}")[0]
    assert "nav tr { display: flex; flex-wrap: wrap;" in narrow
    assert "content: attr(data-name)" in narrow


def test_main_results_come_first_and_other_kinds_are_folded(built: Path) -> None:
    text = built.read_text(encoding="utf-8")
    places = [text.index(f'<article id="{each.id}"') for each in (HOLDING, FINDING, VACUOUS, UNMET, STEP)]
    assert places == sorted(places)
    folded = text[text.index("1 Proof step") - 60 : text.index("1 Proof step")]
    assert '<details class="kind">' in folded


def test_no_request_leaves_the_page(built: Path) -> None:
    page = Page(built.read_text(encoding="utf-8"))
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:"
    assert ("meta", {"http-equiv": "Content-Security-Policy", "content": policy}) in page.tags
    for tag, attributes in page.tags:
        assert tag not in {"script", "link", "iframe", "object", "embed", "form", "base"}
        assert not {"srcset", "action", "background", "style"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        if "src" in attributes:
            assert (attributes["src"] or "").startswith("data:image/svg+xml;base64,")
        target = attributes.get("href") or ""
        if ":" in target:
            assert tag == "a"
            assert re.fullmatch(r"https://arxiv\.org/abs/[\w.]+", target)
            assert attributes["rel"] == "noreferrer"
        elif target and not target.startswith("#"):
            assert (built.parent / target).is_file(), target
    style = re.search(r"<style>(.*?)</style>", built.read_text(encoding="utf-8"), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_links_within_the_page_lead_somewhere(built: Path) -> None:
    tags = Page(built.read_text(encoding="utf-8")).tags
    names = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(names) == len(set(names))
    targets = [attributes["href"] or "" for _, attributes in tags if "href" in attributes]
    assert {target[1:] for target in targets if target.startswith("#")} <= set(names)


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    evil = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>{{ 7 * 7 }}"
    hostile = with_evidence(checked(claim(f"toy2020.{evil}", statement=evil)), note=evil, details={evil: evil})
    paper = Paper("toy2020", evil, evil, evil, evil, evil)
    page = Page(report.build(results([hostile]), tmp_path / "r", [paper]).read_text(encoding="utf-8"))
    assert not [tag for tag, _ in page.tags if tag in {"script", "img"}]
    assert evil in page.text
    assert " 49" not in page.text


def test_the_same_results_lie_beside_the_page(built: Path) -> None:
    results = json.loads((built.parent / "results.json").read_text(encoding="utf-8"))
    assert [row["id"] for row in results["checks"]] == [outcome.claim.id for outcome in CHECKS]
    assert results["schema"] == 3
    assert results["figures"][0]["comparisons"][0]["verdict"] == "AGREES"
    assert {path.suffix for path in (built.parent / "figures").iterdir()} == {".svg", ".pdf", ".png", ".json", ".csv"}


def test_nothing_to_report_is_reported(tmp_path: Path) -> None:
    page = Page(report.build(results([]), tmp_path / "r", PAPERS).read_text(encoding="utf-8"))
    assert "0 claims checked" in page.text
    assert "nothing was run" in page.text


def test_an_alarm_is_not_folded_away(tmp_path: Path) -> None:
    step = claim("toy2020.lemma_a_2", Verdict.VIOLATED, kind=STEP.kind)
    failing = dataclasses.replace(FAILING, id="toy2020.theorem_8")
    text = report.build(results([checked(step), checked(failing)]), tmp_path / "r", PAPERS).read_text(encoding="utf-8")
    assert '<details class="kind" open>' in text
    assert "✗ VIOLATED" in text


def test_a_report_replaces_an_earlier_one_whole(built: Path) -> None:
    again = report.build(results(CHECKS[:1]), built.parent, PAPERS)
    assert again == built
    assert list((built.parent / "figures").iterdir()) == []
    assert [path.name for path in built.parent.parent.iterdir()] == ["report"]


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
