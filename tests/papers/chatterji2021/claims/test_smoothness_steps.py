"""Section 3.3 on steps: how long the gradient is and what a step gains, where attained and just beyond."""

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021 import toys
from tests.papers.chatterji2021.toys import BAND, CURVED, axes_run, dead, looked, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021.claims import smoothness
from widenet.papers.chatterji2021.claims.columns import FollowedDescent, Looked
from widenet.papers.chatterji2021.claims.smoothness import (
    equations_23_24,
    lemma_5,
    lemma_6,
    lemma_6_sums,
    lemma_6_sums_as_printed,
    lemma_7,
    lemma_8,
    lemma_8_segment,
    lemma_8_sharp,
)
from widenet.papers.chatterji2021.formulas import SHARP, gradient_bound
from widenet.papers.chatterji2021.sources import all_on, steepest_curve


def test_the_segment_holds_on_networks():
    assert lemma_8_segment([toys.placed(), toys.drawn()]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("claim", [lemma_7, lemma_8, lemma_8_sharp], ids=lambda claim: claim.name)
def test_it_holds_on_networks_and_runs(claim):
    assert claim([toys.placed(), toys.drawn()], [axes_run()]).verdict is Verdict.HOLDS
    assert claim([toys.drawn()], []).verdict is Verdict.HOLDS


def bright(margin=30.0, **constants):
    return lemma_7([looked(all_on(4, margin))], [], **constants)


def run_of_lemma_7(share):
    """A gradient of a run, at this share of its bound."""
    made = axes_run()
    largest = gradient_bound(made.half_width, made.losses)[4] / made.gradient_norms[4]
    return at(([toys.drawn()], [altered(made, gradient_norms=times(4, largest * share))]))


def test_the_promises_of_lemma_7():
    """√8·L, √8 and √8·g at margin ±30."""
    for margin in (30.0, -30.0):
        loss, pull = np.logaddexp(0, -margin), 1 / (1 + np.exp(margin))
        promised = [part.promised for part in bright(margin).parts]
        assert promised == pytest.approx([np.sqrt(8) * loss, np.sqrt(8), np.sqrt(8) * pull], rel=1e-10)


def test_networks_without_a_gradient_have_no_gain():
    assert lemma_8([toys.drawn(), dead()], []).verdict is Verdict.HOLDS
    still = altered(axes_run(), gradient_norms=times(5, 0.0), gains=times(5, 0.0), steps=times(5, 1.0))
    assert (
        lemma_8([toys.drawn()], [still]).parts[0].n_cases == lemma_8([toys.drawn()], [axes_run()]).parts[0].n_cases - 1
    )


@pytest.mark.parametrize("claim", [lemma_8, lemma_8_sharp], ids=lambda claim: claim.name)
def test_broken_arithmetic_is_no_missing_gradient(claim):
    """Gains that are NaN, of networks and of a run, where the gradient is not 0: they are not dropped."""
    whole = claim([toys.drawn()], [axes_run()]).parts[0]
    run = altered(axes_run(), gains=lambda gains: np.where(np.arange(len(gains)) < 3, gains, np.nan))
    part = claim([toys.drawn()], [run]).parts[0]
    assert (part.kept, part.n_cases, part.undecided) == (None, whole.n_cases, len(run.gains) - 3)
    looks = altered(toys.drawn(), efficiencies=lambda gains: np.nan * gains)
    assert claim([looks], [axes_run()]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert claim([looks], [axes_run()]).parts[0].n_cases == whole.n_cases


def test_how_near_lemma_7_comes():
    assert [bright(30.0).parts[0].tightness, bright(-30.0).parts[1].tightness] == pytest.approx([1, 1], abs=1e-12)


def networks_and_runs():
    return [toys.placed()], [axes_run()]


STEPPED = {lemma_8: 1, lemma_8_sharp: 2}
"""The column of the longest step that each is about."""


def one_gain(column, value):
    """The gain of one network in one column."""

    def change(gains):
        changed = gains.copy()
        changed[2, column] = value
        return changed

    return {"efficiencies": change}


def test_how_near_lemma_8_comes():
    assert lemma_8([toys.placed()], []).measured == pytest.approx(1 - SHARP / 60, abs=0.004)
    assert lemma_8_sharp([toys.placed()], []).measured == pytest.approx(0.858, abs=0.001)


def stretched_columns(column, factor):
    """The step of one network in one column."""

    def change(steps):
        changed = steps.copy()
        changed[3, column] *= factor
        return changed

    return {"steps": change}


@pytest.mark.parametrize("claim", STEPPED, ids=lambda claim: claim.name)
def test_a_step_beyond_its_column_is_not_looked_at(claim):
    longer = altered(toys.placed(), **stretched_columns(STEPPED[claim], 1 + 1e-13))
    assert claim([longer], [axes_run()]).verdict is Verdict.HOLDS
    if claim is lemma_8:
        assert claim([altered(toys.placed(), **stretched_columns(2, 2.0))], []).verdict is Verdict.HOLDS


def on_segment(**fields):
    names = ("curved", "high", "sharp", "level")
    cell = altered(looked(steepest_curve(3)), **{k: v for k, v in fields.items() if k not in names})
    return lemma_8_segment([cell], **{k: v for k, v in fields.items() if k in names})


def test_the_printed_constants_of_the_segment():
    found = on_segment()
    assert [part.promised for part in found.parts[:2]] == pytest.approx(
        [10 * 3 * 9.35762297e-14, 2 * 9.35762297e-14], rel=1e-6
    )


def test_control_a_segment_far_above_its_start():
    """Four times the curvature, or twice the loss: the printed bounds break, and the sharper ones with them."""
    assert [part.kept for part in on_segment(segment_hessians=lambda h: 4 * h).parts] == [False, True, False, True]
    assert [part.kept for part in on_segment(segment_losses=lambda loss: 2.01 * loss).parts] == [
        True,
        False,
        True,
        False,
    ]


def bright_cells(**constants):
    """At margin 30."""
    return at(([looked(all_on(4, 30.0))], []), **constants)


def both_margins(**constants):
    """At margin −30 too, where L > 1 and the flat branch is attained."""
    return at(([looked(all_on(4, 30.0)), looked(all_on(4, -30.0))], []), **constants)


def segment(**changes):
    return at(looked(steepest_curve(3)), **changes)


def rows_of_steps(claim, column):
    return (
        (claim, "decrease", one_gain(column, 5 / 6), one_gain(column, 5 / 6 - 5e-9)),
        (claim, "short_step", {}, stretched_columns(column, 1 + 5e-12)),
        (claim, "step_positive", stretched_columns(0, 1e-300), stretched_columns(0, 0.0)),
        (claim, *BAND),
    )


LONGER_INPUTS = [axes_run(), altered(axes_run(), unit_error=5e-12)]
HALF_A_FALL = altered(axes_run(), gains=times(5, 0.5))
test_control = controls(
    smoothness,
    {(Looked, FollowedDescent): networks_and_runs, Looked: toys.placed},
    (lemma_7, "by_loss", bright_cells(), bright_cells(by_loss=1 - 5e-9)),
    (lemma_7, "by_loss", run_of_lemma_7(1 - 1e-9), run_of_lemma_7(1 + 5e-9)),
    (lemma_7, "flat", both_margins(), both_margins(flat=1 - 5e-9)),
    (lemma_7, "sharp", bright_cells(), bright_cells(sharp=1 - 5e-9)),
    (lemma_7, "unit_inputs", {}, at(([toys.drawn()], LONGER_INPUTS))),
    *(row for claim, column in STEPPED.items() for row in rows_of_steps(claim, column)),
    # Half of what the loss fell: 0.5 of α‖∇L‖².
    (lemma_8, "decrease", {}, at(([toys.drawn()], [HALF_A_FALL]))),
    # The smallest gain at α = 1/(3κpL) is 0.858 of α‖∇L‖².
    (lemma_8_sharp, "decrease", {"share": 0.857}, {"share": 0.86}),
    (lemma_8_segment, "curved", segment(curved=CURVED), segment(curved=CURVED * (1 - 5e-9))),
    (lemma_8_segment, "high", segment(high=1.0), segment(high=1 - 5e-9)),
    (lemma_8_segment, "sharp", segment(), segment(sharp=SHARP * (1 - 5e-9))),
    (lemma_8_segment, "level", segment(), segment(segment_losses=lambda loss: (1 + 5e-9) * loss)),
    (lemma_8_segment, "short_step", {}, stretched_columns(1, 1 + 5e-12)),
    (lemma_8_segment, *BAND),
    but=(lemma_5, lemma_6, equations_23_24, lemma_6_sums, lemma_6_sums_as_printed),
)
