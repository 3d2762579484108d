"""Footnote 3: XOR is XORD with one patch, at twice the step size."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.control_table import at, broken_in, controls
from tests.papers.brutzkus2019.claims.xord_records import ON_DIVERSE, altered
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2019.claims import xord_updates
from widenet.papers.brutzkus2019.claims.xord_updates import footnote_3
from widenet.papers.brutzkus2019.runs.one_patch import OnePatchSetting, one_patch
from widenet.progress import silent
from widenet.records import Scale


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
        ("xor_weights", 2, "weights"),
        ("xor_outputs", 2, "outputs"),
        ("xord_outputs", -1, "outputs"),
    ],
)
def test_control_one_number_of_the_record(name, time, part):
    assert part in broken_in(footnote_3([altered(both_records(), name, time, 1e-9)]))


def moved(name, place, by):
    """One number of the record moved."""
    array = getattr(both_records(), name).copy()
    array[place] += by
    return at(lambda: replace(both_records(), **{name: array}))


def other_label(labels):
    return labels * np.array([1, 1, -1, 1])


test_control = controls(
    xord_updates,
    both_records,
    (footnote_3, "finished"),
    (footnote_3, "weights", moved("xor_weights", (2, 3, 1, 0), 0.9e-12), moved("xor_weights", (2, 3, 1, 0), 1.1e-12)),
    # Outputs are compared per filter, of which there are four. At the end x_1 is beyond its margin, where the loss
    # does not see it.
    (footnote_3, "outputs", moved("xor_outputs", (-1, 3, 0), 3.6e-12), moved("xor_outputs", (-1, 3, 0), 4.2e-12)),
    # The loss starts at 4, and 1e-10 counts as nothing.
    (footnote_3, "loss", {"loss_ratio": 2 * (1 + 2e-11)}, {"loss_ratio": 2 * (1 + 3e-11)}),
    (footnote_3, "loss", {"loss_ratio": 2 * (1 - 2e-11)}, {"loss_ratio": 2 * (1 - 3e-11)}),
    # The hinges of a loss are those of its labels.
    (footnote_3, "labels", {}, {"xor_labels": other_label}, "loss"),
    but=ON_DIVERSE,
)


def test_a_record_that_ends_too_early_is_not_decided():
    arrays = ("xor_weights", "xord_weights", "xor_outputs", "xord_outputs")
    early = replace(both_records(), **{name: getattr(both_records(), name)[:3] for name in arrays})
    evidence = footnote_3([early])
    assert evidence.conclusion is None
    assert evidence.runs.unfinished == 5


def test_control_the_loss_itself_and_not_half_of_it():
    assert broken_in(footnote_3([both_records()], loss_ratio=1.0)) == ["loss"]


def test_control_other_labels():
    swapped = replace(both_records(), xor_labels=-both_records().xor_labels)
    assert broken_in(footnote_3([swapped])) == ["loss", "labels"]
