"""Networks trained in fractions: the record of the training, and its cell."""

from fractions import Fraction

from widenet.papers.brutzkus2018.runs.exact_networks import (
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


def test_a_cell_gives_back_its_fractions():
    runs = exact_networks.run(SETTING, silent)
    assert decode(exact_networks.result_type, *encode(runs)) == runs
