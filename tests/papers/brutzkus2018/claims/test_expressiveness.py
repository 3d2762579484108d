"""Section 6.2: networks that fit any labels, and what that says about zero training loss."""

import numpy as np
import pytest

from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.expressiveness import (
    Memory,
    check_section_6_2_bad_global,
    check_theorem_7,
    check_theorem_7_bumps,
    check_theorem_7_sweep,
    memory,
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.papers.brutzkus2018.runs.bad_minima import separable_set
from widenet.papers.brutzkus2018.runs.memorization import (
    bump_half_width,
    fit,
    outputs,
    printed_half_width,
    random_gates,
    swept_gates,
    swept_half_width,
)
from widenet.types import Scale

SHAPES = ((24, 4), (21, 3), (16, 2))


def cases(half_width, seed=0, shapes=SHAPES):
    draw = np.random.default_rng(seed)
    return [memory(draw, n, dim, half_width, 0.3, labellings=3, planes=5) for n, dim in shapes]


def one_fewer(n_samples, dim):
    return swept_half_width(n_samples, dim) - 1


def with_parallel_points(case):
    """x_2 = 2x_1 with opposite labels: N(2x) = 2N(x), so no network of any width fits both."""
    inputs, labels = case.inputs.copy(), case.labels.copy()
    inputs[1], labels[1] = 2 * inputs[0], -labels[0]
    return Memory(inputs, labels, case.half_width, case.slope, case.planes)


@pytest.mark.parametrize("claim", [theorem_7, theorem_7_sweep, theorem_7_bumps, section_6_2_bad_global])
def test_it_holds_on_its_default_setting(claim):
    evidence = claim.check(claim.setting(Scale.QUICK, 1), lambda *_: None)
    assert evidence.verdict is Verdict.HOLDS
    assert all(h.met for h in evidence.hypotheses)


def test_the_widths():
    assert printed_half_width(60, 5) == 16
    assert swept_half_width(61, 2) == 31
    assert bump_half_width(np.array([1.0] * 5 + [-1.0] * 4), 3) == 10
    for n in range(1, 60):
        for dim in range(2, 12):
            assert swept_half_width(n, dim) <= printed_half_width(n, dim)


@pytest.mark.parametrize("half_width", [printed_half_width, lambda n, d: printed_half_width(n, d) + 3])
def test_theorem_7_holds_at_and_above_its_width(half_width):
    assert check_theorem_7(cases(half_width)).verdict is Verdict.HOLDS


def test_random_gates_are_singular_in_two_dimensions_and_swept_ones_are_not():
    draw = np.random.default_rng(0)
    inputs, values = draw.normal(size=(60, 2)), draw.choice([-1.0, 1.0], (60, 1))
    assert fit(inputs, values, random_gates(draw, 60, 2), 0.5).rank < 60
    assert fit(inputs, values, swept_gates(draw, 30, inputs), 0.5).rank == 60


def test_control_theorem_7_with_two_points_on_one_ray():
    parallel = [with_parallel_points(case) for case in cases(printed_half_width)]
    evidence = check_theorem_7(parallel, gate_draws=5)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured >= 1
    assert [h.met for h in evidence.hypotheses] == [True, True, False, True, True]


def test_control_theorem_7_with_too_few_neurons():
    """Weights that are not found may exist: the check refuses, and may not say HOLDS."""
    evidence = check_theorem_7(cases(one_fewer), gate_draws=5)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.measured is not None
    assert evidence.measured > 0.1


def test_control_sweep_with_one_gate_fewer():
    assert check_theorem_7_sweep(cases(swept_half_width)).verdict is Verdict.HOLDS
    assert check_theorem_7_sweep(cases(one_fewer)).verdict is Verdict.HYPOTHESES_NOT_MET
    evidence = check_theorem_7_sweep(cases(one_fewer), needed=one_fewer)
    assert evidence.verdict is Verdict.VIOLATED
    assert all(row["smallest_rank"] < row["samples"] for row in evidence.config["cases"])


def test_control_sweep_on_a_straight_activation():
    """At slope 1 the network is linear and fits d points at most."""
    linear = [Memory(c.inputs, c.labels, c.half_width, 1.0, c.planes) for c in cases(swept_half_width)]
    evidence = check_theorem_7_sweep(linear)
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_bumps_four_times_as_wide():
    assert check_theorem_7_bumps(cases(printed_half_width)).verdict is Verdict.HOLDS
    evidence = check_theorem_7_bumps(cases(printed_half_width), spread=2.0)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


def test_control_bad_global_by_sgd():
    """SGD reaches loss 0 on the same points, with a test error far below 1."""
    draw = np.random.default_rng(3)
    settings = [(separable_set(draw, 80, 10, 6.0, 0.4), 40, printed_half_width(80, 10))]
    assert check_section_6_2_bad_global(settings).verdict is Verdict.HOLDS
    evidence = check_section_6_2_bad_global(settings, use_sgd=True)
    assert evidence.verdict is Verdict.VIOLATED
    row = evidence.config["cases"][0]
    assert row["train_loss"] == 0
    assert row["test_error"] < 0.3


def test_outputs_against_the_definition():
    weights = np.array([[1.0, 0.0], [0.0, -2.0]])
    found = outputs(weights, np.array([[3.0, 1.0], [-3.0, -1.0]]), 0.1)
    np.testing.assert_allclose(found, [3 + 0.2, -0.3 - 2])
