"""The sign condition of Section 5.3 holds, and its judge rejects what it must."""

import dataclasses

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.brutzkus2018 import toys
from widenet.claims.base import Verdict
from widenet.papers.brutzkus2018.claims import output_signs
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


def last_step_only(scan):
    """The scan as if its chosen step size were the last of the list."""
    tried = slice(0, scan.chosen + 1)
    setting = scan.setting.model_copy(update={"step_sizes": scan.setting.step_sizes[tried]})
    arrays = {name: getattr(scan, name)[tried] for name in ("smallest_ratios", "largest_ratios", "status")}
    return dataclasses.replace(scan, setting=setting, **arrays)


def two_tried(scan, first, second):
    """A scan in which two step sizes were tried; (c, how the runs ended) of each, with the same C."""
    arrays = {name: getattr(scan, name).copy() for name in ("smallest_ratios", "largest_ratios", "status")}
    arrays["largest_ratios"][0] = arrays["largest_ratios"][1]
    for place, (ratio, end) in enumerate((first, second)):
        arrays["smallest_ratios"][place], arrays["status"][place] = ratio, end
    return dataclasses.replace(scan, **arrays)


def test_a_width_is_judged_by_its_suitable_step_size():
    """And where none is, by one that keeps the signs: a later one that does not changes nothing."""
    good, stalled, bad = (0.5, RunStatus.CONVERGED), (0.5, RunStatus.STALLED), (-0.5, RunStatus.STALLED)
    four, eight = toys.scans()
    assert (four.chosen, eight.chosen) == (1, 1)
    assert kept(judged(four, two_tried(eight, good, bad))) == [True, True, True]
    assert kept(judged(four, two_tried(eight, bad, good))) == [True, True, True]
    assert kept(judged(four, two_tried(eight, stalled, bad)))[:2] == [True, False]
    chosen = [judged(four, two_tried(eight, *pair)).details["chosen"]["8"] for pair in ((bad, good), (stalled, bad))]
    assert chosen == [0.3, None]


def with_largest(ratio):
    """All pilot runs of the second width with C that many times the mean C of the first."""
    first, second = toys.scans()
    mean = first.largest_ratios[first.chosen].mean()
    return [first, dataclasses.replace(second, largest_ratios=np.full_like(second.largest_ratios, ratio * mean))]


def with_smallest(c):
    """One pilot run of the second width with this c, at the last step size of its list."""
    return [toys.scan(4), last_step_only(altered(toys.scan(8), smallest_ratios=c))]


def on_images(**changes):
    """The data of one more separator."""
    return at((toys.scans(), [toys.separator(), dataclasses.replace(toys.separator(), **changes)]))


def scanned(scans, **constants):
    return at((scans, [toys.separator()]), **constants)


SIGNS = section_5_3_signs
test_control = controls(
    output_signs,
    lambda: (toys.scans(), [toys.separator()]),
    (SIGNS, "signs", scanned(with_smallest(1e-9)), scanned(with_smallest(0.0))),
    (SIGNS, "zero_loss", {}, scanned([toys.scan(4), altered(toys.scan(8), status=RunStatus.STALLED)])),
    (SIGNS, "alike", scanned(with_largest(3.99)), scanned(with_largest(4.01))),
    (SIGNS, "alike", scanned(with_largest(1 / 3.99)), scanned(with_largest(1 / 4.01))),
    (SIGNS, "alike", scanned([toys.scan(4)] * 2, alike=1.0), scanned([toys.scan(4)] * 2, alike=1 - 1e-15)),
    (SIGNS, "separable", on_images(smallest_margin=1 - 5e-13), on_images(smallest_margin=1 - 5e-12)),
    (SIGNS, "input_norm", on_images(largest_input=1 + 5e-13), on_images(largest_input=1 + 5e-12)),
)


@pytest.mark.parametrize("end", [RunStatus.BUDGET_SPENT, RunStatus.DIVERGED])
def test_a_run_that_was_cut_off_decides_nothing(end):
    evidence = judged(toys.scan(4), altered(toys.scan(8), status=end))
    assert evidence.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert kept(evidence) == [True, None, True]
