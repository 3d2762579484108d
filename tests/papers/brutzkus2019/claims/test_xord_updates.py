"""Trajectories on diverse points: one pair, the closed form, kinks, the split of the outputs, and XOR as a case."""

import functools
from dataclasses import fields, replace

import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges
from tests.papers.brutzkus2019.claims.trained_edges import point_edges
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Choices, Specimen
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.claims import xord_updates
from widenet.papers.brutzkus2019.claims.xord_updates import (
    equation_7_8,
    footnote_3,
    footnote_10,
    observation_decomposition,
    observation_one_pair,
)
from widenet.papers.brutzkus2019.runs.one_patch import OnePatchSetting, one_patch
from widenet.papers.brutzkus2019.runs.xord_descent import (
    DescentSetting,
    XordRuns,
    descend,
    descents,
    diverse_part,
    diverse_points,
    follow,
    observe,
    runs_on,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import Dataset

ON_DIVERSE = (observation_one_pair, equation_7_8, footnote_10, observation_decomposition)
SMALL = {"half_width": 8, "margin": 2.0, "n_runs": 2}
ONE_PATCH = PATTERNS[[1] * 7].reshape(1, -1)
"""A negative point with the pattern p_2 alone."""


def from_fits(w, u, step_size, margin, per_step=64):
    """One run from fits (⟨w, p_1⟩, ⟨w, p_2⟩) in units of η/64."""
    filters = np.array([*w, *u], float) @ PATTERNS[:2] / 2 * (step_size / per_step)
    return XordRuns(diverse_points(1), filters[None], step_size, margin)


@functools.cache
def runs():
    return runs_on(diverse_points(1), **SMALL, seed=2)


@functools.cache
def followed():
    return follow(runs())


def d4():
    """k = 2, T = 20; phases bbbbbbbbbmbmbmbmpmmp: both points active, only x⁻, only x⁺."""
    return from_fits([(11, 3), (-9, 4)], [(5, -13), (-7, 2)], 1 / 16, 2.0)


@functools.cache
def followed_from_d4():
    return follow(d4())


@functools.cache
def default():
    return descents.run(descents.settings(Scale.QUICK, 1)[0], silent)


def with_one_non_diverse(data):
    inputs = np.asarray(data.inputs).copy()
    inputs[-1] = ONE_PATCH
    return Dataset(jnp.asarray(inputs), data.labels)


@functools.cache
def mixed():
    return follow(runs_on(with_one_non_diverse(diverse_points(1)), **SMALL))


def unmet(evidence):
    return [h.name for h in evidence.hypotheses if not h.met]


def broken(evidence):
    return [part.name for part in evidence.parts if part.kept is False]


def altered(run, name, time, by):
    """The record with one number of the first run moved."""
    values = getattr(run, name).copy()
    values[time, 0] += by
    return replace(run, **{name: values})


def cut(run, length):
    """The record up to this time."""
    series = {field.name: getattr(run, field.name) for field in fields(run)}
    return replace(run, **{name: value[:length] for name, value in series.items() if np.ndim(value) > 1})


@pytest.mark.parametrize("claim", ON_DIVERSE, ids=lambda claim: claim.id)
def test_verdict_on_the_default_setting(claim):
    """The one default cell, at seed 1; the four claims read it alike."""
    assert claim.reads == (descents,)
    evidence = claim([default()])
    assert evidence.verdict is claim.expected
    assert all(h.met for h in evidence.hypotheses)
    assert not evidence.vacuous


def off(claim, name, by, time=7):
    """The claim with one number of the record moved."""
    return claim([altered(followed(), name, time, by)])


@breaks_part(observation_one_pair, "the same weights at every t")
def test_control_another_path_than_that_of_a_pair():
    return (
        off(observation_one_pair, "pair_distance", 0.9e-12 - followed().pair_distance[7, 0]),
        off(observation_one_pair, "pair_distance", 1.1e-12),
    )


def step_off(letter, by):
    """Eq. 7 and 8 where the step at t = 7, with both points active, is off for the w's or for the u's."""
    residual = followed().residual.copy()
    residual[7, 0, 1, 1, letter] = by
    return equation_7_8([replace(followed(), residual=residual)])


@breaks_part(equation_7_8, "the w's")
def test_control_a_step_of_a_w():
    return step_off(0, 0.9e-12), step_off(0, 1.1e-12)


@breaks_part(equation_7_8, "the u's")
def test_control_a_step_of_a_u():
    return step_off(1, 0.9e-12), step_off(1, 1.1e-12)


@pytest.mark.parametrize("time", [0, 9, 16, 20, 100])
def test_the_active_points_decide_which_step_is_compared(time):
    """D4 has both points active at t = 0, only x⁻ at 9, only x⁺ at 16, and none from 20 on."""
    phase = {0: (1, 1), 9: (0, 1), 16: (1, 0)}.get(time, (0, 0))
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        residual = followed_from_d4().residual.copy()
        residual[time, 0, a, b] = 1.0
        evidence = equation_7_8([replace(followed_from_d4(), residual=residual)])
        assert broken(evidence) == (["the w's", "the u's"] if (a, b) == phase else [])


@pytest.mark.parametrize(("output", "active"), [(1 - 1e-15, True), (1.0, False)])
def test_a_point_at_its_margin_is_not_active(output, active):
    """N(x⁺) = γ, and −N(x⁻) = 1."""
    residual = followed().residual.copy()
    residual[7, 0] = 0.0
    residual[7, 0, 0, 0] = 1.0
    changed = replace(followed(), residual=residual)
    for name, values in (("positive_output", 2.0 * output), ("negative_output", -output)):
        other = "negative_output" if name == "positive_output" else "positive_output"
        record = altered(changed, name, 7, values - getattr(followed(), name)[7, 0])
        rest = 2.0 if other == "positive_output" else -1.0
        record = altered(record, other, 7, rest - getattr(followed(), other)[7, 0])
        assert bool(broken(equation_7_8([record]))) is not active


KINK, LATTICE = "no fit is ever 0", "fits change by multiples of 2η"


@breaks_part(footnote_10, KINK)
def test_control_a_fit_of_zero():
    smallest = followed().smallest_fit[7, 0]
    return off(footnote_10, "smallest_fit", 1e-15 - smallest), off(footnote_10, "smallest_fit", -smallest)


@breaks_part(footnote_10, LATTICE)
def test_control_a_step_that_is_no_multiple():
    now = followed().off_lattice[7, 0]
    return off(footnote_10, "off_lattice", 0.9e-9 - now), off(footnote_10, "off_lattice", 1.1e-9 - now)


@breaks_hypothesis(footnote_10, "off_lattice")
def test_control_a_start_on_the_lattice():
    inside, outside = (footnote_10([replace(followed(), lattice_distance=np.array([0.3, d]))]) for d in (1e-15, 0.0))
    return inside, outside


REST, SPLIT = "R is the same on all points", "N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻"


@breaks_part(observation_decomposition, REST)
def test_control_a_rest_that_differs():
    return (
        off(observation_decomposition, "rest_spread", 0.9e-10 - followed().rest_spread[7, 0]),
        off(observation_decomposition, "rest_spread", 1.1e-10),
    )


@breaks_part(observation_decomposition, SPLIT)
def test_control_a_sum_just_off():
    return off(observation_decomposition, "s_plus", 0.9e-10), off(observation_decomposition, "s_plus", 1.1e-10)


def training_edges(claim):
    """The edges of a diverse training set."""

    def judged(points):
        return claim([replace(followed(), training=points), default()])

    return {
        f"{claim.name}-{key}": breaks_hypothesis(claim, key)(
            lambda inside=inside, outside=outside: (judged(inside), judged(outside))
        )
        for key, (inside, outside, _) in point_edges().items()
    }


EDGES = {what: test for claim in ON_DIVERSE for what, test in training_edges(claim).items()}


@pytest.mark.parametrize("what", EDGES)
def test_control_each_hypothesis_at_its_edge(what):
    EDGES[what]()


def test_steps_of_every_kind_are_in_the_default_setting():
    steps = equation_7_8([default()]).details["steps"]
    assert min(steps.values()) > 0


def test_the_toy_run_of_every_phase():
    evidence = equation_7_8([followed_from_d4()])
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.details["last_update"] == [20]
    assert evidence.details["steps"] == {"both": 12, "only_negative": 6, "only_positive": 2, "none": 128 * 2 - 20}


def test_control_one_non_diverse_point_changes_the_trajectory():
    evidence = observation_one_pair([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert unmet(evidence) == ["points that are not diverse"]
    assert evidence.measured is not None
    assert evidence.measured > 0.01


def test_control_a_weight_that_differs_from_the_run_on_one_pair():
    assert broken(observation_one_pair([altered(followed(), "pair_distance", 7, 1e-9)])) == [
        "the same weights at every t"
    ]


def test_the_diverse_part_of_own_data():
    data = with_one_non_diverse(diverse_points(1))
    assert diverse_part(data).n_samples == 10
    choices = Choices(n_neurons=16, n_runs=2, required_margin=2.0, diverse_only=True)
    (setting,) = observation_one_pair.on(Specimen(data, choices))
    assert (setting.half_width, setting.n_runs, setting.required_margin) == (8, 2, 2.0)
    run = descents.run(setting, silent)
    assert run.n_points == 10
    for claim in ON_DIVERSE:
        assert claim.on(Specimen(data, choices)) == [setting]
        assert claim([run]).verdict is Verdict.HOLDS


def test_own_data_as_it_is_and_few_networks_on_it():
    data = with_one_non_diverse(diverse_points(1))
    (setting,) = equation_7_8.on(Specimen(data, Choices(n_runs=600)))
    assert setting.n_runs == 20
    run = descents.run(setting.model_copy(update={"n_runs": 1, "half_width": 2}), silent)
    assert observation_decomposition([run]).verdict is Verdict.HYPOTHESES_NOT_MET


def test_own_points_that_are_not_of_xord_are_left_out_and_counted():
    points = diverse_points(1)
    data = Dataset(points.inputs.at[0, 0].set(0.5), points.labels.at[11].set(1.0))
    (setting,) = equation_7_8.on(Specimen(data, Choices(n_neurons=4, n_runs=1)))
    run = descents.run(setting, silent)
    assert (run.n_points, run.training.not_signs, run.training.mislabelled) == (10, 1, 1)
    evidence = equation_7_8([run])
    assert [h.key for h in evidence.hypotheses if not h.met] == ["signs", "labels"]
    assert evidence.conclusion is True


@pytest.mark.parametrize("claim", ON_DIVERSE, ids=lambda claim: claim.id)
def test_data_it_cannot_speak_about_is_met_with_silence(claim):
    points = diverse_points(1)
    reasons = {
        "made of pairs": Dataset(points.inputs[:, :7], points.labels),
        "of each class, got 0 of +1 and 0 of -1; left out: 12 with an entry": Dataset(points.inputs / 2, points.labels),
        "got 0 of +1 and 0 of -1; left out: 12 with a label": Dataset(points.inputs, -points.labels),
        "got 6 of +1 and 0 of -1": points[np.arange(6)],
    }
    for words, data in reasons.items():
        answer = claim.on(Specimen(data))
        assert isinstance(answer, Silence)
        assert words in answer
    one_class = Specimen(points[np.arange(6)], Choices(diverse_only=True))
    assert "Among diverse points alone" in claim.on(one_class)


def test_control_data_with_one_class_are_not_judged():
    only = follow(runs_on(diverse_points(1)[np.arange(6)]))
    for claim in ON_DIVERSE:
        evidence = claim([only])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert evidence.conclusion is None
        assert "points in the smaller class" in unmet(evidence)


@pytest.mark.parametrize("labels", [(0.0, 1.0), (-2.0, 2.0)])
def test_control_labels_that_are_not_signs_are_not_judged(labels):
    data = diverse_points(1)
    other = follow(runs_on(Dataset(data.inputs, jnp.where(data.labels > 0, labels[1], labels[0]))))
    for claim in ON_DIVERSE:
        evidence = claim([other])
        assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
        assert "points whose label is not f*(x)" in unmet(evidence)


def test_control_a_pair_is_not_compared_with_itself():
    """Copies of one pair are that pair; a third point makes the comparison one."""
    data = diverse_points(1)
    for places, verdict in (([0, 0, 6, 6], Verdict.INSUFFICIENT_EVIDENCE), ([0, 1, 6, 6], Verdict.HOLDS)):
        evidence = observation_one_pair([follow(runs_on(data[np.array(places)], **SMALL))])
        assert evidence.verdict is verdict


def test_control_the_printed_indicator_never_stops():
    evidence = equation_7_8([followed()], is_active=lambda values: values < 1)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured == pytest.approx(runs().step_size)
    assert equation_7_8([followed()]).verdict is Verdict.HOLDS
    assert broken(equation_7_8([followed_from_d4()], is_active=lambda values: values < 1)) == ["the w's", "the u's"]


@pytest.mark.parametrize(("channel", "part"), [(0, "the w's"), (3, "the u's")])
def test_control_a_filter_that_moves_otherwise(channel, part):
    """Both weights are along p_2, in which no filter of D4 changes its cone or side for so little."""
    path = descend(d4())
    path[9:, 0, channel] += 1e-9 * PATTERNS[1]
    record = replace(cut(followed_from_d4(), len(path) - 1), **observe(path, d4()))
    assert broken(equation_7_8([record])) == [part]


def test_control_a_run_that_is_cut_off_is_not_decided():
    evidence = equation_7_8([cut(followed(), 5)])
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert evidence.runs.unfinished == 2


def test_control_the_closed_form_on_a_mixed_set():
    evidence = equation_7_8([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False


def test_control_a_start_on_the_lattice_meets_the_kink():
    step = 2.0**-9
    filters = np.array([[[2.5, 0.5], [0.3, 0.1]]]) * step
    evidence = footnote_10([follow(XordRuns(diverse_points(1), filters, step, 8.0))])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert broken(evidence) == ["no fit is ever 0"]
    assert evidence.measured == 0


@pytest.mark.parametrize(
    ("fit", "verdict"), [(2.0, Verdict.HYPOTHESES_NOT_MET), (1.0, Verdict.HOLDS), (2 + 1e-6, Verdict.HOLDS)]
)
def test_multiples_of_two_steps_matter_and_not_of_one(fit, verdict):
    """w_0 with fits (3η, fit·η): from 2η the fit is 0 after one step; from η, which print excludes, never."""
    run = from_fits([(3.0, fit)], [(0.3, 0.7)], 2.0**-9, 8.0, per_step=1)
    evidence = footnote_10([follow(run)])
    assert evidence.verdict is verdict
    assert (evidence.measured == 0) is (verdict is not Verdict.HOLDS)


def test_control_steps_that_are_no_multiples():
    """A sixth of the negative points lacks p_4: its share of a step is a sixth."""
    evidence = footnote_10([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert broken(evidence) == ["fits change by multiples of 2η"]
    assert broken(footnote_10([altered(followed(), "off_lattice", 3, 1e-6)])) == ["fits change by multiples of 2η"]


def test_control_a_point_with_one_pattern_breaks_the_split():
    evidence = observation_decomposition([mixed()])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert evidence.conclusion is False
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


@pytest.mark.parametrize("name", ["s_plus", "p_plus", "s_minus", "p_minus", "positive_output", "negative_output"])
def test_control_one_sum_that_is_off(name):
    evidence = observation_decomposition([altered(followed(), name, 11, 1e-6)])
    assert broken(evidence) == ["N(x⁺) − N(x⁻) = S⁺ − P⁺ + P⁻ − S⁻"]


@pytest.mark.parametrize("half_width", [2, 17])
def test_xor_is_xord_with_one_patch(half_width):
    assert half_width in {setting.half_width for setting in one_patch.settings(Scale.QUICK, 1)}
    evidence = footnote_3([one_patch.run(OnePatchSetting(half_width=half_width, n_runs=5), silent)])
    assert evidence.verdict is Verdict.HOLDS
    assert all(h.met for h in evidence.hypotheses)
    assert footnote_3.reads == (one_patch,)


@functools.cache
def both_records():
    return one_patch.run(OnePatchSetting(half_width=2, n_runs=5), silent)


def test_control_xor_and_xord_with_the_same_step():
    evidence = footnote_3([one_patch.run(OnePatchSetting(half_width=17, n_runs=5, step_ratio=1.0), silent)])
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.measured is not None
    assert evidence.measured > 1e-3


@pytest.mark.parametrize(
    ("name", "time", "part"),
    [
        ("xor_weights", 2, "the same weights at every t"),
        ("xor_outputs", 2, "the same outputs at every t"),
        ("xord_outputs", -1, "the same outputs at every t"),
    ],
)
def test_control_one_number_of_the_record(name, time, part):
    assert part in broken(footnote_3([altered(both_records(), name, time, 1e-9)]))


def beside(**changes):
    """Footnote 3 with one number of the record moved, name=(place, by)."""
    arrays = {}
    for name, (place, by) in changes.items():
        arrays[name] = getattr(both_records(), name).copy()
        arrays[name][place] += by
    return footnote_3([replace(both_records(), **arrays)])


WEIGHTS, OUTPUTS, LOSSES, LABELS = (
    "the same weights at every t",
    "the same outputs at every t",
    "half the loss at every t",
    "the same labels",
)
PER_FILTER = 4
"""Four filters: outputs are compared per filter."""

test_control_footnote_3_part_by_part = part_edges(
    footnote_3,
    beside,
    {
        WEIGHTS: ({"xor_weights": ((2, 3, 1, 0), 0.9e-12)}, {"xor_weights": ((2, 3, 1, 0), 1.1e-12)}),
        # At the end x_1 is beyond its margin, where the loss does not see it.
        OUTPUTS: (
            {"xor_outputs": ((-1, 3, 0), 0.9e-12 * PER_FILTER)},
            {"xor_outputs": ((-1, 3, 0), 1.1e-12 * PER_FILTER)},
        ),
    },
)


@breaks_part(footnote_3, LOSSES)
def test_control_a_loss_ratio_just_off():
    """The loss starts at 4, and 1e-10 counts as nothing."""
    return footnote_3([both_records()], loss_ratio=2 * (1 + 2e-11)), footnote_3(
        [both_records()], loss_ratio=2 * (1 + 3e-11)
    )


@breaks_part(footnote_3, LABELS, also=(LOSSES,))
def test_control_one_other_label():
    """The hinges of a loss are those of its labels."""
    labels = both_records().xor_labels.copy()
    labels[2] *= -1
    return footnote_3([replace(both_records(), xor_labels=labels)])


@breaks_hypothesis(footnote_3, "step_constant")
def test_control_a_step_of_one_half():
    inside, outside = (footnote_3([replace(both_records(), step_constant=c)]) for c in (np.nextafter(0.5, 0), 0.5))
    return inside, outside


def test_control_the_loss_itself_and_not_half_of_it():
    assert broken(footnote_3([both_records()], loss_ratio=1.0)) == ["half the loss at every t"]


def test_control_other_labels():
    swapped = replace(both_records(), xor_labels=-both_records().xor_labels)
    assert broken(footnote_3([swapped])) == ["half the loss at every t", "the same labels"]


@pytest.mark.parametrize(("constant", "met"), [(0.499, True), (0.5, False)])
def test_the_step_that_footnote_3_allows(constant, met):
    (hypothesis,) = footnote_3([replace(both_records(), step_constant=constant)]).hypotheses
    assert hypothesis.met is met


def test_settings_are_shared_by_equal_values():
    assert descents.settings(Scale.QUICK, 3) == [DescentSetting(seed=3)]
    assert len(set(descents.settings(Scale.PAPER, 0))) == 10


test_every_part_has_a_control = every_part_of(
    xord_updates,
    except_for={
        "equation_7_8: seen until after the last update": "a record that ends too early decides and breaks nothing",
        "footnote_3: seen until nothing moves": "a record that ends too early decides and breaks nothing",
    },
)
