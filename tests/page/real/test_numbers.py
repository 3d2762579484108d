"""Every number on every page of the real report is that of results.json, to the last digit shown."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.report.shown import Page, agrees, counts_in, numbers_in, numbers_of_controls
from widenet.console import wording
from widenet.figures.archive import archived
from widenet.papers import PAPERS, find_claim
from widenet.papers.findings import finding_of
from widenet.papers.glossary import setting_of, symbols_of
from widenet.papers.index import claim_rows, figure_rows
from widenet.report.statements import explained
from widenet.report.stories import DISCS, PRINTED, WIDTHS
from widenet.report.typesetting import set_in_type

Row = Mapping[str, Any]
DIGITS = re.compile(r"\d[\d,.]*\d|\d")
COLUMNS = ((0, 0.01), (0.01, 0.1), (0.1, 0.5), (0.5, 0.9), (0.9, 1), (1, 1), (0, 2), (2, 10), (10, math.inf))
"""Shares of a promise in the columns of the first picture: kept, then broken. The last column has none."""


@pytest.fixture(scope="module")
def rows(results: dict[str, Any]) -> dict[str, Row]:
    return {row["id"]: row for row in (*results["checks"], *results["figures"])}


def address(id: str) -> str:
    return id.replace(".", "/") + ".html"


def of_figure(row: Row) -> set[float]:
    """What may stand on the page of a figure: its own numbers, and those of its run at paper scale."""
    known = {*numbers_in(row), *counts_in(row)}
    found = archived(row["id"])
    if found is not None:
        kept: dict[str, Any] = found.model_dump(mode="json", include={"seconds", "seed"})
        kept["comparisons"] = [each.model_dump(mode="json") | {"verdict": each.verdict} for each in found.comparisons]
        known |= {*numbers_in(kept), *counts_in(kept)}
    return known


def stated_at_paper_scale(row: Row) -> list[bool]:
    """Of the paper's rows of a figure, whether each agrees at the paper's own scale."""
    found = archived(row["id"])
    return [each.agrees for each in found.comparisons if not each.added] if found else []


def counts_in_both(row: Row) -> set[float]:
    """What can be counted of a figure, at both scales."""
    agree = stated_at_paper_scale(row)
    return counts_in(row) | {float(len(agree)), float(sum(agree))}


def check(numbers: Iterable[tuple[str, str]], known: set[float], where: str) -> int:
    """That each is known and rounded as it is written; how many there were."""
    n_read = 0
    for value, shown in numbers:
        assert float(value) in known, (where, value, shown)
        assert agrees(value, shown), (where, value, shown)
        n_read += 1
    return n_read


def pieces(text: str, pattern: str) -> Iterator[tuple[str, Page]]:
    """The blocks of a page that link to a claim or a figure, by its id."""
    for found in re.finditer(pattern, text, re.DOTALL):
        link = re.search(r'href="(?:\.\./)?([a-z]+\d{4}/)?(\w+)\.html"', found[0])
        if link and "<data" in found[0]:
            yield link[2], Page(found[0])


def linked(text: str, pattern: str, rows: Mapping[str, Row], paper: str = "") -> Iterator[tuple[Row, Page]]:
    for name, page in pieces(text, pattern):
        ids = [id for id in rows if id.endswith(f".{name}") and id.startswith(paper)]
        found = [each for each in ids if address(each) in "".join(page.attributes("href")) or paper]
        assert len(found) == 1, (name, found)
        yield rows[found[0]], page


def is_good(row: Row) -> bool:
    return row["verdict"] == "HOLDS" and not row["vacuous"] and row["expected_verdict"] != "VIOLATED"


def counted(checks: Iterable[Row], figures: Iterable[Row]) -> list[int]:
    """How many statements there are, hold, are false, leave a constant open; figures, and their numbers that agree."""
    checks, figures = list(checks), list(figures)
    verdicts = Counter(row["verdict"] for row in checks)
    stated = [each for row in figures for each in row["comparisons"] if not each["added"]]
    agreeing = sum(each["verdict"] == "AGREES" for each in stated)
    held = sum(map(is_good, checks))
    kinds = [len(checks), held, verdicts["VIOLATED"], verdicts["CONSTANT_UNSPECIFIED"]]
    return [*(each for each in kinds if each), len(figures), agreeing, len(stated)]


def test_three_hundred_claims_draw_both_sides_of_their_runs(results: dict[str, Any], pages: dict[str, Page]) -> None:
    drawn = 0
    for row in results["checks"]:
        paths = [attributes for tag, attributes in pages[address(row["id"])].tags if tag == "path"]
        drawn += any((each.get("class") or "").startswith("dots") and "M" in (each["d"] or "") for each in paths)
    print(f"{drawn} of {len(results['checks'])} claim pages draw both sides of their runs")
    assert drawn >= 300


def test_numbers_of_claims(results: dict[str, Any], pages: dict[str, Page]) -> None:
    n_read = 0
    for row in results["checks"]:
        page = pages[address(row["id"])]
        known = {*numbers_in(row), *counts_in(row), *numbers_of_controls(row["id"])}
        n_read += check(page.numbers, known, row["id"])
        drawn = [float(value) for value, _ in page.numbers]
        for part in row["parts"]:
            for value in (part["measured"], part["promised"]):
                assert value is None or float(value) in drawn, (row["id"], part["key"], value)
    print(f"{n_read} numbers on the pages of claims")
    assert n_read > 10_000


def test_numbers_of_figures(results: dict[str, Any], pages: dict[str, Page]) -> None:
    n_read = 0
    for row in results["figures"]:
        page = pages[address(row["id"])]
        n_read += check(page.numbers, of_figure(row), row["id"])
        shown = {float(value) for value, _ in page.numbers}
        kept = archived(row["id"])
        measured = [float(each["measured"]) for each in row["comparisons"]]
        measured += [each.measured for each in kept.comparisons] if kept else []
        assert {each for each in measured if not math.isnan(each)} <= shown, row["id"]
    print(f"{n_read} numbers on the pages of figures")
    assert n_read > 1_000


def test_numbers_of_papers(real: Path, results: dict[str, Any], rows: dict[str, Row]) -> None:
    for paper in PAPERS:
        text = (real / paper.key / "index.html").read_text(encoding="utf-8")
        lists = r"<li>.*?</li>"
        n_read = 0
        for row, page in linked(text, lists, rows, f"{paper.key}."):
            known = counts_in_both(row) if "comparisons" in row else {float(row["tightness"])}
            n_read += check(page.numbers, known, row["id"])
        assert n_read > 20
        mine = [[row for row in results[kind] if row["paper"] == paper.key] for kind in ("checks", "figures")]
        assert [int(value) for value, _ in Page(re.sub(lists, "", text, flags=re.DOTALL)).numbers] == counted(*mine)


@pytest.mark.parametrize(
    ("page", "pattern"), [("findings", r'<div class="found">'), ("open", r'<section class="found">')]
)
def test_numbers_of_findings_and_open_constants(real: Path, rows: dict[str, Row], page: str, pattern: str) -> None:
    text = (real / f"{page}.html").read_text(encoding="utf-8")
    head, *blocks = re.split(f"(?={pattern})", re.sub(r"<footer>.*", "", text, flags=re.DOTALL))
    kind = "figure"
    n_read, seen, counts = 0, Counter(), Page("".join(re.findall(r"<data[^>]*>[^<]*</data>", head))).numbers
    for block in blocks:
        body, mark, after = block.partition('<section class="kinds"')
        numbers = re.findall(r'<data value="([^"]*)">([^<]*)</data>', body)
        heading = re.search(r"<h[23]>.*?</h[23]>", body, re.DOTALL)
        link = re.search(r'href="([^"]*)\.html"', heading[0]) if heading else None
        if link is None:  # a misprint has no claim of its own
            seen["slip"] += 1
            assert numbers == [], body
        else:
            id = link[1].replace("/", ".")
            seen[kind if "comparisons" in rows[id] else rows[id]["verdict"]] += 1
            n_read += check(numbers, of_figure(rows[id]) if "comparisons" in rows[id] else {*numbers_in(rows[id])}, id)
        if 'id="at-paper-scale"' in after:
            kind = "figure at paper scale"
        counts += re.findall(r'<data value="([^"]*)">([^<]*)</data>', mark + after)
    assert n_read > 10
    totals = [*seen.values(), sum(seen[each] for each in ("VIOLATED",))]
    if page == "open":
        assert [int(value) for value, _ in counts] == totals[:1]
        return
    gravities = Counter(found.gravity for id in rows if (found := finding_of(id)) is not None)
    assert {int(value) for value, _ in counts} == {*totals, *gravities.values()}
    at_scale = [agrees for row in rows.values() if "comparisons" in row for agrees in stated_at_paper_scale(row)]
    assert seen["figure at paper scale"] == at_scale.count(False)
    assert seen["VIOLATED"] == sum(row.get("verdict") == "VIOLATED" for row in rows.values())


def test_numbers_of_the_first_page(real: Path, results: dict[str, Any], rows: dict[str, Row]) -> None:
    text = re.sub(
        r'<section class="changed".*?</section>', "", (real / "index.html").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    checks, figures = results["checks"], results["figures"]
    headline = re.search(r"<h1>.*?</h1>", text, re.DOTALL)
    assert headline is not None
    assert [int(value) for value, _ in Page(headline[0]).numbers] == counted(checks, figures)[:4]
    n_stated = counted(checks, figures)[-2:]
    known = {*counted(checks, figures), n_stated[1] - n_stated[0], *runs_counted_once(checks)}
    repairs = Counter(
        rows[found.repair]["verdict"] for row in checks if (found := finding_of(row["id"])) and found.repair in rows
    )
    known |= set(repairs.values())
    at_scale = [agrees for row in figures for agrees in stated_at_paper_scale(row)]
    known |= {len(at_scale), sum(at_scale)}
    for paper in PAPERS:
        known |= {*counted(*([row for row in kind if row["paper"] == paper.key] for kind in (checks, figures)))}
    grid = re.search(r'<table class="grid">.*?</table>', text, re.DOTALL)
    assert grid is not None
    totals = columns_of(grid[0], rows)
    assert sum(totals) == len(checks)
    known |= {*totals, sum(totals[:6]) - counted(checks, figures)[3], totals[4] + totals[5]}
    stories = {*numbers_in(json.loads((real / "figures" / f"{WIDTHS}.json").read_text(encoding="utf-8")))}
    stories |= {
        1.0,
        *numbers_in(rows[DISCS]["config"][0]),
        *numbers_in(rows[PRINTED]),
        *numbers_in(rows["brutzkus2018.corollary_3"]),
        *in_stories(real),
    }
    assert check(Page(text).numbers, set(map(float, known)) | stories, "index.html") > 40


def runs_counted_once(checks: Iterable[Row]) -> tuple[int, int, int]:
    """Runs that share no cell with a claim of more runs, their experiments, and the cases of claims without cells."""
    taken, runs, cases = set[str](), 0, 0
    for row in sorted(checks, key=lambda row: -row["runs"]["tried"]):
        if not row["cells"]:
            cases += row["runs"]["tried"]
        elif not taken & {*row["cells"]}:
            taken |= {*row["cells"]}
            runs += row["runs"]["tried"]
    return runs, len({setting["experiment"] for row in checks for setting in row["config"]}), cases


def columns_of(grid: str, rows: Mapping[str, Row]) -> list[int]:
    """The totals of the first picture, each dot of which stands in its column."""
    totals = [0] * 10
    for line in re.findall(r"<tr>.*?</tr>", grid, re.DOTALL):
        for place, cell in enumerate(re.findall(r'<td class="cell.*?</td>', line, re.DOTALL)):
            for link in re.findall(r'href="([^"]*)\.html"', cell):
                row = rows[link.replace("/", ".")]
                totals[place] += 1
                assert (row["verdict"] == "VIOLATED") == (5 < place < 9) or (place == 9 and row["tightness"] is None), (
                    link
                )
                if place < 9:
                    low, high = COLUMNS[place]
                    share = float(str(row["tightness"]))
                    assert low - 1e-9 <= share <= high + 1e-9, (link, share)
    shown = re.findall(r"<data value=\"(\d+)\"", grid[grid.index("<tfoot>") :])
    assert list(map(int, shown)) == totals
    return totals


def in_stories(real: Path) -> set[float]:
    """What the three stories count, from the numbers beside their figures."""
    found = json.loads((real / "figures" / f"{WIDTHS}.json").read_text(encoding="utf-8"))
    quantities, coordinates = found["quantities"], found["coordinates"]
    axes = quantities["updates"]["axes"]
    updates = np.moveaxis(
        np.asarray(quantities["updates"]["values"], float),
        [axes.index(each) for each in ("normalization", "half_width", "run")],
        [0, 1, 2],
    )[coordinates["normalization"].index("1/√(2k)")]
    bounds = quantities["update_bound"]
    bound = np.asarray(bounds["values"], float)
    if "normalization" in bounds["axes"]:
        bound = np.take(bound, coordinates["normalization"].index("1/√(2k)"), bounds["axes"].index("normalization"))
    widths = coordinates["half_width"]
    most = float(np.nanmax(updates))
    growth = float(np.nanmean(updates[-1]) / np.nanmean(updates[0]))
    known = {most, float(np.nanmin(updates)), most / float(bound.flat[0]), growth, float(widths[-1] // widths[0])}
    discs = json.loads((real / "figures" / f"{DISCS}.json").read_text(encoding="utf-8"))
    n_wrong, error = (
        np.asarray(discs["quantities"][each]["values"], float) for each in ("n_wrong_sets", "train_error")
    )
    for place, network in enumerate(discs["coordinates"]["network"]):
        axis = discs["quantities"]["n_wrong_sets"]["axes"].index("network")
        finds = (np.take(n_wrong, place, axis) == 0) & (np.take(error, place, axis) == 0)
        filters = discs["quantities"][f"{network}_filters"]
        n_filters = np.moveaxis(np.asarray(filters["values"]), filters["axes"].index(f"{network}_channel"), 0).shape[0]
        known |= {float(finds.size), float(finds.mean()), float(n_filters)}
    return known


def test_numbers_of_the_list_of_figures(real: Path, rows: dict[str, Row]) -> None:
    text = (real / "figures.html").read_text(encoding="utf-8")
    n_read = sum(
        check(page.numbers, counts_in_both(row), row["id"]) for row, page in linked(text, r"<li>.*?</li>", rows)
    )
    assert n_read >= 60
    assert Page(re.sub(r"<li>.*?</li>", "", text, flags=re.DOTALL)).numbers == []


def words_of(value: Any) -> Iterator[str]:
    """All text in a value of JSON, and the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from words_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from words_of(each)


def test_no_number_of_a_claim_stands_beside_the_elements_that_are_compared(
    results: dict[str, Any], pages: dict[str, Page]
) -> None:
    """What else has digits is a word of the paper, of the claim or of the program, such as "Theorem 2" or "95 %"."""
    index = {row["id"]: row for row in claim_rows(PAPERS)}
    named = (*index.values(), *figure_rows(PAPERS))
    shared = [each for row in named for each in words_of([row["title"], row["id"], row.get("where", "")])]
    shared += [each for paper in PAPERS for each in words_of([paper.title, paper.venue, paper.authors])]
    found: dict[str, Any] = {}
    for row in results["checks"]:
        claim, clauses, finding = find_claim(row["id"]), index[row["id"]]["clauses"], finding_of(row["id"])
        own = {name: value for name, value in row.items() if name not in ("cells", "versions")}
        texts = [*shared, *words_of(own), *words_of(index[row["id"]]), *map(wording.clause, clauses), "95 % 0"]
        texts += setting_of(row["paper"])
        texts += words_of(finding.model_dump(mode="json")) if finding else ()
        texts_with_symbols = (claim.title, claim.statement, *(each["text"] for each in clauses))
        symbols = symbols_of(row["paper"], *texts_with_symbols, claim=claim.name)
        texts += [text for each in symbols for text in (each.word, each.meaning)]
        known = set(DIGITS.findall(" ".join(texts).replace("{", "").replace("}", "")))
        said = pages[address(row["id"])].said
        loose = [(each, text) for text in said for each in DIGITS.findall(text) if each not in known]
        found |= {row["id"]: loose} if loose else {}
    assert found == {}


def test_the_closest_case_is_told_in_symbols_of_its_page(real: Path, results: dict[str, Any]) -> None:
    n_told = 0
    for row in results["checks"]:
        text = (real / address(row["id"])).read_text(encoding="utf-8")
        told = re.search(r"The closest case of “.*?” has (.*?)</p>", text, re.DOTALL)
        if told is None:
            continue
        entries = text[text.index('<dl class="symbols">') : text.index("</dl>", text.index('<dl class="symbols">'))]
        symbols = re.findall(r'<span class="held"><math>(.*?)</math> = ', told[1])
        assert len({*symbols}) == len(symbols) > 0, row["id"]
        for each in symbols:
            assert f"<math>{each}</math>" in entries, (row["id"], each)
        n_told += 1
    assert n_told > 60


def test_symbols_are_told_with_their_word(real: Path, results: dict[str, Any]) -> None:
    index = {row["id"]: row for row in claim_rows(PAPERS)}
    for row in results["checks"]:
        claim = find_claim(row["id"])
        texts = (claim.title, claim.statement, *(each["text"] for each in index[row["id"]]["clauses"]))
        shown = (real / address(row["id"])).read_text(encoding="utf-8")
        for each in symbols_of(row["paper"], *texts, claim=claim.name):
            assert f"<dd>{explained(each.forms, each.word, each.meaning).word}: " in shown, (row["id"], each.word)


def test_every_result_at_paper_scale_has_a_picture(real: Path, results: dict[str, Any]) -> None:
    shipped = [row["id"] for row in results["figures"] if archived(row["id"]) is not None]
    assert len(shipped) == 15
    for id in shipped:
        text = (real / address(id)).read_text(encoding="utf-8")
        _, _, section = text.partition("At the paper’s own scale")
        assert '<div class="panel' in section.partition("</section>")[0], id


def test_what_was_drawn_first_is_compared_first(real: Path, results: dict[str, Any]) -> None:
    """Quick pictures, quick tables, then those at paper scale; the legend of the tables stands above all of them."""
    for row in results["figures"]:
        text = (real / address(row["id"])).read_text(encoding="utf-8")
        quick, _, at_scale = text.partition("At the paper’s own scale</h2>")
        stated = any(not each["added"] for each in row["comparisons"])
        assert ("at quick scale</h2>" in quick) or not row["comparisons"], row["id"]
        assert "at quick scale</h2>" not in at_scale, row["id"]
        if stated:
            assert text.index("Grey counts as agreement") < text.index('<table class="parts compare">'), row["id"]


def test_the_stories_of_the_first_page_say_their_conditions(real: Path, rows: dict[str, Row]) -> None:
    page = Page((real / "index.html").read_text(encoding="utf-8"))
    links = page.attributes("href")
    assert {address(WIDTHS), address("brutzkus2018.corollary_3_width_free"), address(DISCS)} <= {*links}
    margin, step = rows[DISCS]["config"][0]["margin"], rows[PRINTED]["config"][0]["step_constant"]
    for words in (
        "if start and output weights shrink like 1/√(2k)",
        f"Here γ, the margin asked of positive points, is {margin:g} ; with γ = 1",
        f"Every run with a small step (c η = {step:g} ) breaks it",
        "printed: at most 16.33",
        "even with the larger number of its proof, 22.31 ;",
    ):
        assert words in page.text, words


def test_a_verdict_names_the_part_that_it_counts(real: Path, results: dict[str, Any]) -> None:
    for row in results["checks"]:
        text = (real / address(row["id"])).read_text(encoding="utf-8")
        line = re.search(r'<p class="verdict">(.*?)</p>', text, re.DOTALL)
        assert line is not None
        assert (" in “" in line[1]) == (len(row["parts"]) > 1), row["id"]


def test_open_constants_say_what_was_measured(pages: dict[str, Page], results: dict[str, Any]) -> None:
    left_open = [row for row in results["checks"] if row["verdict"] == "CONSTANT_UNSPECIFIED"]
    parts = [each for row in left_open for each in row["parts"] if each["measured"] is not None and each["quantity"]]
    assert parts
    for each in parts:
        assert Page(str(set_in_type(each["quantity"]))).text in pages["open.html"].text, each["quantity"]
