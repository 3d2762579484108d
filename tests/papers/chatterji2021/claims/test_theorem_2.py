"""Theorem 2: one step, and what follows it."""

import functools
import math

import numpy as np
import pytest

from tests.controls import breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021.claims.test_lifted_units import edges_of_conditions
from tests.papers.chatterji2021.cluster_toys import altered, centres, clusters, narrowed, with_entry
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Choices, Specimen
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import theorem_2
from widenet.papers.chatterji2021.claims.theorem_2 import (
    draw_step_limits,
    gains,
    losses,
    margin_rates,
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
from widenet.papers.chatterji2021.runs.first_steps import run_first_steps
from widenet.papers.chatterji2021.runs.second_phases import Phase, PhaseSetting, run_second_phases
from widenet.progress import silent
from widenet.records import Scale


def wide(p=10_000, runs=10, **fields):
    return altered(centres(p, runs, 0.25, "exact"), **fields)


def cells(keep=4, **last):
    return [wide(1000), wide(3000), altered(narrowed(wide(), keep), **last)]


def judge_a(**last):
    return theorem_2a(cells(**last))


@breaks_part(theorem_2a, "L_1 < exp(−C_4 p^(1/2−β)) for some C_4 > 0")
def test_control_a_loss_of_one():
    one = -math.log(math.e - 1)  # the margin at which log(1 + e^−m) = 1
    return judge_a(after=with_entry(2, one + 1e-9)), judge_a(after=with_entry(2, one - 1e-9))


def test_a_loss_of_exactly_one_is_too_much():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem_2, "margin_rates", lambda cell: np.zeros(3))
        assert theorem_2a([wide(1000)]).parts[0].kept is False


def test_which_points_a_first_step_pushes_the_wrong_way():
    """A third point of the class −1 between the two of +1, nearer to each of them than they are to each other."""
    angles = np.radians([0, 90, 45, 225])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    (setting, _) = theorem_2a.on(Specimen(from_arrays(points, np.array([1.0, 1.0, -1.0, -1.0])), Choices(n_runs=2)))
    found = theorem_2a([run_first_steps(setting, silent)])
    assert found.details["cells"][0]["pushed_the_wrong_way"] == [3]
    assert theorem_2a([wide(1000)]).details["cells"][0]["pushed_the_wrong_way"] == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem_2, "predicted_gain", lambda *_: np.array([[0.05, -0.05, 0.0, 1.0]]))
        assert theorem_2a([wide(1000)]).details["cells"][0]["pushed_the_wrong_way"] == [2]


def conditions_of_theorem_2(claim, judged, *, also=()):
    return hypothesis_edges(
        claim,
        judged,
        unit_inputs=({"products": with_entry((0, 0), 1 + 5e-10)}, {"products": with_entry((0, 0), 1 + 5e-9)}, *also),
        bandwidth=({"bandwidth": lambda h: h * (1 + 5e-13)}, {"bandwidth": lambda h: h * (1 + 5e-12)}),
        start=({"deviation": lambda s: s * (1 + 5e-13)}, {"deviation": lambda s: s * (1 + 5e-12)}),
        first_step=({"step": lambda a: a * (1 + 5e-13)}, {"step": lambda a: a * (1 + 5e-12)}),
        beta_positive=({}, {"beta": 0.0}, "start", "first_step"),
        beta_below_half=({}, {"beta": 0.5}, "start", "first_step"),
        points=({}, {"keep": 3}, *also),
    )


test_control_hypotheses_of_part_a = conditions_of_theorem_2(theorem_2a, judge_a)


def test_the_constant_is_open_and_its_value_shown():
    evidence = judge_a()
    assert evidence.verdict is Verdict.CONSTANT_UNSPECIFIED
    smallest = min(margin_rates(cell).min() for cell in cells())
    assert f"{smallest:.3g}" in evidence.open_constant
    assert margin_rates(wide())[0] == pytest.approx(-math.log(losses(wide())[0]) / 10)
    assert losses(wide())[0] == pytest.approx(np.log1p(np.exp(-wide().after[0])).mean())
    assert [row["scaling"] for row in evidence.details["cells"]] == ["exact"] * 3
    assert evidence.note == f"C_2 must exceed r = 0, Δ = 0, ε = 0; these runs allow C_4 up to {smallest:.3g}."


def test_where_one_step_makes_it_worse_no_constant_is_allowed():
    """And the note says how far the clusters are from those of the theorem."""
    evidence = judge_a(after=with_entry(2, -3.0), radius=0.4, overlap=0.9, imbalance=0.05)
    assert evidence.note == (
        "C_2 must exceed r = 0.4, Δ = 0.9, ε = 0.05; L_1 ≥ 1 in a run here, so no C_4 > 0 is allowed."
    )


def judge_trend(**last):
    return theorem_2a_trend(cells(**last))


def with_loss(loss):
    """One run with this loss after the step, which adds to its margins what it adds elsewhere."""
    margin = -math.log(math.expm1(loss))
    return {"after": with_entry(3, margin), "before": with_entry(3, margin - 0.82)}


BOUND = math.exp(-(10_000**0.25) / 24)
test_control_each_trend = part_edges(
    theorem_2a_trend,
    judge_trend,
    {
        "L_1 ≤ exp(−p^(1/4)/24)": (
            with_loss(BOUND * (1 - 1e-9)), with_loss(BOUND * (1 + 1e-9)),
        ),
        "all margins are positive, in nine runs of ten": (
            {"after": with_entry((0, 1), -1e-9)}, {"after": with_entry((slice(0, 2), 1), -1e-9)},
        ),
        "margins grow like p^(1/4)": ({}, {"before": lambda b: b - 0.3}),
    },
)  # fmt: skip
test_control_hypotheses_of_the_trend = edges_of_conditions(theorem_2a_trend, judge_trend)


def test_control_no_step_at_all():
    """The loss stays at log 2 and a little more, and the bound of p = 10,000 is missed in most runs."""
    still = altered(wide(), after=wide().before)
    assert (losses(still) > BOUND).mean() > 0.5
    assert theorem_2a_trend([wide(1000), still]).parts[0].kept is False


def test_control_conflicting_labels():
    """Two clusters on one point: half of the margins change the wrong way."""
    conflict = altered(wide(), after=with_entry((slice(None), 2), lambda m: -m))
    assert theorem_2a_trend([wide(1000), wide(3000), conflict]).parts[1].kept is False


def test_narrow_networks_are_no_evidence():
    for p, kept in ((1000, True), (9999, True), (10_000, False)):
        bad = altered(wide(1000), half_width=p, after=lambda m: -np.abs(m))
        assert theorem_2a_trend([bad, wide(3000), wide()]).parts[0].kept is kept


def test_the_slope_needs_margins_that_grow():
    assert theorem_2a_trend([wide()]).parts[2].kept is None
    assert theorem_2a_trend([wide(1000), altered(wide(), before=lambda b: b + 9)]).parts[2].kept is None


@pytest.mark.parametrize(("slope", "kept"), [(0.279, True), (0.281, False), (0.221, True), (0.219, False)])
@pytest.mark.parametrize("size", [1.0, 0.01])
def test_the_band_of_the_slope(slope, kept, size):
    """Also where margins grow by little."""
    grown = [
        altered(wide(p), before=lambda b: 0 * b, after=lambda a, p=p: 0 * a + size * p**slope)
        for p in (1000, 3000, 10_000)
    ]
    assert theorem_2a_trend(grown).parts[2].kept is kept


def test_a_margin_of_zero_is_not_positive():
    parts = [judge_trend(after=with_entry((slice(0, runs), 1), 0.0)).parts[1].kept for runs in (1, 2)]
    assert parts == [True, False]
    assert judge_trend(after=with_entry((slice(0, 5), 1), 1e-9)).parts[1].kept is True


@pytest.mark.parametrize(("wrong", "kept"), [(2, True), (3, False)])
def test_nine_runs_of_ten(wrong, kept):
    """18 and 17 of 20."""
    last = altered(wide(runs=20), after=with_entry((slice(0, wrong), 1), -1e-9))
    assert theorem_2a_trend([wide(1000), last]).parts[1].kept is kept


def judge_limit(constant=1 / 24, **last):
    return one_step_limit(cells(**last), constant=constant)


@breaks_part(one_step_limit, "mean change of a margin, over α_0p/24")
def test_control_the_constant_without_biases():
    return judge_limit(), judge_limit(constant=1 / 48)


@pytest.mark.parametrize(("ratio", "kept"), [(0.931, True), (0.929, False), (1.019, True), (1.021, False)])
def test_the_band_of_the_limit(ratio, kept):
    cell = wide()
    change = ratio * cell.step * cell.half_width / 24
    assert one_step_limit([altered(cell, after=cell.before + change)]).parts[0].kept is kept


def test_narrow_networks_are_no_evidence_for_the_limit():
    found = one_step_limit([altered(wide(1000), after=lambda a: a + 99), wide()])
    assert found.parts[0].kept is True
    assert found.parts[0].cases == 1


test_control_hypotheses_of_the_limit = edges_of_conditions(one_step_limit, judge_limit)


def test_the_prediction_of_one_step():
    """With g_0 = 1/2, at a width at which most units have both or none of 0 and h below them."""
    cell = wide(100_000, 3)
    predicted = f.predicted_gain(cell.half_width, cell.step, cell.products, cell.labels, cell.pulls)
    np.testing.assert_allclose(gains(cell), predicted.mean(axis=1), rtol=0.05)
    assert predicted.mean() == pytest.approx(cell.step * cell.half_width / 24, rel=0.1)


def test_a_readers_data():
    corners = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]) / np.sqrt(2)
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    settings = theorem_2a.on(Specimen(from_arrays(corners, labels), Choices(n_runs=2)))
    found = theorem_2a([run_first_steps(setting, silent) for setting in settings])
    assert found.verdict is Verdict.CONSTANT_UNSPECIFIED
    assert [(each.half_width, each.scaling, each.n_runs) for each in settings] == [
        (1000, "exact", 2),
        (10_000, "exact", 2),
    ]
    (later,) = theorem_2b.on(Specimen(from_arrays(corners, labels), Choices(seed=3)))
    assert (later.half_width, later.n_steps, later.seed, later.start) == (200, 3000, 3, "gaussian")
    run = run_second_phases(later.model_copy(update={"n_steps": 20}), silent)
    assert theorem_2b([run]).verdict is Verdict.CONSTANT_UNSPECIFIED
    for claim in (theorem_2a, theorem_2b):
        assert isinstance(claim.on(Specimen(from_arrays(2 * corners, labels))), Silence)


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


FIRST = 9e-9


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


def test_clusters_are_no_centres():
    assert "centres" in [h.key for h in theorem_2a_trend([clusters()]).hypotheses if not h.met]


test_every_part_has_a_control = every_part_of(theorem_2)
