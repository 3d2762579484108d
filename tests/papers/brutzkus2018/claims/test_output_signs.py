"""The sign condition of Section 5.3 holds, and its judge rejects what it must."""

import dataclasses

import numpy as np
import pytest

from tests.papers.brutzkus2018 import toys
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims.output_signs import section_5_3_signs
from widenet.types import RunStatus


def judged(*scans):
    return section_5_3_signs(list(scans), [toys.separator()])


def kept(evidence):
    return [part.kept for part in evidence.parts]


def altered(scan, **changes):
    """Other arrays at the chosen step size."""
    arrays = {}
    for name, value in changes.items():
        arrays[name] = getattr(scan, name).copy()
        arrays[name][scan.chosen, 0] = value
    return dataclasses.replace(scan, **arrays)


def test_a_suitable_step_size_is_found_for_every_width():
    evidence = judged(*toys.scans())
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.details["chosen"] == {"4": 0.3, "8": 0.3}
    smallest = min(scan.smallest_ratios[scan.chosen].min() for scan in toys.scans())
    assert evidence.measured == smallest > 0


def test_a_step_size_at_which_runs_blow_up_is_counted_and_not_mistaken_for_success():
    scan = toys.scan(4)
    status = scan.status.copy()
    status[0] = RunStatus.DIVERGED
    ratios = scan.smallest_ratios.copy()
    ratios[0] = np.nan
    evidence = judged(dataclasses.replace(scan, status=status, smallest_ratios=ratios), toys.scan(8))
    assert evidence.verdict is Verdict.HOLDS
    assert evidence.runs.diverged == 2


def test_control_a_list_with_long_steps_alone_changes_signs():
    evidence = judged(*(toys.scan(width, step_sizes=(3.0,), max_epochs=30) for width in toys.WIDTHS))
    assert evidence.verdict is Verdict.VIOLATED
    assert kept(evidence)[:2] == [False, None]
    assert [row["c"] < 0 for row in evidence.details["scan"]] == [True, True]
    assert evidence.note == "No step size of the list keeps the signs."


def test_control_one_sign_that_changes():
    scan = toys.scan(8)
    tried = slice(0, scan.chosen + 1)
    only = dataclasses.replace(
        altered(scan, smallest_ratios=-1e-6),
        setting=scan.setting.model_copy(update={"step_sizes": scan.setting.step_sizes[tried]}),
    )
    only = dataclasses.replace(
        only,
        smallest_ratios=only.smallest_ratios[tried],
        largest_ratios=only.largest_ratios[tried],
        status=only.status[tried],
    )
    evidence = judged(toys.scan(4), only)
    assert evidence.verdict is Verdict.VIOLATED
    assert kept(evidence) == [False, True, True]


def test_control_a_run_that_ends_at_a_positive_loss():
    evidence = judged(toys.scan(4), altered(toys.scan(8), status=RunStatus.STALLED))
    assert evidence.verdict is Verdict.VIOLATED
    assert kept(evidence) == [True, False, True]


def test_control_one_width_with_another_C():
    evidence = judged(toys.scan(4), altered(toys.scan(8), largest_ratios=1e3))
    assert evidence.verdict is Verdict.VIOLATED
    assert kept(evidence) == [True, True, False]
    assert section_5_3_signs([toys.scan(4)], [toys.separator()], alike=0.9).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("end", [RunStatus.BUDGET_SPENT, RunStatus.DIVERGED])
def test_a_run_that_was_cut_off_decides_nothing(end):
    evidence = judged(toys.scan(4), altered(toys.scan(8), status=end))
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert kept(evidence) == [True, None, True]


def test_control_contradictory_images_meet_no_hypothesis():
    nothing = dataclasses.replace(toys.separator(), separable=False, norm=np.inf, smallest_margin=0.0)
    evidence = section_5_3_signs(toys.scans(), [nothing])
    assert evidence.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [h.key for h in evidence.hypotheses if not h.met] == ["separable"]


def test_control_long_images_meet_no_hypothesis():
    evidence = section_5_3_signs(toys.scans(), [dataclasses.replace(toys.separator(), largest_norm=1 + 1e-6)])
    assert [h.key for h in evidence.hypotheses if not h.met] == ["input_norm"]
