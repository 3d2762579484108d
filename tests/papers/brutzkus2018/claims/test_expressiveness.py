"""Theorem 7: networks that fit any labels."""

import dataclasses

import numpy as np
import pytest

from tests.controls import answers_in, every_part_of, hypothesis_edges, lacking_in, part_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import expressiveness
from widenet.papers.brutzkus2018.claims.expressiveness import (
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.papers.brutzkus2018.formulas import printed_half_width, swept_half_width
from widenet.papers.brutzkus2018.runs.memories import Memories, MemoryShape, bump, draw_memory, search, sweep

SHAPES = ((24, 4), (21, 3), (16, 2))


def memories(half_width, seed=0, shapes=SHAPES, slope=0.3):
    draw = np.random.default_rng(seed)
    return [
        draw_memory(draw, MemoryShape(n_samples=n, dim=dim, slope=slope, planes=5), half_width(n, dim), 3)
        for n, dim in shapes
    ]


def searched(cases, **others):
    return [Memories(tuple(search(case, np.random.default_rng([i, 7]), **others) for i, case in enumerate(cases)))]


def swept(cases):
    return [Memories(tuple(sweep(case, np.random.default_rng([i, 77])) for i, case in enumerate(cases)))]


def bumped(cases, **others):
    return [Memories(tuple(bump(case, **others) for case in cases))]


def one_fewer(n_samples, dim):
    return swept_half_width(n_samples, dim) - 1


def with_parallel_points(case):
    """x_2 = 2x_1 with opposite labels: N(2x) = 2N(x), so no network of any width fits both."""
    inputs, labels = case.inputs.copy(), case.labels.copy()
    inputs[1], labels[1] = 2 * inputs[0], -labels[0]
    return dataclasses.replace(case, inputs=inputs, labels=labels)


def altered(runs, **changes):
    """The first case with some of its arrays altered after the fact."""
    first, *others = runs[0].cases
    changes = {name: change(getattr(first, name)) for name, change in changes.items()}
    return [Memories((dataclasses.replace(first, **changes), *others))]


def moved(amount):
    def move(outputs):
        outputs = outputs.copy()
        outputs[0, 0] += amount
        return outputs

    return move


@pytest.fixture(scope="module")
def fitted():
    return searched(memories(printed_half_width))


@pytest.fixture(scope="module")
def planes():
    return swept(memories(swept_half_width))


@pytest.fixture(scope="module")
def hills():
    return bumped(memories(printed_half_width))


@pytest.mark.parametrize(
    ("claim", "runs"), [(theorem_7, "fitted"), (theorem_7_sweep, "planes"), (theorem_7_bumps, "hills")]
)
def test_it_holds(claim, runs, request):
    evidence = claim(request.getfixturevalue(runs))
    assert evidence.verdict is Verdict.HOLDS
    assert lacking_in(evidence) == []
    assert evidence.measured < 1e-7


def test_theorem_7_holds_above_its_width():
    assert theorem_7(searched(memories(lambda n, d: printed_half_width(n, d) + 3))).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("n_samples", "half_width"), [(16, 2), (17, 4)])
def test_theorem_7_at_the_edge_of_its_width(n_samples, half_width):
    for width, keys in ((half_width, []), (half_width - 1, ["width"])):
        runs = searched(memories(lambda n, d, k=width: k, shapes=((n_samples, 9),)), gate_draws=5)
        assert lacking_in(theorem_7(runs)) == keys


def test_control_theorem_7_with_two_points_on_one_ray():
    parallel = [with_parallel_points(case) for case in memories(printed_half_width)]
    evidence = theorem_7(searched(parallel, gate_draws=5))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.details["largest_error"] >= 0.5
    assert lacking_in(evidence) == ["distinct_rays"]


def test_theorem_7_with_two_points_almost_on_one_ray_is_never_refuted():
    (case,) = memories(printed_half_width, shapes=((10, 3),))
    inputs, labels = case.inputs.copy(), case.labels.copy()
    inputs[1], labels[1] = inputs[0] + [0, 0, 1e-6], -labels[0]
    evidence = theorem_7(searched([dataclasses.replace(case, inputs=inputs, labels=labels)]))
    assert lacking_in(evidence) == []
    assert evidence.verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE)


def test_control_theorem_7_with_too_few_neurons():
    """Weights that are not found may exist: the check refuses, and may not say HOLDS."""
    evidence = theorem_7(searched(memories(one_fewer), gate_draws=5))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["largest_error"] > 0.1


def test_control_theorem_7_one_output_moved(fitted):
    """Weights that miss by more than rounding are no witness, and no refutation either."""
    assert answers_in(theorem_7(altered(fitted, outputs=moved(5e-7)))) == [True, True]
    assert answers_in(theorem_7(altered(fitted, outputs=moved(2e-6)))) == [None, True]


@pytest.mark.parametrize("change", [lambda v: v * np.where(v > 0, 1, 1.001), lambda v: -v, np.zeros_like])
def test_control_theorem_7_needs_one_output_weight(fitted, change):
    assert answers_in(theorem_7(altered(fitted, output_weights=change))) == [True, False]


def test_control_sweep_with_one_gate_fewer():
    assert theorem_7_sweep(swept(memories(one_fewer))).verdict is Verdict.HYPOTHESES_NOT_MET
    evidence = theorem_7_sweep(swept(memories(one_fewer)), needed=one_fewer)
    assert evidence.verdict is Verdict.VIOLATED
    assert all(row["smallest_rank"] < row["samples"] for row in evidence.details["cases"])


def test_control_sweep_on_a_straight_activation():
    """At slope 1 the network is linear and fits d points at most."""
    evidence = theorem_7_sweep(swept(memories(swept_half_width, slope=1.0)))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_a_sweep_that_rounding_decides_is_left_open(planes):
    """λ of 1e12 leaves an error of 1e-3 or so."""
    far = altered(altered(planes, scale=lambda _: 1e12), outputs=moved(1e-3))
    assert theorem_7_sweep(far).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_control_bumps_four_times_as_wide():
    evidence = theorem_7_bumps(bumped(memories(printed_half_width), spread=2.0))
    assert evidence.verdict is Verdict.VIOLATED
    assert answers_in(evidence) == [False, True, True]
    assert evidence.details["largest_error"] > 1e-3


TWO = SHAPES[:2]
FITTED = searched(memories(printed_half_width, shapes=TWO))
PLANES = swept(memories(swept_half_width, shapes=TWO))
HILLS = bumped(memories(printed_half_width, shapes=TWO))


FITS, ONE_V, RANK, FEWER = (
    "N(x) = y for every labelling",
    "output weights ±v with one v > 0",
    "rank n in every plane",
    "⌈n/d⌉ ≤ 2⌈n/(2d − 2)⌉",
)


def judge_of(claim, runs):
    """Judges runs whose last case was altered after the fact; `constants` go to the judge."""

    def judged_with(constants=None, **changes):
        *others, last = runs[0].cases
        fields = {name: change(getattr(last, name)) if callable(change) else change for name, change in changes.items()}
        return claim([Memories((*others, dataclasses.replace(last, **fields)))], **constants or {})

    return judged_with


def contradictory(amount):
    """Two points on one ray with opposite labels: there a misfit is a refutation."""
    return {"is_contradictory": True, "outputs": moved(amount)}


def off_by(share):
    return lambda weights: weights * np.where(np.arange(len(weights)) == 0, 1 + share, 1)


test_control_each_part_of_theorem_7 = part_edges(
    theorem_7,
    judge_of(theorem_7, FITTED),
    {
        FITS: (contradictory(5e-7), contradictory(2e-6)),
        ONE_V: ({"output_weights": lambda weights: 1e-9 * weights}, {"output_weights": off_by(1e-15)}),
    },
)


def last_rank_off(ranks):
    return np.where(np.arange(len(ranks)) == len(ranks) - 1, ranks - 1, ranks)


def printed_as(number):
    return {"constants": {"printed": lambda n, dim: number}}


test_control_each_part_of_the_sweep = part_edges(
    theorem_7_sweep,
    judge_of(theorem_7_sweep, PLANES),
    {
        FITS: ({"outputs": moved(5e-7)}, {"outputs": moved(2e-6)}),
        RANK: ({}, {"ranks": last_rank_off}),
        FEWER: (printed_as(7), printed_as(6.9)),
    },
)
"""n = 21, d = 3: k = 7."""


def test_a_rank_above_n_is_not_right_either():
    evidence = judge_of(theorem_7_sweep, PLANES)(ranks=lambda ranks: ranks + 1)
    assert answers_in(evidence) == [True, False, True]


USED = [case.half_width for case in HILLS[0].cases]


def with_a_pair_more(weights):
    """Two more neurons, one of each sign, that cancel."""
    return np.concatenate([[1.0], weights, [-1.0]])


test_control_each_part_of_the_bumps = part_edges(
    theorem_7_bumps,
    judge_of(theorem_7_bumps, HILLS),
    {
        "N(x) = y": ({"outputs": moved(5e-7)}, {"outputs": moved(2e-6)}),
        "k as counted": ({}, {"output_weights": with_a_pair_more}),
        "k ≥ 2⌈n/(2d − 2)⌉": (printed_as(min(USED)), printed_as(min(USED) + 1)),
    },
)


def test_too_few_bumps_are_noticed_too():
    fewer = judge_of(theorem_7_bumps, HILLS)(output_weights=lambda weights: weights[1:-1])
    assert answers_in(fewer) == [True, False, True]


GENERIC = {
    "dimension": ({"dim": 3}, {"dim": 1}),
    "distinct_rays": ({"closest_directions": 1.1e-9}, {"closest_directions": 1e-9}),
    "slope_positive": ({"slope": 1e-6}, {"slope": 0.0}),
    "slope_below_one": ({"slope": 1 - 5e-12}, {"slope": 1.0}),
}


def narrower(runs):
    """The last case has exactly the width that is asked for, and then one less; the others have more than enough."""
    last = runs[0].cases[-1]
    widths = (last.half_width, last.half_width + 0.05)
    return tuple({"constants": {"needed": lambda n, dim, k=k: k if n == last.n_samples else 1}} for k in widths)


test_control_hypotheses_of_theorem_7 = hypothesis_edges(
    theorem_7, judge_of(theorem_7, FITTED), **GENERIC, width=narrower(FITTED)
)
test_control_hypotheses_of_the_sweep = hypothesis_edges(
    theorem_7_sweep, judge_of(theorem_7_sweep, PLANES), **GENERIC, width=narrower(PLANES)
)
test_control_hypotheses_of_the_bumps = hypothesis_edges(theorem_7_bumps, judge_of(theorem_7_bumps, HILLS), **GENERIC)


test_every_part_has_a_control = every_part_of(expressiveness, elsewhere=(section_6_2_bad_global,))
