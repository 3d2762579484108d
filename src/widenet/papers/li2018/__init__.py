"""Li et al.: Learning Overparameterized Neural Networks via Stochastic Gradient Descent on Structured Data."""

from widenet.papers.base import Paper

PAPER = Paper(
    key="li2018",
    title="Learning Overparameterized Neural Networks via Stochastic Gradient Descent on Structured Data",
    authors="Yuanzhi Li, Yingyu Liang",
    venue="NeurIPS 2018",
    arxiv="1808.01204",
    in_one_line="SGD learns wide ReLU networks when each class is a mixture of well-separated components.",
    claims=(
        "structure.assumption_a1",
        "structure.assumption_a1_balls",
        "network.equation_1",
        "network.section_5_residuals",
        "network.pseudo_gradient",
        "network.pseudo_gradient_as_printed",
        "rows.lemma_a_1_gradient",
        "rows.lemma_a_1_gradient_as_printed",
        "structure.cross_class_sine",
        "structure.cross_class_sine_as_printed",
        "structure.remark_without_relu",
        "network.lemma_a_3_sum",
        "rows.lemma_a_3_net",
        "convexity.lemma_a_5",
        "predictions.theorem_4_1_margin",
        "predictions.theorem_4_1_margin_as_printed",
        "predictions.theorem_4_1_markov",
        "predictions.theorem_4_1_reduction",
        "predictions.theorem_4_1_start",
        "budget.theorem_4_1_budget",
        "budget.section_5_sketch",
        "convexity.lemma_b_5",
        "convexity.lemma_b_6",
        "convexity.lemma_b_6_as_printed",
    ),
)
