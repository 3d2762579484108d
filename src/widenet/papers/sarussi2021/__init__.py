"""Sarussi et al.: Towards Understanding Learning in Neural Networks with Linear Teachers."""

from widenet.papers.base import Paper

PAPER = Paper(
    key="sarussi2021",
    title="Towards Understanding Learning in Neural Networks with Linear Teachers",
    authors="Roei Sarussi, Alon Brutzkus, Amir Globerson",
    venue="ICML 2021",
    arxiv="2101.02533",
    in_one_line="Leaky ReLU networks that learn a linear teacher end with a nearly linear decision boundary.",
    claims=(
        "convergence.theorem_4_1",
        "convergence.theorem_4_1_order",
        "steps.equation_10",
        "steps.equation_13",
        "steps.equation_14",
        "steps.equation_15",
        "steps.equation_18",
        "convergence.equation_19",
        "convergence.equation_24",
        "past_the_epoch.equation_24_as_printed",
        "convergence.equation_25",
        "past_the_epoch.equation_25_as_printed",
        "steps.section_13_differences",
        "steps.rows_grow",
    ),
)
