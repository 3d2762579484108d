"""Networks with two filters of each sign, from every octant and from random starts, trained once per process."""

import dataclasses
import functools

import numpy as np

from tests.controls import breaks_hypothesis, each_of
from tests.papers.brutzkus2019.claims.networks import altered, networks
from tests.papers.brutzkus2019.claims.trained_edges import data_and_start
from widenet.papers.brutzkus2019.claims.narrow import drawn_settings
from widenet.papers.brutzkus2019.runs.trained import octant_settings, run_octants, run_trained
from widenet.records import Scale


@functools.cache
def from_octants():
    """From every octant, one set of runs per margin."""
    return [run_octants(setting) for setting in octant_settings(Scale.QUICK, 2)]


@functools.cache
def from_random_starts():
    settings = drawn_settings(Scale.QUICK, 2)
    return [run_trained(setting.model_copy(update={"n_runs": 2048})) for setting in settings]


def judged(claim, place=0, *, constants=None, **arrays):
    """The claim about all these runs, with `name=(where, value)` written into those of one margin."""
    runs = list(from_octants())
    runs[place] = altered(runs[place], **arrays)
    return claim(runs, from_random_starts(), **(constants or {}))


def first(condition):
    return int(np.argmax(condition))


def narrow_edges(*claims):
    """One test case for each of these claims and each edge."""
    return each_of(
        {
            f"{claim.name}-{key}": breaks_hypothesis(claim, key)(make)
            for claim in claims
            for key, make in _edges(claim).items()
        }
    )


def _edges(claim):
    """The edges of k = 2, c_η ≤ 1/41, γ ≥ 1, and of the data; of the runs from octants and of the drawn ones."""

    def last():
        return from_random_starts()[-1]

    def first_of(runs):
        return claim([runs, *from_octants()[1:]], from_random_starts())

    def last_of(runs):
        return claim(from_octants(), [*from_random_starts()[:-1], runs])

    found = dict(data_and_start(last_of, last))
    found["margin"] = lambda: tuple(
        first_of(dataclasses.replace(from_octants()[0], required_margin=g)) for g in (1.0, 1 - 1e-9)
    )
    found["step_constant"] = lambda: tuple(
        last_of(dataclasses.replace(last(), step_size=c / 2)) for c in (1 / 41, 1 / 41 + 1e-9)
    )
    found["width"] = lambda: (last_of(last()), last_of(networks(3, 1 / 41, 8.0, 50, 3000)))
    return found
