"""Lemma 15, parts 1, 2, 3 and 5, at the edges of their bounds."""

import functools
import math

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.cluster_toys import (
    ONE_IN_SIXTY,
    centres,
    clusters,
    columns,
    expects,
    narrowed,
    twice,
    with_entry,
)
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import lemma_15_capture
from widenet.papers.chatterji2021.claims.lemma_15_capture import lemma_15_1, lemma_15_2, lemma_15_3, lemma_15_5
from widenet.papers.chatterji2021.claims.starts import RandomStarts
from widenet.papers.chatterji2021.runs.first_steps import lemma_15_settings, run_first_steps
from widenet.papers.chatterji2021.runs.start_draws import StartDraws, StartSetting, run_start_draws
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import Dataset

P, BETA, N = 2000, 0.45, 8


def sigma():
    return f.initial_deviation(P, BETA, "sec4")


def level():
    return f.capture_level(P, BETA, "sec4")


def mean():
    return P * f.captured_mean(level(), sigma())


def bound_of_counts(sign):
    return P * (f.captured_share(level(), sigma()) + sign * f.tight_slack(P, 4 * N))


def test_the_sums_without_the_slack_of_one_are_broken_in_most_runs():
    cell = clusters()
    assert (cell.helpful_sum.min(axis=1) < mean()).mean() > 0.6
    assert (cell.harmful_sum.max(axis=1) > mean()).mean() > 0.6
    assert np.abs(cell.helpful_sum - mean()).max() < 1


def test_the_lower_side_says_nothing_where_the_sum_is_below_one():
    """pχ ≤ 1, and a sum of positive numbers is at least 0."""
    narrow = altered(clusters(), deviation=0.12 * sigma())
    assert narrow.half_width * f.captured_mean(narrow.level, narrow.deviation) < 1
    assert lemma_15_1([narrow]).parts[0].vacuous
    assert not lemma_15_1([clusters()]).parts[0].vacuous


def counts(sign, beyond):
    """Two runs of 120 with one count at the last whole number inside the bound, or one beyond it."""
    inside = math.floor(bound_of_counts(1)) if sign > 0 else math.ceil(bound_of_counts(-1))
    return with_entry((slice(0, 2), 2), inside + sign * beyond)


def test_how_often_a_count_may_fail():
    """δ/4 = 0.0025 for each of the four: two failures of 60 are too many, one decides nothing."""
    low = math.ceil(bound_of_counts(-1)) - 1
    cells = [altered(clusters(), helpful=with_entry((slice(0, n), 0), low)) for n in (0, 1, 2)]
    parts = [lemma_15_2([cell]).parts[0] for cell in cells]
    assert [part.kept for part in parts] == [True, None, False]


def test_control_half_instead_of_zeta():
    """The counts are nowhere near p/2 at these widths."""
    assert lemma_15_2([columns(clusters()).replace(captured=0.5)]).verdict is Verdict.VIOLATED


@functools.cache
def draws():
    return run_start_draws(StartSetting(half_width=200, n_draws=4000), silent)


def wide(at=(0, 0.5), factor=1.0):
    """p^(−β/4) is below 1/2, and δ below 1, only for wide networks; the pulls of some runs are altered."""
    pulls = with_entry(at[0], at[1])(0.5 + 0 * clusters().pulls)
    cell = altered(clusters(), half_width=10**12, bandwidth=1e-12, pulls=pulls)
    return [cell], [altered(draws(), outputs=lambda a: factor * a)]


ONE = (0, 1)
SLACK = (1e12) ** (-0.45 / 4)


def test_the_band_of_the_deviation():
    """0.775 to 0.84 at p = 1000, where the exact value is 0.8074."""
    exact = f.first_output_deviation(1000, 0.25, "sec4")
    for factor, kept in (
        (0.776 / 0.8074, True),
        (0.774 / 0.8074, False),
        (0.839 / 0.8074, True),
        (0.841 / 0.8074, False),
    ):
        outputs = factor * exact * np.repeat([1.0, -1.0], 10)
        drawn = StartDraws(outputs, np.ones(20), 1000, 2, 0.25, "sec4", 0.01)
        assert lemma_15_3([clusters()], [drawn]).parts[2].kept is kept


def test_narrow_networks_promise_nothing_about_pulls():
    evidence = lemma_15_3([altered(clusters(), half_width=100, bandwidth=0.01)], [draws()])
    assert [part.vacuous for part in evidence.parts[:2]] == [True, True]


def test_control_pulls_of_p_to_the_minus_beta_are_missed():
    assert (np.abs(clusters().before).max(axis=1) > 2000**-0.45).mean() > 0.5


def pairs(beyond):
    """The count of an opposite pair at the last whole number inside the bound, or one beyond, in two runs."""
    bound = P * (f.opposite_share(0.0, 0.01) + f.tight_slack(P, N**2))
    return lambda a: with_entry((slice(0, 2), 0, 5), math.floor(bound + beyond))(a)


def test_a_pair_of_one_class_does_not_count():
    many = altered(clusters(), helpful_touched=with_entry((slice(None), 0, 2), 1e9))
    assert lemma_15_5([many]).verdict is Verdict.HOLDS


def test_the_slack_of_the_paper_says_nothing_here():
    """p^(−1/4) in place of the tight one exceeds every count."""
    cell = clusters()
    assert P * (f.opposite_share(cell.overlap, cell.radius) + P**-0.25) > cell.helpful.max()


def test_the_bounds_their_trivial_sides_and_how_often_they_may_fail():
    """Written out once more, in the toy."""
    cell, zeta, slack = columns(clusters()), f.captured_share(level(), sigma()), f.tight_slack(P, 32)
    expects(
        lemma_15_capture.helpful_sums(cell), mean() - 1, 0, N * math.exp(f.captured_sum_tail(level(), sigma(), P, -1))
    )
    expects(
        lemma_15_capture.harmful_sums(cell),
        mean() + 1,
        np.nan,
        N * math.exp(f.captured_sum_tail(level(), sigma(), P, 1)),
    )
    for counts in (cell.helpful, cell.harmful):
        expects(lemma_15_capture.few_captured(cell, counts.min(axis=1), ""), P * (zeta - slack), 0, 0.0025)
        expects(lemma_15_capture.many_captured(cell, counts.max(axis=1), ""), P * (zeta + slack), P, 0.0025)
    failure = 16 * math.exp(-(P ** (BETA / 2)) / 4)
    expects(lemma_15_capture.pulls_above(cell), 0.5 + P ** (-BETA / 4), 1, failure)
    expects(lemma_15_capture.pulls_below(cell), 0.5 - P ** (-BETA / 4), 0, failure)
    opposite = P * (1 / 3 + cell.overlap / 4 + cell.radius + f.tight_slack(P, 64))
    expects(lemma_15_capture.helpful_touched(cell), opposite, cell.helpful.max(axis=1), 0.005)
    expects(lemma_15_capture.harmful_touched(cell), opposite, cell.harmful.max(axis=1), 0.005)


def test_pairs_of_one_class_are_left_out_of_the_count():
    """All counts of opposite pairs 0: then the largest is 0."""
    cell = altered(clusters(), helpful_touched=lambda a: np.where(clusters().opposite, 0.0, a))
    assert columns(cell).helpful_touch.tolist() == [0.0] * 60
    assert columns(narrowed(clusters(), 4)).helpful_touch.tolist() == [0.0] * 60


def test_details_have_the_scaling_and_what_is_compared():
    (row,) = lemma_15_1([clusters("exact")]).details["cells"]
    assert row["scaling"] == "exact"
    assert row["mean"] == pytest.approx(P * f.captured_mean(*exact_scales()))
    assert row["spread"] == pytest.approx(clusters("exact").helpful_sum.std(), rel=0.1)
    (row,) = lemma_15_2([clusters("exact")]).details["cells"]
    assert row["share"] == pytest.approx(f.captured_share(*exact_scales()))
    (row,) = lemma_15_5([clusters()]).details["cells"]
    assert row["share"] == pytest.approx(f.opposite_share(clusters().overlap, clusters().radius))
    (row,) = lemma_15_3([clusters()], [draws()]).details["cells"]
    assert row["largest"] == pytest.approx(np.abs(clusters().pulls - 0.5).max())


def exact_scales():
    return f.capture_level(P, BETA, "exact"), f.initial_deviation(P, BETA, "exact")


def test_quick_settings_have_both_scalings():
    settings = lemma_15_settings(Scale.QUICK, 0)
    assert {each.scaling for each in settings} == {"sec4", "exact"}
    assert all(each.n_runs >= 60 for each in settings)


CORNERS = np.array([(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0)]) / np.sqrt(2)


@pytest.mark.parametrize(
    ("inputs", "labels", "words"),
    [
        (CORNERS, [1, 1, 1, 1], "two classes"),
        (CORNERS[:3], [1, 1, -1], "at least 4 points"),
        (2 * CORNERS, [1, 1, -1, -1], "norms from 2 to 2"),
        (np.tile(CORNERS, (26, 1)), [1, 1, -1, -1] * 26, "at most 100 points"),
    ],
)
def test_silence_names_what_is_missing(inputs, labels, words):
    said = lemma_15_1.on(UserData(Dataset(jnp.asarray(inputs), jnp.asarray(labels, float))))
    assert isinstance(said, NotApplicable)
    assert words in said


def test_it_speaks_about_data_on_the_sphere():
    angles = np.radians([-45, -40, 130, 135, 40, 45, 220, 225])
    data = from_arrays(np.stack([np.cos(angles), np.sin(angles)], axis=1), np.repeat([1.0, -1.0], 4))
    settings = lemma_15_2.on(UserData(data, Choices(n_runs=3))).settings
    cells = [run_first_steps(setting, silent) for setting in settings]
    assert lemma_15_1(cells).verdict is Verdict.HOLDS
    assert lemma_15_2(cells).verdict is Verdict.HOLDS
    assert lemma_15_5(cells).verdict is Verdict.HOLDS
    assert cells[0].radius == pytest.approx(2 * np.sin(np.radians(1.25)))
    starts, drawn = lemma_15_3.on(UserData(data)).settings
    assert lemma_15_3(cells, [draws()]).verdict is Verdict.HOLDS
    assert len(starts) == 2
    assert len(drawn) == 1


def at_sum(name, value):
    return {name: with_entry((3, 5), value), f"{name}_failure": ONE_IN_SIXTY}


def touching(name, beyond):
    return {"overlap": 0.0, "radius": 0.01, name: pairs(beyond)}


def pulled(share):
    """One run with a pull so many slacks away from 1/2."""
    return at(functools.partial(wide, (ONE, 0.5 + share * SLACK)), pull_failure=ONE_IN_SIXTY)


MANY = twice(clusters())
TIGHT, NEAR = columns(centres(10**4)), {"overlap": 0.0, "radius": 0.01}
test_control = controls(
    lemma_15_capture,
    {lemma_15_3: wide, RandomStarts: clusters},
    (lemma_15_1, "helpful", at_sum("helpful_sum", mean() - 1 + 1e-9), at_sum("helpful_sum", mean() - 1 - 1e-9)),
    (lemma_15_1, "harmful", at_sum("harmful_sum", mean() + 1 - 1e-9), at_sum("harmful_sum", mean() + 1 + 1e-9)),
    (lemma_15_2, "helpful_low", at(MANY, helpful=counts(-1, 0)), at(MANY, helpful=counts(-1, 1))),
    (lemma_15_2, "helpful_high", at(MANY, helpful=counts(1, 0)), at(MANY, helpful=counts(1, 1))),
    (lemma_15_2, "harmful_low", at(MANY, harmful=counts(-1, 0)), at(MANY, harmful=counts(-1, 1))),
    (lemma_15_2, "harmful_high", at(MANY, harmful=counts(1, 0)), at(MANY, harmful=counts(1, 1))),
    (
        lemma_15_2,
        "half",
        at(TIGHT, capture_loss=0.5 - TIGHT.captured),
        at(TIGHT, capture_loss=0.5 - TIGHT.captured - 1e-12),
    ),
    (lemma_15_3, "above", pulled(1 - 1e-9), pulled(1 + 1e-9)),
    (lemma_15_3, "below", pulled(-1 + 1e-9), pulled(-1 - 1e-9)),
    (lemma_15_3, "deviation", {}, at(functools.partial(wide, factor=1.1))),
    (lemma_15_5, "helpful", touching("helpful_touched", 0), touching("helpful_touched", 1)),
    (lemma_15_5, "harmful", touching("harmful_touched", 0), touching("harmful_touched", 1)),
    (
        lemma_15_5,
        "opposite",
        {**NEAR, "products": with_entry((0, 5), 0.52)},
        {**NEAR, "products": with_entry((0, 5), 0.52 + 1e-11)},
    ),
)
