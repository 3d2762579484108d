"""Section 9, update by update: each inequality where it is attained, and just beyond."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls
from tests.controls import unmet_in
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.inputs import handed
from tests.papers.sarussi2021.toys import ledger, problem
from widenet.claims.base import NotApplicable, Verdict
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays
from widenet.papers.sarussi2021.claims import steps
from widenet.papers.sarussi2021.claims.steps import (
    equation_10,
    equation_13,
    equation_14,
    equation_15,
    equation_18,
    rows_grow,
    section_13_differences,
)
from widenet.papers.sarussi2021.formulas import LARGEST_PUSH, norm_square_after, norm_square_growth, row_growth
from widenet.papers.sarussi2021.runs.ledgers import run_ledger
from widenet.progress import silent
from widenet.types import Dataset


@functools.cache
def toy_runs():
    return toys.small_ledger()


CLAIMS = (equation_10, equation_13, equation_14, equation_15, equation_18, rows_grow, section_13_differences)


@functools.cache
def slopes_one():
    """All slopes 1 and ‖x‖ = R_x: (13) is attained."""
    return ledger(problem([(0.6, 0.8)], [1], [(1, 1)] * 3, [(2, 1)] * 3, v=0.4, slope=0.3, eta=0.7))


@functools.cache
def from_zero():
    """All slopes α at a support vector: (14) is attained."""
    return ledger(problem([(1, 2)], [1], [(0, 0)] * 2, [(0, 0)] * 2, v=0.3, slope=0.4, eta=0.5, separator=(1, 0)))


@functools.cache
def one_point():
    """n = d = k = 1, both slopes α: (17) is attained as ε_0 tends to the sampled loss 0.554."""
    return ledger(problem([(1,)], [1], [(-1,)], [(-2,)], v=1, slope=0.3, eta=0.5))


@functools.cache
def large_step():
    """One update that nearly attains (15)."""
    return ledger(problem([(1,)], [1], [(1,)], [(6,)], v=1, slope=0.3, eta=1000))


PUSHED = 1.27846454276107


@functools.cache
def best_push():
    """q = 1.278…, where x/(1 + eˣ) is largest: the sharp form of (15) is attained as η tends to 0."""
    return ledger(problem([(1,)], [1], [(2 * PUSHED,)], [(PUSHED,)], v=1, slope=0.3, eta=1e-4))


def wide_step(*, mirrored=False):
    """k = 4, one row of slope α and seven of slope 1, so that the slow row has 1.066 of its share."""
    plus, minus = [(1, 1)] * 3 + [(-1, 0)], [(1, 2)] * 4
    if mirrored:
        return ledger(problem([(3, 4)], [-1], minus, plus, v=0.5, slope=0.2, eta=0.3, separator=(-0.12, -0.16)))
    return ledger(problem([(3, 4)], [1], plus, minus, v=0.5, slope=0.2, eta=0.3, separator=(0.12, 0.16)))


def wide_step_mirrored():
    return wide_step(mirrored=True)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_toy_runs(claim):
    assert claim([toy_runs()]).verdict is Verdict.HOLDS


def test_where_they_are_attained():
    assert equation_13([slopes_one()]).parts[0].tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(slopes_one().norms ** 2, 20.5348211806, rtol=1e-11)
    np.testing.assert_allclose(slopes_one().margins, -0.72)
    assert equation_14([from_zero()]).tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(from_zero().alignments, 0.12)
    # q = −5, so 1000|ℓ'| = 1000/(1 + e^{−5}) = 993.30715 is added to 1 and taken from 6; G_0² = 37.
    grown = (1 + 993.3071490757) ** 2 + (6 - 993.3071490757) ** 2 - 37
    assert equation_15([large_step()]).parts[0].tightness == pytest.approx(grown / 2_002_000, rel=1e-10)
    loss = np.log1p(np.exp(-0.3))
    found = equation_18([one_point()], levels=[loss * (1 - 1e-9)])
    assert found.verdict is Verdict.HOLDS
    assert all(part.tightness > 1 - 1e-8 for part in found.parts)  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(one_point().gains, 0.127667244957, rtol=1e-11)
    assert rows_grow([wide_step()]).parts[0].tightness == pytest.approx(1 / 1.06600358178)
    np.testing.assert_allclose(wide_step().plus_growth, 0.029999774865, rtol=1e-10)


@functools.cache
def aligned(sign):
    """W = ±W*, where (10) is attained on one side."""
    made = problem([(1, 0)], [1], [(sign, 0)] * 2, [(-sign, 0)] * 2, v=1, slope=0.5, eta=1e-9, separator=(1, 0))
    return ledger(made)


def scaled(formula, factor):
    return lambda *given: factor * formula(*given)


def larger(share):
    return lambda column: (1 + share) * column


def growth_too_small(eta, v, k, radius, push):
    return 0.97 * norm_square_growth(eta, v, k, radius, 0.0) + 2 * eta * push


def short_by(share, push=LARGEST_PUSH):
    """With this push the promise is a share below what G² grew by; with the other one it is twice that."""
    grown = (large_step().norms ** 2)[0, 0] - large_step().start_norm[0] ** 2
    return lambda *given: np.full(len(given[3]), grown * (1 - share) if given[-1] == push else 2 * grown)


LEVEL = float(np.log1p(np.exp(-0.3))) * (1 - 1e-9)
SLOWER = {"gains": larger(-0.001), "alignments": lambda f: f - 0.001 * one_point().gains}
"""The flag of the epoch stays, and F grows by 0.1 % less than it did."""
AT_LEVEL = {"levels": [LEVEL]}
LAGGING = {"bound": scaled(row_growth, 1.07)}

test_control = controls(
    steps,
    toy_runs,
    (section_13_differences, "plus_rows"),
    (section_13_differences, "minus_rows"),
    (section_13_differences, "radius"),
    (equation_10, "above", at(lambda: aligned(1)), at(lambda: aligned(1), alignments=larger(5e-12))),
    (equation_10, "below", at(lambda: aligned(-1)), at(lambda: aligned(-1), alignments=larger(5e-12))),
    (equation_13, "square", at(slopes_one), at(slopes_one, after=scaled(norm_square_after, 0.999))),
    (equation_13, "product", {}, {"margins": larger(1e-3)}),
    (equation_14, "growth", at(from_zero), at(from_zero, factor=1.001)),
    (equation_15, "growth", at(large_step), at(large_step, growth=growth_too_small), "sharp_growth"),
    (equation_15, "growth", at(large_step, growth=short_by(2e-10, 1.0)), at(large_step, growth=short_by(5e-9, 1.0))),
    (equation_15, "sharp_growth", at(best_push), at(best_push, push=0.278)),
    (equation_15, "sharp_growth", at(large_step, growth=short_by(2e-10)), at(large_step, growth=short_by(5e-9))),
    (equation_18, "one_epoch", at(one_point, **AT_LEVEL), at(one_point, **AT_LEVEL, **SLOWER), "all_epochs"),
    (equation_18, "all_epochs", at(one_point, **AT_LEVEL), at(one_point, **AT_LEVEL, more=1)),
    (equation_18, "all_epochs", at(one_point, **AT_LEVEL), at(one_point, **AT_LEVEL, alignments=lambda f: f - 8e-9)),
    (rows_grow, "plus_rows", at(wide_step), at(wide_step, **LAGGING)),
    (rows_grow, "minus_rows", at(wide_step_mirrored), at(wide_step_mirrored, **LAGGING)),
)


def test_control_the_norm_of_one_half_only():
    assert equation_10(toy_runs(), constant=lambda u: u.half_width**0.5 * u.separator_norm).conclusion is False


def test_the_growth_is_compared_and_not_the_square():
    """From rows of length 10⁴ the square G_T² is within 1e-6 of its bound in any case; the growth is not."""
    far = ledger(problem([(1,)], [1], [(1e4,)], [(1e4 - 1,)], v=1, slope=0.3, eta=0.1))
    found = equation_15([far]).parts[0]
    assert found.measured == pytest.approx(far.norms[0, 0] ** 2 - far.start_norm[0] ** 2, rel=1e-9)
    # q = 1: 2η|ℓ'|q + 2η²|ℓ'|² over 2η² + 2η, with |ℓ'| = 1/(1 + e).
    push = 1 / (1 + np.e)
    assert found.tightness == pytest.approx((0.2 * push + 0.02 * push**2) / 0.22, rel=1e-6)
    assert far.norms[0, 0] ** 2 / (far.start_norm[0] ** 2 + 0.22) > 1 - 1e-8


def test_a_move_that_rounding_hides_is_not_scored():
    """Rows of length 10 that have moved by 1e-13: what each row has of it is rounding. Others are scored."""
    runs = toy_runs()
    still = runs.replace(distances=1e-13 + 0 * runs.distances, plus_growth=0 * runs.plus_growth)
    found = rows_grow([still, runs])
    assert found.verdict is Verdict.HOLDS
    assert (found.runs.tried, found.runs.outside) == (2 * runs.pushes.size, runs.pushes.size)
    assert f"Not scored: {runs.pushes.size} updates" in found.note
    assert rows_grow([runs]).note == ""
    assert rows_grow([still]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_a_loss_equal_to_the_level_is_clean():
    exact = float(np.logaddexp(0, -one_point().margins[0, 0]))
    assert [part.kept for part in equation_18([one_point()], levels=[exact]).parts] == [None, None]


def test_one_loss_above_the_level_makes_an_epoch_violating():
    """The first epoch of the trace samples the losses 0.6406 and 0.7566."""
    runs = ledger(toys.trace(), orders=toys.trace_orders())
    for level, violating in ((0.63, True), (0.7, True), (0.76, False)):
        parts, _ = handed(equation_18, runs, levels=[level])
        assert [part.scored.tolist() for part in parts.values()] == [[violating], [violating]]


def test_the_radius_is_frozen_only_where_both_signs_agree():
    """Both plus rows see the point; the minus rows do not agree on it, and r, which is theirs, changes."""
    runs = ledger(problem([(1, 0)], [1], [(1, 1), (1, 2)], [(3, 0), (-3, 0)], v=1, slope=0.5, eta=1))
    assert runs.plus_drifts[0, 0] == 0
    assert np.isnan(runs.minus_drifts[0, 0])
    assert np.isnan(runs.radius_drifts[0, 0])
    agreed = ledger(problem([(1, 0)], [1], [(1, 1), (1, 2)], [(3, 0), (1, 0)], v=1, slope=0.5, eta=1))
    assert agreed.radius_drifts[0, 0] < 1e-15


def test_control_without_agreement_nothing_is_scored():
    gone = {f"{name}_drifts": lambda d: d * np.nan for name in ("plus", "minus", "radius")}
    nowhere = toy_runs().replace(**gone)
    assert section_13_differences([nowhere]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_broken_arithmetic_is_no_disagreement():
    """A change of r that was lost where both signs agree, and an update of which all was lost."""
    table = section_13_differences.kinds[0].join([toy_runs()])
    run, update = np.argwhere(np.isfinite(toy_runs().radius_drifts))[0]

    def lost(values):
        changed = values.copy()
        changed[run, update] = np.nan
        return changed

    part = section_13_differences([toy_runs().replace(radius_drifts=lost)]).part("radius")
    assert (part.kept, part.n_cases, part.undecided) == (None, int(table.both_agree.sum()), 1)
    gone = dict.fromkeys(("plus_drifts", "minus_drifts", "radius_drifts", "squares"), lost)
    for each in section_13_differences([toy_runs().replace(**gone)]).parts:
        assert (each.kept, each.undecided) == (None, 1)


@pytest.mark.parametrize("claim", [equation_13, equation_14, equation_18], ids=lambda claim: claim.name)
@pytest.mark.parametrize("eta", [5e-324, 1e-318, 1e-300])
def test_underflow_decides_nothing(claim, eta):
    """Products with the smallest numbers have lost their digits; with a larger step the same runs hold."""
    made = problem(
        [(1e-9, 2e-9), (-1e-9, 1e-9)], [1, -1], [(0.3, 0.7)] * 2, [(0.6, -0.1)] * 2, v=0.3, slope=1e-7, eta=eta
    )
    assert claim([ledger(made)]).verdict is Verdict.INSUFFICIENT_EVIDENCE
    fine = problem(
        [(1e-9, 2e-9), (-1e-9, 1e-9)], [1, -1], [(0.3, 0.7)] * 2, [(0.6, -0.1)] * 2, v=0.3, slope=1e-7, eta=1e-3
    )
    assert claim([ledger(fine)]).parts[0].kept is True


def test_underflow_beside_long_points_decides_nothing():
    """The step times a vote is 0, and times points of length 1e66 it should not be."""
    made = problem([(1e66, 2e66), (-1e66, 1e66)], [1, -1], [(0.3, 0.7)], [(0.6, -0.1)], v=0.3, slope=0.5, eta=5e-324)
    part = equation_13([ledger(made)]).parts[1]
    assert part.kept is None


@pytest.mark.parametrize(("length", "kept"), [(1e12, True), (1.0, False)])
def test_differences_are_as_exact_as_the_rows_were_before_the_update(length, kept):
    def first(value):
        return lambda drifts: np.where(np.arange(drifts.shape[1]) == 0, value, drifts)

    changes = {"plus_drifts": first(0.0), "minus_drifts": first(0.0), "radius_drifts": first(1e-6)}
    early = toy_runs().replace(start_norm=lambda norms: 0 * norms + length, **changes)
    assert section_13_differences([early]).parts[2].kept is kept


@pytest.mark.parametrize(("length", "kept"), [(1e14, None), (1.0, False)])
def test_rows_so_long_that_their_products_are_rounding_decide_nothing(length, kept):
    """Terms of ⟨w, x⟩ that cancel leave an error of the size of ‖w‖."""
    long = {name: lambda norms: 0 * norms + length for name in ("start_norm", "norms")}
    assert equation_13([toy_runs().replace(margins=lambda q: 1.001 * q, **long)]).parts[1].kept is kept


@pytest.mark.parametrize(("share", "kept"), [(0.999, None), (1.001, False)])
def test_how_far_rounding_of_long_rows_reaches(share, kept):
    """As far as 2η|ℓ'|v·√(2k)·G_{t−1}·R_x of them, times 1e-12; the rows before an update count, not those after."""
    lengths = np.full_like(toy_runs().norms, 1e14)
    lengths[:, -1] = 1.0
    runs = toy_runs().replace(start_norm=lengths[:, 0], norms=lengths, output_weight=0.5)
    reach = 1e-12 * 2 * 0.1 * runs.pushes * 0.5 * 6**0.5 * 1e14 * runs.largest_norm[:, None]
    promised = 2 * 0.1 * runs.pushes * runs.margins
    assert equation_13([runs.replace(cross=promised + share * reach)]).parts[1].kept is kept


def test_the_edge_of_what_underflow_decides():
    """The same numbers, moved to the edge: 1e-290 for squares, times (1 + ‖W‖)(1 + R_x) for products, times
    1 + ‖w*‖ for gains.
    """
    runs = toy_runs()
    for share, cases in ((0.999, 0), (1.0, 0), (1.001, runs.pushes.size)):
        tiny = runs.replace(scales=share * 1e-290 * ((1 + runs.norms) * (1 + runs.largest_norm[:, None])))
        assert equation_13([tiny]).parts[1].n_cases == cases
    for share, cases in ((0.999, 0), (1.0, 0), (1.001, runs.pushes.size)):
        found = equation_13([runs], after=lambda *given, share=share: np.full_like(given[1], share * 1e-290))
        assert found.parts[0].n_cases == cases
    for share, cases in ((0.999, 0), (1.001, runs.pushes.size)):
        unit = 2 * 3 * runs.step_size * runs.output_weight * runs.slope
        alike = runs.replace(pushes=share * 1e-290 * (1 + runs.separator_norm)[:, None] / unit + 0 * runs.pushes)
        assert equation_14([alike]).parts[0].n_cases == cases

    # Powers of two, so that 2kηvα|ℓ'| is exactly the edge.
    edge = 2e-290 * (1 + runs.separator_norm)[:, None] + 0 * runs.pushes
    exact = runs.replace(half_width=1, step_size=0.5, output_weight=1.0, slope=0.5, pushes=edge)
    assert equation_14([exact]).parts[0].n_cases == 0

    epochs = 1 + steps.LedgerSteps.join([runs]).per("epoch").separator_norm
    full = equation_18([runs]).parts[0].n_cases
    for share, cases in ((0.999, 0), (1.0, 0), (1.001, full)):
        found = equation_18([runs], growth=lambda *given, share=share: np.tile(share * 1e-290 * epochs, (3, 1)))
        assert found.parts[0].n_cases == cases


def test_control_an_underflow_that_is_scored_is_a_refutation():
    """What the rule is for: the gain is 0 where 5e-324·0.3 is promised."""
    made = problem([(1e-9, 2e-9)], [1], [(0.3, 0.7)], [(0.6, -0.1)], v=0.3, slope=0.9, eta=5e-324)
    runs = ledger(made)
    assert runs.gains.max() == 0 < runs.step_size


def test_control_contradictory_labels():
    made = problem([(1, 0), (1, 0)], [1, -1], [(1, 0)], [(0, 1)], v=1, slope=0.5, eta=0.1)
    assert unmet_in(equation_14(ledger(made))) == ["separable"]


def test_they_speak_about_a_readers_data():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3)) + 0.1
    user_data = UserData(from_arrays(points, np.sign(points[:, 0])), Choices(n_neurons=4))
    cells = [run_ledger(setting, silent) for setting in equation_10.on(user_data)]
    for claim in CLAIMS:
        assert claim(cells).verdict is Verdict.HOLDS, claim.id
    said = equation_10.on(UserData(Dataset(jnp.asarray(points), jnp.arange(12.0))))
    assert isinstance(said, NotApplicable)
    assert "labels 0, 1, 2" in said
