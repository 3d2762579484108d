"""Weakened declarations are noticed by the controls of their claims."""

from tests.control_table import controls
from tests.papers.brutzkus2018.claims import test_potentials
from tools.mutants.declared import hunt, in_words, tables_of
from widenet.papers.brutzkus2018.claims import potentials


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
