"""Theorem 1 and its induction: on the run that comes nearest to the bound, and just beyond."""

import numpy as np
import pytest

from tests.control_table import at, controls
from tests.papers.chatterji2021.toys import axes_run, from_share, from_step, times
from tests.papers.records import altered
from widenet.claims.base import Verdict
from widenet.diagnostics.huberized import HuberNetwork
from widenet.papers.chatterji2021.claims import induction
from widenet.papers.chatterji2021.claims.columns import FollowedDescent
from widenet.papers.chatterji2021.claims.induction import (
    equation_8,
    equation_9,
    lemma_11,
    lemma_12,
    lemma_13,
    theorem_1,
    weights_grow,
)
from widenet.papers.chatterji2021.formulas import equation_5_threshold, rate_constant
from widenet.papers.chatterji2021.runs.descents import descend

CLAIMS = (theorem_1, equation_8, lemma_11, lemma_12, lemma_13, equation_9, weights_grow)


def two_runs():
    """What is asked is asked of every run; the second is altered."""
    return [axes_run(), axes_run()]


def columns(made=None):
    """R with all that is computed from it."""
    return FollowedDescent.join([made or axes_run()]).cells[0]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_it_holds_on_both_copies_of_the_tight_run(claim):
    found = claim([axes_run(), axes_run(3, 5, 2e-8)])
    assert found.verdict is Verdict.HOLDS
    assert found.runs.tried == 2


@pytest.mark.parametrize(("given", "slack"), [((), 1.7820202303), ((3, 5, 2e-8), 1.74755006877)])
def test_how_near_the_rate_comes_to_its_bound(given, slack):
    found = theorem_1([axes_run(*given)])
    assert found.tightness == pytest.approx(1 / slack, rel=1e-6)
    assert (found.runs.tried, found.parts[0].n_cases) == (1, 59)


def scaled(factor):
    def rate(*given):
        return factor * rate_constant(*given)

    return rate


def test_a_rate_1_8_times_as_large_breaks_every_step():
    assert theorem_1([axes_run()], rate=scaled(1.8)).parts[0].broken == 59


def at_bound(place, excess):
    """R with L_at on its bound, and a little above or below it; the next step makes up for it."""
    made = axes_run()
    rate = rate_constant(made.step_scale, made.norms[0], made.losses[0])
    lost = made.gained[place] - np.log1p(rate * place * (1 - excess))
    gains = from_step(place - 1, -lost)(from_step(place, lost)(made.gains))
    logs = from_step(place, lost)(made.log_losses)
    return altered(made, gains=gains, log_losses=logs, steps=made.step_scale * logs[:-1] ** 2)


def with_scale(factor):
    made = axes_run()
    return {"step_scale": factor * made.step_scale, "steps": factor * made.steps}


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


@pytest.mark.parametrize("steps", [60, 600])
def test_it_says_how_far_along_its_rate_the_runs_are(steps):
    """Q₂(t − 1) at the last iterate, which the largest Q₂ of (7) keeps below 1."""
    run = axes_run(n_steps=steps)
    reached = max(theorem_1([run]).part("loss").cases["promised"].tolist())
    assert theorem_1([run]).note == f"Of the rate only the start is seen: Q₂(t − 1) comes to {reached:.2g}."


def test_a_rate_that_is_seen_is_not_spoken_of():
    assert theorem_1([axes_run()], rate=lambda *given: np.float64(1.0)).note == ""


def test_a_run_that_leaves_float64_says_so():
    """One run begins at L = e^{−695}, and has no step that float64 could follow."""
    one = altered(axes_run(), left_float64=True)
    none = descend(HuberNetwork(695.0 * np.eye(4, 2), 0.5), np.eye(2), np.ones(2), n_steps=10, step_scale=1e-3)
    assert theorem_1([axes_run(), one, none]).note.endswith(
        " 2 of 3 runs ended where the loss leaves float64, the first after 0 steps; nothing is said about later ones."
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


def first_norm_share():
    """The share of ‖V^(1)‖ with which the second line of (8) is attained."""
    made = axes_run()
    promised = 125 * made.step_scale * made.losses[:-1] * made.log_losses[0] ** 4 / (216 * made.norms[0] ** 2)
    return np.sqrt(promised / -np.expm1(-made.gains)).max()


def lower_gradient(share):
    """‖∇L‖ of one iterate such that ‖∇L‖‖V‖/(L log(1/L)) is this."""
    return {"gradient_norms": times(4, share / columns().gradient_share[4])}


def longer_step(product):
    made = axes_run()
    return {"steps": times(5, product / (30 * made.half_width * made.steps[5] * made.losses[5]))}


def less_use(slack):
    """The weights have grown so much at one iterate that log²(1/L)/‖V‖ is below its first value by this."""
    made = axes_run()
    excess = (columns().log_use - made.stretched)[6] + slack
    return {"stretches": from_step(6, -excess)(from_step(5, excess)(made.stretches))}


def at_bound_last(excess):
    """At the last iterate, so that I1 holds at all earlier ones."""
    made, place = axes_run(), len(axes_run().gains)
    rate = rate_constant(made.step_scale, made.norms[0], made.losses[0])
    lost = made.gained[place] - np.log1p(rate * place * (1 - excess))
    return {"gains": from_step(place - 1, -lost), "log_losses": from_step(place, lost)}


def early_loss(excess):
    made = at_bound(7, excess)
    return {"gains": made.gains, "log_losses": made.log_losses, "steps": made.steps}


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


def wasteful(place, share):
    """The weights grow by this times what the loss earns in one step: twice the log of the growth of log(1/L)."""
    made = axes_run()
    earned = 2 * np.log1p(made.gains[place] / -made.log_losses[place])
    return {"stretches": from_step(place, share * earned - made.stretches[place])}


def gradient_of_lemma_7(share):
    made = axes_run()
    largest = np.sqrt(2 * made.half_width) * made.losses[4] / made.gradient_norms[4]
    return {"gradient_norms": times(4, largest * share)}


def test_where_an_eighteenth_is_attained():
    attained = lemma_13([altered(axes_run(), **longer_step(1.0))])
    assert attained.parts[3].tightness == pytest.approx(1, abs=1e-12)
    assert attained.parts[3].promised == pytest.approx(1 / 18)


def stretch_of_equation_9(share):
    """One step that stretches the weights by as much as (9) allows, and a share of its terms more."""
    made = axes_run()
    gained, grown = induction.growth_terms(made.steps[5], made.gradient_norms[5], made.losses[5], made.norms[5])
    earned = 2 * np.log1p(made.gains[5] / -made.log_losses[5])
    edge = earned - np.log1p(gained) + np.log1p(grown)
    return {"stretches": from_step(5, edge + share * (gained + grown) - made.stretches[5])}


def test_how_near_equation_9_comes():
    """(the growth)/(B_t − 1) is 1.49 on R."""
    assert equation_9([axes_run()]).parts[0].tightness == pytest.approx(1 / 1.49, abs=0.005)


def gained_times(factor):
    """The first growth term at its edge, the second, and times a factor."""
    made = axes_run()
    gained, grown = induction.growth_terms(
        *(made.steps, *(each[:-1] for each in (made.gradient_norms, made.losses, made.norms)))
    )
    edge = (grown / gained).max()

    def terms(*given):
        gained, grown = induction.growth_terms(*given)
        return factor * edge * gained, grown

    return terms


def at_lemma_10_edge(share):
    """A gradient with ‖∇L‖‖V‖/(L log(1/L)) = share, and a loss that falls by as much as Lemma 8 asks for."""
    made = axes_run()
    size = times(4, share / columns().gradient_share[4])(made.gradient_norms)
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


def equal_units():
    """p equal units along one point at z = 10: the ratio is z/(z − h/2) = 1.0169."""
    p = 3
    rows = np.repeat([10.0, 0.0], p)[:, None] * np.array([0.6, 0.8])
    return descend(HuberNetwork(rows, 1 / p), np.array([[0.6, 0.8]]), np.ones(1), n_steps=1, step_scale=1e-3)


def test_how_near_the_norm_comes():
    assert weights_grow([equal_units()]).tightness == pytest.approx(1 / 1.0169, abs=1e-4)


def norm_edge():
    made = equal_units()
    return (made.norms * np.sqrt(made.half_width) / made.largest_margins).min()


def test_columns():
    """hp, L over the threshold of (5), Q₁ over Q̃₁ and over the third term of (6)."""
    made = columns()
    assert columns(altered(axes_run(), bandwidth=0.6)).band_error == pytest.approx(0.2)
    assert made.start_share == pytest.approx(1e-7 / equation_5_threshold(2))
    assert made.loss_share == pytest.approx(made.losses / equation_5_threshold(2))
    assert (made.scale_share, made.third_share) == pytest.approx((1, 1))


ONE_POINT = [axes_run(), axes_run(1, 2, 1e-7)]
BAND = ("bandwidth", {"bandwidth": 0.5 * (1 + 9e-13)}, {"bandwidth": 0.5 * (1 + 5e-12)})
SCHEDULE = ("schedule", {"steps": times(3, 1 + 5e-10)}, {"steps": times(3, 1 + 5e-9)})
SCALE = ("step_scale", with_scale(1.0), with_scale(1 + 5e-12))
START = ("start_loss", at([axes_run(), from_share(1 - 1e-12)]), at([axes_run(), from_share(1 + 5e-12)]))
POINTS = ("two_points", {}, at(ONE_POINT))
USE = ("weight_use", less_use(-1e-12), less_use(1e-12))
LEMMA_10 = ("lemma_10", lower_gradient(5 / 6), lower_gradient(5 / 6 - 5e-12))
test_control = controls(
    induction,
    two_runs,
    (theorem_1, "loss", {"rate": scaled(1.7)}, {"rate": scaled(1.8)}),
    (theorem_1, "loss", at(at_bound(7, -5e-9)), at(at_bound(7, 5e-9))),
    *((theorem_1, *row) for row in (BAND, SCHEDULE, SCALE, START, POINTS)),
    # The second line, which I3 makes the weaker one by a hair only, is asked for half of the fall.
    (equation_8, "now", {**fall(1 + 5e-9), "at_start": doubled}, {**fall(1 - 5e-9), "at_start": doubled}),
    (
        equation_8,
        "at_start",
        {"at_start": smaller(first_norm_share() * (1 + 2e-9))},
        {"at_start": smaller(first_norm_share() * (1 - 2e-9))},
    ),
    *((equation_8, *row) for row in (BAND, SCHEDULE, USE, LEMMA_10)),
    (equation_8, "step_product", {}, longer_step(1 + 5e-12), "schedule"),
    (lemma_11, "loss", at_bound_last(-5e-9), at_bound_last(5e-9)),
    *((lemma_11, *row) for row in (BAND, SCHEDULE, SCALE, START, POINTS, USE)),
    (lemma_11, "step_product", {}, longer_step(1 + 5e-12), "schedule"),
    (lemma_11, "rate", early_loss(-5e-9), early_loss(5e-9)),
    (lemma_12, "product", longer_step(1.0), longer_step(1 + 5e-12)),
    (lemma_12, *SCALE),
    (lemma_12, "loss_below_one", up_to(-1e-3), up_to(0.0)),
    (lemma_13, "first_value", wasteful(0, 1 - 5e-9), wasteful(0, 1 + 5e-9), "grows"),
    # By less than the steps before it have earned.
    (lemma_13, "grows", wasteful(5, 1 - 5e-9), wasteful(5, 1 + 5e-9)),
    (lemma_13, "lost", gradient_of_lemma_7(1 - 1e-9), gradient_of_lemma_7(1 + 3e-9)),
    (lemma_13, "eighteenth", longer_step(1.0), {**longer_step(1.0), "eighteenth": (1 - 1e-10) / 18}),
    *((lemma_13, *row) for row in (BAND, LEMMA_10)),
    (lemma_13, "step_product", longer_step(1.0), longer_step(1 + 5e-12)),
    (lemma_13, "loss_below_one", up_to(-1e-3), up_to(0.0), "lemma_10"),
    (equation_9, "growth", stretch_of_equation_9(-5e-9), stretch_of_equation_9(5e-9)),
    (equation_9, "at_least_one", {"terms": gained_times(1.0)}, {"terms": gained_times(1 - 5e-9)}),
    (equation_9, "lemma_10", at_lemma_10_edge(0.6 + 1e-9), at_lemma_10_edge(0.6 - 5e-12)),
    (equation_9, "lemma_8", falls(5 / 6 + 1e-9), falls(5 / 6 - 5e-12)),
    (equation_9, "loss_below_one", up_to(-1e-3), up_to(0.0), "lemma_10"),
    (
        weights_grow,
        "norm",
        at(equal_units, factor=norm_edge()),
        at(equal_units, factor=norm_edge() * (1 + 5e-9)),
    ),
)
