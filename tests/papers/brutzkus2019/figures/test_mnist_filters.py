"""Figures 4, 7 and 8 of brutzkus2019: the whole computation at toy size, and the bands on made-up numbers."""

import jax
import numpy as np
import pytest
import xarray as xr

from widenet.papers.brutzkus2019 import PAPER
from widenet.papers.brutzkus2019.figures import mnist_filters as computing
from widenet.papers.brutzkus2019.figures.figure_4 import figure_4
from widenet.papers.brutzkus2019.figures.figure_7 import figure_7
from widenet.papers.brutzkus2019.figures.figure_8 import figure_8
from widenet.papers.brutzkus2019.figures.mnist_filter_bands import best_pair, compare_mnist_filters, gap_closed
from widenet.papers.brutzkus2019.figures.mnist_filters import FROZEN, compute_mnist_filters
from widenet.plots import DRAWINGS, render
from widenet.types import RunStatus, Scale

TOY = {"filter_side": 3, "sizes": (60,), "clustered_size": 60, "pairs": ((0.01, 0.05), (0.05, 0.05)), "n_runs": 3}


@pytest.fixture(scope="module")
def toy():
    seen = []
    numbers = compute_mnist_filters(
        0, lambda done, words: seen.append(done), **TOY, n_wide=2, wide_epochs=8, narrow_epochs=2, n_test=100
    )
    return numbers, seen


def made_up(centres: float = 0.06, angle: float = 45.0, n_wide: int = 5, n_runs: int = 20) -> xr.Dataset:
    """Errors of 8 % learned, 5 % wide and the given one on centres; angles around the given one and 60°."""
    rng = np.random.default_rng(0)
    frozen = np.array([centres, centres, 0.082, 0.083])

    def noisy(mean, *shape):
        return mean + 0.002 * rng.standard_normal(shape)

    def angles(mean):
        return ("wide_run", "channel"), mean + 12 * rng.standard_normal((n_wide, 120))

    return xr.Dataset(
        {
            "learned_error": (("size", "pair", "run"), noisy(np.array([[[0.1], [0.08]]]), 1, 2, n_runs)),
            "frozen_error": (("size", "filters", "run"), noisy(frozen[:, None], 1, 4, n_runs)),
            "wide_error": (("size", "wide_run"), noisy(0.05, 1, n_wide)),
            "trained_angle": angles(angle),
            "untrained_angle": angles(60.0),
            "other_untrained_angle": angles(60.0),
        },
        coords={"size": [2000], "filters": list(FROZEN)},
    )


def verdicts(numbers: xr.Dataset) -> dict[str, str]:
    return {row.name: row.verdict for row in compare_mnist_filters(numbers)}


def test_the_whole_figure_at_toy_size(toy):
    numbers, seen = toy
    assert numbers.learned_error.shape == (1, 2, 3)
    assert numbers.frozen_error.shape == (1, 4, 3)
    assert numbers.trained_angle.shape == (2, 120)
    assert numbers.trained_filters.shape == (120, 9)
    assert seen[0] == 0
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    for name in ("learned_error", "frozen_error", "wide_error"):
        assert ((numbers[name] >= 0) & (numbers[name] <= 1)).all()
    assert float(numbers.wide_error.mean()) < 0.6  # chance is 0.9
    assert int(numbers.diverged) == 0
    assert ((numbers.wide_status == RunStatus.CONVERGED) == (numbers.wide_train_error == 0)).all()
    np.testing.assert_allclose(np.linalg.norm(numbers.trained_filters, axis=1), 1, atol=1e-3)
    assert (np.diff(numbers.trained_cluster) >= 0).all()


def test_training_moves_filters_towards_centres(toy):
    numbers, _ = toy
    assert float(numbers.trained_angle.mean()) < float(numbers.untrained_angle.mean()) - 3
    assert abs(float(numbers.other_untrained_angle.mean() - numbers.untrained_angle.mean())) < 3


def test_it_can_be_drawn(toy):
    drawing = DRAWINGS["brutzkus2019.figure_4"](toy[0])
    titles = [axes.get_title(loc="left") for part in drawing.subfigs for axes in part.axes]
    assert titles[:2] == ["(a) Angles, 60 images", "(b) Test error"]
    svg = render(drawing, "svg").decode()
    assert "0 runs diverged" in svg
    assert "2 large networks and 3 small runs" in svg


def test_frozen_filters_are_those_of_the_small_network_to_the_end():
    """The head on responses is the network with these filters: same outputs on an image."""
    draws = computing._Draws(jax.random.key(0), 3, "float64")
    keys, _ = draws.keys(computing.FROZEN_RUNS, 2)
    networks = draws.networks(keys, 4, 0.05)
    image = computing._digits("test", 1, 0, "float64").images
    responses = computing._responses(networks.filters, image)
    for run in range(2):
        network = jax.tree.map(lambda leaf, run=run: leaf[run], networks)
        np.testing.assert_allclose(network.head(responses[run, 0]), network(image[0]), rtol=1e-12)


def test_all_bands_agree_with_numbers_like_the_papers():
    found = verdicts(made_up())
    assert len(found) == 9
    assert set(found.values()) == {"AGREES"}


def test_control_centres_that_do_not_help_are_seen():
    found = verdicts(made_up(centres=0.083))
    assert [name for name, verdict in found.items() if verdict == "DIFFERS"] == [
        "(b) test error, small network − frozen centres, 2000 images",
        "(b) share of the gap closed by frozen centres, 2000 images",
    ]


def test_control_untrained_angles_in_place_of_trained_ones_are_seen():
    found = verdicts(made_up(angle=60.0))
    assert sum(verdict == "DIFFERS" for name, verdict in found.items() if name.startswith("(a)")) == 2


def test_control_random_directions_that_close_the_gap_are_seen():
    numbers = made_up()
    numbers["frozen_error"].loc[{"filters": "random directions"}] = 0.06
    assert verdicts(numbers)["(b) control: share closed by frozen random directions, 2000 images"] == "DIFFERS"


def test_few_runs_say_nothing_about_centres():
    for few in (made_up(n_wide=1), made_up(n_runs=3)):
        assert [name for name in verdicts(few) if name.startswith("(b)")] == [
            "(b) test error, small network − large network, 2000 images"
        ]


def test_a_nan_agrees_with_nothing():
    numbers = made_up() * np.nan
    assert set(verdicts(numbers.assign_coords(made_up().coords)).values()) == {"DIFFERS"}


def test_the_share_closed():
    assert gap_closed(0.08, 0.065, 0.05) == pytest.approx(0.5)
    assert np.isnan(gap_closed(0.05, 0.04, 0.05))
    assert float(best_pair(made_up().learned_error.isel(size=0)).mean()) < 0.09


def test_scales():
    for figure, side, size in ((figure_4, 3, 6000), (figure_7, 4, 2000), (figure_8, 7, 2000)):
        assert figure in PAPER.figures
        sizes = figure.sizes[Scale.PAPER]
        assert (sizes["filter_side"], sizes["clustered_size"]) == (side, size)
        assert len(sizes["pairs"]) == 6
        assert sizes["n_runs"] == 20


def test_the_clustered_size_must_be_trained():
    with pytest.raises(ValueError, match="clustered_size"):
        compute_mnist_filters(0, **{**TOY, "clustered_size": 50})
