"""What is known about every claim and figure without importing it: words, and the clauses of claims.

`index.json` beside this module is made by `python -m tools.index`, and a test compares it with the claims. It has one
line per clause, so that a turned sense or a wider tolerance is one line of a diff. Reading it needs neither NumPy nor
JAX. What it does not have yet, such as a claim you are writing, is imported instead.
"""

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widenet.claims.base import Verdict
from widenet.papers.base import Paper
from widenet.papers.findings import finding_of, findings_of
from widenet.papers.glossary import entries_in, symbols_of

if TYPE_CHECKING:
    from widenet.claims import Claim
    from widenet.figures import Figure

FILE = Path(__file__).with_suffix(".json")
Row = dict[str, Any]


def claim_rows(papers: Iterable[Paper]) -> list[Row]:
    """The claims of these papers, in their order."""
    return [_kept("claims").get(id) or claim_row(paper.load_claim(id)) for paper in papers for id in paper.claim_ids]


def row_of(claim: "Claim") -> Row:
    """One claim, as the index has it."""
    return _kept("claims").get(claim.id) or claim_row(claim)


def figure_rows(papers: Iterable[Paper]) -> list[Row]:
    """The figures of these papers, in their order."""
    return [
        _kept("figures").get(id) or figure_row(paper.load_figure(id)) for paper in papers for id in paper.figure_ids
    ]


def claim_row(claim: "Claim") -> Row:
    """A claim as JSON values; mathematics stands between `$…$`."""
    clauses = [each.row() for each in claim.clauses.values()]
    expected = Verdict.CONSTANT_UNSPECIFIED if claim.clauses.leaves_open else claim.expected
    texts = (claim.title, claim.statement, *(each["text"] for each in clauses))
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind.value,
        "form": claim.form.value,
        "title": claim.title,
        "statement": claim.statement,
        "remark": claim.remark,
        "where": claim.where,
        "expected_verdict": expected.value,
        "reads": [each.id for each in claim.reads],
        "symbols": [each.symbol for each in symbols_of(claim.paper, *texts, claim=claim.name)],
        "clauses": clauses,
    }


def related(id: str, papers: Iterable[Paper]) -> Row:
    """The other forms of a statement, the claims and figures of its runs, and figures that show it: their ids."""
    papers = [each for each in papers if each.key == id.split(".")[0]]
    claims, figures = _reads_of_claims(papers), figure_rows(papers)
    reads, found = claims.get(id, set()), finding_of(id)
    return {
        "repaired_by": found.repair if found else None,
        "false_as_printed": [each.claim for paper in papers for each in findings_of(paper.key) if each.repair == id],
        "same_runs": [other for other, own in claims.items() if other != id and reads & own],
        "figures": [row["id"] for row in figures if reads & {*row["reads"]} or id in row["claims"]],
    }


def _reads_of_claims(papers: Iterable[Paper]) -> dict[str, set[str]]:
    """Which experiments each claim reads; nothing is evaluated: a claim that cannot be must not end the others."""
    kept = _kept("claims")
    return {
        id: {*kept[id]["reads"]} if id in kept else {each.id for each in paper.load_claim(id).reads}
        for paper in papers
        for id in paper.claim_ids
    }


def more_about(row: Row) -> Row:
    """What a page about one claim shows beside its row in the index: its symbols, its finding, and what it belongs to.

    Of a claim in a file of your own there is nothing to tell.
    """
    from widenet.papers import PAPERS

    papers = [each for each in PAPERS if each.key == row["paper"] and row["id"] in each.claim_ids]
    entries = entries_in(row["paper"] if papers else "", row["id"].partition(".")[2])
    known = {each.symbol: each.model_dump(exclude={"claims"}) for each in entries[::-1]}
    found = finding_of(row["id"]) if papers else None
    return {
        "symbols": [known[symbol] for symbol in row["symbols"] if symbol in known],
        "finding": None if found is None else found.model_dump(mode="json"),
        **related(row["id"], papers),
    }


def figure_row(figure: "Figure") -> Row:
    """A figure as JSON values."""
    reads = [each.id for each in figure.reads]
    words = {"id": figure.id, "paper": figure.paper, "title": figure.title, "caption": figure.caption}
    claims = [f"{figure.paper}.{name}" for name in figure.claims]
    return {**words, "setting": figure.setting, "claims": claims, "reads": reads}


def text(claims: "Iterable[Claim]", figures: "Iterable[Figure]") -> str:
    """The whole file: one line per clause and per figure."""
    rows = ",\n".join(_lines(claim_row(each)) for each in claims)
    drawn = ",\n".join(_json(figure_row(each)) for each in figures)
    return f'{{"claims": [\n{rows}\n],\n"figures": [\n{drawn}\n]}}\n'


def _lines(row: Row) -> str:
    clauses = ",\n".join(f"  {_json(each)}" for each in row["clauses"])
    head = _json({name: value for name, value in row.items() if name != "clauses"})
    return f'{head[:-1]}, "clauses": [\n{clauses}\n]}}' if clauses else f'{head[:-1]}, "clauses": []}}'


def _json(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False)


@functools.cache
def _kept(what: str) -> dict[str, Row]:
    return {row["id"]: row for row in json.loads(FILE.read_text(encoding="utf-8"))[what]}
