"""Theorem 2, part (a): one step, its trend with the width, and its limit."""

import math

import numpy as np
import pytest

from tests.control_table import controls
from tests.papers.chatterji2021.cluster_toys import centres, clusters, columns, rows_of_beta, with_entry
from tests.papers.chatterji2021.toys import corners
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.chatterji2021 import cluster_formulas as f
from widenet.papers.chatterji2021.claims import theorem_2
from widenet.papers.chatterji2021.claims.theorem_2 import (
    one_step_limit,
    section_4_3_rate,
    section_4_3_step_size,
    theorem_2a,
    theorem_2a_trend,
    theorem_2b,
    theorem_2b_trend,
)
from widenet.papers.chatterji2021.runs.first_steps import run_first_steps
from widenet.progress import silent


def wide(p=10_000, runs=11, **fields):
    """Eleven runs are the fewest that confirm a share of 3/4."""
    return altered(centres(p, runs, 0.25, "exact"), **fields)


def cells(**last):
    return [wide(1000), wide(3000), altered(wide(), **last)]


def losses(cell):
    """L_1 of every run."""
    return columns(cell).first_loss


def test_which_points_a_first_step_pushes_the_wrong_way():
    """A third point of the class −1 between the two of +1, nearer to each of them than they are to each other."""
    angles = np.radians([0, 90, 45, 225])
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    about = UserData(from_arrays(points, np.array([1.0, 1.0, -1.0, -1.0])), Choices(n_runs=2))
    (setting, _) = theorem_2a.on(about).settings
    found = theorem_2a([run_first_steps(setting, silent)])
    assert found.details["cells"][0]["pushed_the_wrong_way"] == [3]
    assert theorem_2a([wide(1000)]).details["cells"][0]["pushed_the_wrong_way"] == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem_2, "predicted_gain", lambda *_: np.array([[0.05, -0.05, 0.0, 1.0]]))
        assert theorem_2a([wide(1000)]).details["cells"][0]["pushed_the_wrong_way"] == [2]


def test_the_constant_is_open_and_its_value_shown():
    evidence = theorem_2a(cells())
    assert evidence.verdict is Verdict.CONSTANT_UNSPECIFIED
    smallest = min(columns(cell).margin_rate.min() for cell in cells())
    assert f"{smallest:.3g}" in evidence.open_constant
    assert columns(wide()).margin_rate[0] == pytest.approx(-math.log(losses(wide())[0]) / 10)
    assert losses(wide())[0] == pytest.approx(np.log1p(np.exp(-wide().after[0])).mean())
    assert [row["scaling"] for row in evidence.details["cells"]] == ["exact"] * 3
    assert evidence.note == f"C_2 must exceed r = 0, Δ = 0, ε = 0; these runs allow C_4 up to {smallest:.3g}."


def test_where_one_step_makes_it_worse_no_constant_is_allowed():
    """And the note says how far the clusters are from those of the theorem."""
    evidence = theorem_2a(cells(after=with_entry(2, -3.0), radius=0.4, overlap=0.9, imbalance=0.05))
    assert evidence.note == (
        "C_2 must exceed r = 0.4, Δ = 0.9, ε = 0.05; L_1 ≥ 1 in a run here, so no C_4 > 0 is allowed."
    )


def with_loss(loss):
    """One run with this loss after the step, which adds to its margins what it adds elsewhere."""
    margin = -math.log(math.expm1(loss))
    return {"after": with_entry(3, margin), "before": with_entry(3, margin - 0.82)}


def with_wrong_runs(count):
    """This many runs with a margin just below 0, which the step raised as it does elsewhere."""
    return {"after": with_entry((slice(0, count), 1), -1e-9), "before": with_entry((slice(0, count), 1), -0.82)}


BOUND = math.exp(-(10_000**0.25) / 24)


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
    parts = [theorem_2a_trend(cells(after=with_entry((slice(0, 6), 1), after))).parts[1] for after in (0.0, 1e-9)]
    assert [part.kept for part in parts] == [False, True]


@pytest.mark.parametrize(
    ("runs", "wrong", "kept"),
    [(20, 1, True), (20, 2, None), (20, 8, None), (20, 9, False), (38, 4, True), (38, 5, None), (38, 8, None),
     (38, 10, None), (38, 14, None), (38, 15, False)],
)  # fmt: skip
def test_the_share_of_right_runs_is_decided_by_exact_limits(runs, wrong, kept):
    """Not by the share itself: of 38 runs neither 28 nor 29 that are right decide whether 3/4 are."""
    last = altered(wide(runs=runs), after=with_entry((slice(0, wrong), 1), -1e-9))
    part = theorem_2a_trend([wide(1000), last]).parts[1]
    assert part.kept is kept
    assert (part.n_cases, part.broken, part.promised) == (runs, wrong, 0.25)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_run_that_was_lost_is_neither_right_nor_wrong():
    """Of eleven runs one: the other ten are too few."""
    lost = cells(after=with_entry(3, np.nan))
    part = theorem_2a_trend(lost).parts[1]
    assert (part.kept, part.broken, part.undecided) == (None, 0, 1)
    allowed = min(columns(cell).margin_rate[np.arange(len(cell)) != 3].min() for cell in cells())
    found = theorem_2a(lost)
    assert f"L_1 is not a number in 1 of 33 runs, and the others allow C_4 up to {allowed:.3g}" in found.note
    assert "L_1 ≥ 1" not in found.open_constant
    worse = theorem_2a(cells(after=lambda m: with_entry(3, np.nan)(with_entry(2, -3.0)(m))))
    assert "L_1 ≥ 1 in a run here" in worse.note
    nothing = theorem_2a([wide(after=lambda m: np.nan * m)])
    assert "not a number in 11 of 11 runs, and nothing is known of C_4" in nothing.note


def test_a_single_run_of_a_wide_network_does_not_decide():
    """One of eight at the largest width, and all others right: 37 of 38."""
    last = altered(wide(100_000, runs=8), after=with_entry((0, 1), -1e-9))
    assert theorem_2a_trend([wide(1000), wide(runs=30), last]).parts[1].kept is True


@pytest.mark.parametrize(("ratio", "kept"), [(0.931, True), (0.929, False), (1.019, True), (1.021, False)])
def test_the_band_of_the_limit(ratio, kept):
    cell = wide()
    change = ratio * cell.step * cell.half_width / 24
    assert one_step_limit([altered(cell, after=cell.before + change)]).parts[0].kept is kept


def test_narrow_networks_are_no_evidence_for_the_limit():
    found = one_step_limit([altered(wide(1000), after=lambda a: a + 99), wide()])
    assert found.parts[0].kept is True
    assert found.parts[0].n_cases == 1


def test_the_prediction_of_one_step():
    """With g_0 = 1/2, at a width at which most units have both or none of 0 and h below them."""
    cell = wide(100_000, 3)
    predicted = f.predicted_gain(cell.half_width, cell.step, cell.products, cell.labels, cell.pulls)
    np.testing.assert_allclose(columns(cell).gain, predicted.mean(axis=1), rtol=0.05)
    assert predicted.mean() == pytest.approx(cell.step * cell.half_width / 24, rel=0.1)


def test_a_readers_data():
    settings = theorem_2a.on(corners(n_runs=2)).settings
    found = theorem_2a([run_first_steps(setting, silent) for setting in settings])
    assert found.verdict is Verdict.CONSTANT_UNSPECIFIED
    assert [(each.half_width, each.scaling, each.n_runs) for each in settings] == [
        (1000, "exact", 2),
        (10_000, "exact", 2),
    ]
    assert isinstance(theorem_2a.on(corners(2.0)), NotApplicable)


def test_clusters_are_no_centres():
    assert "centres" in [h.key for h in theorem_2a_trend([clusters()]).hypotheses if not h.met]


def with_gain(ratio):
    """The mean change of a margin is this share of α_0p/24."""
    cell = wide()
    return {"after": cell.before + ratio * cell.step * cell.half_width / 24}


ONE = -math.log(math.e - 1)
"""The margin at which log(1 + e^−m) = 1."""
test_control = controls(
    theorem_2,
    cells,
    (theorem_2a, "rate", {"after": with_entry(2, ONE + 1e-9)}, {"after": with_entry(2, ONE - 1e-9)}),
    (theorem_2a_trend, "loss", with_loss(BOUND * (1 - 1e-9)), with_loss(BOUND * (1 + 1e-9))),
    (theorem_2a_trend, "loss", *({"first_loss": with_entry(3, loss)} for loss in (BOUND, np.nextafter(BOUND, 1)))),
    (theorem_2a_trend, "right", {}, with_wrong_runs(6)),
    (theorem_2a_trend, "growth", {}, {"before": lambda margins: margins - 0.3}),
    (one_step_limit, "gain", {}, {"constant": 1 / 48}),
    (one_step_limit, "gain", with_gain(0.931), with_gain(0.929)),
    (one_step_limit, "gain", with_gain(1.019), with_gain(1.021)),
    *rows_of_beta(theorem_2a, theorem_2a_trend, one_step_limit),
    but=(theorem_2b, theorem_2b_trend, section_4_3_step_size, section_4_3_rate),
)
