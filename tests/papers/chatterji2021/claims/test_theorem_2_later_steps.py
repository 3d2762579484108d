"""Theorem 2, part (b), and Section 4.3: what follows the first step."""

import functools

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.chatterji2021.cluster_toys import with_entry
from tests.papers.chatterji2021.toys import corners
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import theorem_2
from widenet.papers.chatterji2021.claims.theorem_2 import (
    Phases,
    one_step_limit,
    section_4_3_rate,
    section_4_3_step_size,
    theorem_2a,
    theorem_2a_trend,
    theorem_2b,
    theorem_2b_trend,
)
from widenet.papers.chatterji2021.cluster_sources import Centres
from widenet.papers.chatterji2021.formulas import proof_threshold
from widenet.papers.chatterji2021.runs.second_phases import LaterSteps, LaterStepsSetting, run_second_phases
from widenet.papers.chatterji2021.runs.start_laws import draw_step_limits, step_limits
from widenet.progress import silent
from widenet.records import Scale


def test_later_steps_on_a_readers_data():
    (later,) = theorem_2b.on(corners(seed=3)).settings
    assert (later.half_width, later.n_steps, later.seed, later.start) == (200, 3000, 3, "gaussian")
    run = run_second_phases(later.model_copy(update={"n_steps": 20}), silent)
    assert theorem_2b([run]).verdict is Verdict.CONSTANT_UNSPECIFIED
    assert isinstance(theorem_2b.on(corners(2.0)), NotApplicable)


def phase(**fields):
    """A run that falls like 1/(t + 10)²."""
    made = LaterSteps(
        losses=10.0 / (np.arange(1, 201) + 10) ** 2, norm=1.0,
        step_scale=f.STEP_CONSTANT / 100, half_width=100, bandwidth=0.01, beta=0.25, dim=2, n_points=4, unit_error=0.0,
        start="gaussian",
    )  # fmt: skip
    return altered(made, **fields)


@pytest.mark.parametrize(("peak", "kept"), [(100, True), (101, False)])
def test_where_the_product_may_be_largest(peak, kept):
    """Halfway through 200 iterates, and one later."""
    t = np.arange(1, 201)
    assert theorem_2b([phase(losses=np.where(t == peak, 2.0, 1.0) / t)]).parts[0].kept is kept


def test_the_needed_constant():
    found = theorem_2b([phase()])
    assert found.verdict is Verdict.CONSTANT_UNSPECIFIED
    (needed,) = found.details["needed"]
    assert needed == pytest.approx(10 * 10 / 400 * 100 ** (1 - 0.75) / 2)
    assert f"{needed:.3g}" in found.open_constant


def at_half(ratio):
    """t·L_t at the end is this multiple of its value halfway, and the loss falls throughout."""
    values = 1 / np.arange(1, 201) ** 1.5
    values[100:] = values[99] * np.linspace(0.99, ratio / 2, 100)
    return values


def test_equality_is_no_decrease():
    level = altered(phase(losses=at_half(1.0)), losses=with_entry(199, at_half(1.0)[99] / 2))
    assert theorem_2b_trend([level]).parts[1].kept is False
    flat = phase(losses=with_entry(7, phase().losses[6]))
    assert theorem_2b_trend([flat]).parts[0].kept is False


def test_control_no_steps_after_the_first():
    stuck = run_second_phases(LaterStepsSetting(points=Centres(), half_width=20, n_steps=40, schedule=1e-12), silent)
    assert theorem_2b_trend([stuck]).parts[1].kept is False


@functools.cache
def isolating():
    return run_second_phases(
        LaterStepsSetting(points=Centres(), half_width=30_000, start="isolating", n_steps=30), silent
    )


def judge_rate(**fields):
    return section_4_3_rate([altered(isolating(), **fields)])


def at_the_rate(share):
    """1/L_2 − 1/L_1 is this share of its promise: some 1e-9 of 1/L_1 per step."""

    def change(values):
        promised = 1 / f.late_loss_bound(2, 30_000, 0.25, values[0], 2.0)
        return with_entry(1, 1 / (1 / values[0] + share * promised))(values)

    return change


@pytest.mark.parametrize(("share", "kept"), [(1 - 1e-9, True), (1 + 1e-9, False)])
def test_late_enough_the_branch_is_the_smaller_bound(share, kept):
    """For p = 1 and L_1 = 1/10 from step 181 on; Theorem 1 does not allow such a start."""
    steps = np.arange(1.0, 400.0)
    branch = np.concatenate([[0.1], f.late_loss_bound(2, 1, 0.25, 0.1, steps[1:])])
    assert branch[179] > 0.1 > branch[180]
    found = judge_rate(half_width=1, losses=share * np.minimum(branch, 0.1) + (1 - share) * (steps == 1) * 0.1)
    assert found.parts[1].kept is kept
    assert not found.parts[1].vacuous


def test_the_rate_is_tested_and_the_last_line_says_nothing_this_early():
    found = judge_rate()
    assert found.verdict is Verdict.HOLDS
    assert [part.vacuous for part in found.parts] == [False, True]
    assert found.parts[0].promised == pytest.approx(0.102301274, rel=1e-8)
    assert not found.vacuous
    assert found.runs.tried == 1


THRESHOLD = proof_threshold(4)
UNIT = f.norm_unit(2, 30_000, 0.25)


def one_term(place, share):
    """One term of a network at this share of what it is."""

    def change(terms):
        return terms * np.where(np.arange(3) == place, share, 1.0)

    return {"terms": change}


def at_exponent(exponent, log_loss):
    return section_4_3_step_size([step_limits(exponent, log_loss, 1.0, 1e4, 0.25, 2), USUAL])


USUAL = step_limits(6.0, 6.0, 1.0, 1e4, 0.25, 2)


def test_below_their_exponents_the_terms_fail():
    """0.9974 of the first at 1.9 with L_1 = e^−2, 0.9987 of the second at 3.9 with L_1 = e^−4."""
    first, second = step_limits(1.9, 2.0, 1.0, 1e4, 0.25, 2), step_limits(3.9, 4.0, 1.0, 1e4, 0.25, 2)
    assert (first.terms / first.bounds)[0, 0] == pytest.approx(0.9974, abs=1e-4)
    assert (second.terms / second.bounds)[0, 1] == pytest.approx(0.9987, abs=1e-4)
    assert at_exponent(3.9, 4.0).verdict is Verdict.HOLDS
    assert at_exponent(1.9, 2.0).parts[0].kept is False


def test_the_drawn_terms():
    evidence = section_4_3_step_size(draw_step_limits(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert [part.tightness for part in evidence.parts] == [pytest.approx(1)] * 3


def times(name, factor):
    return {name: lambda value: factor * value}


def two_phases():
    return [phase(), phase()]


SCHEDULE = ("schedule", times("step_scale", 1 + 5e-13), times("step_scale", 1 + 5e-12))
BAND = ("bandwidth", times("bandwidth", 1 + 5e-13), times("bandwidth", 1 + 5e-12))
UNIT_INPUTS = ("unit_inputs", {"unit_error": 5e-10}, {"unit_error": 5e-9})
FIRST_LOSS = isolating().losses[0]
test_control = controls(
    theorem_2,
    {
        section_4_3_rate: isolating,
        section_4_3_step_size: [USUAL, step_limits(4.0, 4.0, 1.0, 1e4, 0.25, 2)],
        Phases: two_phases,
    },
    *(
        (claim, *row)
        for claim in (theorem_2b, theorem_2b_trend, section_4_3_rate)
        for row in (SCHEDULE, BAND, UNIT_INPUTS)
    ),
    (theorem_2b, "peak", {}, {"losses": np.full(200, 0.5)}),
    (theorem_2b_trend, "later", {"losses": at_half(1 - 1e-6)}, {"losses": at_half(1 + 1e-6)}),
    (theorem_2b_trend, "falls", {}, {"losses": with_entry(7, lambda loss: 1.5 * loss)}),
    (section_4_3_rate, "inverse", {"losses": at_the_rate(1.0)}, {"losses": at_the_rate(0.99)}),
    (section_4_3_rate, "minimum", {}, {"losses": with_entry(1, FIRST_LOSS * (1 + 1e-9))}, "inverse"),
    (section_4_3_rate, "beta_positive", {}, {"beta": 0.0}),
    (section_4_3_rate, "beta_below_half", {}, {"beta": 0.5}, "norm_high"),
    (
        section_4_3_rate,
        "first_loss",
        {"losses": with_entry(0, THRESHOLD * (1 - 1e-9))},
        {"losses": with_entry(0, THRESHOLD * (1 + 1e-9))},
    ),
    (section_4_3_rate, "norm_low", {"norm": 0.6 * UNIT * (1 + 1e-9)}, {"norm": 0.6 * UNIT * (1 - 1e-9)}),
    (section_4_3_rate, "norm_high", {"norm": 3 * UNIT * (1 - 1e-9)}, {"norm": 3 * UNIT * (1 + 1e-9)}),
    *(
        (section_4_3_step_size, key, one_term(place, 1 - 5e-13), one_term(place, 1 - 5e-12))
        for place, key in enumerate(("first", "second", "third"))
    ),
    but=(theorem_2a, theorem_2a_trend, one_step_limit),
)


def test_networks_after_a_step():
    """L_1 over exp(−C_4 p^(1/2−β)), and ‖V‖ over 3/5·√(d/p^β)."""
    made = step_limits(4.0, 5.0, 0.7, 1e4, 0.25, 2)
    assert (made.exponents[0], made.over[0], made.under[0]) == pytest.approx((4, np.exp(-1), 0.7))
