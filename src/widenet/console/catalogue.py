"""What there is to list: papers, claims, figures and data sets, as rows of plain values."""

from collections.abc import Callable
from typing import Any

from widenet import data, papers
from widenet.claims.base import Claim
from widenet.papers.base import Figure, Paper
from widenet.run import claims_of, figures_of, find_paper

Row = dict[str, Any]


def listing(noun: str, paper: str | None) -> list[Row]:
    """The rows of one noun, of one paper or of all. Data sets belong to no paper."""
    return ROWS[noun](paper)


def _papers(key: str | None) -> list[Row]:
    chosen = papers.PAPERS if key is None else (find_paper(key),)
    return [_paper_row(paper) for paper in chosen]


def _paper_row(paper: Paper) -> Row:
    return {
        "key": paper.key,
        "title": paper.title,
        "authors": paper.authors,
        "venue": paper.venue,
        "arxiv": paper.arxiv,
        "in_one_line": paper.in_one_line,
        "claims": len(claims_of(paper.key)),
        "figures": len(paper.figures),
    }


def _claim_row(claim: Claim) -> Row:
    return {
        "id": claim.id,
        "paper": claim.paper,
        "kind": claim.kind.value,
        "statement": claim.statement,
        "where": claim.where,
        "expected_verdict": claim.expected.value,
    }


def _figure_row(figure: Figure) -> Row:
    return {"id": figure.id, "paper": figure.paper, "title": figure.title, "caption": figure.caption}


def _data(_: str | None) -> list[Row]:
    return [{"name": name, "description": entry.description} for name, entry in data.DATASETS.items()]


ROWS: dict[str, Callable[[str | None], list[Row]]] = {
    "papers": _papers,
    "claims": lambda paper: [_claim_row(claim) for claim in claims_of(paper)],
    "figures": lambda paper: [_figure_row(figure) for figure in figures_of(paper)],
    "data": _data,
}
