"""True against permuted and arbitrary labels; controls alter what finished runs report."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import unmet_in
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.li2018.claims import labels
from widenet.papers.li2018.claims.labels import (
    in_pairs,
    section_4_arbitrary_labels,
    section_4_arbitrary_labels_as_printed,
    section_4_bias,
    section_6_components,
    section_6_compression,
    section_6_structure,
)
from widenet.papers.li2018.runs.fits import (
    LabelFit,
    LabelFitSetting,
    bias_settings,
    component_settings,
    hexagon_fits,
    run_fit,
    structure_settings,
    training_points,
)
from widenet.papers.li2018.sources import Gaussians, SphereLabels
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def fitted():
    data = Gaussians(n_classes=3, per_class=1, dim=20, n_points=24, spread=0.3)
    return run_fit(LabelFitSetting(data=data, width=60, n_test=60, max_steps=400), silent)


def pairs(count=5, **fields):
    """The permuted half went 3 times as far in 10 times the steps; `true_…` and `permuted_…` change one half."""
    cells = []
    for seed in range(count):
        for permuted in (False, True):
            base = {"steps": 10, "distance": 1.0, "accuracy": 1.0, "test_accuracy": 0.99, "truncated": 0.99}
            base |= {"gap": 20.0, "weight_gap": 1.01, "permuted": permuted, "seed": seed}
            base |= {"steps": 100, "distance": 3.0, "test_accuracy": 0.1} if permuted else {}
            half = "permuted_" if permuted else "true_"
            base |= {name.removeprefix(half): value for name, value in fields.items() if name.startswith(half)}
            base |= {name: value for name, value in fields.items() if name == "norm_error"}
            cells.append(altered(fitted(), **base))
    return cells


def rows(**fields):
    """Three seeds for each number of components; `steps` and `away` are functions of it."""
    steps, away = fields.pop("steps", lambda count: 10 * count), fields.pop("away", lambda count: 0.01 * count)
    chosen = fields.pop("components", (1, 2, 4))
    return [
        altered(fitted(), per_class=count, seed=seed, steps=steps(count), relative=away(count), **fields)
        for count in chosen
        for seed in range(3)
    ]


SWAPPED = {1: 1, 2: 4, 4: 2}


def test_runs_that_were_cut_off_decide_nothing():
    assert section_6_structure(pairs(true_accuracy=0.99)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert section_6_structure(pairs(permuted_accuracy=0.99)).verdict is Verdict.HOLDS
    few, near = pairs(permuted_accuracy=0.99, permuted_steps=49), pairs(permuted_accuracy=0.99, permuted_distance=1.99)
    for short in (few, near):
        assert section_6_structure(short).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert section_6_components(rows(accuracy=0.98)).verdict is Verdict.HOLDS
    assert section_6_components(rows(accuracy=0.97)).verdict is Verdict.INSUFFICIENT_EVIDENCE
    for place in range(9):  # one run of one number of components leaves the two steps beside it open
        cells = rows()
        cells[place] = altered(cells[place], accuracy=0.97)
        assert [part.undecided for part in section_6_components(cells).parts] == [1 if place // 3 != 1 else 2] * 2


def test_equally_many_steps_are_not_more():
    assert section_6_components(rows(steps=lambda _: 10)).conclusion is False
    assert section_6_components(rows(away=lambda _: 0.01)).conclusion is False


@functools.cache
def arbitrary(twice=False):
    data = SphereLabels(n_classes=3, dim=10, n_points=12)
    return run_fit(LabelFitSetting(data=data, width=100, max_steps=300, twice=twice), silent)


def test_labels_of_the_hexagon_cannot_be_fitted():
    (setting,) = hexagon_fits(Scale.QUICK, 0)
    cell = run_fit(setting.model_copy(update={"width": 20, "max_steps": 5}), silent)
    assert section_4_arbitrary_labels_as_printed([cell]).verdict is Verdict.VIOLATED
    cut = altered(cell, obstructed=False)
    assert section_4_arbitrary_labels_as_printed([cut]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_a_fit_stops_when_all_is_right():
    assert fitted().accuracy == 1
    assert 0 < fitted().steps < 400
    assert fitted().test_accuracy > 0.9
    assert fitted().truncated > 0.9
    assert fitted().gap > 3
    assert fitted().spectrum[2] / fitted().spectrum[3] == pytest.approx(fitted().gap)


def test_permuted_labels_are_the_same_labels():
    setting = LabelFitSetting(data=Gaussians(n_classes=3, dim=5, n_points=30))
    true, permuted = (training_points(setting.model_copy(update={"permuted": each})) for each in (False, True))
    np.testing.assert_array_equal(true.points, permuted.points)
    assert sorted(true.classes) == sorted(permuted.classes)
    assert (true.classes != permuted.classes).any()


def test_pairs_are_those_of_one_seed():
    cells = pairs(3)
    for some, seeds in ((cells[:-1], [0, 1]), (cells[::-1], [0, 1, 2])):
        runs = LabelFit.join(some)
        true, permuted = in_pairs(runs)
        assert runs.seed[true].tolist() == runs.seed[permuted].tolist() == seeds
        is_permuted = np.asarray(runs.permuted)
        assert not is_permuted[true].any()
        assert is_permuted[permuted].all()


def test_settings_have_what_the_claims_need():
    for settings, seeds in ((structure_settings, 5), (bias_settings, 3), (component_settings, 3)):
        assert len({setting.seed for setting in settings(Scale.QUICK, 0)}) == seeds


def test_a_seed_without_its_other_half_is_left_out():
    runs = LabelFit.join(pairs(3)[1:])
    assert [runs.seed[half].tolist() for half in in_pairs(runs)] == [[1, 2], [1, 2]]


def test_true_labels_that_need_no_step():
    assert section_6_structure(pairs(true_steps=0, permuted_steps=5)).parts[0].kept is True
    assert section_6_structure(pairs(true_steps=0, permuted_steps=4)).parts[0].kept is False


def test_ratios_at_their_edges():
    """A run that was cut off is decided where its ratio is reached, exactly too."""
    for steps, distance, answers in ((50, 2.0, [True, True]), (49, 2.0, [None, True]), (50, 1.9, [True, None])):
        found = section_6_structure(pairs(permuted_accuracy=0.99, permuted_steps=steps, permuted_distance=distance))
        assert [part.kept for part in found.parts] == answers


def test_one_seed_whose_true_labels_are_not_fitted():
    for place in (0, 4, 8):
        cells = pairs()
        cells[place] = altered(cells[place], accuracy=0.95)
        found = section_6_structure(cells)
        assert [part.undecided for part in found.parts] == [1, 1]
    # A run that missed both ratios, and whose true labels were fitted, does break them.
    assert section_6_structure(pairs(permuted_steps=49, permuted_distance=1.9)).conclusion is False


def test_a_hundredth_may_be_lost_by_the_cut():
    for kept_accuracy, kept in ((0.9801, True), (0.9795, False)):
        found = section_6_compression(pairs(3, true_truncated=kept_accuracy))
        assert found.parts[0].kept is kept


def test_labels_that_are_nearly_fitted_are_not_fitted():
    cell = altered(arbitrary(), accuracy=0.95)
    assert section_4_arbitrary_labels_as_printed([cell]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert section_4_arbitrary_labels_as_printed([altered(cell, obstructed=True)]).verdict is Verdict.VIOLATED


def hexagon():
    (setting,) = hexagon_fits(Scale.QUICK, 0)
    return run_fit(setting.model_copy(update={"width": 20, "max_steps": 5}), silent)


def test_points_on_one_line_are_outside():
    for cell, key in ((arbitrary(twice=True), "nearest"), (hexagon(), "parallel")):
        found = section_4_arbitrary_labels([cell])
        assert found.conclusion is False
        assert unmet_in(found) == [key]


def of_pairs(count=5, **fields):
    return at(pairs(count, **fields))


def of_rows(**fields):
    return at(rows(**fields))


def slower(more):
    """Data of four components needs a little more steps, or no more, than of two."""
    return of_rows(steps=lambda count: {1: 10, 2: 20, 4: 20 + more}[count])


def farther(more):
    return of_rows(away=lambda count: {1: 0.1, 2: 0.2, 4: 0.2 + more}[count])


EXACTLY = {"true_test_accuracy": 1.0, "true_truncated": 0.875}
FITTED = dict.fromkeys((section_4_arbitrary_labels, section_4_arbitrary_labels_as_printed), arbitrary)
test_control = controls(
    labels,
    {**FITTED, section_6_components: rows, LabelFit: pairs},
    (section_4_arbitrary_labels, "fitted"),
    (section_6_structure, "steps", of_pairs(permuted_steps=50), of_pairs(permuted_steps=49)),
    (section_6_structure, "steps", {}, of_pairs(true_steps=1000, permuted_steps=4999)),
    (section_6_structure, "distance", of_pairs(permuted_distance=2.0), of_pairs(permuted_distance=1.99)),
    (section_6_structure, "seeds", {}, of_pairs(4)),
    (section_4_bias, "fitted", {}, of_pairs(permuted_accuracy=0.999)),
    (section_4_bias, "generalizes", of_pairs(true_test_accuracy=0.9), of_pairs(true_test_accuracy=0.899)),
    (section_4_bias, "seeds", of_pairs(3), of_pairs(2)),
    (section_6_compression, "predicts", of_pairs(true_truncated=0.981), of_pairs(true_truncated=0.97)),
    (section_6_compression, "predicts", at(pairs(**EXACTLY), loss=0.125), at(pairs(**EXACTLY), loss=0.1249)),  # pyright: ignore[reportArgumentType]
    (section_6_compression, "update_gap", of_pairs(true_gap=5.0), of_pairs(true_gap=4.99)),
    (section_6_compression, "weight_gap", of_pairs(true_weight_gap=1.1), of_pairs(true_weight_gap=1.101)),
    (section_6_compression, "seeds", of_pairs(3), of_pairs(2)),
    (section_4_arbitrary_labels_as_printed, "fitted", {}, at(hexagon)),
    (section_6_components, "steps", {}, of_rows(steps=SWAPPED.__getitem__)),
    (section_6_components, "steps", slower(1), slower(0)),
    (section_6_components, "distance", {}, of_rows(away=lambda count: 0.01 * SWAPPED[count])),
    (section_6_components, "distance", farther(0.001), farther(0.0)),
    (section_6_components, "seeds", {}, at([cell for cell in rows() if cell.seed < 2])),
    (section_6_components, "components", {}, of_rows(components=(1, 2))),
)
