"""Epochs of SGD on a few points, and one whose outputs move as far as they can."""

import functools

import numpy as np

from tests.papers.records import altered
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.toys import in_turn, problem
from widenet.papers.sarussi2021.runs.epochs import EpochSetting, follow_epochs
from widenet.progress import silent


@functools.cache
def toy_runs():
    return toys.small_epochs()


@functools.cache
def attained_runs():
    """n = d = k = 1, all slopes 1, sampled loss exactly ε_0: (23) is attained."""
    made = problem([(1,)], [1], [(5,)], [(4,)], v=1, slope=0.3, eta=1)
    loss = float(np.log1p(np.exp(-1)))
    setting = EpochSetting(points=toys.SmallCloud(), levels=(), hit_levels=(), clean_levels=(loss,))
    return follow_epochs(made, in_turn((0,)), setting, silent)


def without_clean_epoch():
    """The first level of the first run never had a clean epoch."""
    clean, margins = toy_runs().clean.copy(), toy_runs().clean_margins.copy()
    clean[0, 0], margins[0, 0] = 0, np.nan
    return altered(
        toy_runs(), clean=clean, clean_margins=margins, sampled=lambda s: np.where(clean[:, :, None] > 0, s, 99.0)
    )


def far_off(scale):
    """Margins of −1000 at the end, where activations of this size cancel."""
    return altered(toy_runs(), clean_margins=lambda q: 0 * q - 1e3, clean_scales=lambda s: 0 * s + scale)
