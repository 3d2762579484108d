"""Section 3.3 on steps: how long the gradient is and what a step gains, where attained and just beyond."""

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021 import toys
from tests.papers.chatterji2021.toys import COMMON, CURVED, axes_run, dead, looked, on_placed, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.chatterji2021.claims import smoothness
from widenet.papers.chatterji2021.claims.smoothness import (
    equations_23_24,
    lemma_5,
    lemma_6,
    lemma_6_sums,
    lemma_7,
    lemma_8,
    lemma_8_segment,
    lemma_8_sharp,
)
from widenet.papers.chatterji2021.formulas import SHARP, gradient_bound
from widenet.papers.chatterji2021.runs.cases import all_on, steepest_curve


def test_the_segment_holds_on_networks():
    assert lemma_8_segment([toys.placed(), toys.drawn()]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("claim", [lemma_7, lemma_8, lemma_8_sharp], ids=lambda claim: claim.name)
def test_it_holds_on_networks_and_runs(claim):
    assert claim([toys.placed(), toys.drawn()], [axes_run()]).verdict is Verdict.HOLDS
    assert claim([toys.drawn()], []).verdict is Verdict.HOLDS


def bright(margin=30.0, **constants):
    return lemma_7([looked(all_on(4, margin))], [], **constants)


test_parts_of_lemma_7 = part_edges(
    lemma_7,
    bright,
    {
        "‖∇L‖ ≤ √(2p)·L": ({}, {"by_loss": 1 - 5e-9}),
        "‖∇L‖ ≤ √(2p)·mean(g)": ({}, {"sharp": 1 - 5e-9}),
    },
)


@breaks_part(lemma_7, "‖∇L‖ ≤ √(2p)")
def test_control_the_flat_branch():
    """At margin −30; the other branch is looked at where L ≤ 1, on another network."""
    cells = [looked(all_on(4, 30.0)), looked(all_on(4, -30.0))]
    return lemma_7(cells, []), lemma_7(cells, [], flat=1 - 5e-9)


@breaks_part(lemma_7, "‖∇L‖ ≤ √(2p)·L")
def test_control_a_gradient_of_a_run_is_looked_at_too():
    made = axes_run()
    largest = gradient_bound(made.half_width, made.losses)[4] / made.gradient_norms[4]
    cells = [toys.drawn()]
    return (
        lemma_7(cells, [altered(made, gradient_norms=times(4, largest * (1 - 1e-9)))]),
        lemma_7(cells, [altered(made, gradient_norms=times(4, largest * (1 + 5e-9)))]),
    )


def test_the_promises_of_lemma_7():
    """√8·L, √8 and √8·g at margin ±30."""
    for margin in (30.0, -30.0):
        loss, pull = np.logaddexp(0, -margin), 1 / (1 + np.exp(margin))
        promised = [part.promised for part in bright(margin).parts]
        assert promised == pytest.approx([np.sqrt(8) * loss, np.sqrt(8), np.sqrt(8) * pull], rel=1e-10)


def test_networks_without_a_gradient_have_no_gain():
    assert lemma_8([toys.drawn(), dead()], []).verdict is Verdict.HOLDS


def test_how_near_lemma_7_comes():
    assert [bright(30.0).parts[0].tightness, bright(-30.0).parts[1].tightness] == pytest.approx([1, 1], abs=1e-12)


def both(claim):
    def judge(**fields):
        return claim([altered(toys.placed(), **fields)], [axes_run()])

    return judge


test_edges_of_lemma_7 = hypothesis_edges(
    lemma_7, both(lemma_7), unit_inputs=COMMON["unit_inputs"], labels=COMMON["labels"]
)


@breaks_hypothesis(lemma_7, "unit_inputs")
def test_control_a_run_with_longer_inputs():
    return lemma_7([toys.drawn()], [axes_run(), altered(axes_run(), unit_error=5e-12)])


STEPPED = {lemma_8: 1, lemma_8_sharp: 2}
"""The column of the longest step that each is about."""
NAME = "L_{t+1} ≤ L_t − (5/6)α_t‖∇L_t‖²"


def one_gain(column, value):
    """The gain of one network in one column."""

    def change(gains):
        changed = gains.copy()
        changed[2, column] = value
        return changed

    return {"efficiencies": change}


@breaks_part(lemma_8, NAME)
def test_control_one_gain_of_lemma_8():
    return both(lemma_8)(**one_gain(1, 5 / 6)), both(lemma_8)(**one_gain(1, 5 / 6 - 5e-9))


@breaks_part(lemma_8_sharp, NAME)
def test_control_one_gain_of_lemma_8_sharp():
    return both(lemma_8_sharp)(**one_gain(2, 5 / 6)), both(lemma_8_sharp)(**one_gain(2, 5 / 6 - 5e-9))


@breaks_part(lemma_8, NAME)
def test_control_a_run_in_which_the_loss_falls_too_little():
    """Half of what it fell: 0.5 of α‖∇L‖²."""
    made = axes_run()
    return lemma_8([toys.drawn()], [made]), lemma_8([toys.drawn()], [altered(made, gains=times(5, 0.5))])


@breaks_part(lemma_8_sharp, NAME)
def test_control_a_sharp_share_above_what_is_gained():
    """The smallest gain at α = 1/(3κpL) is 0.858 of α‖∇L‖²."""
    cells = [toys.placed()]
    return lemma_8_sharp(cells, [], share=0.857), lemma_8_sharp(cells, [], share=0.86)


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
    column = STEPPED[claim]
    assert both(claim)(**stretched_columns(column, 1 + 1e-13)).verdict is Verdict.HOLDS


for _claim, _column in STEPPED.items():
    globals()[f"test_edges_of_{_claim.name}"] = hypothesis_edges(
        _claim,
        both(_claim),
        **COMMON,
        short_step=({}, stretched_columns(_column, 1 + 5e-12)),
        step_positive=(stretched_columns(0, 1e-300), stretched_columns(0, 0.0)),
    )


def on_segment(**fields):
    names = ("curved", "high", "sharp", "level")
    cell = altered(looked(steepest_curve(3)), **{k: v for k, v in fields.items() if k not in names})
    return lemma_8_segment([cell], **{k: v for k, v in fields.items() if k in names})


test_parts_of_lemma_8_segment = part_edges(
    lemma_8_segment,
    on_segment,
    {
        "‖∇²L(W)‖ ≤ 10pL_t": ({"curved": CURVED}, {"curved": CURVED * (1 - 5e-9)}),
        "L(W) ≤ 2L_t": ({"high": 1.0}, {"high": 1 - 5e-9}),
        "‖∇²L(W)‖ ≤ κpL_t": ({}, {"sharp": SHARP * (1 - 5e-9)}),
        "L(W) ≤ L_t": ({}, {"segment_losses": lambda loss: (1 + 5e-9) * loss}),
    },
)


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


test_edges_of_lemma_8_segment = hypothesis_edges(
    lemma_8_segment, on_placed(lemma_8_segment), **COMMON, short_step=({}, stretched_columns(1, 1 + 5e-12))
)


test_every_part_has_a_control = every_part_of(smoothness, elsewhere=(lemma_5, lemma_6, equations_23_24, lemma_6_sums))
