"""Theorem 7: networks that fit any labels."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import controls
from tests.controls import answers_in, lacking_in
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
    evidence = theorem_7_sweep(swept(memories(one_fewer)))
    assert (lacking_in(evidence), evidence.conclusion) == (["width"], False)
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
FITTED = list(searched(memories(printed_half_width, shapes=TWO))[0].cases)
PLANES = list(swept(memories(swept_half_width, shapes=TWO))[0].cases)
HILLS = list(bumped(memories(printed_half_width, shapes=TWO))[0].cases)
"""n = 21, d = 3 in the last case: k = 7 for the sweep."""


def contradictory(amount):
    """Two points on one ray with opposite labels: there a misfit is a refutation."""
    return {"is_contradictory": True, "outputs": moved(amount)}


def off_by(share):
    return lambda weights: weights * np.where(np.arange(len(weights)) == 0, 1 + share, 1)


def printed_as(number):
    return {"printed": lambda n, dim: number}


def with_a_pair_more(weights):
    """Two more neurons, one of each sign, that cancel."""
    return np.concatenate([[1.0], weights, [-1.0]])


USED = min(case.half_width for case in HILLS)
SEVEN, SWEEP, BUMPS = theorem_7, theorem_7_sweep, theorem_7_bumps
test_control = controls(
    expressiveness,
    {SEVEN: FITTED, SWEEP: PLANES, BUMPS: HILLS},
    (SEVEN, "fits", contradictory(5e-7), contradictory(2e-6)),
    (SEVEN, "one_weight", {"output_weights": lambda weights: 1e-9 * weights}, {"output_weights": off_by(1e-15)}),
    (SWEEP, "fits", {"outputs": moved(5e-7)}, {"outputs": moved(2e-6)}),
    (SWEEP, "rank", {}, {"ranks": lambda ranks: ranks - (np.arange(len(ranks)) == len(ranks) - 1)}),
    (SWEEP, "narrower", printed_as(7), printed_as(6.95)),
    (BUMPS, "fits", {"outputs": moved(5e-7)}, {"outputs": moved(2e-6)}),
    (BUMPS, "counted", {}, {"output_weights": with_a_pair_more}),
    (BUMPS, "counted", {}, {"output_weights": lambda weights: weights[1:-1]}),
    (BUMPS, "printed", printed_as(USED), printed_as(USED + 0.05)),
    (SEVEN, "dimension", {}, {"dim": 1}),
    (SWEEP, "dimension", {}, {"dim": 1}),
    but=(section_6_2_bad_global,),
)


def test_how_much_wider_than_needed():
    """n = 21, d = 3: 2⌈21/4⌉ = 12 and ⌈21/3⌉ = 7; nothing is needed in one dimension."""
    case = expressiveness.Fits.join([FITTED[-1]])
    assert (case.spare_of_printed[0], case.spare_of_swept[0]) == (0, 5)
    line = expressiveness.Fits.join([dataclasses.replace(FITTED[-1], dim=1)])
    assert line.spare_of_printed[0] == 12
