"""What there is to list: papers, claims, figures and data sets, as rows of plain values. Loads no JAX."""

from collections.abc import Callable
from typing import Any

from widenet import papers
from widenet.claims.base import Kind
from widenet.data.catalogue import DATASETS
from widenet.errors import InputError, UnknownName
from widenet.papers import index, outside
from widenet.papers.base import Paper

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


def about(id: str) -> Row:
    """What is known about a claim, a figure or a paper without running anything; or about a claim in a file of yours.

    Raises:
      InputError: there is none with this id.
    """
    if outside.is_outside(id):
        found = outside.claims_in(id)
        if len(found) > 1:
            raise InputError(f"{id} has several claims; name one of them: {', '.join(each.name for each in found)}.")
        return index.claim_row(found[0]) | {"id": id, "symbols": []}
    kinds = {**dict.fromkeys(papers.claim_ids(), "claims"), **dict.fromkeys(papers.figure_ids(), "figures")}
    kinds |= {paper.key: "papers" for paper in papers.PAPERS}
    if id not in kinds:
        raise UnknownName("claim, figure or paper", id, kinds)
    rows = ROWS[kinds[id]]((papers.find_paper(id.partition(".")[0]),))
    row = next(row for row in rows if row.get("id", row.get("key")) == id)
    return row | (index.more_about(row) if kinds[id] == "claims" else {})


def _claims(chosen: tuple[Paper, ...]) -> list[Row]:
    """Main results first."""
    order = [kind.value for kind in Kind]
    return sorted(index.claim_rows(chosen), key=lambda row: order.index(row["kind"]))


def _figures(chosen: tuple[Paper, ...]) -> list[Row]:
    return index.figure_rows(chosen)


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
