"""Brutzkus et al.: Why do Larger Models Generalize Better? A Theoretical Perspective via the XOR Problem."""

from widenet.papers.base import Paper

PAPER = Paper(
    key="brutzkus2019",
    title="Why do Larger Models Generalize Better? A Theoretical Perspective via the XOR Problem",
    authors="Alon Brutzkus, Amir Globerson",
    venue="ICML 2019",
    arxiv="1810.03037",
    in_one_line="On XORD data wide convolutional networks explore, cluster and recover the rule; narrow ones do not.",
)
