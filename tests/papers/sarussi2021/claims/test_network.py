import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import unmet_in
from tests.papers.records import altered
from tests.papers.sarussi2021.inputs import handed
from tests.papers.sarussi2021.toys import EDGES
from widenet.claims.base import Verdict
from widenet.papers.sarussi2021.claims import network
from widenet.papers.sarussi2021.claims.network import (
    draw_expressed,
    draw_scaled,
    equation_27,
    section_3_expressiveness,
    section_8_1,
)
from widenet.papers.sarussi2021.formulas import update_bound
from widenet.papers.sarussi2021.runs.clouds import Clouds, CloudSetting, ask, run_clouds
from widenet.papers.sarussi2021.runs.epochs import Epochs, lifted_epoch_settings, run_epochs
from widenet.papers.sarussi2021.runs.single_networks import Expressed, express
from widenet.papers.sarussi2021.sources import kappa_network
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def toy_units():
    return draw_expressed(Scale.QUICK, 0)


@functools.cache
def toy_scaled():
    return draw_scaled(Scale.QUICK, 0)


@functools.cache
def toy_pairs():
    return run_clouds(CloudSetting(n_networks=30, n_points=30, lifted=True), silent)


@functools.cache
def toy_trained():
    return [run_epochs(setting, silent) for setting in lifted_epoch_settings(Scale.QUICK, 0)]


def test_a_unit_of_weight_zero_counts_as_positive():
    units = altered(toy_units(), weights=np.resize([0.0, 0.01, -0.01, 1.0, -1.0], len(toy_units().weights)))
    parts, _ = handed(section_3_expressiveness, units)
    first, second = (part.scored[:5].tolist() for part in parts.values())
    assert first == [True, True, False, True, False]
    assert second == [False, False, True, False, True]


def test_control_without_the_division_by_v():
    assert section_3_expressiveness(express(np.random.default_rng(0), 5, divide=False)).verdict is Verdict.VIOLATED


def test_a_sign_that_rounding_decides_is_not_scored():
    """1e-10 of what cancels."""
    outputs = np.full_like(toy_scaled().outputs, 1.0)
    for size, cases in ((0.999e10, len(outputs)), (1.001e10, 0)):
        drawn = altered(toy_scaled(), outputs=outputs, signs=-outputs, size=size * outputs)
        assert equation_27(drawn).parts[1].n_cases == cases


def judged(pairs=None, trained=None, **constants):
    return section_8_1([pairs or toy_pairs()], trained or toy_trained(), **constants)


def test_the_bound_needs_the_lifted_norm():
    (runs,) = toy_trained()
    lower = network.promised(altered(runs, largest_norm=lambda r: np.sqrt(r**2 - 1)), update_bound, 0.5)
    assert (lower < network.promised(runs, update_bound, 0.5)).all()


def test_a_run_that_is_given_up_after_the_bound_breaks_it():
    """And before it decides nothing."""
    (runs,) = toy_trained()
    limits = network.promised(runs, update_bound, 0.5)
    for updates, kept in ((int(limits.max()) + 1, False), (int(limits.min()), None)):
        lost = altered(runs, hits=lambda h: np.full_like(h, -1), updates=updates)
        found = judged(trained=[lost])
        assert found.parts[2].kept is kept
        assert found.runs.unfinished == 2


@pytest.mark.parametrize(("hit", "updates", "kept"), [(0, 13, True), (12, 1, True), (13, 1, False), (-1, 12, None),
                                                      (-1, 13, False)])  # fmt: skip
def test_the_edge_of_the_bound_with_biases(hit, updates, kept):
    (runs,) = toy_trained()
    changed = altered(runs, hits=lambda h: 0 * h + hit, updates=updates)
    found = judged(trained=[changed], bound=lambda *given: np.full(2, 12.0))
    assert found.parts[2].kept is kept
    assert found.runs.unfinished == (2 if hit < 0 else 0)


def test_the_factor_two_at_the_edge_of_the_region_with_biases():
    """|(w̄ − ū)·x| is 2.01, 2(1 + 1e-12) and 1.99 times r‖x‖."""
    sharp = ask(kappa_network(0.2, 0.5), np.array([[1.0, 0.0]]))
    for factor, cases in ((2.01, 1), (2 * (1 + 1e-12), 1), (1.99, 0)):
        pair = altered(sharp, plus_mean=np.array([factor]), minus_mean=np.zeros(1), plus_radius=np.ones(1))
        assert judged(altered(pair, minus_radius=np.ones(1), minus_distance=np.ones(1))).parts[1].n_cases == cases


def test_a_negative_factor_does_not_multiply():
    found = equation_27(draw_scaled(Scale.QUICK, 0, factors=(-1.0,)))
    assert found.conclusion is False
    assert unmet_in(found) == ["factor"]


SHARP = ask(kappa_network(0.2, 0.8 / 1.2 - 1e-3), np.array([[1.0, 0.0]]))


def lifted(pairs=None, **fields):
    """Other pairs, or the runs of SGD with other fields."""
    return at(lambda: (pairs or toy_pairs(), [altered(toy_trained()[0], **fields)]))


def with_sharp(**fields):
    """The sharp network in the coordinate of the bias, at x = 0: with ‖x‖ = 0 every pair is inside the region."""
    return lifted(Clouds.joined([toy_pairs(), altered(SHARP, **fields)]))


def exactly(share):
    return {"bound": lambda *_: share * toy_trained()[0].hits[:, 0]}


def one_turned(signs):
    return np.where(np.arange(len(signs)) == 5, -signs, signs)


test_control = controls(
    network,
    {Expressed: toy_units, network.Scaled: toy_scaled, (Clouds, Epochs): lambda: (toy_pairs(), toy_trained())},
    (section_3_expressiveness, "positive"),
    (section_3_expressiveness, "negative"),
    (equation_27, "outputs"),
    (equation_27, "signs", {}, {"signs": one_turned}),
    (section_8_1, "networks", {"bias_share": 1 + 1e-11}, {"bias_share": 1 + 4e-10}),
    (section_8_1, "theorem_5_1", with_sharp(), with_sharp(norms=np.zeros(1))),
    (section_8_1, "theorem_4_1", {}, {"bound": lambda *given: 1e-8 * update_bound(*given)}),
    (section_8_1, "theorem_4_1", exactly(1.0), exactly(1 - 5e-12)),
    (section_8_1, "critical", {}, {"ones": False}),
    *((section_8_1, key, lifted(**inside), lifted(**outside)) for key, (inside, outside) in EDGES.items()),
)
