"""The pages of the five papers' claims: both sides of their runs are drawn, and numbers are those of the results."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from widenet import papers, report
from widenet.claims import Claim
from widenet.claims.rates import Rate
from widenet.claims.sides import Sides
from widenet.records import Scale
from widenet.report.typesetting import set_in_type
from widenet.run import CheckOutcome, Results
from widenet.run.outcomes import cells_of, judge

from .shown import Page, agrees, counts_in, numbers_in, numbers_of_controls, pages_of

CLAIMS = [each for paper in papers.PAPERS for each in papers.claims_of(paper.key)]
DRAWN = [each for each in CLAIMS if each.draws is not None]
"""Those that train nothing: they are judged in seconds."""


def compares_cases(claim: Claim) -> bool:
    """Whether a promise of it has two sides in every case; nothing is run."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # blank tables have no mean
        parts = claim.promise(*(kind.join([]) for kind in claim.kinds)).parts.values()
    return any(isinstance(each, Sides) or (isinstance(each, Rate) and each.sides is not None) for each in parts)


@pytest.fixture(scope="module")
def outcomes() -> list[CheckOutcome]:
    return [judge(each, Scale.QUICK, 0, cells_of(None)) for each in DRAWN]


@pytest.fixture(scope="module")
def built(outcomes: list[CheckOutcome], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report.build(Results(outcomes), tmp_path_factory.mktemp("real") / "report", papers.PAPERS).parent


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[str, Page]:
    return pages_of(built)


def page_of(claim: Claim, pages: dict[str, Page]) -> Page:
    return pages[f"{claim.paper}/{claim.name}.html"]


def n_dots(page: Page) -> int:
    drawn = [a["d"] or "" for tag, a in page.tags if tag == "path" and (a.get("class") or "").startswith("dots")]
    return sum(each.count("M") for each in drawn)


def test_three_hundred_claims_draw_both_sides_of_their_runs() -> None:
    assert sum(map(compares_cases, CLAIMS)) >= 300


def test_a_claim_that_compares_cases_draws_them(outcomes: list[CheckOutcome], pages: dict[str, Page]) -> None:
    compared = [each for each in outcomes if compares_cases(each.claim)]
    assert len(compared) > 100
    empty = [each.claim.id for each in compared if n_dots(page_of(each.claim, pages)) == 0]
    assert empty == []


def test_every_finite_case_is_a_dot(outcomes: list[CheckOutcome], pages: dict[str, Page]) -> None:
    for each in outcomes:
        parts = [part for part in each.evidence.parts if part.sides]
        first = each.evidence.headline if each.evidence.headline in parts else next(iter(parts), None)
        # Parts whose cases are all alike, and besides the first those with one case alone, are told in the table.
        drawn = [part for part in parts if not part.alike and (part is first or len(part.sides) > 1)]
        told = sum(len(part.sides) for part in drawn)
        assert n_dots(page_of(each.claim, pages)) >= told, each.claim.id


def test_the_numbers_are_those_of_the_results(built: Path, pages: dict[str, Page]) -> None:
    rows = json.loads((built / "results.json").read_text(encoding="utf-8"))["checks"]
    assert len(rows) == len(DRAWN)
    n_read = 0
    for row in rows:
        known = {*numbers_in(row), *counts_in(row), *numbers_of_controls(row["id"])}
        for value, shown in pages[row["id"].replace(".", "/") + ".html"].numbers:
            assert float(value) in known, (row["id"], value)
            assert agrees(value, shown), (row["id"], value, shown)
            n_read += 1
    assert n_read > 1000


def test_a_false_statement_in_the_plane_is_drawn(outcomes: list[CheckOutcome], pages: dict[str, Page]) -> None:
    flat = [each for each in outcomes if each.evidence.instance is not None]
    assert len(flat) >= 10
    for each in flat:
        found = each.evidence.instance
        assert found is not None
        assert each.claim.id.endswith("_as_printed")
        marks = [((a.get("class") or " ").split(" ")[0], a) for _, a in page_of(each.claim, pages).tags]
        assert [name for name, _ in marks].count("point") == len(found.points), each.claim.id
        n_lines = sum((a["d"] or "").count("L") for name, a in marks if name == "filter")
        assert n_lines == len(found.weights), each.claim.id
        assert len(found.classes) == len(found.points), each.claim.id
        assert len(found.signs) == len(found.weights), each.claim.id
        assert len(found.starts) in (0, len(found.weights)), each.claim.id


@pytest.mark.parametrize(
    ("typed", "seen"),
    [
        ("the ratios v_t/v_0", "the ratios v<sub>t</sub>/v<sub>0</sub>"),
        ("R^50 and k^1.5", "R<sup>50</sup> and k<sup>1.5</sup>"),
        ("(1 − 2^−k)^d", "(1 − 2<sup>−k</sup>)<sup>d</sup>"),
        ("p_{1,1} x_{i_1}", "p<sub>1,1</sub> x<sub>i<sub>1</sub></sub>"),
        ("≥ 1 (to 1e-12), 3.5e-05", "≥ 1 (to 10⁻¹²), 3.5·10⁻⁵"),
        ("v²R_x²η, G_t²", "v²R<sub>x</sub>²η, G<sub>t</sub>²"),
        ("n_runs in figure_1_laws", "n_runs in figure_1_laws"),
        ("<b>_1", "&lt;b&gt;<sub>1</sub>"),
    ],
)
def test_indices_are_set_where_mathematics_is_typed_without_dollars(typed: str, seen: str) -> None:
    assert set_in_type(typed) == seen
