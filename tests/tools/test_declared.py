"""Weakened declarations are noticed by the controls of their claims."""

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.brutzkus2018.claims import test_potentials, test_relu_basis
from tools.mutants.declared import SIDES, hunt, in_words, tables_of, ways
from widenet.claims import at_least, at_most
from widenet.claims.implication import equal, less_than
from widenet.papers.brutzkus2018.claims import potentials, relu_basis


def test_nearly_all_are_noticed() -> None:
    (table,) = tables_of(test_potentials.__name__)
    results = list(hunt(table))
    assert len(results) > 150
    assert sum(seen for _, seen in results) >= 0.98 * len(results)


def test_control_without_rows_fewer_are() -> None:
    """The edges that the machine finds notice hypotheses; promises need their rows."""
    table = controls(potentials, test_potentials.TOY)
    missed = [what for what, seen in hunt(table) if not seen]
    assert "equation_11: square: left out" in missed
    assert not [what for what in missed if ": input_norm: " in what]
    assert "not noticed: equation_11: square: left out" in in_words([(what, False) for what in missed])


def test_a_row_about_a_promise_that_is_gone_fails() -> None:
    (table,) = tables_of(test_potentials.__name__)
    claim = next(each for each in table.claims if each.name == "equation_11")
    with pytest.raises(AssertionError, match="what no claim of this table states: equation_11: cube"):
        controls(potentials, test_potentials.TOY, (claim, "cube"))


def test_a_promise_without_a_row_is_asked_for_one() -> None:
    """Its edge is found by the machine; were it dropped, nothing would miss it."""
    (table,) = tables_of(test_relu_basis.__name__)
    test = controls(relu_basis, table.toy.toy)
    with pytest.raises(AssertionError, match="dropped, it would not be missed"):
        test(relu_basis.lemma_12, relu_basis.lemma_12.clauses["entering"])


@pytest.mark.parametrize(
    ("sides", "skipped"),
    [
        (at_most(np.array([1.0, 2.0]), 3.0), {"1 % more generous"}),
        (at_most(np.array([1.0, 2.5]), 3.0), set()),
        (at_least(np.array([151.0]), 150.0), set()),
        (less_than(np.array([1.0]), np.inf), {"1 % more generous"}),
        (equal(np.array([-1.0, 1.0]), np.array([-1.0, 1.0])), {"1 % more generous", "strict or not"}),
        (equal(np.array([-1.0]), np.array([-1.0])), {"1 % more generous", "strict or not", "the other way round"}),
    ],
)
def test_what_changes_nothing_is_not_tried(sides, skipped) -> None:
    assert set(SIDES) - set(ways(sides)) == skipped | {"ten times the tolerance"}
