"""What Figures 2, 3 and 6 of brutzkus2019 share."""

from tests.papers.brutzkus2019.toy_runs import N_RECORDED, NARROW, WIDE, both
from widenet.data.xord import set_index
from widenet.papers.brutzkus2019.figures.recorded_pair import NETWORKS, SET_NAMES, both_networks, half_widths, shares


def test_set_names():
    assert SET_NAMES[set_index(2, 4)] == "24"
    assert SET_NAMES[set_index(1, 2, 3, 4)] == "1234"


def test_every_run_ends_in_one_way():
    numbers = both_networks(both(margin=5.0))
    for name in NETWORKS:
        assert sum(count for count, _ in shares(numbers, name).values()) == N_RECORDED


def test_both_networks_are_there_with_their_recordings():
    wide, narrow = both(margin=5.0)
    numbers = both_networks([wide, narrow])
    assert half_widths(numbers) == (WIDE, NARROW)
    assert numbers.wide_filters.shape == (len(wide.recording.steps), 2 * WIDE, 2)
    assert numbers.narrow_step.values[-1] == narrow.last_step[narrow.shown]
    assert numbers.attrs == {"margin": 5.0, "step_constant": 0.02, "seed": 0}
