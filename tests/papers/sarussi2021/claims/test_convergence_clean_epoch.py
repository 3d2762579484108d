"""Equations 24 and 25: how far one clean epoch can move outputs and losses."""

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.records import altered
from tests.papers.sarussi2021.epochs import attained_runs, far_off, toy_runs, without_clean_epoch
from tests.papers.sarussi2021.inputs import handed
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import convergence
from widenet.papers.sarussi2021.claims.convergence import (
    equation_19,
    equation_24,
    equation_25,
    theorem_4_1,
    theorem_4_1_order,
)
from widenet.papers.sarussi2021.formulas import one_epoch, output_change
from widenet.papers.sarussi2021.runs.after_clean_epoch import AfterCleanEpoch, one_update_more
from widenet.papers.sarussi2021.runs.epochs import Epochs


@pytest.mark.parametrize("claim", [equation_24, equation_25], ids=lambda c: c.name)
def test_a_clean_epoch_holds_on_toy_runs(claim):
    assert claim([toy_runs()]).verdict is Verdict.HOLDS


def test_equation_23_is_attained():
    found = equation_24([attained_runs()])
    assert found.parts[0].tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    assert found.parts[0].measured == pytest.approx(0.53788284274, rel=1e-10)
    assert found.parts[2].promised == pytest.approx(0.626523375036, rel=1e-10)


def test_an_epoch_that_never_came_is_not_scored():
    full, fewer = equation_24([toy_runs()]), equation_24([without_clean_epoch()])
    assert fewer.verdict is Verdict.HOLDS
    assert full.parts[0].n_cases - fewer.parts[0].n_cases == toy_runs().n_samples
    assert equation_25([without_clean_epoch()]).parts[0].n_cases == equation_25([toy_runs()]).parts[0].n_cases - 1
    (cell,) = convergence.CleanEpochs.join([without_clean_epoch()]).cells
    assert cell.sampled_share[0, 0] == 0
    assert (np.delete(cell.sampled_share, 0) > 0.1).all()


def test_one_sampled_loss_above_the_level_is_enough():
    sampled = toy_runs().sampled.copy()
    sampled[1, 0, 3] = 1.001 * toy_runs().clean_levels[1, 0]
    for claim in (equation_24, equation_25):
        unmet = [h.key for h in claim([altered(toy_runs(), sampled=sampled)]).hypotheses if not h.met]
        assert unmet == ["clean_epoch"]


def moved(state, step):
    """One point of one run at one state of its first clean epoch."""
    margins = toy_runs().clean_margins.copy()
    margins[1, 0, state, 4] += step
    return altered(toy_runs(), clean_margins=margins)


def test_one_point_that_moves_too_far_is_enough():
    for step in (1e6, -1e6):
        assert [part.kept for part in equation_24([moved(2, step)]).parts] == [False, False, True]
    assert equation_25([moved(-1, -1e6)]).conclusion is False


OUTPUTS = "outputs move by at most 2v²R_x²ηks(1 − e^{−ε_0})"


def test_with_many_points_only_the_ends_of_an_epoch_are_stored():
    """Two states, n = 20 updates apart; k = 2, v = 1/2, η = 0.1."""
    ends = altered(toy_runs(), clean_margins=lambda q: q[:, :, [0, -1]], n_samples=20)
    parts, found = handed(equation_24, [ends])
    assert found.verdict is Verdict.HOLDS
    reach = 2 * toy_runs().largest_norm[:, None] ** 2 / 4 * 0.1 * 2 * 20
    expected = reach * (1 - np.exp(-toy_runs().clean_levels))
    np.testing.assert_allclose(parts[OUTPUTS].promised, expected.ravel(), rtol=1e-12)
    np.testing.assert_allclose(
        parts["that is at most 2v²R_x²ηknε_0"].promised, (reach * toy_runs().clean_levels).ravel(), rtol=1e-12
    )


def test_an_epoch_that_nobody_calls_clean_need_not_be():
    """Losses of an epoch that was never reached are not looked at."""
    for claim in (equation_24, equation_25):
        (found,) = (h for h in claim([without_clean_epoch()]).hypotheses if h.key == "clean_epoch")
        assert found.met
        assert isinstance(found.actual, float)
        assert 0 < found.actual <= 1


def test_a_change_that_rounding_decides_decides_nothing():
    """A step of 1e-12 moves an output by less than the rounding of large activations that cancel."""
    blurred = altered(
        attained_runs(), step_size=1e-20, clean_scales=lambda s: 0 * s + 1e12, clean_margins=lambda q: 1 + 0.1 * (q - 1)
    )
    assert equation_24([blurred]).parts[0].kept is None
    assert equation_24([altered(blurred, clean_scales=lambda s: 0 * s + 1e-9)]).parts[0].kept is False


@pytest.mark.parametrize(("scale", "kept"), [(1e16, None), (1e8, False)])
def test_a_loss_at_the_end_that_rounding_decides_decides_nothing(scale, kept):
    assert equation_25([far_off(scale)]).parts[0].kept is kept


@pytest.mark.parametrize(
    ("loss", "scale", "is_blurred"),
    [
        (1.0, 2e4, True),
        (1.0 + 1.9e-8, 2e4, True),
        (1.0 + 2.1e-8, 2e4, False),
        (1.0 - 1e-15, 2e4, False),
        (1.0, 1.05e3, True),
        (1.0, 0.95e3, False),
    ],
    ids=["at it", "within 1e-12 of 2e4", "beyond", "below its level", "blurred by over 1e-9", "hardly blurred"],
)
def test_what_rounding_decides_about_a_loss_and_its_level(loss, scale, is_blurred):
    """Margins of this size are rounded by 1e-12 of it, which counts from 1e-9 of the level, here 1, on."""
    found = convergence.decided_by_rounding(np.array([loss]), np.ones(1), np.array([scale]))
    assert found.tolist() == [is_blurred]


def scaled(factor, formula):
    return lambda *given: factor * formula(*given)


def relaxed(updates, level, *shape):
    """2v²R_x²ηknε_0, of one point."""
    return one_epoch(1, *shape) * level


def ends_at(share):
    """Every loss at the end is this share of 3ε_0; 2v²R_x²ηkn = 2."""
    margin = -np.log(np.expm1(share * 3 * attained_runs().clean_levels[0, 0]))
    return at(attained_runs, clean_margins=lambda q: np.full_like(q, margin))


test_control = controls(
    convergence,
    {Epochs: toy_runs, AfterCleanEpoch: lambda: one_update_more(0.01)},
    (equation_24, "losses"),
    (convergence.equation_24_as_printed, "losses"),
    (convergence.equation_25_as_printed, "losses"),
    (equation_24, "outputs", at(attained_runs), at(attained_runs, change=scaled(1 - 5e-9, output_change))),
    (equation_24, "relaxed", at(attained_runs, change=relaxed), at(attained_runs, change=scaled(1 + 5e-12, relaxed))),
    (equation_25, "losses", ends_at(0.9999), ends_at(1.0001)),
    but=(theorem_4_1, theorem_4_1_order, equation_19),
)
