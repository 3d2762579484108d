"""Drawings and animations of brutzkus2019, from made-up numbers of the right shape: nothing is trained here."""

import io

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from widenet.data.xord import PATTERNS, SET_LABELS
from widenet.papers.brutzkus2019.drawings import animation
from widenet.papers.brutzkus2019.drawings.arrows import log_lengths, looking_at
from widenet.papers.brutzkus2019.figures.figure_1 import CHANNELS
from widenet.papers.brutzkus2019.runs.recorded_runs import Recording, as_dataset, decoy_counts, xor_counts
from widenet.plots import ANIMATIONS, DRAWINGS, picture_files, render


def recording(n_channels: int, wrong: list[int]) -> Recording:
    """Filters that grow along their nearest pattern; right everywhere but on the listed sets."""
    rng = np.random.default_rng(n_channels)
    start = 1e-5 * rng.standard_normal((n_channels, 2))
    steps = np.array([0, 1, 2, 5, 20, 70])
    nearest = PATTERNS[np.argmax(start @ PATTERNS.T, axis=1)]
    outputs = np.where(np.isin(np.arange(15), wrong), -1.0, 1.0) * SET_LABELS
    return Recording(
        steps,
        np.stack([start + 1e-3 * step * nearest for step in steps]),
        np.linspace(6, 0, 6),
        np.stack([*(0 * outputs for _ in steps[1:]), outputs]),
    )


def arrows(counts: np.ndarray, asked: np.ndarray) -> xr.Dataset:
    outcomes = {
        "train_error": np.array([0.0, 0.0, 0.5, 0.0]),
        "n_wrong_sets": np.array([0, 3, 2, 0]),
        "final_loss": np.zeros(4),
        "last_step": np.full(4, 70),
        "status": np.ones(4, int),
    }
    found = [(outcomes, recording(40, []), 0), (outcomes, recording(4, [0]), 1)]
    return as_dataset((20, 2), found, counts, asked, margin=5.0)


@pytest.fixture(scope="module")
def decoy() -> xr.Dataset:
    return arrows(decoy_counts(), np.ones(15, bool))


@pytest.fixture(scope="module")
def xor() -> xr.Dataset:
    return arrows(xor_counts(), xor_counts() > 0)


def texts(svg: bytes) -> str:
    return svg.decode()


def test_four_discs_and_the_outcomes_of_all_runs(decoy: xr.Dataset) -> None:
    drawing = DRAWINGS["brutzkus2019.figure_3"](decoy)
    titles = [axes.get_title(loc="left") for axes in drawing.axes]
    assert titles == ["(a) k = 20, start", "(b) k = 20, end", "(c) k = 2, start", "(d) k = 2, end", ""]
    svg = texts(render(drawing, "svg"))
    assert "zero training error, wrong elsewhere" in svg
    assert ">50 %<" in svg  # two of the four runs are right everywhere


def test_xor_speaks_of_points(xor: xr.Dataset) -> None:
    svg = texts(render(DRAWINGS["brutzkus2019.figure_2"](xor), "svg"))
    assert "right on all four points" in svg
    assert "wrong elsewhere" not in svg


def test_figure_6_has_both_maps(decoy: xr.Dataset) -> None:
    maps = xr.Dataset(
        {
            "recovery_by_width": (("map_margin", "map_half_width"), [[0.0, 0.12], [0.5, 0.97]]),
            "recovery_by_share": (("map_margin", "single_share"), [[1.0, 0.31], [0.5, 0.0]]),
        },
        coords={"map_margin": [1.0, 2.0], "map_half_width": [2, 100], "single_share": [0.0, 1 / 6]},
    )
    svg = texts(render(DRAWINGS["brutzkus2019.figure_6"](decoy.merge(maps)), "svg"))
    for shown in (">97<", ">31<", "margin γ", ">16.7<"):
        assert shown in svg


def test_figure_1_states_its_assumption_beside_the_curves() -> None:
    rng = np.random.default_rng(0)
    axes, shape = ("channels", "run"), (len(CHANNELS), 10)
    numbers = xr.Dataset(
        {"train_error": (axes, rng.choice([0.0, 0.1], shape)), "test_error": (axes, rng.uniform(0, 0.1, shape))},
        coords={"channels": list(CHANNELS), "run": np.arange(10)},
        attrs={"margin": 1.0},
    )
    drawing = DRAWINGS["brutzkus2019.figure_1"](numbers)
    curves = drawing.axes[0].lines
    np.testing.assert_allclose(np.asarray(curves[0].get_ydata()), 100 * numbers.test_error.mean("run"))
    assert "Assumed, not stated in the paper: γ = 1" in texts(render(drawing, "svg"))
    none_solved = numbers.assign(train_error=numbers.train_error * 0 + 0.1)
    render(DRAWINGS["brutzkus2019.figure_1"](none_solved), "png")


def test_figure_1_laws_and_figure_5_can_be_drawn() -> None:
    laws = xr.Dataset(
        {"solved": (("choice", "channels"), [[60, 95], [10, 50]])},
        coords={"choice": ["one", "two"], "channels": [4, 8]},
        attrs={"n_runs": 100},
    )
    svg = texts(render(DRAWINGS["brutzkus2019.figure_1_laws"](laws), "svg"))
    assert "8 channels" in svg
    error = np.random.default_rng(0).uniform(0, 0.1, (2, 2, 5))
    margins = xr.Dataset(
        {"test_error": (("margin", "channels", "run"), error)},
        coords={"margin": [1.0, 5.0], "channels": [4, 20]},
    )
    assert "γ = 5" in texts(render(DRAWINGS["brutzkus2019.figure_5"](margins), "svg"))


def test_lengths_are_logarithmic_and_directions_stay() -> None:
    filters = np.array([[3.0, 4.0], [0.03, 0.04], [0.0, 0.0]])
    drawn = log_lengths(filters, 5.0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), [1.0, 0.5, 0.0])
    np.testing.assert_allclose(drawn[0], [0.6, 0.8])


def test_who_looks_where() -> None:
    """w near p₁ and p₄, u near p₂ and p₁: one patch counts half-planes, several count the best pattern."""
    filters = np.array([[1.0, 0.9], [-1.0, 0.8], [1.0, -0.9], [1.0, 0.8]])
    assert looking_at(filters, one_patch=False) == [1, 2, 0, 0]
    assert looking_at(filters, one_patch=True) == [1, 2, 1, 0]


def test_between_two_steps_filters_move_on_a_line(decoy: xr.Dataset) -> None:
    first, second = decoy.wide_filters.values[2:4]  # steps 2 and 5
    np.testing.assert_allclose(animation.filters_at(decoy, "wide", 3.5), (first + second) / 2)
    np.testing.assert_array_equal(animation.filters_at(decoy, "wide", 70.0), decoy.wide_filters.values[-1])
    np.testing.assert_array_equal(animation.filters_at(decoy, "wide", 99.0), decoy.wide_filters.values[-1])
    assert [animation.recorded_before(decoy, "wide", time) for time in (0.0, 0.5, 5.0, 19.9, 70.0)] == [0, 0, 3, 3, 5]


@pytest.mark.parametrize("last", [100, 345, 352, 1000, 3901])
def test_the_last_frame_is_the_end_whatever_the_logarithm_rounds_to(decoy: xr.Dataset, last: int) -> None:
    steps = decoy.wide_step.values.copy()
    steps[-1] = last
    times = animation.frame_times(decoy.assign(wide_step=("wide_time", steps)))
    assert times[0] == 0
    assert times[-1] == last
    assert (np.diff(times) > 0).all()


def test_the_animation_is_a_small_gif_that_repeats(decoy: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "N_FRAMES", 5)
    files = picture_files("brutzkus2019.figure_3", decoy)
    content = files["brutzkus2019.figure_3.gif"]
    film = Image.open(io.BytesIO(content))
    assert (getattr(film, "n_frames", 1), film.size) == (5, (900, 660))
    assert film.info["loop"] == 0
    first = np.asarray(film.convert("RGB"))
    assert (first[0, 0] == 255).all()  # white stays white
    film.seek(4)
    assert (np.asarray(film.convert("RGB")) != first).any(axis=-1).mean() > 0.005
    assert content == ANIMATIONS["brutzkus2019.figure_3"](decoy)


def test_xor_moves_too(xor: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "N_FRAMES", 3)
    assert ANIMATIONS["brutzkus2019.figure_2"](xor).startswith(b"GIF89a")


def test_a_figure_without_animation_has_no_gif() -> None:
    assert set(ANIMATIONS) < set(DRAWINGS)
