"""Formulas that are typed without marks are typeset, and prose is left alone."""

import html
import re

import pytest

from widenet.papers import PAPERS
from widenet.papers.findings import findings_of
from widenet.report.prose import with_formulas


def formulas_in(text: str) -> list[str]:
    """What is typeset, as plain text."""
    marked = re.sub(r"</math>(?:</span>)?<wbr>(?:<span[^>]*>)?<math>", "", str(with_formulas(text)))
    return [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in re.findall(r"<math>(.*?)</math>", marked)]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("for x = 1, α = 9/10: (1, 1) has kC > 2, so", ["x=1", "α=9/10", "kC>2"]),
        ("wide enough if k ≥ log2(d/δ).", ["k≥log2(d/δ)"]),
        ("the inner product ⟨w, x⟩ ≥ 0 of a point", ["⟨w,x⟩≥0"]),
        ("a margin less than 1 (N ≤ 3/4), so two", ["(N≤3/4)"]),
        ("non-zero updates, the 3rd of a paper's 5 rows", []),
        ("moving along W (k rows w*, k rows −w*)", []),
        ("see `theorem_8` = 3 of them", []),
    ],
)
def test_formulas_are_found(text: str, formulas: list[str]) -> None:
    found = formulas_in(text)
    assert [each for each in found if each in formulas] == formulas
    assert not any(re.search("rows|updates|paper|theorem", each) for each in found)


def test_no_word_of_the_findings_is_lost() -> None:
    n_formulas = 0
    for finding in (each for paper in PAPERS for each in findings_of(paper.key)):
        for text in (finding.fails, finding.holds):
            seen = re.sub(r"<[^>]+>", "", str(with_formulas(text)))
            words = re.findall(r"[A-Za-z]{4,}", text.replace("`", ""))
            assert [each for each in words if each not in seen] == [], finding.claim
            n_formulas += len(formulas_in(text))
    assert n_formulas > 300
