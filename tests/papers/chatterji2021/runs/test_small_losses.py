"""Losses whose square is no number of float64: steps, gains and verdicts down to 1e-299."""

import mpmath
import numpy as np
import pytest

from tests.papers.chatterji2021.toys import axes_run
from widenet.claims import Verdict
from widenet.diagnostics.huberized import HuberNetwork, log_mean_loss
from widenet.papers.chatterji2021.claims.alignment import lemma_10
from widenet.papers.chatterji2021.claims.induction import (
    equation_8,
    equation_9,
    lemma_11,
    lemma_12,
    lemma_13,
    theorem_1,
    weights_grow,
)
from widenet.papers.chatterji2021.claims.smoothness import lemma_5, lemma_6, lemma_7, lemma_8, lemma_8_segment
from widenet.papers.chatterji2021.formulas import LEAST_LOG_LOSS, rate_constant
from widenet.papers.chatterji2021.runs.networks import look_at
from widenet.papers.chatterji2021.sources import Case, RandomCases, all_on

LOSSES = (1e-120, 1e-150, 1e-160, 1e-170, 1e-220, 1e-299)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_against_mpmath(loss):
    """On two orthonormal inputs every margin grows by α g/2, and ‖∇L‖ = g/√2."""
    made = axes_run(2, 2, loss, 5)
    assert np.log(loss) == pytest.approx(made.log_losses[0], rel=1e-14)
    with mpmath.workdps(700):
        margin = mpmath.mpf(float(made.largest_margins[0]))
        pull, before = 1 / (1 + mpmath.exp(margin)), mpmath.log1p(mpmath.exp(-margin))
        scale = mpmath.e**2 / 240
        step = scale * mpmath.log(before) ** 2
        after = mpmath.log1p(mpmath.exp(-margin - step * pull / 2))
        gain = float(mpmath.log(before / after))
        size = float(pull / mpmath.sqrt(2))
        # The square of the norm grows from 2c² by 4c·δ + 2δ², c = m + 1/4 and δ = αg/2.
        stretch = float(step * pull / 2 / (margin + 0.25))
        step = float(step)
    assert made.gradient_norms[0] == pytest.approx(size, rel=1e-12)
    assert made.steps[0] == pytest.approx(step, rel=1e-12)
    assert made.gains[0] == pytest.approx(gain, rel=1e-11)
    assert made.stretches[0] == pytest.approx(stretch, rel=1e-11)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("claim", [theorem_1, equation_8, lemma_11, lemma_12, lemma_13, equation_9, weights_grow])
def test_the_induction_goes_on_at_losses_whose_square_underflows(claim, loss):
    assert claim([axes_run(2, 2, loss, 20)]).verdict is Verdict.HOLDS


@pytest.mark.parametrize("loss", LOSSES)
def test_a_rate_that_is_too_good_is_broken_there_too(loss):
    """The slack of these runs is below (6/5)³·1.05 at every loss, so twice the rate fails."""

    def twice(*given):
        return 2 * rate_constant(*given)

    assert theorem_1([axes_run(2, 2, loss, 20)], rate=twice).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("loss", LOSSES)
def test_networks_and_their_steps(loss):
    case = all_on(2, -float(np.log(loss)))
    found = look_at([case])
    assert found.losses == pytest.approx(loss, rel=1e-11)
    assert found.gradient_norms == pytest.approx(2 * loss, rel=1e-11)
    # One point, every unit linear: L' = L e^{−4αL}, and ‖∇L‖² = 4L².
    for at, share in enumerate((1 / 100, 1 / 30)):
        expected = -np.expm1(-4 * share / 2) / (4 * share / 2)
        assert found.efficiencies[0, at] == pytest.approx(expected, rel=1e-11)
    for claim in (lemma_5, lemma_6, lemma_8_segment):
        assert claim([found]).verdict is Verdict.HOLDS
    for claim in (lemma_7, lemma_8):
        assert claim([found], [axes_run(2, 2, loss, 20)]).verdict is Verdict.HOLDS
    assert lemma_10([axes_run(2, 2, loss, 20)], []).verdict is Verdict.HOLDS


@pytest.mark.parametrize("loss", [1e-161, 1.5e-162, 2e-162, 3e-162, 1e-163])
def test_squares_that_round_differently_break_nothing(loss):
    """L² rounds to 0 here, and ‖∇²L‖² need not."""
    assert lemma_6([look_at([all_on(3, -float(np.log(loss)))])]).verdict is Verdict.HOLDS


def test_random_networks_have_losses_that_are_numbers():
    """Seeds 230 and 387 draw networks whose loss is below 1e-360 before their rows are halved."""
    for seed, number in ((230, 24), (387, 69), (168, 120)):
        case = list(RandomCases(n_networks=number + 1, seed=seed).cases())[number]
        assert _log_loss(case) >= LEAST_LOG_LOSS
        doubled = Case(case.points, case.labels, HuberNetwork(2 * case.network.weights, case.network.bandwidth))
        assert _log_loss(doubled) < LEAST_LOG_LOSS


def _log_loss(case: Case) -> float:
    return float(log_mean_loss(case.network.margins(case.points, case.labels)))
