"""The comparisons of the figures on numbers whose answer is known, and their drawings."""

import importlib

import numpy as np
import pytest
import xarray as xr

from widenet.figures.base import ANY
from widenet.papers import find_figure
from widenet.papers.chatterji2021 import PAPER
from widenet.papers.chatterji2021.figures.figure_2 import reduce_figure_2
from widenet.papers.chatterji2021.figures.figure_3 import reduce_figure_3
from widenet.papers.chatterji2021.figures.figure_4 import overshoot_p_value, reduce_figure_4
from widenet.papers.chatterji2021.figures.loss_curves import REFERENCE, peak_ratio, rate_ratio, summary
from widenet.papers.chatterji2021.runs.activations import ActivationSetting, run_activations
from widenet.papers.chatterji2021.runs.simulations import READINGS
from widenet.plots.style import lay_out
from widenet.progress import silent

RUNS = 40
STEPS = np.arange(101)


def curve(last):
    """From 0.7, a shoulder, and then as t^−2 to the last value."""
    knee = max(10.0, 100 * (last / 0.7) ** 0.5)
    return np.where(knee >= STEPS, 0.7 * (1 - 1e-4 * STEPS), last * (100 / np.maximum(STEPS, 1)) ** 2).clip(max=0.7)


def simulated(data, activation="huberized", **changes):
    """Forty runs of each reading, whose last losses are those of the pilot."""
    middle = {reading: np.sqrt(np.prod(REFERENCE[data, reading])) for reading in READINGS}
    losses = np.stack([np.tile(curve(middle[reading]), (RUNS, 1)) for reading in READINGS])
    losses *= 1 - 1e-5 * STEPS
    errors = np.tile(np.where(STEPS < 60, 0.2, 0.0), (4, RUNS, 1))
    numbers = xr.Dataset(
        {"loss": (("reading", "run", "step"), losses), "error": (("reading", "run", "step"), errors)},
        coords={"reading": list(READINGS), "step": STEPS},
        attrs={"data": data, "activation": activation},
    )
    return numbers.assign({name: change(numbers[name].copy()) for name, change in changes.items()})


def overshooting(count, rise=1.03, reading="D"):
    """So many runs of a reading rise once, at step 60."""

    def change(losses):
        losses.loc[{"reading": reading, "step": 60}][:count] = (
            rise * losses.sel(reading=reading, step=59).values[:count]
        )
        return losses

    return change


XOR, SHOULDERS = simulated("xor"), simulated("shoulders")
RELU = simulated("shoulders", "relu", loss=overshooting(29))
NUMBERS = {
    "figure_1": run_activations(ActivationSetting(), silent),
    "figure_2": reduce_figure_2([XOR]),
    "figure_3": reduce_figure_3([SHOULDERS], [XOR]),
    "figure_4": reduce_figure_4([SHOULDERS], [RELU]),
}


def off(name, numbers):
    """The comparisons that do not agree, printed and ours."""
    rows = find_figure(f"chatterji2021.{name}").compare(numbers)
    return [row.name for row in rows if not row.agrees]


@pytest.mark.parametrize("name", PAPER.figures)
def test_it_compares_and_draws(name):
    assert off(name, NUMBERS[name]) == []
    picture = importlib.import_module(PAPER.drawing(name)).draw(NUMBERS[name])
    assert len(lay_out(picture.drawing()).axes) == len(picture.panels)


def test_only_what_the_paper_prints_is_reported():
    for name, numbers in NUMBERS.items():
        for row in find_figure(f"chatterji2021.{name}").compare(numbers):
            assert row.added or row.reported not in ("—", ""), row.name
            assert row.added or row.name.startswith(("D", "largest distance")), row.name


def test_a_row_with_words_of_the_paper_can_differ():
    """Rows without a band report nothing, and every band has its reason."""
    for name, numbers in NUMBERS.items():
        for row in find_figure(f"chatterji2021.{name}").compare(numbers):
            assert row.basis, row.name
            assert (row.reported == "—") == row.added, row.name
            assert row.band != ANY or row.verdict == "MEASURED", row.name


@pytest.mark.parametrize(("name", "words"), [("figure_2", "All runs"), ("figure_3", "5, 3 and 5 of 40 runs")])
def test_the_band_that_was_moved_says_what_came_out(name, words):
    rows = find_figure(f"chatterji2021.{name}").compare(NUMBERS[name])
    (moved,) = [row for row in rows if row.moved]
    assert moved.name == RATE
    assert moved.moved.startswith("First: the next row, at most 1.")
    assert words in moved.moved
    assert rows[rows.index(moved) + 1].name.startswith("D: largest t·L_t from step 50 on")


def test_control_another_bandwidth():
    """h = 1/2: φ(1) = 0.75."""
    assert "φ(1)" in off("figure_1", run_activations(ActivationSetting(bandwidth=0.5), silent))
    assert len(off("figure_1", run_activations(ActivationSetting(bandwidth=0.5), silent))) == 4


def edited(data, change, name="loss", **where):
    """One place of reading D changed."""
    numbers = simulated(data)
    values = numbers[name].copy()
    values.loc[{"reading": "D"} | where] = change(values.loc[{"reading": "D"} | where])
    return numbers.assign({name: values})


END = "D: share of runs that end lower than they began"
RATE = "D: t·L_t at step 100 over that at step 50, largest of all runs"
RISE = "D: share of runs with a step that raises the loss"
ERROR = "D: share of runs without training error at step 100"
BAND = "D (loss of 2f, with biases): share of runs with L_100 in the pilot's band"


def one_run(change):
    """A change of the first run alone."""

    def edit(values):
        values = values.copy()
        values[0] = change(values[0])
        return values

    return edit


@pytest.mark.parametrize(
    ("change", "where", "name", "wrong"),
    [
        (one_run(lambda _: 0.75), {"step": 100}, "loss", {END, RATE, RISE, BAND}),
        (one_run(lambda loss: 1.2 * loss), {"step": 30}, "loss", {RISE}),
        (one_run(lambda _: 1 / 128), {"step": 100}, "error", {ERROR}),
        (one_run(lambda loss: 3 * loss), {"step": 100}, "loss", {BAND, RATE, RISE}),
    ],
)
def test_control_each_comparison_of_figure_2(change, where, name, wrong):
    assert set(off("figure_2", reduce_figure_2([edited("xor", change, name, **where)]))) == wrong


def test_control_a_slope_of_minus_one():
    slow = simulated(
        "xor", loss=lambda a: a * 0 + (0.7 / (1 + 99 * a.step / 100)).clip(min=0.0021) * (1 - 1e-6 * a.step)
    )
    assert "D: slope of log L against log t, steps 50 to 100, median" in off("figure_2", reduce_figure_2([slow]))


def shoulders(change, name="loss", **where):
    return reduce_figure_3([edited("shoulders", change, name, **where)], [XOR])


def test_control_shoulders_that_are_xor():
    same = reduce_figure_3([XOR.assign_attrs(data="shoulders")], [XOR])
    assert {f"{reading}: median L_100, over that of XOR" for reading in READINGS} <= set(off("figure_3", same))
    assert BAND in off("figure_3", same)


@pytest.mark.parametrize(
    ("change", "where", "name", "wrong"),
    [
        (lambda a: a * 0 + float(a[0, 0]), {"step": slice(90, 100)}, "loss", {"D: largest L_100/L_90"}),
        (one_run(lambda loss: 4 * loss), {"step": 100}, "loss", {BAND, RATE, "D: largest L_100/L_90"}),
        (lambda a: a * 0 + 0.1 * (a.run < 9), {"step": 100}, "error", {ERROR}),
    ],
)
def test_control_each_comparison_of_figure_3(change, where, name, wrong):
    assert set(off("figure_3", shoulders(change, name, **where))) == wrong


def test_four_fifths_without_error_are_enough():
    assert off("figure_3", shoulders(lambda a: a * 0 + 0.1 * (a.run < 8), "error", step=100)) == []


FISHER = "D: p-value of Fisher's exact test, ReLU against Huberized"


def figure_4(relu=None, smooth=None):
    return reduce_figure_4([SHOULDERS if smooth is None else smooth], [RELU if relu is None else relu])


def test_control_a_relu_that_does_not_overshoot():
    wrong = off("figure_4", figure_4(relu=SHOULDERS))
    assert {FISHER, "D: share of ReLU runs that overshoot"} <= set(wrong)


def test_control_both_overshoot():
    both = figure_4(smooth=simulated("shoulders", loss=overshooting(29)))
    assert set(off("figure_4", both)) == {FISHER, "D: share of Huberized runs that overshoot"}


def test_control_a_large_rise():
    wrong = off("figure_4", figure_4(relu=simulated("shoulders", loss=overshooting(29, rise=1.2))))
    assert wrong == ["D: largest rise L_{t+1}/L_t − 1 with the ReLU"]


def test_control_losses_twice_as_large():
    doubled = RELU.assign(loss=2 * RELU.loss)
    assert off("figure_4", figure_4(relu=doubled)) == ["D: difference of the medians of log L_100"]


@pytest.mark.parametrize("reading", ["A", "B", "C"])
def test_control_another_reading_overshoots(reading):
    risen_too = simulated("shoulders", loss=lambda a: overshooting(29)(overshooting(1, reading=reading)(a)))
    assert off("figure_4", figure_4(relu=risen_too)) == [f"{reading}: share of ReLU runs that overshoot"]


def test_fishers_test():
    """29 of 40 against 0 of 40, and 4 of 40 against 0: 0.058."""
    assert overshoot_p_value(figure_4().sel(reading="D")) == pytest.approx(8.9e-13, rel=0.05)
    few = figure_4(relu=simulated("shoulders", loss=overshooting(4)))
    assert overshoot_p_value(few.sel(reading="D")) == pytest.approx(0.0578, abs=1e-3)


def test_the_numbers_that_are_kept():
    """L = 1/t² for t ≥ 1, and a rise of 3 % at step 60 in one run."""
    losses = np.tile(1 / np.maximum(STEPS, 1.0) ** 2, (4, 7, 1))
    losses[3, 2, 60] = 1.03 * losses[3, 2, 59]
    cell = simulated("xor").isel(run=slice(0, 7)).assign(loss=(("reading", "run", "step"), losses))
    found = summary(cell)
    plain = found.sel(reading="A")
    assert rate_ratio(plain) == pytest.approx(0.5)
    assert peak_ratio(plain) == pytest.approx(1 / 50)
    np.testing.assert_allclose(plain["slope"], -2)
    assert float(plain["rise"].max()) == 0  # from step 0 to step 1
    assert float(found["rise"].max()) == pytest.approx(0.03)
    assert int((found["rise"] > 1e-9).sum()) == 1
    assert float(plain["near_last"][0]) == pytest.approx(1 / 8100)
    assert (float(plain["first"][0]), float(plain["middle"][0]), float(plain["last"][0])) == (1, 1 / 2500, 1e-4)
    np.testing.assert_allclose(plain["median"], losses[0, 0])
    np.testing.assert_array_equal(found["shown"], losses[3, :5])
    assert found.attrs == {"data": "xor", "last": 100, "runs": 7}
