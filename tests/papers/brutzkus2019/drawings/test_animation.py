"""Films: where arrows are between two steps, when the last frame is, and what is in the file."""

import io

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from widenet.papers.brutzkus2019 import PAPER
from widenet.papers.brutzkus2019.drawings import animation, figure_2, figure_3
from widenet.plots import moves


def frames_of(film: bytes) -> np.ndarray:
    """(frame, row, column, colour)."""
    picture = Image.open(io.BytesIO(film))
    found = []
    for number in range(getattr(picture, "n_frames", 1)):
        picture.seek(number)
        found.append(np.asarray(picture.convert("RGB")))
    return np.stack(found)


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
    content = figure_3.animate(decoy)
    film = Image.open(io.BytesIO(content))
    assert (getattr(film, "n_frames", 1), film.size) == (5, (900, 660))
    assert film.info["loop"] == 0
    frames = frames_of(content)
    assert (frames[0, 0, 0] == 255).all()  # white stays white
    assert (frames[-1] != frames[0]).any(axis=-1).mean() > 0.005
    assert content == figure_3.animate(decoy)


def test_green_is_green_and_red_is_red_at_the_end(decoy: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few pixels have the colours that say right and wrong; the palette keeps them all the same."""
    monkeypatch.setattr(animation, "N_FRAMES", 3)
    end = frames_of(figure_3.animate(decoy))[-1].reshape(-1, 3).tolist()
    for colour in ([0x00, 0x80, 0x5C], [0xB3, 0x26, 0x1E]):
        assert colour in end


def test_words_are_those_of_a_frame_drawn_alone(decoy: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are pasted from where they were drawn first: the last frame is the same without the frames before it."""
    monkeypatch.setattr(animation, "N_FRAMES", 6)
    times = animation.frame_times(decoy)
    stills: list[list[Image.Image]] = []
    monkeypatch.setattr(animation, "_as_gif", lambda frames: stills.append(frames) or b"")
    figure_3.animate(decoy)
    monkeypatch.setattr(animation, "frame_times", lambda numbers: times[-1:])
    figure_3.animate(decoy)
    np.testing.assert_array_equal(np.asarray(stills[0][-1]), np.asarray(stills[1][0]))


def test_xor_moves_too(xor: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(animation, "N_FRAMES", 3)
    assert figure_2.animate(xor).startswith(b"GIF89a")


def test_figures_2_and_3_move_and_no_others() -> None:
    moving = [id for id in PAPER.figure_ids if moves(PAPER.load_figure(id))]
    assert moving == ["brutzkus2019.figure_2", "brutzkus2019.figure_3"]
