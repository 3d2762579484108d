"""One package per paper. Finding a claim or a figure imports its module and no other paper."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from widenet.errors import InputError, UnknownName
from widenet.papers import brutzkus2018, brutzkus2019, chatterji2021, li2018, sarussi2021
from widenet.papers.base import Paper

if TYPE_CHECKING:
    from widenet.claims import Claim
    from widenet.figures import Figure

PAPERS: tuple[Paper, ...] = (
    brutzkus2018.PAPER,
    li2018.PAPER,
    brutzkus2019.PAPER,
    chatterji2021.PAPER,
    sarussi2021.PAPER,
)

EXAMPLES = {"claim": "brutzkus2018.theorem_2", "figure": "brutzkus2018.figure_1"}


def find_paper(key: str) -> Paper:
    """The paper with this key, or `UnknownName`."""
    by_key = {paper.key: paper for paper in PAPERS}
    if key not in by_key:
        raise UnknownName("paper", key, by_key)
    return by_key[key]


def claims_by(id: str) -> "list[Claim]":
    """The claim with this id, or those of a file of yours: `file.py`, or `file.py:name` for one of them.

    Raises:
      InputError: there is none, or the file cannot be imported.
    """
    from widenet.papers import outside

    return outside.claims_in(id) if outside.is_outside(id) else [find_claim(id)]


def find_claim(id: str) -> "Claim":
    """The claim with this id, or `UnknownName`; `InputError` where it names a paper or a figure."""
    _require_id("claim", id)
    if id in _figures():
        raise InputError(f"{id!r} is a figure, not a claim; 'widenet figure {id}' draws it.")
    return _paper_of("claim", id, _claims(), f"'widenet check --paper {id}' checks all of its claims").load_claim(id)


def claim_of(given: Any) -> "Claim":
    """The claim with this id, or the claim itself.

    Raises:
      InputError: it is neither.
    """
    if isinstance(given, str):
        return find_claim(given)
    if not hasattr(given, "judge"):
        _require_id("claim", given)
    return given


def find_figure(id: str) -> "Figure":
    """The figure with this id, or `UnknownName`; `InputError` where it names a paper or a claim."""
    _require_id("figure", id)
    if id in _claims():
        raise InputError(f"{id!r} is a claim, not a figure; 'widenet check {id}' checks it.")
    hint = f"'widenet list figures --paper {id}' shows what it has"
    return _paper_of("figure", id, _figures(), hint).load_figure(id)


def claim_ids(paper: str | None = None) -> tuple[str, ...]:
    """The ids of the claims of a paper, or of all, in the order of the papers."""
    return tuple(id for each in _chosen(paper) for id in each.claim_ids)


def figure_ids(paper: str | None = None) -> tuple[str, ...]:
    """The ids of the figures of a paper, or of all, in the order of the papers."""
    return tuple(id for each in _chosen(paper) for id in each.figure_ids)


def claims_of(paper: str | None = None) -> "tuple[Claim, ...]":
    """The claims of a paper, or of all, in the order of the papers; their modules are imported now."""
    return tuple(each.load_claim(id) for each in _chosen(paper) for id in each.claim_ids)


def figures_of(paper: str | None = None) -> "tuple[Figure, ...]":
    """The figures of a paper, or of all, in the order of the papers; their modules are imported now."""
    return tuple(each.load_figure(id) for each in _chosen(paper) for id in each.figure_ids)


def _require_id(kind: str, id: Any) -> None:
    if not isinstance(id, str):
        raise InputError(f"name a {kind} by its id, a text such as {EXAMPLES[kind]!r}, got {id!r}.")


def _chosen(paper: str | None) -> tuple[Paper, ...]:
    return PAPERS if paper is None else (find_paper(paper),)


def _claims() -> dict[str, Paper]:
    return {id: paper for paper in PAPERS for id in paper.claim_ids}


def _figures() -> dict[str, Paper]:
    return {id: paper for paper in PAPERS for id in paper.figure_ids}


def _paper_of(kind: str, id: str, known: Mapping[str, Paper], hint: str) -> Paper:
    if id in {paper.key for paper in PAPERS}:
        raise InputError(f"{id!r} is a paper, not a {kind}; {hint}.")
    if id not in known:
        raise UnknownName(kind, id, known)
    return known[id]
