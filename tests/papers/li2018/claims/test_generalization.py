"""Theorem 4.1 on caps and on the hexagon, and what passes of SGD show."""

import functools

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.li2018.toys import printed_rows, sample, separated_rows
from tests.papers.records import altered
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.li2018.claims import generalization
from widenet.papers.li2018.claims.generalization import (
    lemma_b_4_loss,
    section_5_pseudo_network,
    section_6_cancellation,
    theorem_4_1,
    theorem_4_1_as_printed,
    theorem_4_1_obstruction,
)
from widenet.papers.li2018.runs.passes import (
    PassSetting,
    cancellation_settings,
    gap_to_gated,
    hexagon_passes,
    pass_widths_settings,
    run_pass,
)
from widenet.papers.li2018.sources import Caps, Polygon, listed_network
from widenet.progress import silent
from widenet.records import Scale
from widenet.training.small.softmax import SoftmaxNetwork


@functools.cache
def trained():
    caps = Caps(dim=12, n_points=10)
    return run_pass(PassSetting(data=caps, width=60, n_steps=60, batch_size=16, n_test=300), silent)


def small():
    """The same with accuracies as wide networks have them."""
    return altered(trained(), start_accuracy=0.4, update_accuracy=1.0)


@functools.cache
def hexagon():
    return run_pass(hexagon_passes(Scale.QUICK, 0)[0].model_copy(update={"width": 50, "n_steps": 40}), silent)


def runs(count=20, **fields):
    return [altered(small(), **fields) for _ in range(count)]


def with_errors(wrong, count=20):
    return [altered(small(), error=0.05 if number < wrong else 0.0) for number in range(count)]


def test_the_error_may_be_two_percent():
    assert theorem_4_1(runs(error=0.02)).conclusion is True
    assert theorem_4_1(runs(error=0.0201)).conclusion is False


def test_no_run_confirms_or_refutes_a_theorem_whose_width_is_not_given():
    """Three neurons cannot do it, and sixty are not known to be enough."""
    narrow = run_pass(PassSetting(data=Caps(dim=12, n_points=10), width=3, n_steps=60, n_test=300), silent)
    for cells, kept, words in (
        ([narrow] * 20, False, "0 of 20 runs err on at most 0.02 at m = 3)"),
        (with_errors(5), None, "15 of 20 runs err on at most 0.02 at m = 60)"),
        (runs(error=0.02), True, "20 of 20 runs"),
    ):
        found = theorem_4_1(cells)
        assert (found.verdict, found.conclusion) == (Verdict.CONSTANT_UNSPECIFIED, kept)
        assert words in found.open_constant
    assert "at m = 3, 60." in theorem_4_1([small(), narrow]).note


def test_the_hexagon_is_outside_the_assumptions():
    found = theorem_4_1([hexagon()] * 20)
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert found.conclusion is False


def test_the_printed_theorem_fails_on_the_hexagon():
    assert hexagon().error >= 1 / 6
    assert theorem_4_1_as_printed([hexagon()] * 5).verdict is Verdict.VIOLATED


def test_without_the_start_the_bound_on_outputs_fails_at_once():
    assert small().times[0] == 0
    assert small().logits[0] == pytest.approx(small().logit_bounds[0])


def test_the_gap_of_the_small_network():
    start, end, points = listed_network()
    gaps, bounds = gap_to_gated(start, end, points)
    assert gaps[0] == pytest.approx(0.2)
    assert bounds[0] == pytest.approx(0.5)
    assert (gaps <= bounds + 1e-12).all()


def test_of_outputs_that_come_equally_close_the_largest_is_taken():
    """One neuron moves across 0 at many points: |f_i − g_i| is the same share of its bound for every output i."""
    draw = np.random.default_rng(3)
    hidden, votes = draw.normal(size=(40, 5)), draw.normal(size=(4, 40))
    moved = hidden.copy()
    moved[7] *= -1
    points = sample(draw.normal(size=(300, 5)), np.arange(300) % 4)
    start, end = SoftmaxNetwork(hidden, votes), SoftmaxNetwork(moved, votes)
    gaps, bounds = gap_to_gated(start, end, points)
    bound = np.abs(votes[:, 7]).max() * np.linalg.norm(2 * hidden[7])
    np.testing.assert_allclose(bounds, bound, rtol=1e-15)  # nine roundings: the five squares come in any order
    np.testing.assert_allclose(
        gaps, np.abs(votes[:, 7]).max() * np.abs(points.points @ hidden[7]), rtol=1e-9, atol=1e-12
    )
    still = gap_to_gated(start, start, points)
    np.testing.assert_allclose(still, 0, atol=1e-12)


def test_a_gap_without_a_bound_is_seen():
    """Outputs of which the second alone is off, although no neuron flipped."""

    class Odd(SoftmaxNetwork):
        def gated_logits(self, points, gates):
            return self.logits(points) + np.array([0.0, 0.1])

    network = Odd(np.array([[1.0]]), np.array([[1.0], [1.0]]))
    gaps, bounds = gap_to_gated(network, network, sample([[1.0]], [0]))
    assert (gaps[0], bounds[0]) == (pytest.approx(0.1), 0)


def test_the_two_parts_add_up_to_the_network():
    """Where the update decides alone and the start is near chance, the sum still errs nowhere."""
    assert trained().error < 0.05
    assert trained().update_accuracy > 0.95
    assert trained().start_accuracy < trained().update_accuracy


def test_settings_share_cells():
    shared = set(cancellation_settings(Scale.QUICK, 0)) & set(pass_widths_settings(Scale.QUICK, 0))
    assert len(shared) == 4


def test_three_classes_of_a_reader():
    drawn = Caps(dim=6, n_points=60, relative_diameter=0.04).draw(2)
    user_data = UserData(from_arrays(3 * drawn.points, drawn.classes), Choices(n_runs=2))
    settings = theorem_4_1.on(user_data).settings
    assert len(settings) == 2
    found = theorem_4_1([run_pass(settings[0].model_copy(update={"n_steps": 30}), silent)])
    assert (found.details["classes"], found.details["components per class"]) == (3, 2)
    assert found.details["δ"] > 0.8
    assert found.conclusion is None
    assert isinstance(theorem_4_1.on(UserData(from_arrays(np.ones((1001, 2)), np.arange(1001) % 3))), NotApplicable)


def test_a_reader_s_run_that_has_not_learned_yet_refutes_nothing():
    found = theorem_4_1(runs(error=0.4, own=True))
    assert found.conclusion is None
    assert found.runs.unfinished == 20
    assert theorem_4_1(runs(error=0.0, own=True)).conclusion is True


def test_the_failure_rate_is_fifteen_percent():
    """19 runs without a failure can show it, 18 cannot."""
    for claim in (theorem_4_1, theorem_4_1_as_printed):
        assert claim(with_errors(0, 19)).conclusion is True
        assert claim(with_errors(0, 18)).conclusion is None


def test_outputs_may_be_off_by_rounding_and_no_more():
    for share, kept in ((1 + 5e-10, True), (1 + 5e-9, False)):
        assert lemma_b_4_loss(runs(1, logits=small().logit_bounds * share)).parts[0].kept is kept


def test_means_of_accuracies():
    mixed = [altered(small(), start_accuracy=each) for each in (0.2, 0.9) * 4]
    assert section_6_cancellation(mixed).parts[1].measured == pytest.approx(0.55)
    one = [altered(small(), update_accuracy=0.98 if number == 3 else 1.0) for number in range(8)]
    assert section_6_cancellation(one).parts[0].kept is False


def test_the_same_passes_are_made_on_a_reader_s_data():
    turned = Polygon(degrees=5.0).draw(0)
    free = UserData(from_arrays(turned.points, np.where(turned.classes == 0, -1, 1)))
    assert lemma_b_4_loss.on(free).settings == theorem_4_1.on(free).settings


def test_the_printed_error_may_be_two_percent_too():
    assert theorem_4_1_as_printed(runs(error=0.02)).verdict is Verdict.HOLDS
    assert theorem_4_1_as_printed(runs(error=0.0201)).verdict is Verdict.VIOLATED


def test_losses_at_their_edges():
    for share, kept in ((1 + 5e-10, True), (1 + 5e-9, False)):
        assert lemma_b_4_loss(runs(1, losses=small().loss_bounds * share)).parts[1].kept is kept


def test_numbers_of_the_theorem():
    for claim in (theorem_4_1, theorem_4_1_as_printed):
        bad = claim(with_errors(20))
        assert (bad.measured, bad.promised) == (0.05, 0.02)
        assert bad.tightness == pytest.approx(2.5)
        good = claim([altered(small(), error=each) for each in (0.0, 0.01) * 10])
        assert (good.measured, good.tightness) == (0.01, pytest.approx(0.5))
        for error, vacuous in ((1.0, True), (0.95, False)):
            assert claim(with_errors(0), error=error).vacuous is vacuous
    lost = theorem_4_1(runs(error=0.4, own=True))
    assert (lost.measured, lost.promised) == (0.4, 0.02)
    edge = theorem_4_1(runs(error=0.02, own=True))
    assert (edge.conclusion, edge.runs.unfinished) == (True, 0)


def test_only_runs_of_a_reader_are_unfinished():
    half = [altered(small(), error=0.05, own=number % 2 == 0) for number in range(20)]
    found = theorem_4_1(half)
    assert found.runs.unfinished == 10
    assert found.conclusion is False


def gapped(power, *, own=False, place=-1, **fields):
    cells = []
    for width in (25, 100, 400):
        gaps = np.full(5, 1e-6)
        gaps[place] = 0.5 * (width / 25) ** power
        cells.append(altered(small(), width=width, gaps=gaps, gap_bounds=gaps, own=own, **fields))
    return cells


def test_the_largest_gap_falls():
    for power, kept in ((-0.41, True), (-0.39, False)):
        assert section_5_pseudo_network(gapped(power)).conclusion is kept


def test_a_gap_that_falls_slowly_on_a_reader_s_data_decides_nothing():
    assert section_5_pseudo_network(gapped(-0.41, own=True)).conclusion is True
    assert section_5_pseudo_network(gapped(-0.39, own=True)).conclusion is None
    exactly = section_5_pseudo_network(gapped(-0.39)).parts[1].measured
    assert section_5_pseudo_network(gapped(-0.39, own=True), slope=exactly).conclusion is True
    one = [*gapped(-0.39)[:2], gapped(-0.39, own=True)[2]]
    assert section_5_pseudo_network(one).conclusion is None


def test_the_room_of_a_gap():
    """1e-9·(1 + 3)."""
    for excess, kept in ((3.95e-9, True), (4.05e-9, False)):
        cells = [altered(cell, gaps=np.full(5, 3 + excess), gap_bounds=np.full(5, 3.0)) for cell in gapped(-0.5)]
        assert section_5_pseudo_network(cells).parts[0].kept is kept


def test_mirror_images_do_not_count_as_printed():
    near = altered(small(), opposite_separation=1e-3, relative_diameter=0.05)
    assert theorem_4_1_as_printed([near] * 20).verdict is Verdict.HOLDS


def test_widths_on_a_reader_s_data():
    drawn = Caps(dim=6, n_points=30, relative_diameter=0.04).draw(2)
    settings = section_5_pseudo_network.on(UserData(from_arrays(drawn.points, drawn.classes))).settings
    assert sorted({setting.width for setting in settings}) == [100, 400, 1600]
    found = [run_pass(setting.model_copy(update={"n_steps": 10}), silent) for setting in settings[::3]]
    assert section_5_pseudo_network(found).parts[0].kept is True
    assert all(cell.own for cell in found)
    many = UserData(from_arrays(np.random.default_rng(0).normal(size=(301, 2)), np.arange(301) % 3))
    assert isinstance(section_5_pseudo_network.on(many), NotApplicable)


def test_all_points_of_a_reader_are_measured():
    """The last of 260 points, in their order, comes within 0.01 of another class."""
    angles = np.linspace(0.0, 1.0, 260)
    points = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    points[-1] = points[-2] * 0.6 + np.array([0.004, 0.0])
    labels = np.where(np.arange(260) < 259, -1, 1)
    (setting, *_) = theorem_4_1.on(UserData(from_arrays(points, labels), Choices(n_runs=1))).settings
    cell = run_pass(setting.model_copy(update={"n_steps": 1, "width": 20}), silent)
    assert cell.separation < 0.01
    assert cell.n_components == len(np.unique(setting.data.draw(0).components))


def falling(power):
    return at(gapped(power))


def all_with(count, **fields):
    return at(runs(count, **fields))


EXACT = section_5_pseudo_network(gapped(-0.5)).parts[1].measured
test_control = controls(
    generalization,
    {
        theorem_4_1: lambda: with_errors(0),
        theorem_4_1_as_printed: lambda: with_errors(0),
        lemma_b_4_loss: small,
        section_5_pseudo_network: lambda: gapped(-0.5),
        section_6_cancellation: lambda: runs(8),
    },
    (section_6_cancellation, "update"),
    (section_6_cancellation, "smaller_part"),
    (lemma_b_4_loss, "outputs"),
    (lemma_b_4_loss, "loss"),
    (theorem_4_1, "error", {}, at(with_errors(7))),
    (theorem_4_1, "error", all_with(20, error=0.02), all_with(20, error=0.0201)),
    (theorem_4_1, "error", {}, at(with_errors(13, 40))),
    (theorem_4_1_as_printed, "error", {}, at([hexagon()] * 5)),
    (theorem_4_1_as_printed, "error", {}, at(with_errors(13, 40))),
    (section_5_pseudo_network, "bound", {}, {"gap_bounds": lambda bound: 0.99 * bound}),
    (section_5_pseudo_network, "fall", falling(-0.401), falling(-0.399)),
    (section_5_pseudo_network, "fall", {"slope": EXACT}, {"slope": EXACT - 1e-9}),  # pyright: ignore[reportOptionalOperand]
    (section_5_pseudo_network, "widths", {}, at(gapped(-0.5)[:2])),
    (section_6_cancellation, "start", all_with(8, start_accuracy=0.65), all_with(8, start_accuracy=0.651)),
    (section_6_cancellation, "runs", {}, at(runs(7))),
    *printed_rows(theorem_4_1_as_printed),
    *separated_rows(theorem_4_1, theorem_4_1_as_printed, section_6_cancellation),
    but=(theorem_4_1_obstruction,),
)
