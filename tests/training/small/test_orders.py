"""Orders hand out the samples that make an update, as they would have come."""

import numpy as np
import pytest

from widenet.training.small import Choice, SmallNetworks, cyclic, permutations, uniform, with_replacement


def look(active, runs=None):
    active = np.asarray(active, bool)
    shape = (*active.shape, 1)
    networks = SmallNetworks(np.zeros((len(active), 1, 1)), np.zeros((len(active), 1)))
    runs = np.arange(len(active)) if runs is None else np.asarray(runs)
    return Choice(runs, active, np.zeros(active.shape), np.zeros(shape), networks)


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


def test_each_run_is_in_a_pass_of_its_own():
    """The second run is asked at every other look alone; samples that were passed over come in the next pass."""
    order = cyclic()
    both, first = look(np.ones((2, 3))), look(np.ones((1, 3)))
    assert [order(each).tolist() for each in (both, first, both, first, both)] == [[0, 0], [1], [2, 1], [0], [1, 2]]
    assert order(look([[True, False, False], [False, False, True]])).tolist() == [0, 2]
    assert order(look([[False, True, True], [True, True, True]])).tolist() == [1, 0]


def test_the_end_of_a_pass_is_the_beginning_of_the_next():
    order, last = cyclic(), look([[False, False, True]])
    assert [order(last).tolist() for _ in range(3)] == [[2]] * 3
    assert order(look([[True, True, True]])).tolist() == [0]


def test_the_uniform_order_is_the_first_active_one_of_a_permutation():
    choose, active = uniform([3, 4]), np.array([[True, False, True, True, False], [False, True, True, False, True]])
    draws = [np.random.default_rng(seed) for seed in (3, 4)]
    for _ in range(20):
        orders = [draw.permutation(5) for draw in draws]
        expected = [next(row for row in rows if own[row]) for rows, own in zip(orders, active, strict=True)]
        assert choose(look(active)).tolist() == expected
