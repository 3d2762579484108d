"""Theorem 1 and its induction: on the run that comes nearest to the bound, and just beyond."""

import numpy as np
import pytest

from tests.controls import breaks_hypothesis, breaks_part, every_part_of, hypothesis_edges
from tests.papers.chatterji2021.toys import axes_run, from_share, from_step, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.huberized import HuberNetwork
from widenet.papers.chatterji2021.claims import induction
from widenet.papers.chatterji2021.claims.induction import (
    equation_8,
    equation_9,
    lemma_11,
    lemma_12,
    lemma_13,
    theorem_1,
    weights_grow,
)
from widenet.papers.chatterji2021.formulas import rate_constant
from widenet.papers.chatterji2021.runs.descents import descend

CLAIMS = (theorem_1, equation_8, lemma_11, lemma_12, lemma_13, equation_9, weights_grow)


def run(**fields):
    return altered(axes_run(), **fields)


def judged(claim):
    """One of two runs is altered: what is asked is asked of every run."""

    def judge(**fields):
        return claim([axes_run(), run(**fields)])

    return judge


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_both_copies_of_the_tight_run(claim):
    found = claim([axes_run(), axes_run(3, 5, 2e-8)])
    assert found.verdict is Verdict.HOLDS
    assert found.runs.tried == 2


@pytest.mark.parametrize(("given", "slack"), [((), 1.7820202303), ((3, 5, 2e-8), 1.74755006877)])
def test_how_near_the_rate_comes_to_its_bound(given, slack):
    found = theorem_1([axes_run(*given)])
    assert found.tightness == pytest.approx(1 / slack, rel=1e-6)
    assert (found.runs.tried, found.parts[0].cases) == (1, 59)


def scaled(factor):
    def rate(*given):
        return factor * rate_constant(*given)

    return rate


@breaks_part(theorem_1, "L_t ≤ L₁/(Q₂(t − 1) + 1)")
def test_control_a_rate_1_8_times_as_large():
    broken = theorem_1([run()], rate=scaled(1.8))
    assert broken.parts[0].broken == 59
    return theorem_1([run()], rate=scaled(1.7)), broken


@breaks_part(theorem_1, "L_t ≤ L₁/(Q₂(t − 1) + 1)")
def test_control_one_loss_just_above_its_bound():
    return theorem_1([at_bound(7, -5e-9)]), theorem_1([at_bound(7, 5e-9)])


def at_bound(at, excess):
    """R with L_at on its bound, and a little above or below it; the next step makes up for it."""
    made = axes_run()
    rate = rate_constant(made.step_scale, made.norms[0], made.losses[0])
    lost = made.gained[at] - np.log1p(rate * at * (1 - excess))
    gains = from_step(at - 1, -lost)(from_step(at, lost)(made.gains))
    logs = from_step(at, lost)(made.log_losses)
    return altered(made, gains=gains, log_losses=logs, steps=made.step_scale * logs[:-1] ** 2)


COMMON = {
    "unit_inputs": ({"unit_error": 9e-13}, {"unit_error": 5e-12}),
    "labels": ({}, {"label_error": 1e-15}),
    "bandwidth": ({"bandwidth": 0.5 * (1 + 9e-13)}, {"bandwidth": 0.5 * (1 + 5e-12)}),
}
SCHEDULE = {"schedule": ({"steps": times(3, 1 + 5e-10)}, {"steps": times(3, 1 + 5e-9)})}


def with_scale(factor):
    made = axes_run()
    return {"step_scale": factor * made.step_scale, "steps": factor * made.steps}


OF_THEOREM_1 = {
    **COMMON,
    **SCHEDULE,
    "step_scale": (with_scale(1.0), with_scale(1 + 5e-12)),
    "rate_share": ({"rate_share": 1 + 5e-13}, {"rate_share": 1 + 5e-12}),
}
test_edges_of_theorem_1 = hypothesis_edges(theorem_1, judged(theorem_1), **OF_THEOREM_1)


@breaks_hypothesis(theorem_1, "start_loss")
def test_control_a_start_just_above_the_threshold():
    return theorem_1([axes_run(), from_share(1 - 1e-12)]), theorem_1([axes_run(), from_share(1 + 5e-12)])


@breaks_hypothesis(lemma_11, "start_loss")
def test_control_a_start_just_above_the_threshold_of_lemma_11():
    return lemma_11([axes_run(), from_share(1 - 1e-12)]), lemma_11([axes_run(), from_share(1 + 5e-12)])


@breaks_hypothesis(theorem_1, "two_points")
def test_control_one_point_is_not_enough():
    return theorem_1([axes_run()]), theorem_1([axes_run(), axes_run(1, 2, 1e-7)])


def test_control_ten_times_the_step_is_outside():
    found = theorem_1([axes_run(step_share=10.0)])
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert [each.key for each in found.hypotheses if not each.met] == ["step_scale"]


def test_control_a_dead_network_never_learns():
    """All units off on both points: L = log 2 for ever."""
    dead = descend(HuberNetwork(-np.ones((4, 2)), 0.5), np.eye(2), np.ones(2), n_steps=5, step_scale=0.01)
    found = theorem_1([dead])
    assert found.verdict is Verdict.HYPOTHESES_NOT_MET
    assert found.conclusion is False
    np.testing.assert_allclose(dead.losses, np.log(2))


def test_a_run_that_leaves_float64_says_so():
    """One run begins at L = e^{−695}, and has no step that float64 could follow."""
    assert theorem_1([axes_run()]).note == ""
    one = altered(axes_run(), left_float64=True)
    none = descend(HuberNetwork(695.0 * np.eye(4, 2), 0.5), np.eye(2), np.ones(2), n_steps=10, step_scale=1e-3)
    assert theorem_1([axes_run(), one, none]).note == (
        "2 of 3 runs ended where the loss leaves float64, the first after 0 steps; nothing is said about later ones."
    )
    for claim in CLAIMS[:-1]:
        assert claim([none]).conclusion is None, claim.name
    assert theorem_1([axes_run(), none]).verdict is Verdict.HOLDS


def fall(share):
    """R with one loss that falls by this times what the first line of (8) promises."""
    made = axes_run()
    promised = 125 * made.steps[5] * made.losses[5] * made.log_losses[5] ** 2 / (216 * made.norms[5] ** 2)
    gain = -np.log1p(-share * promised)
    return {"gains": from_step(5, gain - made.gains[5])}


def smaller(share):
    """(8) with a multiple of ‖V^(1)‖."""

    def at_start(scale, loss, first_loss, first_norm):
        return induction.relative_decrease_at_start(scale, loss, first_loss, share * first_norm)

    return at_start


def doubled(*given):
    return 0.5 * induction.relative_decrease_at_start(*given)


@breaks_part(equation_8, "with α_t and ‖V^(t)‖")
def test_control_a_loss_that_falls_a_little_less_than_the_first_line_says():
    """The second line, which I3 makes the weaker one by a hair only, is asked for half of it."""
    return tuple(equation_8([axes_run(), run(**fall(1 + sign * 5e-9))], at_start=doubled) for sign in (1, -1))


@breaks_part(equation_8, "with Q₁ and ‖V^(1)‖")
def test_control_a_first_norm_that_is_too_small():
    made = axes_run()
    ratio = np.sqrt(
        (125 * made.step_scale * made.losses[:-1] * made.log_losses[0] ** 4 / (216 * made.norms[0] ** 2))
        / -np.expm1(-made.gains)
    ).max()
    return tuple(equation_8([run()], at_start=smaller(ratio * (1 + sign * 2e-9))) for sign in (1, -1))


def lower_gradient(share):
    """‖∇L‖ of one iterate such that ‖∇L‖‖V‖/(L log(1/L)) is this."""
    made = axes_run()
    return {"gradient_norms": times(4, share / induction.gradient_share(made)[4])}


def longer_step(product):
    made = axes_run()
    return {"steps": times(5, product / (30 * made.half_width * made.steps[5] * made.losses[5]))}


def less_use(slack):
    """The weights have grown so much at one iterate that log²(1/L)/‖V‖ is below its first value by this."""
    made = axes_run()
    excess = (induction.log_use(made) - made.stretched)[6] + slack
    return {"stretches": from_step(6, -excess)(from_step(5, excess)(made.stretches))}


LEMMA_10 = {"lemma_10": (lower_gradient(5 / 6), lower_gradient(5 / 6 - 5e-12))}
USE = {"weight_use": (less_use(-1e-12), less_use(1e-12))}
test_edges_of_equation_8 = hypothesis_edges(
    equation_8,
    judged(equation_8),
    **COMMON,
    **LEMMA_10,
    **USE,
    **SCHEDULE,
    step_product=({}, longer_step(1 + 5e-12), "schedule"),
)


@breaks_part(lemma_11, "L_{t+1} ≤ L₁/(Q₂t + 1)")
def test_control_the_last_loss_is_too_large():
    """At the last iterate, so that I1 holds at all earlier ones."""
    last = len(axes_run().gains)
    return lemma_11([at_bound_last(last, -5e-9)]), lemma_11([at_bound_last(last, 5e-9)])


def at_bound_last(at, excess):
    made = axes_run()
    rate = rate_constant(made.step_scale, made.norms[0], made.losses[0])
    lost = made.gained[at] - np.log1p(rate * at * (1 - excess))
    return altered(made, gains=from_step(at - 1, -lost)(made.gains), log_losses=from_step(at, lost)(made.log_losses))


def early_loss(excess):
    made = at_bound(7, excess)
    return {"gains": made.gains, "log_losses": made.log_losses, "steps": made.steps}


test_edges_of_lemma_11 = hypothesis_edges(
    lemma_11,
    judged(lemma_11),
    **OF_THEOREM_1,
    **USE,
    step_product=({}, longer_step(1 + 5e-12), "schedule"),
    rate=(early_loss(-5e-9), early_loss(5e-9)),
)


@breaks_hypothesis(lemma_11, "two_points")
def test_control_one_point_is_not_enough_for_lemma_11():
    return lemma_11([axes_run(), axes_run(1, 2, 1e-7)])


@breaks_part(lemma_12, "30pα_tL_t ≤ 1")
def test_control_a_step_that_is_too_long():
    return judged(lemma_12)(**longer_step(1.0)), judged(lemma_12)(**longer_step(1 + 5e-12))


def test_where_lemma_12_is_attained():
    """L = e^{−2} and Q₁ = e²/(120p) give 30pαL = 1."""
    p = 2
    made = axes_run(2, p, float(np.exp(-2.0)), 1, step_scale=np.e**2 / (120 * p))
    found = lemma_12([made])
    assert found.verdict is Verdict.HOLDS
    assert found.tightness == pytest.approx(1, rel=1e-12)


def up_to(log_loss):
    """The last loss, with a gradient that is large enough for it."""
    return {"log_losses": from_step(59, log_loss - axes_run().log_losses[59]), "gradient_norms": from_step(59, 1.0)}


test_edges_of_lemma_12 = hypothesis_edges(
    lemma_12,
    judged(lemma_12),
    step_scale=(with_scale(1.0), with_scale(1 + 5e-12)),
    loss_below_one=(up_to(-1e-3), up_to(0.0)),
)


def wasteful(at, share):
    """The weights grow by this times what the loss earns in one step: twice the log of the growth of log(1/L)."""
    made = axes_run()
    earned = 2 * np.log1p(made.gains[at] / -made.log_losses[at])
    return {"stretches": from_step(at, share * earned - made.stretches[at])}


@breaks_part(lemma_13, "at least its first value", also=("grows at every step",))
def test_control_the_weights_grow_a_little_too_much_at_once():
    return judged(lemma_13)(**wasteful(0, 1 - 5e-9)), judged(lemma_13)(**wasteful(0, 1 + 5e-9))


@breaks_part(lemma_13, "grows at every step")
def test_control_one_step_that_wastes_weight():
    """By less than the steps before it have earned."""
    return judged(lemma_13)(**wasteful(5, 1 - 5e-9)), judged(lemma_13)(**wasteful(5, 1 + 5e-9))


@breaks_part(lemma_13, "5α‖∇L‖²/(6L) ≤ 10pαL/6")
def test_control_a_gradient_beyond_lemma_7():
    made = axes_run()
    largest = np.sqrt(2 * made.half_width) * made.losses[4] / made.gradient_norms[4]
    return (
        judged(lemma_13)(gradient_norms=times(4, largest * (1 - 1e-9))),
        judged(lemma_13)(gradient_norms=times(4, largest * (1 + 3e-9))),
    )


@breaks_part(lemma_13, "10pαL/6 ≤ 1/18")
def test_control_a_seventeenth_is_not_an_eighteenth():
    attained = judged(lemma_13)(**longer_step(1.0))
    assert attained.parts[3].tightness == pytest.approx(1, abs=1e-12)
    assert attained.parts[3].promised == pytest.approx(1 / 18)
    return attained, lemma_13([run(**longer_step(1.0))], eighteenth=(1 - 1e-10) / 18)


test_edges_of_lemma_13 = hypothesis_edges(
    lemma_13,
    judged(lemma_13),
    **COMMON,
    **LEMMA_10,
    step_product=(longer_step(1.0), longer_step(1 + 5e-12)),
    loss_below_one=(up_to(-1e-3), up_to(0.0), "lemma_10"),
)


@breaks_part(equation_9, "log²(1/L)/‖V‖ grows by B_t")
def test_control_a_step_that_stretches_too_much():
    made = axes_run()
    gained, grown = induction.growth_terms(made.steps[5], made.gradient_norms[5], made.losses[5], made.norms[5])
    earned = 2 * np.log1p(made.gains[5] / -made.log_losses[5])
    edge = earned - np.log1p(gained) + np.log1p(grown)
    changes = [from_step(5, edge + sign * 5e-9 * (gained + grown) - made.stretches[5]) for sign in (-1, 1)]
    return judged(equation_9)(stretches=changes[0]), judged(equation_9)(stretches=changes[1])


def test_how_near_equation_9_comes():
    """(the growth)/(B_t − 1) is 1.49 on R."""
    assert equation_9([axes_run()]).parts[0].tightness == pytest.approx(1 / 1.49, abs=0.005)


@breaks_part(equation_9, "B_t ≥ 1")
def test_control_a_growth_term_that_is_too_small():
    made = axes_run()
    gained, grown = induction.growth_terms(
        *(made.steps, *(each[:-1] for each in (made.gradient_norms, made.losses, made.norms)))
    )
    edge = (grown / gained).max()

    def scaled_by(factor):
        return lambda *given: (factor * edge * induction.growth_terms(*given)[0], induction.growth_terms(*given)[1])

    return equation_9([run()], terms=scaled_by(1.0)), equation_9([run()], terms=scaled_by(1 - 5e-9))


def at_lemma_10_edge(share):
    """A gradient with ‖∇L‖‖V‖/(L log(1/L)) = share, and a loss that falls by as much as Lemma 8 asks for."""
    made = axes_run()
    size = times(4, share / induction.gradient_share(made)[4])(made.gradient_norms)
    fall = 0.99 * made.steps[4] * size[4] ** 2 / made.losses[4]
    stretch = np.log1p(made.steps[4] * size[4] / made.norms[4])
    return {
        "gradient_norms": size,
        "gains": from_step(4, -np.log1p(-fall) - made.gains[4]),
        "stretches": from_step(4, stretch - made.stretches[4]),
    }


def falls(share):
    made = axes_run()
    fall = share * made.steps[4] * made.gradient_norms[4] ** 2 / made.losses[4]
    return {"gains": from_step(4, -np.log1p(-fall) - made.gains[4])}


test_edges_of_equation_9 = hypothesis_edges(
    equation_9,
    judged(equation_9),
    lemma_10=(at_lemma_10_edge(0.6 + 1e-9), at_lemma_10_edge(0.6 - 5e-12)),
    lemma_8=(falls(5 / 6 + 1e-9), falls(5 / 6 - 5e-12)),
    loss_below_one=(up_to(-1e-3), up_to(0.0), "lemma_10"),
)


@breaks_part(weights_grow, "‖V‖ ≥ max y f(x)/√p")
def test_control_two_percent_more():
    """p equal units along one point at z = 10: the ratio is z/(z − h/2) = 1.0169."""
    p = 3
    rows = np.repeat([10.0, 0.0], p)[:, None] * np.array([0.6, 0.8])
    net = HuberNetwork(rows, 1 / p)
    made = descend(net, np.array([[0.6, 0.8]]), np.ones(1), n_steps=1, step_scale=1e-3)
    assert weights_grow([made]).tightness == pytest.approx(1 / 1.0169, abs=1e-4)
    edge = (made.norms * np.sqrt(p) / made.largest_margins).min()
    return weights_grow([made], factor=edge), weights_grow([made], factor=edge * (1 + 5e-9))


test_edges_of_weights_grow = hypothesis_edges(
    weights_grow, judged(weights_grow), **{key: COMMON[key] for key in ("unit_inputs", "labels")}
)

test_every_part_has_a_control = every_part_of(induction)
