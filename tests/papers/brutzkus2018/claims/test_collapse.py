"""The collapse of whole networks to the recursion, and records in which a row, a coordinate or a count is off."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import collapse
from widenet.papers.brutzkus2018.claims.collapse import theorem_10_collapse
from widenet.papers.brutzkus2018.runs.exact_networks import (
    ExactRuns,
    ExactSetting,
    exact_networks,
    sequence_of,
    tied_network,
    train_exactly,
)
from widenet.progress import silent
from widenet.records import Scale

HALF = Fraction(1, 2)
NETWORK = tied_network(4, 2, HALF, HALF, HALF, Fraction(2))
RUN = train_exactly(NETWORK)


def judge(*runs, **constants):
    return theorem_10_collapse([ExactRuns(runs)], **constants)


def test_it_holds_on_small_networks():
    setting = ExactSetting(count=5, largest_root=2, largest_half_width=2, most_updates=100, seed=0)
    evidence = theorem_10_collapse([exact_networks.run(setting, silent)])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.tightness == 1
    assert theorem_10_collapse.reads == (exact_networks,)
    assert [setting.count for setting in exact_networks.settings(Scale.QUICK, 0)] == [20]


def untied(network):
    draw = np.random.default_rng(0)
    hidden = np.array(
        [[Fraction(int(n), 8) for n in row] for row in draw.integers(-8, 9, network.hidden.shape)], object
    )
    return dataclasses.replace(network, hidden=hidden)


def test_control_collapse_from_random_rows():
    evidence = judge(train_exactly(untied(NETWORK)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.details["runs_with_rows_or_coordinates_apart"] == 1


@pytest.mark.parametrize(("row", "part"), [(1, "plus_rows"), (3, "minus_rows")], ids=["plus", "minus"])
def test_control_one_entry_of_one_row(row, part):
    """A millionth in one entry of W_0 is seen after every update."""
    hidden = NETWORK.hidden.copy()
    hidden[row, 2] += Fraction(1, 10**6)
    evidence = judge(train_exactly(dataclasses.replace(NETWORK, hidden=hidden)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert part in broken_in(evidence)
    assert len({"plus_rows", "minus_rows"} & set(broken_in(evidence))) == 1


def test_control_one_coordinate_of_all_rows():
    hidden = NETWORK.hidden.copy()
    hidden[:, 2] += Fraction(1, 10**6)
    evidence = judge(train_exactly(dataclasses.replace(NETWORK, hidden=hidden)))
    assert broken_in(evidence) == ["coordinates"]


def test_control_collapse_to_another_count():
    assert judge(RUN).verdict is Verdict.HOLDS
    evidence = judge(RUN, count=lambda run: sequence_of(run).mistakes())
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.details["runs_with_another_count"] == 1


def altered(**changes):
    """This run between two that are sound."""
    return judge(RUN, dataclasses.replace(RUN, **changes), RUN)


def narrowest(factor):
    """d = 1, k = v = 1, R = 0, α = 99/100, η = 100/199: w = 100/199 ≥ 1/2, and u is above −1/(2α)."""
    run = train_exactly(tied_network(1, 1, Fraction(99, 100), Fraction(100, 199), Fraction(1), Fraction(0)))
    assert (run.updates, run.largest_plus, run.smallest_minus) == (1, Fraction(100, 199), Fraction(-100, 199))
    return at([run], threshold_factor=factor)


COLLAPSE = theorem_10_collapse
test_control = controls(
    collapse,
    lambda: [RUN, RUN],
    (COLLAPSE, "updates", {}, {"updates": RUN.updates - 1}),
    (COLLAPSE, "plus_rows", {}, {"untied_plus": 1}),
    (COLLAPSE, "minus_rows", {}, {"untied_minus": 1}),
    (COLLAPSE, "coordinates", {}, {"untied_coordinates": 1}),
    (COLLAPSE, "threshold", narrowest(Fraction(1005, 1000)), narrowest(Fraction(101, 100))),
)


@pytest.mark.parametrize(
    ("plus", "minus", "reached"),
    [("1/2", "0", True), ("499/1000", "-1/1000", False), ("0", "-1", True), ("0", "-999/1000", False)],
)
def test_either_threshold_is_enough(plus, minus, reached):
    """k = 2, v = ½, α = ½: w ≥ ½ or u ≤ −1."""
    ends = {"largest_plus": Fraction(plus), "smallest_minus": Fraction(minus)}
    assert altered(**ends).parts[-1].kept is reached


def test_a_cell_holds_the_runs_as_they_were():
    assert sequence_of(RUN).updates() == RUN.updates
    assert RUN.start_distance == 0
