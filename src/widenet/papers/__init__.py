"""One folder per paper, one file per figure; numbers only, no disk and no plots."""

from widenet.papers import brutzkus2018, brutzkus2019, chatterji2021, li2018, sarussi2021
from widenet.papers.base import Comparison, Figure, Paper

PAPERS: tuple[Paper, ...] = (
    brutzkus2018.PAPER,
    li2018.PAPER,
    brutzkus2019.PAPER,
    chatterji2021.PAPER,
    sarussi2021.PAPER,
)
FIGURES: tuple[Figure, ...] = tuple(figure for paper in PAPERS for figure in paper.figures)

__all__ = ["FIGURES", "PAPERS", "Comparison", "Figure", "Paper"]
