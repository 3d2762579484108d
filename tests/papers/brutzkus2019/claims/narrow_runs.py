"""Networks with two filters of each sign, from every octant and from random starts, trained once per process."""

import functools

import numpy as np

from tests.papers.brutzkus2019.claims.networks import altered, some
from tests.papers.brutzkus2019.claims.trained_edges import DEVIATION
from widenet.papers.brutzkus2019.runs.trained import narrow_settings, octant_settings, run_octants, run_trained
from widenet.records import Scale


@functools.cache
def from_octants():
    """From every octant, one set of runs per margin."""
    return [run_octants(setting) for setting in octant_settings(Scale.QUICK, 2)]


@functools.cache
def from_random_starts():
    settings = narrow_settings(Scale.QUICK, 2)
    return [run_trained(setting.model_copy(update={"n_runs": 2048})) for setting in settings]


def every_run():
    """From every octant, and from random starts."""
    return from_octants(), from_random_starts()


def planted(place=0, **arrays):
    """All these runs, with `name=(where, value)` written into those of one margin."""
    runs = list(from_octants())
    runs[place] = altered(runs[place], **arrays)
    return runs, from_random_starts()


def without_an_octant():
    """Of one margin the first row of octants is missing."""
    first_margin, *others = from_octants()
    return [some(first_margin, slice(1, None)), *others], from_random_starts()


def judged(claim, place=0, *, constants=None, **arrays):
    """The claim about them."""
    return claim(*planted(place, **arrays), **(constants or {}))


def first(condition):
    return int(np.argmax(condition))


def edges(claim):
    """Rows for k = 2 and σ_g; the other hypotheses have edges of their own, of the runs from octants."""
    widths = ((claim, "width", {}, {"half_width": k, "step_constant": 1 / 41}) for k in (1, 3))
    return *widths, (claim, *DEVIATION)
