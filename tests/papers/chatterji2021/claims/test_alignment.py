"""Lemma 10 and what leads to it, where they are attained, and just beyond."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges, part_edges
from tests.papers.chatterji2021 import toys
from tests.papers.chatterji2021.toys import axes_run, from_step, looked, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, plus_minus
from widenet.papers.chatterji2021.claims import alignment
from widenet.papers.chatterji2021.claims.alignment import (
    draw_starts,
    equation_4,
    equation_5,
    equation_6_third_term,
    equation_7_half,
    lemma_10,
)
from widenet.papers.chatterji2021.formulas import (
    alignment_share,
    equation_5_threshold,
    largest_step_scale,
    rate_constant,
    step_scale_terms,
)
from widenet.papers.chatterji2021.runs.cases import all_on, harmful_units, on_one_point
from widenet.records import Scale


@pytest.mark.parametrize("claim", [equation_4, equation_5], ids=lambda claim: claim.name)
def test_it_holds_on_networks(claim):
    assert claim([toys.placed(), toys.drawn()]).verdict is Verdict.HOLDS


def harmful(**constants):
    return equation_4([looked(harmful_units(3))], **constants)


LOSS_SHARE = 0.5 / (1 + math.exp(-1.5)) / math.log1p(math.exp(1.5))
"""(g/2)/L at margin −1.5, where three harmful units at 2h bring it."""


def test_the_promises_of_equation_4():
    """hp·mean(g), L and (hp/2)·mean(g) at margin −1.5."""
    pull, loss = 1 / (1 + math.exp(-1.5)), math.log1p(math.exp(1.5))
    assert [part.promised for part in harmful().parts] == pytest.approx([pull, loss, pull / 2])


test_parts_of_equation_4 = part_edges(
    equation_4,
    harmful,
    {
        "at most hp·mean(g)": ({"printed": 0.5}, {"printed": 0.5 * (1 - 5e-9)}),
        "at most L": ({"by_loss": LOSS_SHARE}, {"by_loss": LOSS_SHARE * (1 - 5e-9)}),
        "at most (hp/2)·mean(g)": ({}, {"sharp": 0.5 * (1 - 5e-9)}),
    },
)


def on_placed(claim):
    def judge(**fields):
        return claim([altered(toys.placed(), **fields)])

    return judge


LABELS = {"labels": ({}, {"label_error": from_step(2, 1e-15)})}
BANDWIDTH = {"bandwidth": ({"bandwidth": times(2, 1 + 5e-13)}, {"bandwidth": times(2, 1 + 5e-12)})}
UNIT = {"unit_inputs": ({}, {"unit_error": from_step(2, 5e-12)})}
test_edges_of_equation_4 = hypothesis_edges(
    equation_4, on_placed(equation_4), **LABELS, narrow_band=BANDWIDTH["bandwidth"]
)


def test_the_widest_band_of_all_cells_counts():
    pair = [toys.placed(), altered(toys.placed(), bandwidth=lambda h: 1.1 * h)]
    for cells in (pair, pair[::-1]):
        assert [each.key for each in equation_4(cells).hypotheses if not each.met] == ["narrow_band"]


def test_toy_networks_against_values_computed_apart():
    """mean(g m) − hp·mean(g), − (hp/2)·mean(g) and − L, and −⟨∇L, V⟩."""
    from tests.diagnostics.test_huberized import T1, T2
    from widenet.papers.chatterji2021.runs.cases import Case

    for (points, labels, net), values in (
        (T1, (-0.36265062339, -0.141633881767, -0.514890605424, 0.115804842194)),
        (T2, (-0.418845547912, -0.188049927273, -0.589515098158, 0.0729936170237)),
    ):
        found = looked(Case(points, labels, net))
        reached = found.weighted_margins[0]
        middle = [reached - found.pulls[0], reached - found.pulls[0] / 2, reached - found.losses[0]]
        assert [*middle, found.alignments[0]] == pytest.approx(values, rel=1e-9)


def thin_shortfall(**constants):
    return equation_5([toys.one(toys.thin(), 0)], **constants)


test_parts_of_equation_5 = part_edges(
    equation_5,
    thin_shortfall,
    {
        "−⟨∇L, V⟩ ≥ F(nL)/n − L": ({"printed": 0.495}, {"printed": 0.49}),
        "−⟨∇L, V⟩ ≥ F(nL)/n − mean(g)/2": ({"sharp": 0.495}, {"sharp": 0.49}),
    },
)


def harmful_shortfall(**constants):
    return equation_5([looked(harmful_units(3))], **constants)


test_parts_of_equation_5_where_it_is_attained = part_edges(
    equation_5,
    harmful_shortfall,
    {
        "−⟨∇L, V⟩ ≥ F(nL)/n − L": ({"printed": LOSS_SHARE}, {"printed": LOSS_SHARE * (1 - 5e-9)}),
        "−⟨∇L, V⟩ ≥ F(nL)/n − mean(g)/2": ({}, {"sharp": 0.5 * (1 - 5e-9)}),
    },
)


def test_the_promises_of_equation_5():
    pull, loss = 1 / (1 + math.exp(-1.5)), math.log1p(math.exp(1.5))
    assert [part.promised for part in harmful_shortfall().parts] == pytest.approx([loss, pull / 2])


test_edges_of_equation_5 = hypothesis_edges(equation_5, on_placed(equation_5), **LABELS, **BANDWIDTH)


def test_equation_5_needs_no_bound_on_the_loss():
    """nL beyond the inflection of F too."""
    found = equation_5([toys.drawn(), toys.placed()])
    assert found.verdict is Verdict.HOLDS
    assert found.details["largest nL"] > 20


def test_lemma_10_holds_and_comes_near():
    found = lemma_10([axes_run(), axes_run(3, 5, 2e-8)], [toys.thin()])
    assert found.verdict is Verdict.HOLDS
    thin = toys.thin()
    shares = thin.alignments / (thin.losses * -np.log(thin.losses))
    assert shares == pytest.approx([0.8833, 0.8737], abs=1e-4)
    assert found.parts[1].tightness == pytest.approx(5 / 6 / 0.8737, abs=1e-4)


def ten(**fields):
    return lemma_10([axes_run(), altered(axes_run(), **fields)], [])


def to_share(field, values, share):
    """One entry such that its ratio to L log(1/L) is this."""
    made = axes_run()
    now = values(made)[4] / (made.losses[4] * -made.log_losses[4])
    return {field: times(4, share / now)}


def product_of(made):
    return made.gradient_norms * made.norms


def alignment_of(made):
    return made.alignments


FIVE_SIXTHS = 5 / 6
test_parts_of_lemma_10 = part_edges(
    lemma_10,
    ten,
    {
        "‖∇L‖‖V‖ ≥ (5/6)L log(1/L)": (
            to_share("gradient_norms", product_of, FIVE_SIXTHS),
            to_share("gradient_norms", product_of, FIVE_SIXTHS * (1 - 5e-9)),
        ),
        "−⟨∇L, V⟩ ≥ (5/6)L log(1/L)": (
            to_share("alignments", alignment_of, FIVE_SIXTHS),
            to_share("alignments", alignment_of, FIVE_SIXTHS * (1 - 5e-9)),
        ),
    },
)


@breaks_part(lemma_10, "−⟨∇L, V⟩ ≥ (5/6)L log(1/L)")
def test_control_a_share_of_89_hundredths():
    """Refuted by the networks that have nothing to spare, and by no run."""

    def more(loss):
        return alignment_share(loss) * 0.89 / FIVE_SIXTHS

    assert lemma_10([axes_run()], [], aligned_share=more).verdict is Verdict.HOLDS
    return lemma_10([axes_run()], [toys.thin()]), lemma_10([axes_run()], [toys.thin()], aligned_share=more)


def up_to(share):
    """A network of the thin look with its loss at this share of the threshold."""
    thin = toys.one(toys.thin(), 0)
    loss = np.array([share * equation_5_threshold(2)])
    return lemma_10([], [altered(thin, losses=loss, alignments=alignment_share(loss), n_samples=np.array([2.0]))])


@breaks_hypothesis(lemma_10, "small_loss")
def test_control_a_loss_just_above_the_threshold():
    return up_to(1 - 1e-12), up_to(1 + 5e-12)


@breaks_hypothesis(lemma_10, "small_loss")
def test_control_a_later_loss_above_the_threshold():
    logs = times(9, np.log(equation_5_threshold(2) * 1.1) / axes_run().log_losses[9])
    return ten(log_losses=logs, gradient_norms=times(9, 1e6), alignments=times(9, 1e6))


@breaks_hypothesis(lemma_10, "two_points")
def test_control_one_point():
    return lemma_10([axes_run(), axes_run(1, 2, 1e-7)], [])


@breaks_hypothesis(lemma_10, "two_points")
def test_control_one_network_with_one_point():
    return lemma_10([], [toys.thin()]), lemma_10([], [altered(toys.thin(), n_samples=np.array([1.0, 3.0]))])


test_edges_of_lemma_10 = hypothesis_edges(
    lemma_10,
    ten,
    labels=({}, {"label_error": 1e-15}),
    bandwidth=({"bandwidth": 0.5 * (1 + 5e-13)}, {"bandwidth": 0.5 * (1 + 5e-12)}),
)


def test_at_one_point_lemma_10_is_silent_and_would_be_false():
    """x = 1, y = +1, p = 1, both weights −1: L = log 2 ≤ 1 = 1/n^{1+C₁} for every C₁, and the gradient is 0."""

    def loss(weights):
        net = TwoLayer(weights, plus_minus(2, 1.0), None, huberized_relu(1.0))
        return logistic(net(jnp.ones(1)), jnp.asarray(1.0))

    value, slope = jax.value_and_grad(loss)(-jnp.ones((2, 1)))
    assert value == pytest.approx(math.log(2))
    assert not slope.any()
    found = lemma_10([], [looked(on_one_point(-np.ones(2)))])
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET


def third(limit=0.65, **fields):
    terms = fields.pop("terms", step_scale_terms)
    return equation_6_third_term([altered(looked(all_on(4, 30.0)), **fields)], [], limit=limit, terms=terms)


test_parts_of_equation_6_third_term = part_edges(
    equation_6_third_term,
    third,
    {
        "first term ≥ third": ({}, {"losses": np.array([3.0]), "limit": 4.0}),
        "second term ≥ third": ({}, {"losses": np.array([0.1]), "norms": np.array([0.1])}),
    },
)


def third_on_placed(**fields):
    return equation_6_third_term([altered(toys.placed(), **fields)], [axes_run()])


test_edges_of_equation_6_third_term = hypothesis_edges(
    equation_6_third_term, third_on_placed, **UNIT, **LABELS, **BANDWIDTH
)


@breaks_part(equation_6_third_term, "second term ≥ third")
def test_control_the_start_of_a_run_is_looked_at_too():
    short = altered(axes_run(), norms=times(0, 1e-6))
    return third_on_placed(), equation_6_third_term([toys.drawn()], [short])


def at_edge(which, factor):
    """One term of (6) at its edge: the first at L = e^{−2}, the second by the norm."""
    loss, p = math.exp(-2), 4

    def terms(*given):
        first, second, last = step_scale_terms(*given)
        return (factor * first, second, last) if which == 1 else (first, second, last)

    last = math.e**2 / (120 * p)
    norm = math.sqrt(factor * last * 125 * loss * 2**4 / 108) if which == 2 else 9.0
    return {"losses": np.array([loss]), "norms": np.array([norm]), "terms": terms}


test_parts_of_equation_6_third_term_at_their_edges = part_edges(
    equation_6_third_term,
    third,
    {
        "first term ≥ third": (at_edge(1, 1.0), at_edge(1, 1 - 5e-9)),
        "second term ≥ third": (at_edge(2, 1.0), at_edge(2, 1 - 5e-9)),
    },
)


def test_larger_losses_are_not_looked_at():
    assert third(losses=np.array([0.65])).runs.outside == 0
    assert third(losses=np.array([0.66])).runs.outside == 1
    assert third(losses=np.array([0.66])).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_where_the_first_term_is_attained():
    """z log²(1/z) = 4/e² at z = e^{−2}."""
    first, _, last = step_scale_terms(5.0, math.exp(-2), 3)
    assert first == pytest.approx(last, rel=1e-14)


STARTS = draw_starts(Scale.QUICK, 0)


def starts(rate=rate_constant, **fields):
    return equation_7_half(altered(STARTS, **fields), rate=rate)


@breaks_part(equation_7_half, "Q̃₂(Q₁) ≤ 1/2")
def test_control_a_rate_a_little_too_large():
    return starts(), starts(rate=lambda *given: rate_constant(*given) * (1 + 5e-12))


@breaks_part(equation_7_half, "Q̃₂(Q₁) ≤ 1/2", also=("= 1/2 where Q₁ is the second term",))
def test_control_a_rate_that_is_not_one_half():
    return starts(rate=lambda *given: rate_constant(*given) * (1 + 5e-9))


@breaks_part(equation_7_half, "= 1/2 where Q₁ is the second term")
def test_control_a_rate_a_little_too_small():
    return starts(rate=lambda *given: rate_constant(*given) * (1 - 5e-9))


def scales(factor):
    """In one of the starts."""
    return {"step_scale": times(0, factor)(largest_step_scale(STARTS.norm, STARTS.loss, STARTS.half_width))}


test_edges_of_equation_7_half = hypothesis_edges(equation_7_half, starts, step_scale=(scales(1.0), scales(1 + 5e-12)))


def test_a_step_four_times_the_second_term_gives_two():
    norm, loss = 0.1, 0.1
    assert rate_constant(4 * step_scale_terms(norm, loss, 2)[1], norm, loss) == pytest.approx(2)


test_every_part_has_a_control = every_part_of(alignment)
