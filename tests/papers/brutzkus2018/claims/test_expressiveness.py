"""Section 6.2: networks that fit any labels, and what that says about zero training loss."""

import dataclasses

import numpy as np
import pytest

from tests.controls import every_part_of, hypothesis_edges, part_edges
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import expressiveness
from widenet.papers.brutzkus2018.claims.expressiveness import (
    section_6_2_bad_global,
    theorem_7,
    theorem_7_bumps,
    theorem_7_sweep,
)
from widenet.papers.brutzkus2018.formulas import printed_half_width, swept_half_width
from widenet.papers.brutzkus2018.runs.bad_global_minimum import BadMinimumSetting, run_bad_minimum
from widenet.papers.brutzkus2018.runs.memories import (
    Memories,
    MemoryShape,
    bump,
    draw_memory,
    search,
    sweep,
)
from widenet.progress import silent

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


def answers(evidence):
    return [part.kept for part in evidence.parts]


def unmet(evidence):
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


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
    assert unmet(evidence) == []
    assert evidence.measured < 1e-7


def test_theorem_7_holds_above_its_width():
    assert theorem_7(searched(memories(lambda n, d: printed_half_width(n, d) + 3))).verdict is Verdict.HOLDS


@pytest.mark.parametrize(("n_samples", "half_width"), [(16, 2), (17, 4)])
def test_theorem_7_at_the_edge_of_its_width(n_samples, half_width):
    for width, keys in ((half_width, []), (half_width - 1, ["width"])):
        runs = searched(memories(lambda n, d, k=width: k, shapes=((n_samples, 9),)), gate_draws=5)
        assert unmet(theorem_7(runs)) == keys


def test_control_theorem_7_with_two_points_on_one_ray():
    parallel = [with_parallel_points(case) for case in memories(printed_half_width)]
    evidence = theorem_7(searched(parallel, gate_draws=5))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.details["largest_error"] >= 0.5
    assert unmet(evidence) == ["distinct_rays"]


def test_theorem_7_with_two_points_almost_on_one_ray_is_never_refuted():
    (case,) = memories(printed_half_width, shapes=((10, 3),))
    inputs, labels = case.inputs.copy(), case.labels.copy()
    inputs[1], labels[1] = inputs[0] + [0, 0, 1e-6], -labels[0]
    evidence = theorem_7(searched([dataclasses.replace(case, inputs=inputs, labels=labels)]))
    assert unmet(evidence) == []
    assert evidence.verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE)


def test_control_theorem_7_with_too_few_neurons():
    """Weights that are not found may exist: the check refuses, and may not say HOLDS."""
    evidence = theorem_7(searched(memories(one_fewer), gate_draws=5))
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is None
    assert evidence.details["largest_error"] > 0.1


def test_control_theorem_7_one_output_moved(fitted):
    """Weights that miss by more than rounding are no witness, and no refutation either."""
    assert answers(theorem_7(altered(fitted, outputs=moved(5e-7)))) == [True, True]
    assert answers(theorem_7(altered(fitted, outputs=moved(2e-6)))) == [None, True]


@pytest.mark.parametrize("change", [lambda v: v * np.where(v > 0, 1, 1.001), lambda v: -v, np.zeros_like])
def test_control_theorem_7_needs_one_output_weight(fitted, change):
    assert answers(theorem_7(altered(fitted, output_weights=change))) == [True, False]


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
    assert answers(evidence) == [False, True, True]
    assert evidence.details["largest_error"] > 1e-3


@pytest.fixture(scope="module")
def bad_global():
    """Two widths on two data sets, forty points to train on and forty to test on."""
    setting = BadMinimumSetting(n_train=40, n_test=40, dim=10, multiples=(1, 2), n_sets=2, separator_norm=6.0)
    return run_bad_minimum(setting, silent)


def judged(run, **changes):
    return section_6_2_bad_global([dataclasses.replace(run, **changes)])


def margins_with(run, solution, points, value):
    """One network of this kind with other margins."""
    margins = run.margins.copy()
    margins[solution, 0, 1, points] = value
    return margins


def test_bad_global_minima_exist(bad_global):
    evidence = judged(bad_global)
    assert evidence.verdict is Verdict.HOLDS
    assert (evidence.promised, evidence.measured) == (1, 1)
    assert evidence.runs.tried == 4


def test_control_bad_global_by_sgd(bad_global):
    """SGD reaches loss 0 on the same points, with a test error far below 1."""
    swapped = bad_global.margins.copy()
    swapped[0] = swapped[2]
    evidence = judged(bad_global, margins=swapped)
    assert evidence.verdict is Verdict.VIOLATED
    assert answers(evidence) == [False, True, True, True]
    assert evidence.measured is not None
    assert evidence.measured < 0.3


def test_weights_not_found_and_training_cut_off_decide_nothing(bad_global):
    lost = np.array([[0.0, 1.0], [0.0, 0.0]])
    assert answers(judged(bad_global, fit_error=lost)) == [None, None, True, True]
    assert answers(judged(bad_global, trained_to_the_end=lost == 0)) == [True, True, None, None]


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
    assert answers(evidence) == [True, False, True]


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
    assert answers(fewer) == [True, False, True]


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


GLOBAL = run_bad_minimum(
    BadMinimumSetting(n_train=40, n_test=40, dim=10, multiples=(1, 2), n_sets=2, separator_norm=6.0), silent
)


def global_with(solution=None, points=None, value=None, needed=printed_half_width, **changes):
    if solution is not None:
        changes["margins"] = margins_with(GLOBAL, solution, points, value)
    return section_6_2_bad_global([dataclasses.replace(GLOBAL, **changes)], needed=needed)


def at(solution, points, value):
    return {"solution": solution, "points": points, "value": value}


def wrong_on(count):
    """Margins of the test points, so many of which are wrong."""
    return np.where(np.arange(40) < count, -1.0, 1.0)


test_control_each_part_of_bad_global = part_edges(
    section_6_2_bad_global,
    global_with,
    {
        "the built network is wrong on every test point": (at(0, 60, 0.0), at(0, 60, 0.1)),
        "the built network has training loss 0": (at(0, 5, 1.0), at(0, 5, 1 - 5e-12)),
        "SGD reaches training loss 0": (at(2, 5, 1.0), at(2, 5, 1 - 5e-12)),
        "SGD generalizes": (at(2, slice(40, 80), wrong_on(20)), at(2, slice(40, 80), wrong_on(21))),
    },
)


def test_control_a_network_of_zeros_has_learned_nothing():
    assert answers(global_with(**at(2, slice(None), 0.0))) == [True, True, False, False]


test_control_the_hypotheses_of_bad_global = hypothesis_edges(
    section_6_2_bad_global,
    global_with,
    width=({}, {"needed": lambda n, dim: printed_half_width(n, dim) + 0.05}),
    separable=({"smallest_margin": np.array([2.0, 1.0])}, {"smallest_margin": np.array([2.0, 1 - 5e-12])}),
)


def test_each_setting_must_be_wide_enough():
    """Beside a setting of eighty points, one whose k is too small for its forty-one."""
    setting = GLOBAL.setting.model_copy(update={"n_test": 1})
    runs = [dataclasses.replace(GLOBAL, setting=setting), GLOBAL, dataclasses.replace(GLOBAL, setting=setting)]
    for asked, keys in ((10, []), (11, ["width"])):
        evidence = section_6_2_bad_global(runs, needed=lambda n, dim, k=asked: k if n == 80 else 1)
        assert unmet(evidence) == keys


def test_the_width_is_that_of_all_points_together():
    """80 points in 10 dimensions: k = 2⌈80/18⌉ = 10; for the 40 training points alone it were 6."""
    seen = []
    global_with(needed=lambda n, dim: seen.append((n, dim)) or 10)
    assert seen == [(80, 10)]
    assert GLOBAL.setting.half_widths == [10, 20]


test_every_part_has_a_control = every_part_of(expressiveness)
