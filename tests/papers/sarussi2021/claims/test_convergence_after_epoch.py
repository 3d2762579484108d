import numpy as np
import pytest

from tests.control_table import at, spared
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims.convergence import equation_24_as_printed, equation_25_as_printed
from widenet.papers.sarussi2021.runs.after_clean_epoch import one_update_more


def test_the_instance():
    past = one_update_more()
    np.testing.assert_allclose(past.sampled, [4.6e-5, 5.86e-3], rtol=1e-2)
    assert (past.sampled <= past.clean_level).all()
    found = equation_24_as_printed(past)
    assert found.verdict is Verdict.VIOLATED
    assert (found.measured, found.promised) == pytest.approx((99.466897, 20.0), rel=1e-6)
    found = equation_25_as_printed(past)
    assert found.verdict is Verdict.VIOLATED
    assert (found.measured, found.promised) == pytest.approx((99.4669, 20.00674), rel=1e-6)


def test_equation_24_is_asked_of_losses_from_the_first_update_on():
    """The printed range of t starts at 1, after one update; four states are (1, 2), (1, 3) and (2, 3)."""
    past = one_update_more()
    losses = np.logaddexp(0, -past.margins)
    np.testing.assert_allclose(past.moved, np.abs(losses[[2, 3, 3]] - losses[[1, 1, 2]]).ravel())
    first = altered(past, margins=np.concatenate([past.margins[:1] - 1000, past.margins[1:3], past.margins[2:3]]))
    assert equation_24_as_printed(first).verdict is Verdict.HOLDS


def test_inside_the_epoch_the_bounds_hold():
    past = one_update_more()
    inside = np.abs(past.margins[:3, None] - past.margins[None, :3]).max()
    assert inside <= past.reach * past.clean_level
    assert np.logaddexp(0, -past.margins[2]).max() == pytest.approx(0.0898, rel=1e-2)


@pytest.mark.parametrize("claim", [equation_24_as_printed, equation_25_as_printed], ids=lambda claim: claim.name)
def test_a_hundredth_of_the_step_spares_it(claim):
    spared(claim, at(one_update_more(0.01)))


@pytest.mark.parametrize("claim", [equation_24_as_printed, equation_25_as_printed], ids=lambda claim: claim.name)
def test_control_an_epoch_that_is_not_clean(claim):
    past = one_update_more()
    edge = altered(past, sampled=np.array([1e-5, past.clean_level * (1 + 5e-13)]))
    assert claim(edge).hypotheses[0].met is True
    dirty = altered(past, sampled=np.array([1e-5, past.clean_level * (1 + 5e-12)]))
    assert claim(dirty).hypotheses[0].met is False
