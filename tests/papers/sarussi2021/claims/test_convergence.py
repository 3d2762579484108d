"""Theorem 4.1 and the end of its proof; runs never come near M, so altered records and pinned formulas guard it."""

import functools
import math

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.inputs import handed
from tests.papers.sarussi2021.toys import altered, in_turn, problem
from widenet.claims.base import Verdict
from widenet.claims.specimen import Choices, Specimen
from widenet.data import from_arrays
from widenet.papers.sarussi2021.claims import convergence
from widenet.papers.sarussi2021.claims.convergence import (
    equation_19,
    equation_24,
    equation_25,
    promised,
    theorem_4_1,
    theorem_4_1_order,
)
from widenet.papers.sarussi2021.formulas import output_change, quadratic, quadratic_root, update_bound
from widenet.papers.sarussi2021.runs.epochs import ORDER_LEVELS, EpochSetting, follow_epochs, order_settings, run_epochs
from widenet.progress import silent
from widenet.records import Scale


@functools.cache
def toy_runs():
    return toys.small_epochs()


@functools.cache
def toy_limits():
    return promised(toy_runs(), update_bound, 1.0)


def attained():
    made = problem([(1,)], [1], [(5,)], [(4,)], v=1, slope=0.3, eta=1)
    loss = float(np.log1p(np.exp(-1)))
    setting = EpochSetting(points=toys.SmallCloud(), levels=(), hit_levels=(), clean_levels=(loss,))
    return follow_epochs(made, in_turn((0,)), setting, silent)


@functools.cache
def attained_runs():
    """n = d = k = 1, all slopes 1, sampled loss exactly ε_0: (23) is attained."""
    return attained()


@pytest.mark.parametrize("claim", [theorem_4_1, equation_19, equation_24, equation_25], ids=lambda c: c.name)
def test_it_holds_on_toy_runs(claim):
    assert claim([toy_runs()]).verdict is Verdict.HOLDS


def test_equation_23_is_attained():
    found = equation_24([attained_runs()])
    assert found.parts[0].tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    assert found.parts[0].measured == pytest.approx(0.53788284274, rel=1e-10)
    assert found.parts[2].promised == pytest.approx(0.626523375036, rel=1e-10)


@breaks_part(theorem_4_1, "L < ε after at most M(n, ε) updates")
def test_control_one_update_more_than_the_bound():
    floor = np.floor(toy_limits()).astype(int)[:, None] + np.zeros_like(toy_runs().hits)
    return theorem_4_1([altered(toy_runs(), hits=floor)]), theorem_4_1([altered(toy_runs(), hits=floor + 1)])


@breaks_part(theorem_4_1, "L < ε at the end of the first clean epoch")
def test_control_a_loss_equal_to_the_level_is_no_hit():
    """y N(x) = −log(e − 1) has the loss 1 = ε."""
    edge = -np.log(np.expm1(1.0))
    inside = altered(toy_runs(), clean_margins=lambda q: np.full_like(q, edge + 1e-9))
    return theorem_4_1([inside]), theorem_4_1(
        [altered(toy_runs(), clean_margins=lambda q: np.full_like(q, edge - 1e-15))]
    )


@breaks_part(theorem_4_1, "the first clean epoch ends within M(n, ε)")
def test_control_a_clean_epoch_that_comes_too_late():
    last = np.floor(toy_limits() / toy_runs().n_samples).astype(int)[:, None] + np.zeros_like(toy_runs().clean)
    return theorem_4_1([altered(toy_runs(), clean=last)]), theorem_4_1([altered(toy_runs(), clean=last + 1)])


def test_a_run_that_gives_up_decides_nothing():
    short = toys.small_epochs(levels=(1e-3,), most_epochs=2)
    found = theorem_4_1([short])
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert [part.kept for part in found.parts] == [None, None, None]
    assert found.runs.unfinished == 2


@pytest.mark.parametrize(("updates", "kept"), [(11, None), (12, None), (13, False)])
def test_a_run_that_gives_up_decides_something_beyond_the_bound(updates, kept):
    lost = altered(toy_runs(), hits=lambda h: 0 * h - 1, clean=lambda c: 0 * c, updates=updates)
    found = theorem_4_1([lost], bound=lambda *given: np.full(2, 12.0))
    assert [found.parts[0].kept, found.parts[2].kept] == [kept, kept]


def without_clean_epoch():
    """The first level of the first run never had a clean epoch."""
    clean, margins = toy_runs().clean.copy(), toy_runs().clean_margins.copy()
    clean[0, 0], margins[0, 0] = 0, np.nan
    return altered(
        toy_runs(), clean=clean, clean_margins=margins, sampled=lambda s: np.where(clean[:, :, None] > 0, s, 99.0)
    )


def test_an_epoch_that_never_came_decides_nothing():
    found = theorem_4_1([without_clean_epoch()])
    assert [part.kept for part in found.parts] == [True, None, None]
    assert found.details["updates_to_clean_epoch"][0] == 0
    full, fewer = equation_24([toy_runs()]), equation_24([without_clean_epoch()])
    assert fewer.verdict is Verdict.HOLDS
    assert full.parts[0].cases - fewer.parts[0].cases == toy_runs().n_samples
    assert equation_25([without_clean_epoch()]).parts[0].cases == equation_25([toy_runs()]).parts[0].cases - 1


BAD = {"output_weight": ("output_weight", 0.0), "slope_positive": ("slope", 0.0), "slope_below_one": ("slope", 1.0),
       "step_size": ("step_size", 0.0), "input_norm": ("relative_input", np.full(2, 1.001)),
       "row_norm": ("relative_row", np.full(2, 1.001)), "labels": ("label_error", np.full(2, 0.5)),
       "once_per_epoch": ("visits", np.ones(2)), "separable": ("smallest_margin", np.full(2, 0.5))}  # fmt: skip


@pytest.mark.parametrize("key", BAD)
def test_one_bad_cell_among_good_ones_is_seen(key):
    field, outside = BAD[key]
    bad = altered(toy_runs(), **{field: outside})
    for cells in ([toy_runs(), bad], [bad, toy_runs()]):
        assert [h.key for h in theorem_4_1(cells).hypotheses if not h.met] == [key]


def test_a_run_that_gives_up_after_the_bound_breaks_it():
    over = altered(toy_runs(), hits=lambda h: np.full_like(h, -1), updates=int(toy_limits().max()) + 1)
    assert theorem_4_1([over]).verdict is Verdict.VIOLATED


def test_control_contradictory_labels_promise_nothing():
    made = problem([(1, 0), (1, 0)], [1, -1], [(1, 0)], [(0, 1)], v=1, slope=0.5, eta=0.1)
    setting = EpochSetting(points=toys.SmallCloud(), levels=(0.1,), hit_levels=(), clean_levels=(), most_epochs=20)
    found = theorem_4_1([follow_epochs(made, in_turn((0, 1)), setting, silent)])
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [(h.key, h.met, h.actual) for h in found.hypotheses if not h.met] == [("separable", False, 0.0)]
    assert found.conclusion is None


@pytest.mark.parametrize("claim", [theorem_4_1, equation_19], ids=lambda c: c.name)
def test_a_separator_of_which_nothing_is_known_decides_nothing(claim):
    """In the second run no separator was found, nor a proof that there is none; a proof elsewhere decides."""
    unknown = altered(toy_runs(), smallest_margin=np.array([1.0, np.nan]))
    found = claim([unknown])
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert [h.met for h in found.hypotheses if h.key == "separable"] == [None]
    refuted = altered(toy_runs(), smallest_margin=np.zeros(2))
    assert claim([unknown, refuted]).verdict is Verdict.HYPOTHESES_NOT_MET


def edges(claim):
    def judged(**fields):
        return claim([altered(toy_runs(), **fields)])

    return judged


ALL = {
    "separable": ({"smallest_margin": np.ones(2)}, {"smallest_margin": np.array([1.0, 1 - 1e-6])}),
    "input_norm": ({"relative_input": np.ones(2)}, {"relative_input": np.array([1.0, 1.001])}),
    "row_norm": ({"relative_row": np.ones(2)}, {"relative_row": np.array([1.0, 1.001])}),
    "labels": ({}, {"label_error": np.array([0.0, 1e-15])}),
    "once_per_epoch": ({}, {"visits": np.array([0.0, 1.0])}),
    "output_weight": ({}, {"output_weight": 0.0}),
    "slope_positive": ({}, {"slope": 0.0}),
    "slope_below_one": ({}, {"slope": 1.0}),
    "step_size": ({}, {"step_size": 0.0}),
}
INSIDE = {key: ALL[key] for key in ("input_norm", "once_per_epoch", "output_weight", "slope_positive",
                                    "slope_below_one", "step_size")}  # fmt: skip

test_edges_of_theorem_4_1 = hypothesis_edges(theorem_4_1, edges(theorem_4_1), **ALL)
test_edges_of_equation_19 = hypothesis_edges(equation_19, edges(equation_19), **ALL)
test_edges_of_equation_24 = hypothesis_edges(equation_24, edges(equation_24), **INSIDE)
test_edges_of_equation_25 = hypothesis_edges(equation_25, edges(equation_25), **INSIDE)


@functools.cache
def order_cells():
    """Runs as the order is measured on, with planted counts: 2n/√ε."""
    cells = []
    for setting in order_settings(Scale.QUICK, 0):
        n = setting.points.n_samples  # pyright: ignore[reportAttributeAccessIssue]
        hits = np.tile(np.round(1000 * n / np.sqrt(ORDER_LEVELS)).astype(int), (2, 1))
        cells.append(altered(toy_runs(), hits=hits, hit_levels=np.array(ORDER_LEVELS), n_samples=n))
    return cells


def test_the_measured_slopes():
    found = theorem_4_1_order(order_cells())
    assert found.verdict is Verdict.HOLDS
    assert found.details["measured_slope_in_n"] == pytest.approx(1, abs=1e-3)
    assert found.details["measured_slope_in_inverse_level"] == pytest.approx(0.5, abs=1e-3)
    assert "n^1 and (1/ε)^0.5" in found.note


def test_runs_that_look_for_hits_alone():
    (setting, *_) = order_settings(Scale.QUICK, 0)
    runs = run_epochs(setting, silent)
    assert runs.clean.shape == (3, 0)
    assert (np.diff(runs.hits, axis=1) > 0).all()
    assert (runs.hits > 0).all()


@breaks_part(theorem_4_1_order, "slope 4 in n")
def test_control_a_bound_without_n_in_a():
    drawn = order_cells()

    def wrong(*given):
        # The n of A multiplies what an epoch can do; one point does n times less.
        *others, n, level = given
        bound = update_bound(*others, n, level)  # pyright: ignore[reportCallIssue]
        return bound if np.ndim(level) else bound / np.asarray(n) ** 2

    return theorem_4_1_order(drawn), theorem_4_1_order(drawn, bound=wrong)


@breaks_part(theorem_4_1_order, "slope 2 in 1/ε")
def test_control_a_smaller_power_of_the_level():
    drawn = order_cells()

    def wrong(*given):
        *others, level = given
        return update_bound(*others, level**0.95 if np.ndim(level) else level)  # pyright: ignore[reportCallIssue]

    return theorem_4_1_order(drawn), theorem_4_1_order(drawn, bound=wrong)


def root():
    """The largest T of equation 19's quadratic on a run whose first epoch is clean: T is what is added."""
    runs = attained_runs()
    shape = (runs.slope, runs.step_size, runs.output_weight, runs.half_width, runs.largest_norm, runs.row_bound)
    return float(quadratic_root(*quadratic(runs.separator_norm, *shape, runs.n_samples, runs.clean_levels[:, 0]))[0])


@breaks_part(equation_19, "aT ≤ b√T + c")
def test_control_just_beyond_the_root():
    return equation_19([attained_runs()], shift=0.9999 * root()), equation_19([attained_runs()], shift=1.0001 * root())


@breaks_part(equation_19, "T ≤ the right side of Eq. 19")
def test_control_a_relaxed_bound_that_is_too_small():
    def ten(*given):
        return np.array([10.0])

    return equation_19([attained_runs()], shift=10.0, relaxed=ten), equation_19(
        [attained_runs()], shift=11.0, relaxed=ten
    )


def test_only_the_first_stretch_of_violating_epochs_counts():
    first = altered(toy_runs(), clean=lambda c: np.ones_like(c))
    assert equation_19([first]).parts[1].measured == 0


def test_epochs_count_up_to_the_first_clean_one_or_all():
    """One run had no clean epoch at the first level."""
    parts, _ = handed(equation_19, [without_clean_epoch()])
    counts = parts["T ≤ the right side of Eq. 19"].measured
    clean, made = toy_runs().clean, toy_runs().largest_losses.shape[1]
    assert counts.tolist() == [6 * made, *(6 * (clean.T.ravel()[1:] - 1)).tolist()]


def test_both_sides_of_equation_19_in_plain_arithmetic():
    """n = k = v = η = R_x = ‖w*‖ = 1, α = 0.3, R_0 = 5, and T = 2."""
    level = math.log1p(math.exp(-1))
    parts, _ = handed(equation_19, [attained_runs()], shift=2.0)
    inverse = 1 + 1 / level
    limit = 2 / 0.09 * inverse**2 + math.sqrt(80) / (2 * 0.3**1.5) * inverse**1.5 + 10 / 0.3 * inverse
    np.testing.assert_allclose(parts["T ≤ the right side of Eq. 19"].promised, limit, rtol=1e-12)
    quadratic_part = parts["aT ≤ b√T + c"]
    np.testing.assert_allclose(quadratic_part.measured, 2 * 0.6 * (1 - math.exp(-level)), rtol=1e-12)
    np.testing.assert_allclose(quadratic_part.promised, math.sqrt(8) * math.sqrt(2) + 20, rtol=1e-12)


OUTPUTS = "outputs move by at most 2v²R_x²ηks(1 − e^{−ε_0})"


@breaks_part(equation_24, OUTPUTS)
def test_control_an_output_that_moves_too_far():
    return equation_24([attained_runs()]), equation_24([attained_runs()], change=lambda *g: 0.999 * output_change(*g))


@breaks_part(equation_24, "losses move by no more", also=(OUTPUTS,))
def test_control_a_loss_that_moves_too_far():
    """A loss moves by less than its output, so both break: the margin falls from 1 to −10."""
    far = np.array([1.0, -10.0])[None, None, :, None]
    return equation_24([attained_runs()]), equation_24([altered(attained_runs(), clean_margins=far)])


@breaks_part(equation_24, "that is at most 2v²R_x²ηknε_0")
def test_control_the_relaxed_form_is_smaller():
    return equation_24([attained_runs()]), equation_24([attained_runs()], change=lambda *g: 1.2 * output_change(*g))


def not_clean():
    return altered(attained_runs(), sampled=lambda x: x * (1 + 1e-9))


@breaks_hypothesis(equation_24, "clean_epoch")
def test_control_an_epoch_with_a_larger_loss():
    return equation_24([attained_runs()]), equation_24([not_clean()])


@breaks_hypothesis(equation_25, "clean_epoch")
def test_control_an_epoch_with_a_larger_loss_at_its_end():
    return equation_25([attained_runs()]), equation_25([attained_runs(), not_clean()])


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


@breaks_part(equation_25, "every loss is at most (1 + 2v²R_x²ηkn)ε_0")
def test_control_a_final_loss_beyond_the_bound():
    limit = float(3 * attained_runs().clean_levels[0, 0])  # 2v²R_x²ηkn = 2

    def ends_at(loss):
        margin = -np.log(np.expm1(loss))
        return altered(attained_runs(), clean_margins=lambda q: np.full_like(q, margin))

    return equation_25([ends_at(0.9999 * limit)]), equation_25([ends_at(1.0001 * limit)])


def test_a_change_that_rounding_decides_decides_nothing():
    """A step of 1e-12 moves an output by less than the rounding of large activations that cancel."""
    blurred = altered(
        attained_runs(), step_size=1e-20, clean_scales=lambda s: 0 * s + 1e12, clean_margins=lambda q: 1 + 0.1 * (q - 1)
    )
    assert equation_24([blurred]).parts[0].kept is None
    assert equation_24([altered(blurred, clean_scales=lambda s: 0 * s + 1e-9)]).parts[0].kept is False


@pytest.mark.parametrize("claim", [theorem_4_1, equation_25])
@pytest.mark.parametrize(("scale", "kept"), [(1e16, None), (1e8, False)])
def test_a_loss_at_the_end_that_rounding_decides_decides_nothing(claim, scale, kept):
    wrong = altered(toy_runs(), clean_margins=lambda q: 0 * q - 1e3, clean_scales=lambda s: 0 * s + scale)
    part = next(each for each in claim([wrong]).parts if "L < ε at the end" in each.name or "every loss" in each.name)
    assert part.kept is kept


@pytest.mark.parametrize(
    ("miss", "scale", "kept"),
    [(0.999e-6, 1e6, None), (1.001e-6, 1e6, False), (5e-10, 1001.0, None), (5e-10, 999.0, False)],
)
def test_which_losses_rounding_decides(miss, scale, kept):
    """Those that miss ε = 1 by at most 1e-12 of the margins' scale, where that is more than 1e-9 of ε."""
    margin = -np.log(np.expm1(1.0 + miss))
    missed = altered(toy_runs(), clean_margins=lambda q: 0 * q + margin, clean_scales=lambda s: 0 * s + scale)
    assert theorem_4_1([missed]).parts[1].kept is kept


def test_it_speaks_about_a_readers_data():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 3)) + 0.1
    specimen = Specimen(from_arrays(points, np.sign(points[:, 0])), Choices(n_neurons=4))
    (setting,) = theorem_4_1.on(specimen)
    found = theorem_4_1([run_epochs(setting.model_copy(update={"most_epochs": 300}), silent)])
    assert found.verdict in (Verdict.HOLDS, Verdict.INSUFFICIENT_EVIDENCE)
    assert found.parts[0].kept is True


test_every_part_has_a_control = every_part_of(convergence)
