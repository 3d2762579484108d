"""Networks trained in fractions: the record of the training, and its cell."""

from fractions import Fraction

import numpy as np
import pytest

from widenet.papers.brutzkus2018.runs.exact_networks import (
    ExactNetwork,
    ExactSetting,
    exact_networks,
    random_networks,
    sequence_of,
    tied_network,
    train_exactly,
)
from widenet.progress import silent
from widenet.run.records import decode, encode

SETTING = ExactSetting(count=4, largest_root=2, largest_half_width=2, most_updates=60, seed=1)


def test_networks_need_no_more_updates_than_asked_for():
    networks = random_networks(SETTING)
    assert len(networks) == 4
    assert max(sequence_of(network).updates() for network in networks) <= 60
    assert max(network.half_width for network in networks) <= 2


def test_one_update_by_hand():
    """d = k = v = 1, R = 0, α = ½, η = 1: w goes to 1 and u to −1, N = 1 + ½."""
    run = train_exactly(tied_network(1, 1, Fraction(1, 2), Fraction(1), Fraction(1), Fraction(0)))
    assert (run.updates, run.largest_plus, run.smallest_minus) == (1, 1, -1)
    assert run.start_distance == run.untied_plus == run.untied_minus == run.untied_coordinates == 0


def quarter_steps(*rows):
    """v = 1, α = ½, η = ¼ and R = 0, from rows whose entries are given in eighths."""
    hidden = np.array([[Fraction(n, 8) for n in row] for row in rows], dtype=object)
    return ExactNetwork(hidden, Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(0))


def test_coordinates_are_compared_after_every_pass():
    """k = 1, d = 4. From 0 N is 3/8, 11/16 and 1 after 1, 2, 3 updates; the fourth entry of w, ⅛ ahead of the others,
    has 1/2, 13/16 and 9/8. It stays ahead: in three passes with updates, and in the fourth, which has none.
    """
    run = train_exactly(quarter_steps([0, 0, 0, 1], [0, 0, 0, 0]))
    assert (run.updates, run.untied_coordinates) == (12, 4)
    assert (run.untied_plus, run.untied_minus, run.start_distance) == (0, 0, Fraction(1, 8))


@pytest.mark.parametrize(("place", "untied"), [(1, (1, 0)), (2, (1, 0)), (4, (0, 1)), (5, (0, 1))])
def test_every_row_is_compared_with_the_first_of_its_sign(place, untied):
    """k = 3, d = 1. One update takes N above 1, and leaves the row that started at ⅛ away from the others."""
    run = train_exactly(quarter_steps(*([int(row == place)] for row in range(6))))
    assert run.updates == 1
    assert (run.untied_plus, run.untied_minus) == untied


def test_a_cell_gives_back_its_fractions():
    runs = exact_networks.run(SETTING, silent)
    assert decode(exact_networks.result_type, *encode(runs)) == runs
