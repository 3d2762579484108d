"""Looks at networks: what is measured is what it says, on toys with values that were computed apart."""

import numpy as np
import pytest

from tests.diagnostics.test_huberized import T1, T2
from tests.papers.chatterji2021 import toys
from widenet.diagnostics.huberized import HuberNetwork, gradient, log_mean_loss
from widenet.papers.chatterji2021.formulas import SHARP, largest_step_scale, rate_constant
from widenet.papers.chatterji2021.runs.networks import (
    SHARES,
    NetworkSetting,
    look_at,
    network_settings,
    run_networks,
)
from widenet.papers.chatterji2021.sources import Case, PlacedCases, RandomCases, ThinCases, on_one_point
from widenet.progress import silent
from widenet.records import Scale


@pytest.mark.parametrize(
    ("toy", "loss", "pull", "size", "norm", "aligned", "hessian", "after", "gained", "scale", "rate"),
    [
        (
            T1, 0.594273465281, 0.442033483247, 0.220730908257, 1.74928556845, 0.115804842194, 0.563207018117,
            0.592909917962, 0.997887316858, 0.0307877337455, 0.00025380513864,
        ),
        (
            T2, 0.632260791525, 0.461591241279, 0.0712201408941, 1.64620776332, 0.0729936170237, 0.440095677274,
            0.631993469942, 0.99964517045, 0.0615754674911, 0.00036725815437,
        ),
    ],
)  # fmt: skip
def test_pinned_networks(toy, loss, pull, size, norm, aligned, hessian, after, gained, scale, rate):
    points, labels, net = toy
    found = look_at([Case(points, labels, net)])
    names = ("losses", "pulls", "gradient_norms", "norms", "alignments", "hessian_norms")
    assert [getattr(found, name)[0] for name in names] == pytest.approx(
        [loss, pull, size, norm, aligned, hessian], rel=1e-10
    )
    assert found.efficiencies[0, 1] == pytest.approx(gained, rel=1e-10)
    step = found.steps[0, 1]
    assert step == pytest.approx(1 / (30 * net.half_width * loss), rel=1e-10)
    moved = HuberNetwork(net.weights - step * gradient(net, points, labels), net.bandwidth)
    assert np.exp(log_mean_loss(moved.margins(points, labels))) == pytest.approx(after, rel=1e-11)
    assert largest_step_scale(norm, loss, net.half_width) == pytest.approx(scale, rel=1e-10)
    assert rate_constant(scale, norm, loss) == pytest.approx(rate, rel=1e-9)


def test_the_segment_of_lemma_8():
    """Its start and its end are looked at, and places between them."""
    case = next(iter(RandomCases(n_networks=1, seed=5).cases()))
    found = look_at([case])
    start = found.hessian_norms[0]
    assert found.segment_hessians[0] >= start
    assert found.segment_losses[0] >= found.losses[0]


def test_the_pieces_of_a_step():
    """The induction of Lemma 8: in ⌈√(2p)‖V' − V‖/L⌉ pieces, no piece raises the loss by more than L, or at all."""
    walked = 0
    for case in RandomCases(n_networks=400, seed=3).cases():
        net, slope = case.network, gradient(case.network, case.points, case.labels)
        loss = float(np.exp(log_mean_loss(net.margins(case.points, case.labels))))
        change = slope / (30 * net.half_width * loss)
        pieces = int(np.ceil(np.sqrt(2 * net.half_width) * np.linalg.norm(change) / loss))
        if not 2 <= pieces <= 500:
            continue
        moved = [HuberNetwork(net.weights - part * change, net.bandwidth) for part in np.linspace(0, 1, pieces + 1)]
        losses = [float(np.exp(log_mean_loss(each.margins(case.points, case.labels)))) for each in moved]
        assert max(losses) <= loss * (1 + 1e-12)
        walked += 1
    assert walked >= 3


def test_a_smoothness_that_is_proved_or_measured():
    """No place of the way has a larger Hessian, on a much finer grid."""
    from widenet.diagnostics.curvature import hessian_norm

    crossing = 0
    for case in RandomCases(n_networks=12, seed=2).cases():
        found = look_at([case])
        step, bound = found.local_steps[0], found.local_smoothness[0]
        if np.isnan(step):
            continue
        slope = gradient(case.network, case.points, case.labels)
        for part in np.linspace(0, 1, 60):
            moved = HuberNetwork(case.network.weights - part * step * slope, case.network.bandwidth)
            assert hessian_norm(moved, case.points, case.labels) <= bound * (1 + 1e-9)
        crossing += bound > 1.5 * found.hessian_norms[0]
    assert crossing


def test_dead_units_have_no_gradient_and_no_step():
    found = look_at([on_one_point(np.array([-1.0, -1.0]))])
    assert found.losses[0] == pytest.approx(np.log(2))
    assert found.gradient_norms[0] == 0
    assert np.isnan(found.efficiencies).all()
    assert np.isnan(found.local_steps).all()


def test_settings_name_their_networks():
    settings = network_settings(Scale.QUICK, 0)
    for setting in settings:
        again = NetworkSetting.model_validate_json(setting.model_dump_json())
        assert type(again.networks) is type(setting.networks)
    assert {setting.networks.kind for setting in settings} == {"random", "placed"}
    assert len(run_networks(NetworkSetting(networks=RandomCases(n_networks=3)), silent)) == 3


def test_random_networks_reach_all_pieces_and_losses():
    found = toys.drawn()
    cases = list(RandomCases(n_networks=25, seed=1).cases())
    heights = [case.network.preactivations(case.points) / case.network.bandwidth for case in cases]
    pieces = {piece for height in heights for piece in np.digitize(height, [0, 1]).ravel()}
    assert pieces == {0, 1, 2}
    assert found.losses.min() < 0.3
    assert found.losses.max() > 2


def test_placed_networks():
    """κ in the limit; the gradient √(2p)·g; a margin of nothing but one loss."""
    found = toys.placed()
    assert (found.hessian_norms / (found.half_width * found.losses)).max() == pytest.approx(SHARP, rel=1e-10)
    assert len(found) == len(list(PlacedCases(half_widths=(1, 3)).cases())) == 12
    thin = next(iter(ThinCases().cases()))
    losses = np.logaddexp(0, -thin.network.margins(thin.points, thin.labels))
    assert losses[0] / losses.sum() == pytest.approx(1, abs=1e-9)
    assert SHARES == (1 / 100, 1 / 30, 1 / (3 * SHARP))
