"""Sarussi et al.: Towards Understanding Learning in Neural Networks with Linear Teachers."""

from widenet.papers.base import Paper

PAPER = Paper(
    key="sarussi2021",
    title="Towards Understanding Learning in Neural Networks with Linear Teachers",
    authors="Roei Sarussi, Alon Brutzkus, Amir Globerson",
    venue="ICML 2021",
    arxiv="2101.02533",
    in_one_line="Leaky ReLU networks that learn a linear teacher end with a nearly linear decision boundary.",
)
