"""Small paper packages, for tests of everything around them. No claim here is anybody's theorem."""

from widenet import papers
from widenet.papers.base import Paper


class ToyPaper(Paper):
    """A paper whose package is in this folder."""

    @property
    def package(self) -> str:
        return f"tests.packages.{self.key}"


TOY = ToyPaper(
    key="toy2020",
    title="Toys Learn Over-parameterized Toys",
    authors="A. Author, B. Author",
    venue="TOY 2020",
    arxiv="1710.10174",
    in_one_line="Toys converge at every width.",
    claims=(
        "theorems.lemma_a_1",
        "theorems.theorem_2",
        "theorems.theorem_9_as_printed",
        "theorems.proposition_1_2",
        "theorems.theorem_5",
        "theorems.theorem_6",
    ),
    figures=("figure_1", "figure_2"),
)
EMPTY = ToyPaper(
    key="empty2021",
    title="Nothing Yet",
    authors="C. Author",
    venue="TOY 2021",
    arxiv="1808.01204",
    in_one_line="Nothing is a program yet.",
)
BROKEN = ToyPaper(
    key="broken2022",
    title="A Theorem that Fails",
    authors="D. Author",
    venue="TOY 2022",
    arxiv="1909.01204",
    in_one_line="It does not hold.",
    claims=("theorems.theorem_1", "theorems.theorem_8"),
)


def move_in(*packages: Paper) -> None:
    """From here on these are all papers there are, in this process."""
    papers.PAPERS = packages or (TOY, EMPTY)
