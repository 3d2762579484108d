"""What theorems allow at each width."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

import widenet as wn
from tests.certificates.studies import certificate, plain
from tests.packages import EMPTY, TOY
from widenet import papers
from widenet.certificates.allowances import Allowance, allowances
from widenet.certificates.data_forms import DataForm
from widenet.certificates.page import render
from widenet.certificates.rows import ask_all
from widenet.certificates.time_limit import TimeLimit
from widenet.certificates.width_words import about_allowances, allowed_columns
from widenet.claims.meaning import Topic
from widenet.run.outcomes import cells_of
from widenet.types import Dataset

ALL_PAPERS = papers.PAPERS


@pytest.fixture(autouse=True)
def toy_papers(monkeypatch):
    monkeypatch.setattr(papers, "PAPERS", (TOY, EMPTY))


@pytest.mark.parametrize("apart", [True, False])
def test_what_a_theorem_allows_is_asked_at_every_width(apart, monkeypatch):
    """A bound where its assumptions hold, that of a check at this width; none, and why, where they are not met."""
    monkeypatch.setattr(papers, "PAPERS", ALL_PAPERS)
    inputs = np.array([[0.9, 0.1], [0.8, -0.2], [-0.7, 0.3], [-0.9, 0.0] if apart else [0.85, -0.05]])
    data = Dataset(jnp.asarray(inputs), jnp.array([1.0, 1.0, -1.0, -1.0]))
    views, main = [DataForm("", wn.UserData(data), np.arange(4))], papers.find_claim("brutzkus2018.theorem_2")
    rows = ask_all([main], views, cells_of(None), TimeLimit(np.inf))
    (found,) = allowances(rows, views, (4, 16), cells_of(None), TimeLimit(np.inf))
    assert (found.id, found.widths) == (main.id, (4, 16))
    if apart:
        for width, promised in zip((4, 16), found.promised, strict=True):
            checked = wn.check_on(data, main.id, n_neurons=width, n_runs=1)[main.id]
            assert isinstance(checked, wn.Evidence)
            assert promised == checked.parts[0].promised
        assert found.missing == ("", "")
    else:
        assert found.promised == (None, None)
        assert all("linear boundary" in words for words in found.missing)


@pytest.mark.parametrize(
    ("promised", "missing", "said"),
    [
        ((100.0, 100.0), ("", ""), "100 times at every width"),
        ((100.0, 300.0), ("", ""), "4: 100; 16: 300. More neurons promise less."),
        ((None, 300.0), ("w must be larger", ""), "4: –; 16: 300."),
        ((None, None), ("more points", "more points"), "Nothing is promised about the number of updates at any width"),
    ],
)
def test_what_theorems_allow_is_told_by_width(promised, missing, said):
    found = Allowance(id="x.y", topic=Topic.UPDATES, about="", widths=(4, 16), promised=promised, missing=missing)
    (sentence,) = about_allowances([found])
    assert said in plain(sentence)


def test_what_theorems_allow_stands_beside_the_widths():
    """As columns of the table, for those that promise something at some width; the others say what they lack."""
    some = Allowance(
        id="x.y", topic=Topic.UPDATES, about="some of it", widths=(4, 16), promised=(None, 3e4), missing=("a", "")
    )
    none = Allowance(id="x.z", topic=Topic.TEST_ERROR, about="", widths=(4, 16), promised=(None, None),
        missing=("more points", "more points"))  # fmt: skip
    (column,) = allowed_columns([some, none])
    assert (column.ids, column.cells) == (["x.y"], {4: "–", 16: "30,000"})
    (shared,) = allowed_columns([some, none, some.model_copy(update={"id": "x.w"})])
    assert (shared.ids, shared.cells) == (["x.y", "x.w"], column.cells)
    assert len(allowed_columns([some, some.model_copy(update={"promised": (None, 4e4)})])) == 2
    page = render(certificate().findings.model_copy(update={"allowances": (some, none)}), {})
    assert re.search(r"updates allowed \(hinge loss\), some of it: <a href=.#x\.y.>x\.<wbr>y</a></th>", page)
    cells = [re.findall(r'<td class="number">([^<]*)</td>', row) for row in re.findall(r"<tr>(.*?)</tr>", page, re.S)]
    assert [(row[0], row[-3]) for row in cells if row and row[0] in ("4", "16", "64")] == [
        ("4", "–"), ("16", "30,000"), ("64", "–")
    ]  # fmt: skip
    assert "Nothing is promised about the error on new points at any width (x.z): more points." in page
