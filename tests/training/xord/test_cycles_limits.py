"""What a step allows of its cycle: one filter and one fit, each of which is the first to come to 0 in turn."""

import jax.numpy as jnp
import pytest

from widenet.training.xord import cycles


def told(weights, drift, fit=(5.0, 5.0), losses=(2.0, 2.0), known=(100.0, 0.0, 0.0)):
    """(limit, lowest, highest) after a step at these weights, beside what was known before it."""
    cycle, seen = cycles.nothing_known(1, 1)
    moves = {"drift_first": jnp.full((1, 1), float(drift[0])), "drift_second": jnp.full((1, 1), float(drift[1]))}
    cycle = cycles.Cycle(**{**cycle.__dict__, **moves})
    before = {name: jnp.full(1, value) for name, value in zip(("limit", "lowest", "highest"), known, strict=True)}
    seen = cycles.Seen(**{**seen.__dict__, **before})
    first, second = (jnp.full((1, 1), float(weight)) for weight in weights)
    fits = jnp.full((1, 1), fit[0]), jnp.full((1, 1), fit[1])
    both = jnp.full(1, losses[0]), jnp.full(1, losses[1])
    return tuple(float(each[0]) for each in cycles.see(cycle, seen, first, second, fits, both))


@pytest.mark.parametrize(
    ("weights", "drift", "limit"),
    [
        ((10, -6), (-1, -1), 1),  # s = 4 loses 2 a cycle, and is 0 after two
        ((-10, 6), (1, 1), 1),
        ((10, 6), (-1, 1), 1),  # r = 4
        ((6, 10), (1, -1), 1),  # r = −4
        ((10, -6), (-1.5, -2), 1),
        ((10, -7), (-0.25, -0.5), 3),  # s = 3 loses 3/4 a cycle
        ((3, 20), (-1, 0), 2),  # |s| = |r| where the first weight is 0
        ((-3, 20), (1, 0), 2),
        ((20, 4), (0, -1), 3),  # and where the second is
        ((10, 3), (1, 0.25), 100),  # nothing comes nearer: as before
        ((10, 3), (0, 0), 100),
    ],
)
def test_filters_must_keep_their_patterns(weights, drift, limit):
    """Neither s nor r nor |s| − |r| may change its sign."""
    assert told(weights, drift)[0] == limit


@pytest.mark.parametrize(
    ("fit", "limit"), [((5.0, 4.0), 4), ((5.0, 3.0), 2), ((-5.0, -3.0), 2), ((5.0, 6.0), 100), ((5.0, -1.0), 0)]
)
def test_fits_must_keep_their_signs(fit, limit):
    """The second number is the fit one cycle later."""
    assert told((10, 3), (0, 0), fit)[0] == limit


@pytest.mark.parametrize(
    ("losses", "range_of_slopes"), [((2.0, 1.5), (-0.5, 0)), ((2.0, 5.0), (0, 3)), ((2.0, 2.0), (0, 0))]
)
def test_slopes_of_the_loss(losses, range_of_slopes):
    assert told((10, 3), (0, 0), losses=losses)[1:] == range_of_slopes


def test_what_was_seen_earlier_in_the_cycle_stays():
    assert told((10, -6), (-1, -1), losses=(2.0, 1.0), known=(0.0, -2.0, 5.0)) == (0, -2, 5)
