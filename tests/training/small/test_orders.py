"""Orders hand out the samples that make an update, as they would have come."""

import numpy as np
import pytest

from widenet.training.small import Look, SmallNetworks, cyclic, permutations, uniform, with_replacement


def look(active, runs=None):
    active = np.asarray(active, bool)
    shape = (*active.shape, 1)
    networks = SmallNetworks(np.zeros((len(active), 1, 1)), np.zeros((len(active), 1)))
    runs = np.arange(len(active)) if runs is None else np.asarray(runs)
    return Look(runs, active, np.zeros(active.shape), np.zeros(shape), networks)


def test_cyclic_goes_on_where_it_was():
    order = cyclic()
    taken = [int(order(look([[True, False, True, True]]))[0]) for _ in range(7)]
    assert taken == [0, 2, 3, 0, 2, 3, 0]
    assert order(look([[False, True, False, False]])).tolist() == [1]


@pytest.mark.parametrize(
    ("order", "draws"),
    [
        (permutations, lambda draw: draw.permutation(5)),
        (with_replacement, lambda draw: draw.integers(5, size=5)),
    ],
)
def test_random_orders_are_those_of_one_draw_after_the_other(order, draws):
    stream, active = np.random.default_rng(7), np.array([True, False, True, True, False])
    expected = [int(row) for row in np.concatenate([draws(stream) for _ in range(40)]) if active[row]]
    choose = order([[7, 0], 7])
    taken = [int(choose(look(active[None], runs=[1]))[0]) for _ in range(30)]
    assert taken == expected[:30]


def test_the_uniform_order_takes_every_active_sample_equally_often():
    choose = uniform(range(3000))
    taken = choose(look(np.tile([True, False, True, True], (3000, 1))))
    counts = np.bincount(taken, minlength=4)
    assert counts[1] == 0
    assert counts[[0, 2, 3]].min() > 900
