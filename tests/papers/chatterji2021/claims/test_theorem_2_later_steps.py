"""Theorem 2, part (b), and Section 4.3: what follows the first step."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021.cluster_toys import with_entry
from tests.papers.chatterji2021.toys import corners
from tests.papers.records import altered
from widenet.claims.base import Silence, Verdict
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import theorem_2
from widenet.papers.chatterji2021.claims.theorem_2 import (
    draw_step_limits,
    needed_constant,
    one_step_limit,
    section_4_3_rate,
    section_4_3_step_size,
    step_limits,
    theorem_2a,
    theorem_2a_trend,
    theorem_2b,
    theorem_2b_trend,
)
from widenet.papers.chatterji2021.cluster_settings import Centres
from widenet.papers.chatterji2021.formulas import proof_threshold
from widenet.papers.chatterji2021.runs.second_phases import Phase, PhaseSetting, run_second_phases
from widenet.progress import silent
from widenet.records import Scale


def test_later_steps_on_a_readers_data():
    (later,) = theorem_2b.on(corners(seed=3))
    assert (later.half_width, later.n_steps, later.seed, later.start) == (200, 3000, 3, "gaussian")
    run = run_second_phases(later.model_copy(update={"n_steps": 20}), silent)
    assert theorem_2b([run]).verdict is Verdict.CONSTANT_UNSPECIFIED
    assert isinstance(theorem_2b.on(corners(2.0)), Silence)


def phase(**fields):
    """A run that falls like 1/(t + 10)²."""
    made = Phase(
        losses=10.0 / (np.arange(1, 201) + 10) ** 2, norm=1.0,
        step_scale=f.STEP_CONSTANT / 100, half_width=100, bandwidth=0.01, beta=0.25, dim=2, n_points=4, unit_error=0.0,
        start="gaussian",
    )  # fmt: skip
    return altered(made, **fields)


@breaks_part(theorem_2b, "t·L_t is largest before the last half")
def test_control_a_loss_that_stalls():
    return theorem_2b([phase()]), theorem_2b([phase(losses=np.full(200, 0.5))])


@pytest.mark.parametrize(("peak", "kept"), [(100, True), (101, False)])
def test_where_the_product_may_be_largest(peak, kept):
    """Halfway through 200 iterates, and one later."""
    t = np.arange(1, 201)
    assert theorem_2b([phase(losses=np.where(t == peak, 2.0, 1.0) / t)]).parts[0].kept is kept


def test_the_needed_constant():
    found = theorem_2b([phase()])
    assert found.verdict is Verdict.CONSTANT_UNSPECIFIED
    assert needed_constant(phase()) == pytest.approx(10 * 10 / 400 * 100 ** (1 - 0.75) / 2)
    assert f"{needed_constant(phase()):.3g}" in found.open_constant


def at_half(ratio):
    """t·L_t at the end is this multiple of its value halfway, and the loss falls throughout."""
    values = 1 / np.arange(1, 201) ** 1.5
    values[100:] = values[99] * np.linspace(0.99, ratio / 2, 100)
    return values


@breaks_part(theorem_2b_trend, "t·L_t is smaller at the end than halfway")
def test_control_a_rate_just_slower_than_one_over_t():
    return theorem_2b_trend([phase(losses=at_half(1 - 1e-6))]), theorem_2b_trend([phase(losses=at_half(1 + 1e-6))])


def test_equality_is_no_decrease():
    level = altered(phase(losses=at_half(1.0)), losses=with_entry(199, at_half(1.0)[99] / 2))
    assert theorem_2b_trend([level]).parts[1].kept is False
    flat = phase(losses=with_entry(7, phase().losses[6]))
    assert theorem_2b_trend([flat]).parts[0].kept is False


def test_every_phase_counts():
    off = altered(isolating(), step_scale=lambda q: 2 * q, n_points=3)
    small, large = altered(isolating(), norm=0.5 * UNIT), altered(isolating(), norm=4 * UNIT)
    for other, keys in ((off, {"schedule", "points"}), (small, {"norm_low"}), (large, {"norm_high"})):
        for pair in ([isolating(), other], [other, isolating()]):
            assert {h.key for h in section_4_3_rate(pair).hypotheses if not h.met} - {"first_loss"} == keys
    high = altered(isolating(), losses=lambda a: 10 * a)
    for pair in ([isolating(), high], [high, isolating()]):
        assert [h.key for h in section_4_3_rate(pair).hypotheses if not h.met] == ["first_loss"]


@breaks_part(theorem_2b_trend, "L_{t+1} < L_t")
def test_control_one_rise():
    return theorem_2b_trend([phase()]), theorem_2b_trend([phase(losses=with_entry(7, lambda loss: 1.5 * loss))])


OF_PHASES = {
    "schedule": ({"step_scale": lambda q: q * (1 + 5e-13)}, {"step_scale": lambda q: q * (1 + 5e-12)}),
    "points": ({"n_points": 4}, {"n_points": 3}),
    "unit_inputs": ({"unit_error": 5e-10}, {"unit_error": 5e-9}),
    "bandwidth": ({"bandwidth": lambda h: h * (1 + 5e-13)}, {"bandwidth": lambda h: h * (1 + 5e-12)}),
    "beta_positive": ({"beta": 1e-9}, {"beta": 0.0}),
    "beta_below_half": ({"beta": 0.4999}, {"beta": 0.5}),
}


def edges_of_phases(claim):
    """In one of two runs."""
    return hypothesis_edges(claim, lambda **fields: claim([phase(), phase(**fields)]), **OF_PHASES)


test_control_hypotheses_of_part_b = edges_of_phases(theorem_2b)
test_control_hypotheses_of_the_trend_of_part_b = edges_of_phases(theorem_2b_trend)


def test_control_no_steps_after_the_first():
    stuck = run_second_phases(PhaseSetting(points=Centres(), half_width=20, n_steps=40, schedule=1e-12), silent)
    assert theorem_2b_trend([stuck]).parts[1].kept is False


@functools.cache
def isolating():
    return run_second_phases(PhaseSetting(points=Centres(), half_width=30_000, start="isolating", n_steps=30), silent)


def judge_rate(**fields):
    return section_4_3_rate([altered(isolating(), **fields)])


def at_the_rate(share):
    """1/L_2 − 1/L_1 is this share of its promise: some 1e-9 of 1/L_1 per step."""

    def change(values):
        promised = 1 / f.late_loss_bound(2, 30_000, 0.25, values[0], 2.0)
        return with_entry(1, 1 / (1 / values[0] + share * promised))(values)

    return change


RATE = "1/L_t − 1/L_1 ≥ c_1 log⁴(1/L_1)(t − 1)/(d p^(1−β))"
LEAST = "L_t ≤ min{d p^(1−β)/(c_1 log⁴(1/L_1)(t − 1)), L_1}"


@breaks_part(section_4_3_rate, RATE)
def test_control_a_loss_that_falls_too_slowly():
    return judge_rate(losses=at_the_rate(1.0)), judge_rate(losses=at_the_rate(0.99))


@breaks_part(section_4_3_rate, LEAST, also=(RATE,))
def test_control_a_loss_above_the_first():
    return judge_rate(), judge_rate(losses=with_entry(1, lambda loss: isolating().losses[0] * (1 + 1e-9)))


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


test_control_hypotheses_of_the_rate = hypothesis_edges(
    section_4_3_rate,
    judge_rate,
    **{key: OF_PHASES[key] for key in ("schedule", "points", "unit_inputs", "bandwidth")},
    beta_positive=({}, {"beta": 0.0}),
    beta_below_half=({}, {"beta": 0.5}, "norm_high"),
    first_loss=({"losses": with_entry(0, THRESHOLD * (1 - 1e-9))}, {"losses": with_entry(0, THRESHOLD * (1 + 1e-9))}),
    norm_low=({"norm": 0.6 * UNIT * (1 + 1e-9)}, {"norm": 0.6 * UNIT * (1 - 1e-9)}),
    norm_high=({"norm": 3 * UNIT * (1 - 1e-9)}, {"norm": 3 * UNIT * (1 + 1e-9)}),
)


def judge_steps(exponent=4.0, log_loss=None, norm=1.0, terms=None, beside=True):
    made = step_limits(exponent, exponent if log_loss is None else log_loss, norm, 1e4, 0.25, 2)
    made = altered(made, terms=made.terms if terms is None else made.terms * np.asarray(terms))
    usual = step_limits(6.0, 6.0, 1.0, 1e4, 0.25, 2)
    if not beside:
        return section_4_3_step_size(made)
    names = type(made).__annotations__
    return section_4_3_step_size(
        type(made)(*(np.concatenate([getattr(each, name) for each in (made, usual)]) for name in names))
    )


test_control_each_term = part_edges(
    section_4_3_step_size,
    judge_steps,
    {
        "the first term": ({"terms": (1 - 5e-13, 1, 1)}, {"terms": (1 - 5e-12, 1, 1)}),
        "the second term, where C_4 p^(1/2−β) ≥ 4": ({"terms": (1, 1 - 5e-13, 1)}, {"terms": (1, 1 - 5e-12, 1)}),
        "the third term": ({"terms": (1, 1, 1 - 5e-13)}, {"terms": (1, 1, 1 - 5e-12)}),
    },
)


test_control_hypotheses_of_the_terms = hypothesis_edges(
    section_4_3_step_size,
    judge_steps,
    exponent=({"exponent": 2.0}, {"exponent": 1.99}),
    first_loss=({"log_loss": 4.0 - 5e-13}, {"log_loss": 4.0 - 5e-12}),
    norm=({"norm": 1 - 5e-13}, {"norm": 1 - 5e-12}),
)


def test_below_their_exponents_the_terms_fail():
    """0.9974 of the first at 1.9 with L_1 = e^−2, 0.9987 of the second at 3.9 with L_1 = e^−4."""
    first, second = step_limits(1.9, 2.0, 1.0, 1e4, 0.25, 2), step_limits(3.9, 4.0, 1.0, 1e4, 0.25, 2)
    assert (first.terms / first.bounds)[0, 0] == pytest.approx(0.9974, abs=1e-4)
    assert (second.terms / second.bounds)[0, 1] == pytest.approx(0.9987, abs=1e-4)
    assert judge_steps(exponent=3.9, log_loss=4.0).verdict is Verdict.HOLDS
    assert judge_steps(exponent=1.9, log_loss=2.0).parts[0].kept is False


def test_the_drawn_terms():
    evidence = section_4_3_step_size(draw_step_limits(Scale.QUICK, 0))
    assert evidence.verdict is Verdict.HOLDS
    assert [part.tightness for part in evidence.parts] == [pytest.approx(1)] * 3


test_every_part_has_a_control = every_part_of(theorem_2, elsewhere=(theorem_2a, theorem_2a_trend, one_step_limit))
