"""One room per paper. Finding a claim or a figure imports its module and no other room."""

from typing import TYPE_CHECKING

from widenet.errors import UnknownName
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


def find_paper(key: str) -> Paper:
    """The paper with this key, or `UnknownName`."""
    by_key = {paper.key: paper for paper in PAPERS}
    if key not in by_key:
        raise UnknownName("paper", key, by_key)
    return by_key[key]


def find_claim(id: str) -> "Claim":
    """The claim with this id, or `UnknownName`."""
    known = {each: paper for paper in PAPERS for each in paper.claim_ids}
    if id not in known:
        raise UnknownName("claim", id, known)
    return known[id].load_claim(id)


def find_figure(id: str) -> "Figure":
    """The figure with this id, or `UnknownName`."""
    known = {each: paper for paper in PAPERS for each in paper.figure_ids}
    if id not in known:
        raise UnknownName("figure", id, known)
    return known[id].load_figure(id)


def claim_ids(paper: str | None = None) -> tuple[str, ...]:
    """The ids of the claims of a paper, or of all, in the order of the papers."""
    return tuple(id for each in _chosen(paper) for id in each.claim_ids)


def figure_ids(paper: str | None = None) -> tuple[str, ...]:
    """The ids of the figures of a paper, or of all, in the order of the papers."""
    return tuple(id for each in _chosen(paper) for id in each.figure_ids)


def _chosen(paper: str | None) -> tuple[Paper, ...]:
    return PAPERS if paper is None else (find_paper(paper),)
