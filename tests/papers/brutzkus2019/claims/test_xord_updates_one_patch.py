"""Footnote 3: XOR is XORD with one patch, at twice the step size."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, broken_in, every_part_of, part_edges
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
        ("xor_weights", 2, "the same weights at every t"),
        ("xor_outputs", 2, "the same outputs at every t"),
        ("xord_outputs", -1, "the same outputs at every t"),
    ],
)
def test_control_one_number_of_the_record(name, time, part):
    assert part in broken_in(footnote_3([altered(both_records(), name, time, 1e-9)]))


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
            {"xor_outputs": ((-1, 3, 0), 1.05e-12 * PER_FILTER)},
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


def test_a_step_that_is_too_large_beside_another():
    runs = [replace(both_records(), step_constant=c) for c in (0.1, 0.5)]
    for order in (runs, runs[::-1]):
        assert [each.met for each in footnote_3(order).hypotheses] == [False]


def test_a_record_that_ends_too_early_is_not_decided():
    arrays = ("xor_weights", "xord_weights", "xor_outputs", "xord_outputs")
    early = replace(both_records(), **{name: getattr(both_records(), name)[:3] for name in arrays})
    evidence = footnote_3([early])
    assert evidence.conclusion is None
    assert evidence.runs.unfinished == 5


def test_control_the_loss_itself_and_not_half_of_it():
    assert broken_in(footnote_3([both_records()], loss_ratio=1.0)) == ["half the loss at every t"]


def test_control_other_labels():
    swapped = replace(both_records(), xor_labels=-both_records().xor_labels)
    assert broken_in(footnote_3([swapped])) == ["half the loss at every t", "the same labels"]


@pytest.mark.parametrize(("constant", "met"), [(0.499, True), (0.5, False)])
def test_the_step_that_footnote_3_allows(constant, met):
    (hypothesis,) = footnote_3([replace(both_records(), step_constant=constant)]).hypotheses
    assert hypothesis.met is met


test_every_part_has_a_control = every_part_of(
    xord_updates,
    except_for={"footnote_3: seen until nothing moves": "a record that ends too early decides and breaks nothing"},
    elsewhere=ON_DIVERSE,
)
