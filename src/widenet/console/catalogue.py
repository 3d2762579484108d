"""What there is to list: papers, claims, figures and data sets, as rows of plain values. Loads no JAX."""

from collections.abc import Callable
from typing import Any

from widenet import papers
from widenet.claims.base import Kind
from widenet.data.catalogue import DATASETS
from widenet.errors import InputError
from widenet.papers.base import Paper
from widenet.papers.listing import listed_claims, listed_figures

Row = dict[str, Any]


def listing(noun: str, paper: str | None) -> list[Row]:
    """The rows of one noun, of one paper or of all.

    Raises:
      InputError: data sets of a paper are asked for, and they belong to none.
    """
    if noun == "data" and paper is not None:
        raise InputError("data sets belong to no paper; leave --paper out.")
    return ROWS[noun](papers.PAPERS if paper is None else (papers.find_paper(paper),))


def _papers(chosen: tuple[Paper, ...]) -> list[Row]:
    return [
        {
            "key": paper.key,
            "title": paper.title,
            "authors": paper.authors,
            "venue": paper.venue,
            "arxiv": paper.arxiv,
            "in_one_line": paper.in_one_line,
            "claims": len(paper.claims),
            "figures": len(paper.figures),
        }
        for paper in chosen
    ]


def _claims(chosen: tuple[Paper, ...]) -> list[Row]:
    """Main results first."""
    order = list(Kind)
    listed = [claim for paper in chosen for claim in listed_claims(paper)]
    return [
        {
            "id": claim.id,
            "paper": claim.paper,
            "kind": claim.kind.value,
            "statement": claim.statement,
            "where": claim.where,
            "expected_verdict": claim.expected.value,
        }
        for claim in sorted(listed, key=lambda claim: order.index(claim.kind))
    ]


def _figures(chosen: tuple[Paper, ...]) -> list[Row]:
    listed = [figure for paper in chosen for figure in listed_figures(paper)]
    return [
        {"id": figure.id, "paper": figure.paper, "title": figure.title, "caption": figure.caption} for figure in listed
    ]


def _data(_: tuple[Paper, ...]) -> list[Row]:
    return [
        {"name": name, "made_by": f"widenet.data.{entry.maker.split('.')[1]}", "description": entry.description}
        for name, entry in DATASETS.items()
    ]


ROWS: dict[str, Callable[[tuple[Paper, ...]], list[Row]]] = {
    "papers": _papers,
    "claims": _claims,
    "figures": _figures,
    "data": _data,
}
