"""Section 9, update by update: each inequality where it is attained, and just beyond."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges
from tests.papers.sarussi2021 import toys
from tests.papers.sarussi2021.toys import altered, ledger, problem
from widenet.claims.base import Silence, Verdict
from widenet.claims.specimen import Choices, Specimen
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
from widenet.papers.sarussi2021.formulas import norm_square_after, norm_square_growth, row_growth
from widenet.papers.sarussi2021.runs.ledgers import run_ledger
from widenet.progress import silent
from widenet.types import Dataset

RUNS = toys.small_ledger()
CLAIMS = (equation_10, equation_13, equation_14, equation_15, equation_18, rows_grow, section_13_differences)

SLOPES_ONE = ledger(problem([(0.6, 0.8)], [1], [(1, 1)] * 3, [(2, 1)] * 3, v=0.4, slope=0.3, eta=0.7))
"""All slopes 1 and ‖x‖ = R_x: (13) is attained."""
FROM_ZERO = ledger(problem([(1, 2)], [1], [(0, 0)] * 2, [(0, 0)] * 2, v=0.3, slope=0.4, eta=0.5, separator=(1, 0)))
"""All slopes α at a support vector: (14) is attained."""
ONE_POINT = ledger(problem([(1,)], [1], [(-1,)], [(-2,)], v=1, slope=0.3, eta=0.5))
"""n = d = k = 1, both slopes α: (17) is attained as ε_0 tends to the sampled loss 0.554."""
LARGE_STEP = ledger(problem([(1,)], [1], [(1,)], [(6,)], v=1, slope=0.3, eta=1000))
"""One update that nearly attains (15)."""
PUSHED = 1.27846454276107
BEST_PUSH = ledger(problem([(1,)], [1], [(2 * PUSHED,)], [(PUSHED,)], v=1, slope=0.3, eta=1e-4))
"""q = 1.278…, where x/(1 + eˣ) is largest: the sharp form of (15) is attained as η tends to 0."""


def wide_step(*, mirrored=False):
    """k = 4, one row of slope α and seven of slope 1, so that the slow row has 1.066 of its share."""
    plus, minus = [(1, 1)] * 3 + [(-1, 0)], [(1, 2)] * 4
    if mirrored:
        return ledger(problem([(3, 4)], [-1], minus, plus, v=0.5, slope=0.2, eta=0.3, separator=(-0.12, -0.16)))
    return ledger(problem([(3, 4)], [1], plus, minus, v=0.5, slope=0.2, eta=0.3, separator=(0.12, 0.16)))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_toy_runs(claim):
    assert claim([RUNS]).verdict is Verdict.HOLDS


def test_where_they_are_attained():
    assert equation_13([SLOPES_ONE]).parts[0].tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(SLOPES_ONE.norms**2, 20.5348211806, rtol=1e-11)
    np.testing.assert_allclose(SLOPES_ONE.margins, -0.72)
    assert equation_14([FROM_ZERO]).tightness > 1 - 1e-12  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(FROM_ZERO.alignments, 0.12)
    assert equation_15([LARGE_STEP]).parts[0].tightness == pytest.approx(0.980712, abs=1e-6)
    loss = np.log1p(np.exp(-0.3))
    found = equation_18([ONE_POINT], levels=[loss * (1 - 1e-9)])
    assert found.verdict is Verdict.HOLDS
    assert all(part.tightness > 1 - 1e-8 for part in found.parts)  # pyright: ignore[reportOptionalOperand]
    np.testing.assert_allclose(ONE_POINT.gains, 0.127667244957, rtol=1e-11)
    assert rows_grow([wide_step()]).parts[0].tightness == pytest.approx(1 / 1.06600358178)
    np.testing.assert_allclose(wide_step().plus_growth, 0.029999774865, rtol=1e-10)


def aligned(sign, factor=1.0):
    """Equation 10 where W = ±W*, with F a little too large."""
    made = problem([(1, 0)], [1], [(sign, 0)] * 2, [(-sign, 0)] * 2, v=1, slope=0.5, eta=1e-9, separator=(1, 0))
    return equation_10([altered(ledger(made), alignments=lambda f: factor * f)])


@breaks_part(equation_10, "F_t ≤ ‖W*‖·G_t")
def test_control_f_too_large():
    return aligned(1), aligned(1, 1.0001)


@breaks_part(equation_10, "F_t ≥ −‖W*‖·G_t")
def test_control_f_too_small():
    return aligned(-1), aligned(-1, 1.0001)


def test_control_the_norm_of_one_half_only():
    assert equation_10([RUNS], constant=lambda r: (r.half_width**0.5 * r.separator_norm)[:, None]).conclusion is False


@breaks_part(equation_13, "‖ΔW‖² ≤ 2kη²v²R_x²|ℓ'|²")
def test_control_a_quadratic_term_a_little_too_small():
    wrong = equation_13([SLOPES_ONE], after=lambda *given: 0.999 * norm_square_after(*given))
    return equation_13([SLOPES_ONE]), wrong


@breaks_part(equation_13, "2⟨W, ΔW⟩ = 2η|ℓ'|q")
def test_control_a_margin_a_little_too_large():
    return equation_13([RUNS]), equation_13([altered(RUNS, margins=lambda q: 1.001 * q)])


@breaks_part(equation_14, "F grows by at least 2kηvα|ℓ'|")
def test_control_a_slope_a_little_too_large():
    return equation_14([FROM_ZERO]), equation_14([FROM_ZERO], factor=1.001)


@breaks_part(equation_15, "G_T² ≤ G_0² + T(2kη²v²R_x² + 2η)", also=("the same with 2η·W₀(1/e)",))
def test_control_a_quadratic_growth_too_small():
    def wrong(eta, v, k, radius, push):
        return 0.97 * norm_square_growth(eta, v, k, radius, 0.0) + 2 * eta * push

    return equation_15([LARGE_STEP]), equation_15([LARGE_STEP], growth=wrong)


@breaks_part(equation_15, "the same with 2η·W₀(1/e)")
def test_control_a_push_too_small():
    return equation_15([BEST_PUSH]), equation_15([BEST_PUSH], push=0.278)


LEVEL = float(np.log1p(np.exp(-0.3))) * (1 - 1e-9)


@breaks_part(equation_18, "one violating epoch (17)", also=("all violating epochs (18)",))
def test_control_an_epoch_that_grows_too_little():
    """The flag of the epoch stays, and F grows by 0.1 % less than it did."""
    slower = altered(ONE_POINT, gains=lambda g: 0.999 * g, alignments=lambda f: f - 0.001 * ONE_POINT.gains)
    return equation_18([ONE_POINT], levels=[LEVEL]), equation_18([slower], levels=[LEVEL])


@breaks_part(equation_18, "all violating epochs (18)")
def test_control_one_violating_epoch_more_than_there_were():
    return equation_18([ONE_POINT], levels=[LEVEL]), equation_18([ONE_POINT], levels=[LEVEL], more=1)


def test_a_loss_equal_to_the_level_is_clean():
    exact = float(np.logaddexp(0, -ONE_POINT.margins[0, 0]))
    assert equation_18([ONE_POINT], levels=[exact]).verdict is Verdict.INSUFFICIENT_EVIDENCE


@breaks_part(rows_grow, "plus rows")
def test_control_a_plus_row_that_lags():
    return rows_grow([wide_step()]), rows_grow([wide_step()], bound=_seven_percent_more)


@breaks_part(rows_grow, "minus rows")
def test_control_a_minus_row_that_lags():
    made = wide_step(mirrored=True)
    return rows_grow([made]), rows_grow([made], bound=_seven_percent_more)


def _seven_percent_more(*given):
    return 1.07 * row_growth(*given)


@breaks_part(section_13_differences, "plus rows")
def test_control_plus_rows_that_drift():
    return section_13_differences([RUNS]), section_13_differences([altered(RUNS, plus_drifts=lambda d: d + 1e-6)])


@breaks_part(section_13_differences, "minus rows")
def test_control_minus_rows_that_drift():
    return section_13_differences([RUNS]), section_13_differences([altered(RUNS, minus_drifts=lambda d: d + 1e-6)])


def test_control_without_agreement_nothing_is_scored():
    nowhere = altered(RUNS, plus_drifts=lambda d: d * np.nan, minus_drifts=lambda d: d * np.nan)
    assert section_13_differences([nowhere]).verdict is Verdict.INSUFFICIENT_EVIDENCE


def changed(claim):
    def judged(**fields):
        return claim([altered(RUNS, **fields)])

    return judged


SHAPE_EDGES = {
    "output_weight": ({}, {"output_weight": 0.0}),
    "slope_positive": ({}, {"slope": 0.0}),
    "slope_below_one": ({}, {"slope": 1.0}),
    "step_size": ({}, {"step_size": 0.0}),
}
SEPARABLE = {"separable": ({"smallest_margin": np.ones(2)}, {"smallest_margin": np.array([1.0, 1 - 1e-6])})}
INPUTS = {"input_norm": ({"relative_input": np.ones(2)}, {"relative_input": np.array([1.0, 1.001])})}
LABELS = {"labels": ({}, {"label_error": np.array([0.0, 1e-15])})}
ONCE = {"once_per_epoch": ({}, {"visits": np.array([0.0, 1.0])})}

test_edges_of_equation_10 = hypothesis_edges(equation_10, changed(equation_10), **SEPARABLE)
test_edges_of_equation_13 = hypothesis_edges(equation_13, changed(equation_13), **SHAPE_EDGES, **INPUTS, **LABELS)
test_edges_of_equation_14 = hypothesis_edges(equation_14, changed(equation_14), **SHAPE_EDGES, **SEPARABLE)
test_edges_of_equation_15 = hypothesis_edges(equation_15, changed(equation_15), **SHAPE_EDGES, **INPUTS, **LABELS)
test_edges_of_equation_18 = hypothesis_edges(equation_18, changed(equation_18), **SHAPE_EDGES, **SEPARABLE, **ONCE)
test_edges_of_rows_grow = hypothesis_edges(rows_grow, changed(rows_grow), **SHAPE_EDGES, **SEPARABLE, **INPUTS)


@breaks_hypothesis(equation_14, "separable")
def test_control_contradictory_labels():
    made = problem([(1, 0), (1, 0)], [1, -1], [(1, 0)], [(0, 1)], v=1, slope=0.5, eta=0.1)
    return equation_14([ledger(made)])


def test_they_speak_about_a_readers_data():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(12, 3)) + 0.1
    specimen = Specimen(from_arrays(points, np.sign(points[:, 0])), Choices(n_neurons=4))
    cells = [run_ledger(setting, silent) for setting in equation_10.on(specimen)]
    for claim in CLAIMS:
        assert claim(cells).verdict is Verdict.HOLDS, claim.id
    said = equation_10.on(Specimen(Dataset(jnp.asarray(points), jnp.arange(12.0))))
    assert isinstance(said, Silence)
    assert "labels 0, 1, 2" in said


test_every_part_has_a_control = every_part_of(steps)
