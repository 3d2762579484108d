"""Lemma 10 and what leads to it, where they are attained, and just beyond."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021 import toys
from tests.papers.chatterji2021.toys import BAND, axes_run, looked, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.losses import logistic
from widenet.networks import TwoLayer, huberized_relu, plus_minus
from widenet.papers.chatterji2021.claims import alignment
from widenet.papers.chatterji2021.claims.alignment import (
    equation_4,
    equation_5,
    equation_6_third_term,
    equation_7_half,
    lemma_10,
)
from widenet.papers.chatterji2021.claims.columns import Looked
from widenet.papers.chatterji2021.formulas import (
    alignment_share,
    equation_5_threshold,
    largest_step_scale,
    rate_constant,
    step_scale_terms,
)
from widenet.papers.chatterji2021.runs.scalars import draw_starts
from widenet.papers.chatterji2021.sources import all_on, harmful_units, on_one_point
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


def test_toy_networks_against_values_computed_apart():
    """mean(g m) − hp·mean(g), − (hp/2)·mean(g) and − L, and −⟨∇L, V⟩."""
    from tests.diagnostics.test_huberized import T1, T2
    from widenet.papers.chatterji2021.sources import Case

    for (points, labels, net), values in (
        (T1, (-0.36265062339, -0.141633881767, -0.514890605424, 0.115804842194)),
        (T2, (-0.418845547912, -0.188049927273, -0.589515098158, 0.0729936170237)),
    ):
        found = looked(Case(points, labels, net))
        reached = found.weighted_margins[0]
        middle = [reached - found.pulls[0], reached - found.pulls[0] / 2, reached - found.losses[0]]
        assert [*middle, found.alignments[0]] == pytest.approx(values, rel=1e-9)


def harmful_shortfall(**constants):
    return equation_5([looked(harmful_units(3))], **constants)


def test_the_promises_of_equation_5():
    pull, loss = 1 / (1 + math.exp(-1.5)), math.log1p(math.exp(1.5))
    assert [part.promised for part in harmful_shortfall().parts] == pytest.approx([loss, pull / 2])


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


def more_aligned(loss):
    return alignment_share(loss) * 0.89 / FIVE_SIXTHS


def test_a_share_of_89_hundredths_is_refuted_by_no_run():
    """But by the networks that have nothing to spare."""
    assert lemma_10([axes_run()], [], aligned_share=more_aligned).verdict is Verdict.HOLDS


def up_to(share):
    """A network of the thin look with its loss at this share of the threshold."""
    thin, loss = toys.one(toys.thin(), 0), np.array([share * equation_5_threshold(2)])
    changed = altered(thin, losses=loss, alignments=alignment_share(loss), n_samples=np.array([2.0]))
    return at(([axes_run()], [changed]))


def later_loss(share):
    """A later loss at this share of the threshold, with a gradient that is large enough."""
    logs = times(9, np.log(equation_5_threshold(2) * share) / axes_run().log_losses[9])
    return {"log_losses": logs, "gradient_norms": times(9, 1e6), "alignments": times(9, 1e6)}


def runs_and_thin(*points):
    """With networks on so many points, where that is said."""
    thin = altered(toys.thin(), n_samples=np.array(points)) if points else toys.thin()
    return at(([axes_run(), axes_run()], [thin]))


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


def third(**changes):
    return at(([looked(all_on(4, 30.0))], []), **changes)


def at_edge(which, factor):
    """One term of (6) at its edge: the first at L = e^{−2}, the second by the norm."""
    loss, p = math.exp(-2), 4

    def terms(*given):
        first, second, last = step_scale_terms(*given)
        return (factor * first, second, last) if which == 1 else (first, second, last)

    last = math.e**2 / (120 * p)
    norm = math.sqrt(factor * last * 125 * loss * 2**4 / 108) if which == 2 else 9.0
    return {"losses": np.array([loss]), "norms": np.array([norm]), "terms": terms}


def test_larger_losses_are_not_looked_at():
    for loss, outside in ((0.65, 0), (0.66, 1)):
        found = third(losses=np.array([loss])).judged(equation_6_third_term)
        assert found.runs.outside == outside
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_where_the_first_term_is_attained():
    """z log²(1/z) = 4/e² at z = e^{−2}."""
    first, _, last = step_scale_terms(5.0, math.exp(-2), 3)
    assert first == pytest.approx(last, rel=1e-14)


STARTS = draw_starts(Scale.QUICK, 0)


def rate_times(factor):
    return lambda *given: rate_constant(*given) * factor


def scales(factor):
    """In one of the starts."""
    return {"step_scale": times(0, factor)(largest_step_scale(STARTS.norm, STARTS.loss, STARTS.half_width))}


def test_a_step_four_times_the_second_term_gives_two():
    norm, loss = 0.1, 0.1
    assert rate_constant(4 * step_scale_terms(norm, loss, 2)[1], norm, loss) == pytest.approx(2)


def harmful_cell(**constants):
    return at(looked(harmful_units(3)), **constants)


def thin_cell(**constants):
    return at(toys.one(toys.thin(), 0), **constants)


def lemma_10_toy():
    return [axes_run(), axes_run()], []


def third_toy():
    return [toys.placed()], [axes_run()]


PRINTED, SHORT = altered(axes_run(), bandwidth=0.5 * (1 + 5e-12)), altered(axes_run(), norms=times(0, 1e-6))
test_control = controls(
    alignment,
    {lemma_10: lemma_10_toy, equation_6_third_term: third_toy, equation_7_half: STARTS, Looked: toys.placed},
    (equation_4, "printed", harmful_cell(printed=0.5), harmful_cell(printed=0.5 * (1 - 5e-9))),
    (equation_4, "by_loss", harmful_cell(by_loss=LOSS_SHARE), harmful_cell(by_loss=LOSS_SHARE * (1 - 5e-9))),
    (equation_4, "sharp", harmful_cell(), harmful_cell(sharp=0.5 * (1 - 5e-9))),
    (equation_4, "narrow_band", *BAND[1:]),
    (equation_5, "printed", thin_cell(printed=0.495), thin_cell(printed=0.49)),
    (equation_5, "sharp", thin_cell(sharp=0.495), thin_cell(sharp=0.49)),
    (equation_5, "printed", harmful_cell(printed=LOSS_SHARE), harmful_cell(printed=LOSS_SHARE * (1 - 5e-9))),
    (equation_5, "sharp", harmful_cell(), harmful_cell(sharp=0.5 * (1 - 5e-9))),
    (equation_5, *BAND),
    (
        lemma_10,
        "gradient",
        to_share("gradient_norms", product_of, FIVE_SIXTHS),
        to_share("gradient_norms", product_of, FIVE_SIXTHS * (1 - 5e-9)),
    ),
    (
        lemma_10,
        "aligned",
        to_share("alignments", alignment_of, FIVE_SIXTHS),
        to_share("alignments", alignment_of, FIVE_SIXTHS * (1 - 5e-9)),
    ),
    (lemma_10, "aligned", runs_and_thin(), at(([axes_run()], [toys.thin()]), aligned_share=more_aligned)),
    (lemma_10, "small_loss", up_to(1 - 1e-12), up_to(1 + 5e-12)),
    (lemma_10, "small_loss", later_loss(0.9), later_loss(1.1)),
    (lemma_10, "two_points", {}, at(([axes_run(), axes_run(1, 2, 1e-7)], []))),
    (lemma_10, "two_points", runs_and_thin(2.0, 3.0), runs_and_thin(1.9, 3.0)),
    (lemma_10, "bandwidth", {}, at(([axes_run(), PRINTED], []))),
    (equation_6_third_term, "first", third(), third(losses=np.array([3.0]), limit=4.0)),
    (equation_6_third_term, "first", third(**at_edge(1, 1.0)), third(**at_edge(1, 1 - 5e-9))),
    (equation_6_third_term, "second", third(**at_edge(2, 1.0)), third(**at_edge(2, 1 - 5e-9))),
    (equation_6_third_term, "second", third(), at(([toys.drawn()], [SHORT]))),
    (equation_6_third_term, *BAND),
    (equation_7_half, "half", {}, {"rate": rate_times(1 + 5e-12)}),
    (equation_7_half, "half", {}, {"rate": rate_times(1 + 5e-9)}, "attained"),
    (equation_7_half, "attained", {}, {"rate": rate_times(1 - 5e-9)}),
    (equation_7_half, "step_scale", scales(1.0), scales(1 + 5e-12)),
)
