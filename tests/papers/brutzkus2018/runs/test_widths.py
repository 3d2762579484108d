"""One data set at several widths."""

import numpy as np
import pytest

from tests.controls import unmet_in
from widenet.data.points import separable_points
from widenet.papers.brutzkus2018.claims.width_trend import corollary_3_width_free
from widenet.papers.brutzkus2018.runs import widths
from widenet.papers.brutzkus2018.runs.widths import (
    Normalization,
    WidthSetting,
    contrast_settings,
    run_width,
    width_settings,
)
from widenet.progress import silent
from widenet.records import Scale
from widenet.types import RunStatus


def test_a_run_does_not_depend_on_how_many_there_are_beside_it():
    few, more = (
        run_width(WidthSetting(half_width=4, normalization=Normalization.EQUATION_6, n_runs=n), silent) for n in (2, 4)
    )
    np.testing.assert_array_equal(few.updates, more.updates[:2])
    assert (few.status == RunStatus.CONVERGED).all()
    assert few.smallest_margin == more.smallest_margin >= 1


def test_all_widths_are_trained_on_the_points_of_the_setting():
    inputs, labels, separator = separable_points(np.random.default_rng(0), 10, 60, 5.0, 0.4)
    for half in (1, 4):
        runs = run_width(WidthSetting(half_width=half, normalization=Normalization.EQUATION_6, n_runs=1), silent)
        assert runs.smallest_margin == (labels * (inputs @ separator)).min()
        assert runs.largest_input == np.linalg.norm(inputs, axis=1).max()


def test_both_normalizations_are_the_same_for_two_neurons_apart_from_scale():
    assert Normalization.EQUATION_6.size(8) == 0.25
    assert Normalization.SMALLER.size(8) == 0.0625


def test_the_figure_reads_the_cells_of_the_claim():
    for scale in Scale:
        assert contrast_settings(scale, 3)[: len(width_settings(scale, 3))] == width_settings(scale, 3)


@pytest.mark.parametrize(
    ("name", "key"), [("unit_rows", "normalized_rows"), ("plus_minus_weights", "normalized_output")]
)
def test_the_starts_are_measured_and_not_what_was_asked_for(name, key, monkeypatch):
    """Rows, or output weights, of one and a half times the size that the setting says."""
    honest = getattr(widths, name)
    monkeypatch.setattr(widths, name, lambda *given: 1.5 * honest(*given))
    runs = run_width(WidthSetting(half_width=2, normalization=Normalization.EQUATION_6, n_runs=3), silent)
    assert max(runs.output_weight, runs.row_bound) == pytest.approx(0.75)
    assert min(runs.output_weight, runs.row_bound) == pytest.approx(0.5)
    assert unmet_in(corollary_3_width_free([runs])) == [key]
