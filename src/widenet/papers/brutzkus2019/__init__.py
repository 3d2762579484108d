"""Brutzkus, Globerson: Why do Larger Models Generalize Better? XOR, XORD and decoy sets. One file per figure."""

from widenet.papers.base import Paper
from widenet.papers.brutzkus2019.figure_1 import figure_1
from widenet.papers.brutzkus2019.figure_1_laws import figure_1_laws
from widenet.papers.brutzkus2019.figure_2 import figure_2
from widenet.papers.brutzkus2019.figure_3 import figure_3
from widenet.papers.brutzkus2019.figure_4 import figure_4
from widenet.papers.brutzkus2019.figure_5 import figure_5
from widenet.papers.brutzkus2019.figure_6 import figure_6
from widenet.papers.brutzkus2019.figure_7 import figure_7
from widenet.papers.brutzkus2019.figure_8 import figure_8

PAPER = Paper(
    key="brutzkus2019",
    title="Why do Larger Models Generalize Better? A Theoretical Perspective via the XOR Problem",
    authors="Alon Brutzkus, Amir Globerson",
    venue="ICML 2019",
    arxiv="1810.03037",
    in_one_line="On XORD data wide convolutional networks explore, cluster and recover the rule; narrow ones do not.",
    figures=(figure_1, figure_1_laws, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8),
)
