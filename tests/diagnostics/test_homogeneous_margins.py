import numpy as np
import pytest

from widenet.diagnostics.homogeneous_margins import (
    log_losses,
    log_total_loss,
    loss_weights,
    losses,
    margin_of_loss,
    normalized_margin,
    smoothed_margin,
)


@pytest.mark.parametrize(
    ("margins", "norm", "total", "plain", "smooth"),
    [
        ((2.94, 2.52, 1.8375), (1.25 + 4.0625) ** 0.5, 0.276645247274, 0.797219432484, 0.496124225777),
        ((8.82, 7.56, 5.5125), 3 * (1.25 + 4.0625) ** 0.5, 0.00469635901162, 0.797219432484, 0.774965064733),
        ((-0.3675, -0.2625, -0.147), (1.25 + 4.0625) ** 0.5 / 10, 2.49601677982, -1.59443886497, -10.4560885053),
    ],
)
def test_margins_against_values_computed_apart(margins, norm, total, plain, smooth):
    margins = np.array(margins)
    assert np.exp(log_total_loss(margins)) == pytest.approx(total, rel=1e-10)
    assert normalized_margin(margins, norm) == pytest.approx(plain, rel=1e-10)
    assert smoothed_margin(margins, norm) == pytest.approx(smooth, rel=1e-10)


def test_one_point_has_both_margins_equal():
    margins = np.array([2.94])
    norm = 2.94 / 1.27555109197
    assert smoothed_margin(margins, norm) == pytest.approx(1.27555109197)
    far = np.array([900.0])
    assert smoothed_margin(far, 1.0) == pytest.approx(900.0)
    assert smoothed_margin(np.array([-50.0]), 1.0) == pytest.approx(-50.0, rel=1e-12)


def test_weights_of_the_points():
    found = loss_weights(np.array([2.94, 2.52, 1.8375]))
    np.testing.assert_allclose(found, [0.181500581, 0.269182088, 0.496474213], rtol=1e-8)
    assert np.isfinite(loss_weights(np.array([1000.0, 1001.0]))).all()


def test_losses():
    np.testing.assert_allclose(losses(np.array([-2.0, 3.0])), [2.12692801104, 0.0485873515737])
    assert np.isnan(losses(np.array([np.nan])))[0]


def test_the_margin_of_a_loss_is_its_inverse():
    q = np.array([-60.0, -3.0, 0.0, 2.0, 29.0, 31.0, 600.0])
    np.testing.assert_allclose(margin_of_loss(log_total_loss(q[:, None])), q, atol=1e-12, rtol=1e-12)


def test_the_logarithm_of_a_loss_has_no_seam():
    """log log(1 + e^−q) = −q + log(1 − e^−q/2 + …), on both sides of q = 30, in 40 digits."""
    margins = np.array([1.0, 29.5, 30.0, 30.5, 40.0])
    apart = [-1.16071637538889757, -29.500000000000077, -30.0000000000000468, -30.5000000000000284, -40.0]
    np.testing.assert_allclose(log_losses(margins), apart, rtol=1e-12)


def test_the_margin_of_a_loss_has_no_seam():
    """−log(e^S − 1) at log S = −30.5, −29.5, log 0.05, log 29, log 31 and 800."""
    logs = np.array([-30.5, -29.5, np.log(0.05), np.log(29.0), np.log(31.0)])
    apart = [
        30.5 - np.exp(-30.5) / 2,
        29.5 - np.exp(-29.5) / 2,
        2.97062810905737710,
        -29 - np.log1p(-np.exp(-29.0)),
        -31,
    ]
    np.testing.assert_allclose(margin_of_loss(logs), apart, rtol=1e-11)
    assert np.isfinite(margin_of_loss(np.array(800.0)))


def test_what_follows_the_first_term_is_there_to_the_last_digit():
    """Spacing of floats at 30 is 3.6e-15: e^−30.5/2 = 2.8e-14 shows in log log(1 + e^−q) and in its inverse."""
    correction = np.exp(-30.5) / 2
    assert log_losses(np.array([30.5]))[0] == pytest.approx(-30.5 - correction, rel=0, abs=4e-15)
    assert margin_of_loss(np.array([-30.5]))[0] == pytest.approx(30.5 - correction, rel=0, abs=4e-15)
    assert margin_of_loss(np.log([29.5]))[0] == pytest.approx(-29.5 - np.log1p(-np.exp(-29.5)), rel=0, abs=5e-14)
    assert margin_of_loss(np.array([650.0]))[0] == pytest.approx(-np.exp(650.0), rel=1e-12)
