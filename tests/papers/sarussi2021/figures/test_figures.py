"""The comparisons of the figures on numbers whose answer is known, and their drawings."""

import functools
import importlib

import numpy as np
import pytest
import xarray as xr

from tests.papers.records import altered
from tests.papers.sarussi2021.toys import flow_runs
from widenet.diagnostics.agreement_program import solve_perfect_agreement
from widenet.papers import find_figure
from widenet.papers.sarussi2021 import PAPER
from widenet.papers.sarussi2021.figures.figure_1 import reduce_figure_1
from widenet.papers.sarussi2021.figures.figure_2 import DATA, SOON, reduce_figure_2
from widenet.papers.sarussi2021.figures.figure_3 import compare_figure_3, reduce_figure_3
from widenet.papers.sarussi2021.figures.figure_5 import affine_fit
from widenet.papers.sarussi2021.figures.figure_6 import reduce_figure_6
from widenet.papers.sarussi2021.figures.figure_7 import reduce_figure_7
from widenet.papers.sarussi2021.figures.figure_9 import reduce_figure_9
from widenet.papers.sarussi2021.formulas import fit_of_the_value
from widenet.papers.sarussi2021.runs.landscapes import LandscapeSetting, run_landscapes
from widenet.papers.sarussi2021.sources import TwoGaussians
from widenet.plots.style import lay_out
from widenet.progress import silent


@functools.cache
def toy_landscape():
    return run_landscapes(LandscapeSetting(nodes=100), silent)


EPOCHS = (0, 1, 5, 20, 60, 100)


def planar(*, deviation, spread, k=6, seed=0):
    """Runs in the plane as `run_curves` leaves them: rows around ±(1, 1), or all over the circle."""
    draw = np.random.default_rng(seed)
    points, labels = TwoGaussians(n_samples=20).draw(seed)
    rows = np.repeat([[1.0, 1.0], [-1.0, -1.0]], k, axis=0) + spread * draw.normal(size=(2, 2 * k, 2))
    shares = np.tile([0.0, 0.2, 0.6, 1.0, 1.0, 1.0], (2, 1))
    scalars = {name: (("run", "epoch"), shares) for name in ("plus_right", "minus_right")}
    scalars |= {name: (("run", "epoch"), 0 * shares) for name in ("train_error", "plus_differ", "minus_differ")}
    scalars |= {
        "ratio": (("run", "epoch"), shares * 0 + spread),
        "angle": (("run", "epoch"), shares * 0 + (1.0 if spread < 0.1 else 179.0)),
    }
    return xr.Dataset(
        {
            **scalars,
            "weights": (("run", "neuron", "dim"), rows),
            "inputs": (("run", "point", "dim"), np.stack([points, points])),
            "labels": (("run", "point"), np.stack([labels, labels])),
            "predicted": (("run", "pair"), np.tile([1.0, 1.0, -1.0, -1.0], (2, 1))),
        },
        coords={"epoch": list(EPOCHS)},
        attrs={"deviation": deviation, "slope": 0.1},
    )


SMALL, LARGE = planar(deviation=1e-3, spread=1e-3), planar(deviation=30.0, spread=5.0)
LOOKS = np.array([0, 1, 2, 5, 20])


def falling(last, *, first=0.4, norm=8.0):
    """Curves of five runs that fall from `first` after one epoch to `last`."""
    share = np.concatenate([[1.0], np.geomspace(first, max(last, 1e-9), len(LOOKS) - 1)])
    share = np.where(share <= 1e-9, 0.0, share)
    names = ("nonlinear", "nonlinear_sharp", "radius", "ratio", "angle", "train_error")
    curve = np.tile(share, (5, 1))
    return xr.Dataset(
        {**{name: (("run", "epoch"), curve.copy()) for name in names}, "separator_norm": ("run", np.full(5, norm))},
        coords={"epoch": LOOKS},
    )


def fallen(end):
    """Curves that are there from epoch 2 on."""
    curve = np.tile(np.where(LOOKS == 0, 1.0, np.where(LOOKS == 1, 0.4, end)), (5, 1))
    kept = falling(0.1)
    return kept.assign({name: (("run", "epoch"), curve) for name in kept.data_vars if name != "separator_norm"})


def flat(level=1.0):
    """Curves that never fall."""
    ones = falling(1.0, first=1.0)
    return ones.assign(ratio=ones.ratio * 5.0, nonlinear=ones.nonlinear * level)


def digit_trials(large_step=1.0):
    """A map in which every small step ends linear."""
    steps = np.array([1e-3, 1e-2, 1e-1])
    values = np.where(steps[None, :, None, None, None] == 0.1, large_step, 0.01) * np.ones((3, 3, 3, 1, 2))
    axes = ("slope", "step_size", "deviation", "run", "epoch")
    return xr.Dataset(
        {name: (axes, values) for name in ("nonlinear", "train_error")},
        coords={"slope": [0.1, 0.3, 0.5], "step_size": steps, "deviation": [1e-5, 1e-3, 0.1], "epoch": [0, 20]},
    )


def small_three(**last):
    """The three data sets of Figure 2 from small weights; by name, where they end."""
    ends = {"gaussians": 0.0, "easy": 0.001, "hard": 0.05} | last
    return [fallen(end) for end in ends.values()]


def outlier_trials():
    """A map in which the state is there in two of three runs of one setting."""
    shape = (3, 3, 3, 3, 2)
    axes = ("slope", "step_size", "deviation", "run", "epoch")
    right = np.ones(shape)
    right[1, 1, 1, :2] = 0
    zero = (axes, np.zeros(shape))
    return xr.Dataset(
        {"train_error": zero, "plus_differ": zero, "minus_differ": zero, "plus_right": (axes, right)},
        coords={
            "slope": [0.1, 0.3, 0.5],
            "step_size": [1e-3, 1e-2, 0.1],
            "deviation": [1e-5, 1e-4, 1e-2],
            "epoch": [0, 60],
        },
    )


def figure_9_numbers(runs=None, control=None):
    """All four experiments; the flow is in perfect agreement."""
    never = SMALL.assign(plus_right=0 * SMALL.plus_right)
    first, second = never if runs is None else runs, SMALL if control is None else control
    return reduce_figure_9([first], [second], [outlier_trials()], [flow_runs()])


@functools.cache
def toy_numbers():
    return {
        "figure_1": reduce_figure_1([SMALL], [LARGE]),
        "figure_2": reduce_figure_2(small_three(), [flat()] * 3, [digit_trials()]),
        "figure_3": reduce_figure_3([SMALL], [flow_runs()]),
        "figure_4": toy_landscape(),
        "figure_5": toy_landscape(),
        "figure_6": reduce_figure_6([falling(0.0), falling(0.08), falling(0.05), *[falling(0.001)] * 3]),
        "figure_7": reduce_figure_7(small_three(gaussians=0.1, easy=0.1, hard=0.1), [flat()] * 3),
        "figure_8": SMALL,
        "figure_9": figure_9_numbers(),
    }


@pytest.mark.parametrize("name", PAPER.figures)
def test_it_compares_and_draws(name):
    figure = find_figure(f"sarussi2021.{name}")
    rows = figure.compare(toy_numbers()[name])
    assert [row.name for row in rows if not row.agrees] == []
    picture = importlib.import_module(PAPER.drawing(name)).draw(toy_numbers()[name])
    assert len(lay_out(picture.drawing()).axes) == len(picture.panels)


def test_control_the_two_starts_exchanged():
    exchanged = reduce_figure_1([LARGE.assign_attrs(deviation=1e-3)], [SMALL.assign_attrs(deviation=30.0)])
    rows = find_figure("sarussi2021.figure_1").compare(exchanged)
    assert not any(row.agrees for row in rows)


def test_control_another_prediction():
    turned = SMALL.assign(predicted=(("run", "pair"), np.tile([1.0, -1.0, -1.0, 1.0], (2, 1))))
    numbers = reduce_figure_3([turned], [flow_runs()])
    np.testing.assert_allclose(numbers.boundary, 90, atol=1)
    np.testing.assert_allclose(numbers.neurons, 90, atol=1)
    assert [row.agrees for row in compare_figure_3(numbers)][:5] == [True, False, False, False, False]


def test_control_neurons_that_do_not_agree_perfectly():
    numbers = reduce_figure_3([SMALL.assign(minus_right=0.99 * SMALL.minus_right)], [flow_runs()])
    assert [row.agrees for row in compare_figure_3(numbers)][:3] == [False, True, True]


def test_control_a_flow_with_another_prediction():
    """Eq. 7 with another slope: its rows turn, and its value is another."""
    course = next(flow_runs().each())
    wrong = solve_perfect_agreement(course.inputs, course.labels, 0.9)
    flow = altered(flow_runs(), perfect_solution=wrong.solution[None], perfect_value=np.array([wrong.value]))
    rows = compare_figure_3(reduce_figure_3([SMALL], [flow]))
    assert [row.name for row in rows if not row.agrees] == [row.name for row in rows[5:8]]
    assert all(row.added for row in rows[3:])


def test_one_neuron_of_the_wrong_direction_is_seen():
    """One minus row of the first run turned by 90°; the mean of six barely moves."""
    rows = SMALL.weights.values.copy()
    rows[0, -1] = [0.1, -0.1]
    numbers = reduce_figure_3([SMALL.assign(weights=(SMALL.weights.dims, rows))], [flow_runs()])
    np.testing.assert_allclose(numbers.neurons, [90, 0], atol=1)
    assert [row.agrees for row in compare_figure_3(numbers)][:5] == [True, True, True, False, True]
    rows[1, -1] = [0.1, -0.1]
    both = reduce_figure_3([SMALL.assign(weights=(SMALL.weights.dims, rows))], [flow_runs()])
    assert [row.agrees for row in compare_figure_3(both)][:5] == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("angle", "agrees"), [(4.99, (True, True)), (5.01, (True, False)), (9.99, (True, False)), (10.01, (False, False))]
)
def test_the_printed_example_is_compared_with_the_nearest_run(angle, agrees):
    """The other run is 18.3° away, as it happens: one example does not say that there are no such runs."""
    numbers = reduce_figure_3([SMALL], [flow_runs()])
    rows = compare_figure_3(numbers.assign(boundary=("run", [18.3, angle]), neurons=("run", [18.3, angle])))
    assert [row.agrees for row in rows[:3]] == [True, *agrees]
    assert [row.verdict for row in rows[3:5]] == ["AS EXPECTED", "AS EXPECTED"]
    assert all("in the nearest of ours" in row.basis and "every run" in row.moved for row in rows[1:3])


def test_what_is_quoted_is_about_that_row():
    rows = compare_figure_3(toy_numbers()["figure_3"])
    assert "separately verified" in rows[0].reported
    assert "neurons indeed converge" in rows[1].reported


@pytest.mark.parametrize("name", PAPER.figures)
def test_every_row_says_where_its_band_comes_from(name):
    """But for the one number that the paper prints, the accuracy of Figure 9."""
    rows = find_figure(f"sarussi2021.{name}").compare(toy_numbers()[name])
    assert [row.name for row in rows if not row.basis] == (["largest training error"] if name == "figure_9" else [])


def test_control_a_relu_and_a_linear_network():
    assert affine_fit(toy_landscape()) == pytest.approx(float(fit_of_the_value(0.1)), abs=5e-3)
    assert affine_fit(toy_landscape(), 0.0) < affine_fit(toy_landscape())
    relu = toy_landscape().assign(output=toy_landscape().output.sel(slope=[0.0, 0.0]).assign_coords(slope=[0.1, 0.0]))
    assert not find_figure("sarussi2021.figure_4").compare(relu)[0].agrees


def test_control_neurons_that_never_agree():
    rows = find_figure("sarussi2021.figure_8").compare(SMALL.assign(plus_right=0 * SMALL.plus_right))
    assert [row.agrees for row in rows] == [False, True, False, False]
    assert [row.added for row in rows] == [False, True, True, True]


def differing(name, numbers):
    return [row.name for row in find_figure(f"sarussi2021.{name}").compare(numbers) if not row.agrees]


def test_control_figure_2_each_start_and_step():
    figure = "figure_2"
    assert differing(figure, reduce_figure_2([flat()] * 3, [flat()] * 3, [digit_trials()])) == [
        *(f"{name}, small weights: mean share after the last epoch" for name in DATA[:2]),
        *(f"{name}, small weights: largest mean share from epoch {SOON[name][0]} on" for name in DATA),
    ]
    assert differing(figure, reduce_figure_2(small_three(), small_three(), [digit_trials()])) == [
        f"{name}, large weights: smallest share after any epoch" for name in DATA
    ]
    quick = reduce_figure_2(small_three(), [flat()] * 3, [digit_trials(large_step=0.2)])
    assert differing(figure, quick) == ["3 against 5, step 0.1 and the slope of the curves: smallest share on the map"]
    never, *others = small_three()
    never["separator_norm"] = ("run", np.full(5, np.inf))
    apart = reduce_figure_2([never, *others], [flat()] * 3, [digit_trials()])
    assert differing(figure, apart) == ["smallest certified margin of the training points"]


def test_one_other_slope_of_the_map_is_told_apart():
    """A step of 0.1 that works at slope 0.5 alone, from the smallest weights."""
    trials = digit_trials()
    trials.nonlinear.loc[{"slope": 0.5, "step_size": 0.1, "deviation": 1e-5}] = 0.66
    rows = find_figure("sarussi2021.figure_2").compare(reduce_figure_2(small_three(), [flat()] * 3, [trials]))
    (lowest,) = (row for row in rows if row.name == "3 against 5, step 0.1: smallest share on the map")
    assert lowest.verdict == "MEASURED"
    assert lowest.measured == pytest.approx(0.66)
    assert "slope 0.5 and initial deviation 1e-05" in lowest.basis
    assert "1 − α" in lowest.basis
    assert all(row.agrees for row in rows)


def test_figure_2_shows_the_training_errors_and_calls_no_tenth_zero():
    small = small_three()
    small[2] = small[2].assign(train_error=0 * small[2].train_error + 0.045)
    compare = find_figure("sarussi2021.figure_2").compare
    rows = {row.name: row for row in compare(reduce_figure_2(small, [flat()] * 3, [digit_trials()]))}
    hard = rows["3 against 5, small weights: mean share after the last epoch"]
    assert (hard.verdict, hard.measured) == ("MEASURED", pytest.approx(0.05))
    assert "4.5% of the training images are still wrong" in hard.basis
    assert rows["3 against 5, small weights: mean training error after the last epoch"].measured == pytest.approx(0.045)
    assert rows["Gaussians, large weights: mean training error after the last epoch"].measured == 1.0
    assert sum("training error after" in name for name in rows) == 6
    compared = [row for row in rows.values() if not row.added and "zero" in row.reported]
    assert {row.band[1] for row in compared if "after the last epoch" in row.name} == {0.0, 0.005}


@pytest.mark.parametrize(
    ("name", "epoch", "inside", "outside"),
    [("gaussians", 5, 0.0, 1e-6), ("easy", 2, 0.005, 0.0051), ("hard", 5, 0.15, 0.151)],
)
def test_quickly_means_by_an_early_epoch(name, epoch, inside, outside):
    """One epoch earlier nothing is asked for."""
    number = ("gaussians", "easy", "hard").index(name)
    for value, differ in ((inside * (1 - 1e-9), 0), (outside, 1)):
        curves = small_three()
        curves[number].nonlinear.loc[{"epoch": epoch}] = value
        curves[number].nonlinear.loc[{"epoch": slice(1, epoch - 1)}] = 1.0
        numbers = reduce_figure_2(curves, [flat()] * 3, [digit_trials()])
        assert len(differing("figure_2", numbers)) == differ


@pytest.mark.parametrize(
    ("name", "inside", "outside", "most"),
    [("gaussians", 0.0, 1e-6, 2), ("easy", 0.005, 0.0051, 2), ("hard", 0.15, 0.151, 1)],
)
def test_edges_of_the_bands_of_figure_2(name, inside, outside, most):
    for end, differ in ((inside * (1 - 1e-9), 0), (outside, most)):
        numbers = reduce_figure_2(small_three(**{name: end}), [flat()] * 3, [digit_trials()])
        assert len(differing("figure_2", numbers)) == differ
    for level, differ in ((0.951, 0), (0.949, 3)):
        numbers = reduce_figure_2(small_three(), [flat(level)] * 3, [digit_trials()])
        assert len(differing("figure_2", numbers)) == differ


def test_figure_2_counts_the_settings_of_the_map():
    rows = {row.name: row for row in find_figure("sarussi2021.figure_2").compare(toy_numbers()["figure_2"])}
    counted = rows["3 against 5: settings of the map that end linear on the data"]
    assert counted.measured == pytest.approx(2 / 3)
    assert counted.added
    assert counted.verdict == "MEASURED"


def test_control_figure_6_each_band():
    ends = [0.0, 0.08, 0.05, 0.001, 0.001, 0.001]
    assert differing("figure_6", reduce_figure_6([flat()] * 6))[0].startswith("largest mean share")
    high = [falling(0.101 if end == 0.08 else end) for end in ends]
    assert differing("figure_6", reduce_figure_6(high)) == ["largest mean share after the last epoch (3 against 5)"]
    slow = [falling(0.08, first=0.19) if end == 0.08 else falling(end) for end in ends]
    assert differing("figure_6", reduce_figure_6(slow)) == ["largest part that is left of the share after one epoch"]
    fast = [falling(0.08, first=0.21) if end == 0.08 else falling(end) for end in ends]
    assert differing("figure_6", reduce_figure_6(fast)) == []
    tiny = [falling(0.0049, first=0.005), *high[2:], falling(0.0)]
    assert differing("figure_6", reduce_figure_6(tiny)) == []


def test_control_figure_7_each_band():
    large = [flat()] * 3
    slow = reduce_figure_7([falling(0.21), falling(0.1), falling(0.1)], large)
    assert len(differing("figure_7", slow)) == 2
    assert differing("figure_7", reduce_figure_7([falling(0.19), falling(0.1), falling(0.1)], large)) == []
    for name in ("ratio", "angle"):
        rising = falling(0.1)
        rising[name].loc[{"epoch": 5}] *= 3.0
        found = differing("figure_7", reduce_figure_7([rising, falling(0.1), falling(0.1)], large))
        assert len(found) == 1
        assert found[0].endswith("largest step up from epoch 2 on, as a factor")
    clustered = reduce_figure_7([falling(0.1)] * 3, [falling(0.9), flat(), flat()])
    assert differing("figure_7", clustered) == ["large weights: smallest r/‖w̄ − ū‖ after the last epoch"]


def test_the_dotted_line_has_the_last_radius():
    numbers = reduce_figure_7([falling(0.1).assign(radius=falling(0.1).radius * 7)] * 3, [flat()] * 3)
    np.testing.assert_allclose(numbers.frozen.sel(start="small"), 0.1)


DISAGREEMENT = "points on which two neurons of one sign differ, mean of the runs"


def test_control_figure_9_each_statement():
    never = SMALL.assign(plus_right=0 * SMALL.plus_right)
    assert differing("figure_9", figure_9_numbers(SMALL)) == ["largest share of plus neurons that are right everywhere"]
    wrong = never.assign(train_error=never.train_error + 0.01)
    assert differing("figure_9", figure_9_numbers(wrong)) == ["largest training error"]
    for name in ("plus_differ", "minus_differ"):
        for points, expected in (([1, 0], []), ([1, 1], []), ([1, 2], [DISAGREEMENT])):
            apart = never.assign({name: never[name] + xr.DataArray(points, dims="run")})
            assert differing("figure_9", figure_9_numbers(apart)) == expected
    control = figure_9_numbers(control=never)
    assert differing("figure_9", control) == [
        "without the outlier: smallest share of plus neurons that are right everywhere"
    ]


def test_figure_9_reads_epoch_60_and_counts_what_comes_later():
    never = SMALL.assign(plus_right=0 * SMALL.plus_right)
    later = never.plus_right.copy()
    later.loc[{"epoch": 100, "run": 0}] = 1.0
    rows = {
        row.name: row
        for row in find_figure("sarussi2021.figure_9").compare(figure_9_numbers(never.assign(plus_right=later)))
    }
    assert rows["largest share of plus neurons that are right everywhere"].measured == 0
    assert rows["runs that are still in it after 100 epochs"].measured == 0.5
    assert rows["settings of the map in which every run ends in this state"].measured == 0
    assert rows["settings of the map in which some run was in it at some look"].measured == pytest.approx(1 / 27)
    assert rows["runs of gradient flow that were in it"].measured == 0


def test_a_flow_in_an_imperfect_regime_is_seen():
    points = flow_runs().inputs
    inside = altered(flow_runs(), labels=np.array([[1.0, 1.0]]), inputs=points)
    numbers = reduce_figure_9([SMALL], [SMALL], [outlier_trials()], [inside])
    assert numbers.flow_imperfect.values[:, 1:].all()
    assert numbers.flow_agrees.values[:, 1:].all()
