"""Chatterji et al.: When Does Gradient Descent with Logistic Loss Find Interpolating Two-Layer Networks?"""

from widenet.papers.base import Paper

PAPER = Paper(
    key="chatterji2021",
    title="When Does Gradient Descent with Logistic Loss Find Interpolating Two-Layer Networks?",
    authors="Niladri S. Chatterji, Philip M. Long, Peter L. Bartlett",
    venue="JMLR 22, 2021",
    arxiv="2012.02409",
    in_one_line="Conditions under which gradient descent drives the logistic loss of a smoothed-ReLU network to zero.",
)
