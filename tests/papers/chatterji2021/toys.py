"""Small runs and networks whose numbers are known, and records to be altered. Nothing is trained at import."""

import dataclasses
import functools

import numpy as np

from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.diagnostics.huberized import HuberNetwork
from widenet.papers.chatterji2021.formulas import equation_5_threshold, row_length
from widenet.papers.chatterji2021.runs.descents import LogisticDescent, descend
from widenet.papers.chatterji2021.runs.networks import NetworkLooks, look_at
from widenet.papers.chatterji2021.sources import PlacedCases, RandomCases, ThinCases, on_one_point


@functools.cache
def axes_run(n=2, p=2, loss=1e-7, n_steps=59, **choices) -> LogisticDescent:
    """R: orthonormal inputs, one unit each, all labels +1; the rate comes nearest to its bound here."""
    rows = np.zeros((2 * p, n))
    rows[:n] = row_length(loss, 1 / p) * np.eye(n)
    return descend(HuberNetwork(rows, 1 / p), np.eye(n), np.ones(n), n_steps=n_steps, **choices)


def from_share(share):
    """R from this share of the loss up to which (5) gives Lemma 10."""
    return axes_run(2, 2, share * equation_5_threshold(2))


def from_step(at, amount):
    """A function that adds an amount to one entry."""

    def change(values):
        return values + amount * (np.arange(len(values)) == at)

    return change


def times(at, factor):
    """A function that multiplies one entry."""

    def change(values):
        return values * np.where(np.arange(len(values)) == at, factor, 1.0)

    return change


@functools.cache
def placed() -> NetworkLooks:
    """Networks in which the bounds of Section 3.3 are attained, or nearly."""
    return look_at(PlacedCases(half_widths=(1, 3)).cases())


@functools.cache
def drawn() -> NetworkLooks:
    """A few random networks."""
    return look_at(RandomCases(n_networks=25, seed=1).cases())


@functools.cache
def thin() -> NetworkLooks:
    """Networks on which (5) gives Lemma 10 with nothing to spare."""
    return look_at(ThinCases().cases())


def one(networks: NetworkLooks, at: int) -> NetworkLooks:
    """A single network of a look."""
    fields = dataclasses.fields(networks)
    return NetworkLooks(**{field.name: getattr(networks, field.name)[at : at + 1] for field in fields})


def looked(case) -> NetworkLooks:
    """A look at one case."""
    return look_at([case])


CORNERS = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]) / np.sqrt(2)


def corners(length=1.0, **choices):
    """A reader's XOR data of points of this length."""
    return UserData(from_arrays(length * CORNERS, [1.0, 1.0, -1.0, -1.0]), Choices(**choices))


BAND = ("bandwidth", {"bandwidth": times(2, 1 + 5e-13)}, {"bandwidth": times(2, 1 + 5e-12)})
"""In one network of many: a row of a table of controls."""


CURVED = 2.6180339887495
"""‖∇²L‖/(pL) of the steepest curve at margin 30."""


def dead():
    """A network whose gradient is 0."""
    return look_at([on_one_point(np.array([-1.0, -1.0]))])
