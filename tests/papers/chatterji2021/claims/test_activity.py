"""Units and examples that are active on each other at a random start."""

import math

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges
from tests.papers.chatterji2021.cluster_toys import altered, centres, with_entry
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021.claims import activity
from widenet.papers.chatterji2021.claims.activity import LAW, section_1_capture


def cell(**fields):
    return altered(centres(2000, 5, 0.25, "exact"), **fields)


def test_both_halves():
    assert section_1_capture([cell()]).verdict is Verdict.HOLDS
    assert sum(LAW) == pytest.approx(1)
    assert sum(k * share for k, share in enumerate(LAW)) == pytest.approx(2)


@breaks_part(section_1_capture, "each example, on half of the units")
def test_control_captured_instead_of_active():
    counts = centres(2000, 5, 0.25, "exact")
    return section_1_capture([cell()]), section_1_capture([cell(active=counts.helpful + counts.harmful)])


@breaks_part(section_1_capture, "each unit, on 0 to 4 examples by that law")
def test_control_independent_examples():
    binomial = tuple(math.comb(4, k) / 16 for k in range(5))
    return section_1_capture([cell()]), section_1_capture([cell()], law=binomial)


def test_control_without_biases_a_unit_is_active_on_exactly_two():
    flat = np.tile([0.0, 0.0, 4000.0, 0.0, 0.0], (5, 1))
    assert section_1_capture([cell(activity=flat)]).parts[1].kept is False


def test_one_example_of_one_cell_is_enough_to_break_it():
    few = with_entry((slice(None), 2), lambda counts: counts - 120)
    assert section_1_capture([cell(), cell(active=few)]).parts[0].kept is False


test_control_each_hypothesis = hypothesis_edges(
    section_1_capture,
    lambda **fields: section_1_capture([cell(**fields)]),
    unit_inputs=({"products": with_entry((0, 0), 1 + 5e-10)}, {"products": with_entry((0, 0), 1 + 5e-9)}, "centres"),
    centres=({"products": with_entry((0, 2), 0.5 + 5e-10)}, {"products": with_entry((0, 2), 0.5 + 5e-9)}),
)
test_every_part_has_a_control = every_part_of(activity)
