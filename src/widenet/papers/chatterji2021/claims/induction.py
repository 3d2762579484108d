"""Section 3.4: the three-part induction of Theorem 1, iterate by iterate. All claims here read the same runs."""

from collections.abc import Callable, Sequence

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, at_least, at_most, claim, pick
from widenet.claims.meaning import Topic
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.conditions import (
    conditions,
    efficiency,
    followed,
    loss_below_one,
    small_start,
    two_points,
)
from widenet.papers.chatterji2021.claims.specimens import runs_on
from widenet.papers.chatterji2021.formulas import (
    LEAST_SHARE,
    growth_terms,
    largest_step_scale,
    log_growth_factor,
    rate_constant,
    relative_decrease,
    relative_decrease_at_start,
    scheduled_step,
    step_product,
)
from widenet.papers.chatterji2021.runs.descents import Descent, descents

SETTING = ("unit_inputs", "labels", "bandwidth")
Bound = Callable[..., np.ndarray]


def promised_growth(run: Descent, rate: Bound = rate_constant) -> np.ndarray:
    """Q₂(t − 1), what L₁/L_t − 1 is to exceed, at every iterate."""
    allowed = run.rate_share * rate(run.step_scale, run.norms[0], run.losses[0])
    return allowed * np.arange(len(run.norms))


def growth(run: Descent) -> np.ndarray:
    """L₁/L_t − 1 at every iterate."""
    return np.expm1(run.gained)


def log_use(run: Descent) -> np.ndarray:
    """2 log(log(1/L_t)/log(1/L₁)): how much of the logarithm of I3 the loss has earned."""
    return 2 * np.log1p(run.gained / -run.log_losses[0])


def earned(run: Descent) -> np.ndarray:
    """The same for a single step."""
    return 2 * np.log1p(run.gains / -run.log_losses[:-1])


def gradient_share(run: Descent) -> np.ndarray:
    """‖∇L‖‖V‖/(L log(1/L)), at least 5/6 by Lemma 10."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return run.gradient_norms * run.norms / (run.losses * -run.log_losses)


def _taken(run: Descent) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """α, ‖∇L‖, L and ‖V‖ at the start of every step."""
    return run.steps, run.gradient_norms[:-1], run.losses[:-1], run.norms[:-1]


def lowest(runs: Sequence[Descent], values: Callable[[Descent], np.ndarray]) -> float:
    """The smallest value of all runs; NaN where there is one, and infinite where no run took a step."""
    return float(np.min(followed(runs, values), initial=np.inf))


def product_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """I2: 30pα_tL_t ≤ 1 at every step."""
    products = followed(runs, lambda run: step_product(run.half_width, run.steps, run.losses[:-1]))
    largest = np.max(products, initial=0.0)
    return at_most("step_product", "I2: largest 30pα_tL_t", largest, 1, tolerance=ROUNDING)


def rate_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """I1: L₁/L_t − 1 ≥ Q₂(t − 1) at every iterate before the last."""
    slack = lowest(runs, lambda run: (growth(run) - promised_growth(run))[:-1])
    return at_least("rate", "I1: smallest L₁/L_t − 1 − Q₂(t − 1)", slack, 0)


def use_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """I3: log²(1/L_t)/‖V^(t)‖ is at least its first value, at every iterate before the last."""
    slack = lowest(runs, lambda run: (log_use(run) - run.stretched)[:-1])
    name = "I3: smallest log of (log²(1/L_t)/‖V^(t)‖)/(log²(1/L₁)/‖V^(1)‖)"
    return at_least("weight_use", name, slack, 0)


def gradient_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """The conclusion of Lemma 10."""
    found = lowest(runs, gradient_share)
    return at_least("lemma_10", "smallest ‖∇L‖‖V‖/(L log(1/L))", found, LEAST_SHARE, tolerance=ROUNDING)


def decrease_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """The conclusion of Lemma 8."""
    found = lowest(runs, efficiency)
    return at_least("lemma_8", "smallest (L_t − L_{t+1})/(α_t‖∇L_t‖²)", found, LEAST_SHARE, tolerance=ROUNDING)


def scale_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """Q₁ ≤ Q̃₁."""
    shares = [run.step_scale / largest_step_scale(run.norms[0], run.losses[0], run.half_width) for run in runs]
    return at_most("step_scale", "largest Q₁/Q̃₁", np.max(shares), 1, tolerance=ROUNDING)


def schedule_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """α_t = Q₁ log²(1/L_t), as the steps were taken."""
    apart = followed(runs, lambda run: np.abs(run.steps / scheduled_step(run.step_scale, run.log_losses[:-1]) - 1))
    return at_most("schedule", "largest |α_t/(Q₁ log²(1/L_t)) − 1|", np.max(apart, initial=0.0), 0, tolerance=STEP)


def rate_share_hypothesis(runs: Sequence[Descent]) -> Hypothesis:
    """Q₂ ≤ Q̃₂(Q₁)."""
    return at_most("rate_share", "largest Q₂/Q̃₂(Q₁)", max(run.rate_share for run in runs), 1, tolerance=ROUNDING)


def _counted(runs: Sequence[Descent]) -> Runs:
    """The parts count iterates."""
    return Runs(tried=len(runs))


@claim("chatterji2021.equation_8", Kind.STEP, "Eq. 8, proof of Lemma 11", reads=descents)
def equation_8(
    runs: Sequence[Descent], *, now: Bound = relative_decrease, at_start: Bound = relative_decrease_at_start
) -> Evidence:
    """L_{t+1} ≤ L_t − 125α_tL_t² log²(1/L_t)/(216‖V^(t)‖²) ≤ L_t(1 − 125Q₁L_t log⁴(1/L₁)/(216‖V^(1)‖²)); the second
    needs I3 at t, and both need Lemma 10 and 30pα_tL_t ≤ 1 there.
    """
    fell = followed(runs, lambda run: -np.expm1(-run.gains))
    first = followed(runs, lambda run: now(run.steps, run.losses[:-1], run.norms[:-1]))
    later = followed(runs, lambda run: at_start(run.step_scale, run.losses[:-1], run.losses[0], run.norms[0]))
    parts = {
        name: Sides(fell, share, Sense.AT_LEAST, room=STEP * share, quantity="1 − L_{t+1}/L_t")
        for name, share in (("with α_t and ‖V^(t)‖", first), ("with Q₁ and ‖V^(1)‖", later))
    }
    hypotheses = (product_hypothesis(runs), gradient_hypothesis(runs), use_hypothesis(runs), schedule_hypothesis(runs))
    return evidence(parts, (*hypotheses, *pick(conditions(runs), *SETTING)), runs=_counted(runs), note=noted(runs))


@claim("chatterji2021.lemma_11", Kind.STEP, "Lemma 11, Section 3.4", reads=descents)
def lemma_11(runs: Sequence[Descent], *, rate: Bound = rate_constant) -> Evidence:
    """I1 goes on: where I1, I2 and I3 hold at t, L_{t+1} ≤ L₁/(Q₂t + 1)."""
    found = followed(runs, lambda run: growth(run)[1:])
    promised = followed(runs, lambda run: promised_growth(run, rate)[1:])
    return evidence(
        {"L_{t+1} ≤ L₁/(Q₂t + 1)": _rate_sides(found, promised)},
        (
            rate_hypothesis(runs),
            product_hypothesis(runs),
            use_hypothesis(runs),
            small_start(runs),
            scale_hypothesis(runs),
            schedule_hypothesis(runs),
            rate_share_hypothesis(runs),
            two_points(runs),
            *pick(conditions(runs), *SETTING),
        ),
        runs=_counted(runs),
        note=noted(runs),
    )


def _rate_sides(found: np.ndarray, promised: np.ndarray) -> Sides:
    return Sides(found, promised, Sense.AT_LEAST, room=STEP * promised, quantity="L₁/L_t − 1")


@claim("chatterji2021.lemma_12", Kind.STEP, "Lemma 12, Section 3.4", reads=descents)
def lemma_12(runs: Sequence[Descent], *, product: Bound = step_product) -> Evidence:
    """I2 goes on: α_tL_t ≤ 1/(30p) for every step α_t = Q₁ log²(1/L_t), where Q₁ ≤ e²/(120p) and L_t < 1.

    The step is read off the weights, not computed again from Q₁.
    """
    found = followed(runs, lambda run: product(run.half_width, run.steps, run.losses[:-1]))
    shares = [run.step_scale * 120 * run.half_width / np.e**2 for run in runs]
    return evidence(
        {"30pα_tL_t ≤ 1": Sides(found, 1.0, room=ROUNDING)},
        (
            at_most("step_scale", "largest Q₁·120p/e²", np.max(shares), 1, tolerance=ROUNDING),
            loss_below_one(runs),
        ),
        details={"schedule_error": schedule_hypothesis(runs).actual},
        runs=_counted(runs),
        note=noted(runs),
    )


@claim("chatterji2021.lemma_13", Kind.STEP, "Lemma 13, Section 3.4", reads=descents)
def lemma_13(runs: Sequence[Descent], *, by_product: float = 10 / 6, eighteenth: float = 1 / 18) -> Evidence:
    """I3 goes on: log²(1/L_t)/‖V^(t)‖ is at least log²(1/L₁)/‖V^(1)‖, and even grows at every step; on the way
    5α_t‖∇L_t‖²/(6L_t) ≤ 10pα_tL_t/6 ≤ 1/18.
    """
    whole, single = followed(runs, lambda run: log_use(run)[1:]), followed(runs, earned)
    stretched, stretch = followed(runs, lambda run: run.stretched[1:]), followed(runs, lambda run: run.stretches)
    lost = followed(
        runs, lambda run: 5 * run.steps * run.gradient_norms[:-1] * (run.gradient_norms[:-1] / run.losses[:-1]) / 6
    )
    middle = followed(runs, lambda run: by_product * run.half_width * run.steps * run.losses[:-1])
    quantity = "2 log of the growth of log(1/L), against the log of that of ‖V‖"
    return evidence(
        {
            "at least its first value": Sides(
                whole, stretched, Sense.AT_LEAST, room=STEP * np.abs(stretched), quantity=quantity
            ),
            "grows at every step": Sides(
                single, stretch, Sense.AT_LEAST, room=STEP * np.abs(stretch), quantity=quantity
            ),
            "5α‖∇L‖²/(6L) ≤ 10pαL/6": Sides(lost, middle, room=STEP * middle),
            "10pαL/6 ≤ 1/18": Sides(middle, eighteenth, room=ROUNDING),
        },
        (
            product_hypothesis(runs),
            gradient_hypothesis(runs),
            loss_below_one(runs),
            *pick(conditions(runs), *SETTING),
        ),
        runs=_counted(runs),
        note=noted(runs),
    )


@claim("chatterji2021.equation_9", Kind.STEP, "Eq. 9, proof of Lemma 13", reads=descents)
def equation_9(
    runs: Sequence[Descent], *, factor: Bound = log_growth_factor, terms: Callable[..., tuple] = growth_terms
) -> Evidence:
    """A step multiplies log²(1/L)/‖V‖ by at least B_t = (1 + 5α‖∇L‖²/(3L log(1/L)))/(1 + α‖∇L‖/‖V‖), and B_t ≥ 1."""
    grew = followed(runs, lambda run: earned(run) - run.stretches)
    promised = followed(runs, lambda run: factor(*_taken(run)))
    gained, grown = (followed(runs, lambda run, at=at: terms(*_taken(run))[at]) for at in (0, 1))
    return evidence(
        {
            "log²(1/L)/‖V‖ grows by B_t": Sides(
                grew, promised, Sense.AT_LEAST, room=STEP * (gained + grown), quantity="log of the growth"
            ),
            "B_t ≥ 1": Sides(
                gained, grown, Sense.AT_LEAST, room=STEP * grown, quantity="5α‖∇L‖²/(3L log(1/L)) against α‖∇L‖/‖V‖"
            ),
        },
        (
            decrease_hypothesis(runs),
            at_least(
                "lemma_10", "smallest ‖∇L‖‖V‖/(L log(1/L))", lowest(runs, gradient_share), 3 / 5, tolerance=ROUNDING
            ),
            loss_below_one(runs),
        ),
        runs=_counted(runs),
        note=noted(runs),
    )


@claim("chatterji2021.theorem_1", Kind.MAIN, "Theorem 1, Section 2.3", reads=descents)
def theorem_1(runs: Sequence[Descent], *, rate: Bound = rate_constant) -> Evidence:
    """From any start with L₁ ≤ n^{−(1+C₁)}, gradient descent with steps α_t = Q₁ log²(1/L_t) has
    L_t ≤ L₁/(Q₂(t − 1) + 1) for all t, for every Q₁ ≤ Q̃₁ (6) and Q₂ ≤ Q̃₂(Q₁) (7), every n ≥ 2, every width, h = 1/p
    and unit inputs.

    In reduced coordinates, where (6) and (7) live. The paper leaves C₁ open; 19.6564 is enough for every n. What is
    asked here is what the proof uses, a loss at which (5) gives Lemma 10, which is larger.
    """
    found = followed(runs, lambda run: growth(run)[1:])
    promised = followed(runs, lambda run: promised_growth(run, rate)[1:])
    slack = (found[promised > 0] / promised[promised > 0]).min(initial=np.inf)
    return evidence(
        {"L_t ≤ L₁/(Q₂(t − 1) + 1)": _rate_sides(found, promised)},
        (
            small_start(runs),
            scale_hypothesis(runs),
            rate_share_hypothesis(runs),
            schedule_hypothesis(runs),
            two_points(runs),
            *pick(conditions(runs), *SETTING),
        ),
        details={"smallest (L₁/L_t − 1)/(Q₂(t − 1))": float(slack), "iterates": len(found)},
        note=noted(runs, _ends(runs)),
        runs=_counted(runs),
    )


def _ends(runs: Sequence[Descent]) -> str:
    """What a reader should know of runs that float64 could not follow to their last step."""
    short = [len(run.steps) for run in runs if run.left_float64]
    words = (
        f"{len(short)} of {len(runs)} runs ended where the loss leaves float64, the first after {min(short, default=0)}"
    )
    return f"{words} steps; nothing is said about later ones." if short else ""


@claim("chatterji2021.weights_grow", Kind.STEP, "not in the paper; the norm must grow", reads=descents)
def weights_grow(runs: Sequence[Descent], *, factor: float = 1.0) -> Evidence:
    """‖V‖ ≥ max_s y_s f(x_s)/√p, so a loss that tends to 0 takes the weights to infinity."""
    found = followed(runs, lambda run: run.norms)
    limits = followed(runs, lambda run: factor * run.largest_margins / np.sqrt(run.half_width))
    return evidence(
        {"‖V‖ ≥ max y f(x)/√p": Sides(found, limits, Sense.AT_LEAST, room=STEP * np.abs(limits))},
        pick(conditions(runs), "unit_inputs", "labels"),
        runs=_counted(runs),
        note=noted(runs),
    )


for _step in (equation_8, lemma_11, lemma_12, lemma_13, equation_9, theorem_1, weights_grow):
    _step.speaks(runs_on)

theorem_1.means(
    Topic.RATE,
    "Once the loss is small enough, gradient descent with the right steps brings it to zero, at least as fast "
    "as one over the number of steps.",
)
