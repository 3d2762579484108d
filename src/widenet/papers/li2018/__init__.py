"""Li et al.: Learning Overparameterized Neural Networks via Stochastic Gradient Descent on Structured Data."""

from widenet.papers.base import Paper

PAPER = Paper(
    key="li2018",
    title="Learning Overparameterized Neural Networks via Stochastic Gradient Descent on Structured Data",
    authors="Yuanzhi Li, Yingyu Liang",
    venue="NeurIPS 2018",
    arxiv="1808.01204",
    in_one_line="SGD learns wide ReLU networks when each class is a mixture of well-separated components.",
)
