"""Units and examples that are active on each other at a random start."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.chatterji2021.cluster_toys import centres, with_entry
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021.claims import active_units
from widenet.papers.chatterji2021.claims.active_units import LAW, section_1_capture


def cell(**fields):
    return altered(centres(2000, 5, 0.25, "exact"), **fields)


def test_both_halves():
    assert section_1_capture([cell()]).verdict is Verdict.HOLDS
    assert sum(LAW) == pytest.approx(1)
    assert sum(k * share for k, share in enumerate(LAW)) == pytest.approx(2)


def test_control_without_biases_a_unit_is_active_on_exactly_two():
    flat = np.tile([0.0, 0.0, 4000.0, 0.0, 0.0], (5, 1))
    assert section_1_capture([cell(activity=flat)]).parts[1].kept is False


def test_one_example_of_one_cell_is_enough_to_break_it():
    few = with_entry((slice(None), 2), lambda counts: counts - 120)
    assert section_1_capture([cell(), cell(active=few)]).parts[0].kept is False


@pytest.mark.parametrize(("share", "kept"), [(1.01, True), (0.99, False)])
def test_the_levels_of_both_tests(share, kept):
    """0.001 over the number of tests: eight binomial ones for two cells of four examples, two of the law."""
    values = {"halves": iter([0.5, share * 0.001 / 8] + 6 * [0.5]), "fits": iter([share * 0.001 / 2, 0.5])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active_units, "matches_rate", lambda *_: next(values["halves"]))
        patch.setattr(active_units.scipy.stats, "chisquare", lambda *_: SimpleNamespace(pvalue=next(values["fits"])))
        found = section_1_capture([cell(), cell()])
    assert [part.kept for part in found.parts] == [kept, kept]


BINOMIAL = tuple(math.comb(4, k) / 16 for k in range(5))
LEVEL = np.array([0.5, 0.5, 0.5, 0.001 / 4])
CAPTURED = centres(2000, 5, 0.25, "exact").helpful + centres(2000, 5, 0.25, "exact").harmful
test_control = controls(
    active_units,
    cell,
    (section_1_capture, "halves", {}, {"active": CAPTURED}),
    # 0.001 over the number of tests, exactly, and just below
    (section_1_capture, "halves", {"halves": LEVEL}, {"halves": np.nextafter(LEVEL, 0)}),
    # Independent examples.
    (section_1_capture, "law", {}, {"activity": np.tile(4000 * np.array(BINOMIAL), (5, 1))}),
    (
        section_1_capture,
        "centres",
        {"products": with_entry((0, 2), 0.5 + 5e-10)},
        {"products": with_entry((0, 2), 0.5 + 5e-9)},
    ),
)
