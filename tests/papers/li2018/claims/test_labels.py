"""True against permuted and arbitrary labels; controls alter what finished runs report."""

import functools

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, part_edges, spares
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
    FitSetting,
    bias_settings,
    component_settings,
    hexagon_fits,
    run_fit,
    structure_settings,
    training_points,
)
from widenet.papers.li2018.settings import Gaussians, SphereLabels
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def fitted():
    data = Gaussians(n_classes=3, per_class=1, dim=20, n_points=24, spread=0.3)
    return run_fit(FitSetting(data=data, width=60, n_test=60, max_steps=400), silent)


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


test_control_each_part_of_the_structure = part_edges(
    section_6_structure,
    lambda **fields: section_6_structure(pairs(**fields)),
    {
        "permuted labels: so many times the steps": ({"permuted_steps": 50}, {"permuted_steps": 49}),
        "permuted labels: so many times the distance": ({"permuted_distance": 2.0}, {"permuted_distance": 1.99}),
    },
)

test_control_each_part_of_the_bias = part_edges(
    section_4_bias,
    lambda **fields: section_4_bias(pairs(3, **fields)),
    {
        "permuted labels are fitted": ({}, {"permuted_accuracy": 0.99}),
        "true labels generalize": ({"true_test_accuracy": 0.97}, {"true_test_accuracy": 0.96}),
    },
)

test_control_each_part_of_the_compression = part_edges(
    section_6_compression,
    lambda **fields: section_6_compression(pairs(3, **fields)),
    {
        "rank kl predicts as well": ({"true_truncated": 0.981}, {"true_truncated": 0.97}),
        "σ_kl/σ_{kl+1} of the update": ({"true_gap": 5.0}, {"true_gap": 4.9}),
        "σ_kl/σ_{kl+1} of the weights": ({"true_weight_gap": 1.1}, {"true_weight_gap": 1.11}),
    },
)


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

test_control_each_part_of_the_components = part_edges(
    section_6_components,
    lambda **fields: section_6_components(rows(**fields)),
    {
        "more steps": ({}, {"steps": SWAPPED.__getitem__}),
        "farther away": ({}, {"away": lambda count: 0.01 * SWAPPED[count]}),
    },
)


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


CONDITIONS = [
    breaks_hypothesis(claim, "unit_norm")(lambda claim=claim, make=make: (claim(make()), claim(make(norm_error=0.01))))
    for claim, make in (
        (section_6_structure, pairs),
        (section_4_bias, pairs),
        (section_6_compression, pairs),
        (section_6_components, rows),
    )
] + [
    breaks_hypothesis(section_6_structure, "seeds")(
        lambda: (section_6_structure(pairs(5)), section_6_structure(pairs(4)))
    ),
    breaks_hypothesis(section_4_bias, "seeds")(lambda: (section_4_bias(pairs(3)), section_4_bias(pairs(2)))),
    breaks_hypothesis(section_6_compression, "seeds")(
        lambda: (section_6_compression(pairs(3)), section_6_compression(pairs(2)))
    ),
    breaks_hypothesis(section_6_components, "seeds")(
        lambda: section_6_components([cell for cell in rows() if cell.seed < 2])
    ),
    breaks_hypothesis(section_6_components, "components")(lambda: section_6_components(rows(components=(1, 2)))),
]


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_control_each_condition(number):
    CONDITIONS[number]()


@functools.cache
def arbitrary(twice=False):
    data = SphereLabels(n_classes=3, dim=10, n_points=12)
    return run_fit(FitSetting(data=data, width=100, max_steps=300, twice=twice), silent)


@breaks_part(section_4_arbitrary_labels, "every point is decided rightly")
def test_control_one_point_that_is_not_fitted():
    return section_4_arbitrary_labels([arbitrary()]), section_4_arbitrary_labels([altered(arbitrary(), accuracy=0.99)])


@breaks_hypothesis(section_4_arbitrary_labels, "nearest")
def test_control_a_point_with_two_labels():
    found = section_4_arbitrary_labels([arbitrary(twice=True)])
    assert found.conclusion is False
    return found


@breaks_hypothesis(section_4_arbitrary_labels, "parallel")
def test_control_antipodal_points():
    (setting,) = hexagon_fits(Scale.QUICK, 0)
    found = section_4_arbitrary_labels([run_fit(setting.model_copy(update={"width": 20, "max_steps": 5}), silent)])
    assert found.conclusion is False
    return found


@breaks_hypothesis(section_4_arbitrary_labels, "unit_norm")
def test_control_longer_points():
    return section_4_arbitrary_labels([arbitrary()]), section_4_arbitrary_labels(
        [altered(arbitrary(), norm_error=0.01)]
    )


def test_labels_of_the_hexagon_cannot_be_fitted():
    (setting,) = hexagon_fits(Scale.QUICK, 0)
    cell = run_fit(setting.model_copy(update={"width": 20, "max_steps": 5}), silent)
    assert section_4_arbitrary_labels_as_printed([cell]).verdict is Verdict.VIOLATED
    cut = altered(cell, obstructed=False)
    assert section_4_arbitrary_labels_as_printed([cut]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@spares(section_4_arbitrary_labels_as_printed)
def test_points_in_general_position_spare_it():
    return section_4_arbitrary_labels_as_printed([arbitrary()])


def test_a_fit_stops_when_all_is_right():
    assert fitted().accuracy == 1
    assert 0 < fitted().steps < 400
    assert fitted().test_accuracy > 0.9
    assert fitted().truncated > 0.9
    assert fitted().gap > 3
    assert fitted().spectrum[2] / fitted().spectrum[3] == pytest.approx(fitted().gap)


def test_permuted_labels_are_the_same_labels():
    setting = FitSetting(data=Gaussians(n_classes=3, dim=5, n_points=30))
    true, permuted = (training_points(setting.model_copy(update={"permuted": each})) for each in (False, True))
    np.testing.assert_array_equal(true.points, permuted.points)
    assert sorted(true.classes) == sorted(permuted.classes)
    assert (true.classes != permuted.classes).any()


def test_pairs_are_those_of_one_seed():
    cells = pairs(3)
    true, permuted = in_pairs(cells[:-1])
    assert [cell.seed for cell in true] == [cell.seed for cell in permuted] == [0, 1]


def test_settings_have_what_the_claims_need():
    for settings, seeds in ((structure_settings, 5), (bias_settings, 3), (component_settings, 3)):
        assert len({setting.seed for setting in settings(Scale.QUICK, 0)}) == seeds


def test_one_cell_of_several_is_enough_to_fail():
    bad = altered(arbitrary(), norm_error=0.01, nearest=0.0, parallel=0.0)
    for cells in ([arbitrary(), bad], [bad, arbitrary()]):
        assert [h.met for h in section_4_arbitrary_labels(cells).hypotheses] == [False, False, False]
        assert [h.met for h in section_4_arbitrary_labels_as_printed(cells).hypotheses] == [False, False]
    for cells in (
        [altered(pairs()[0], norm_error=0.01), *pairs()[1:]],
        [*pairs()[:-1], altered(pairs()[-1], norm_error=0.01)],
    ):
        for claim in (section_6_structure, section_4_bias, section_6_compression):
            assert claim(cells).hypotheses[0].met is False


def test_a_seed_without_its_other_half_is_left_out():
    true, permuted = in_pairs(pairs(3)[1:])
    assert [cell.seed for cell in true] == [cell.seed for cell in permuted] == [1, 2]


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


test_every_part_has_a_control = every_part_of(labels)
