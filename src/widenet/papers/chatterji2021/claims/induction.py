"""Section 3.4: the three-part induction of Theorem 1, iterate by iterate. All claims here read the same runs."""

from collections.abc import Callable

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.given import labels
from widenet.claims.implication import Promise, Promised, at_least, at_most
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.sides import Sides
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.columns import FollowedDescent
from widenet.papers.chatterji2021.formulas import (
    growth_terms,
    log_growth_factor,
    rate_constant,
    relative_decrease,
    relative_decrease_at_start,
    step_product,
)
from widenet.papers.chatterji2021.hypotheses import (
    SETTING,
    aligned,
    lemma_8,
    lemma_10,
    loss_below_one,
    rate,
    rate_share,
    schedule,
    start_loss,
    step_scale,
    third_term,
    two_points,
    unit_inputs,
    weight_use,
)
from widenet.papers.chatterji2021.hypotheses import step_product as short_steps
from widenet.papers.chatterji2021.runs.descents import descents
from widenet.records import Form

Bound = Callable[..., np.ndarray]


@claim("chatterji2021.equation_8", Kind.STEP, "Eq. 8, proof of Lemma 11", reads=descents,
       given=[short_steps, lemma_10, weight_use, schedule, *SETTING],
       title="Each step lowers the loss by a share of itself")  # fmt: skip
def equation_8(
    runs: FollowedDescent, *, now: Bound = relative_decrease, at_start: Bound = relative_decrease_at_start
) -> Promised:
    """$L_{t+1} ≤ L_t − 125α_tL_t² log²(1/L_t)/(216‖V^(t)‖²) ≤ L_t(1 − 125Q₁L_t log⁴(1/L₁)/(216‖V^(1)‖²))$. The second
    inequality needs I3 at $t$, and both need Lemma 10 and $30pα_tL_t ≤ 1$ there.
    """
    u, fell = runs.per("step"), "1 − L_{t+1}/L_t"
    first = now(u.steps, u.loss_before, u.norm_before)
    later = at_start(u.step_scale, u.loss_before, u.first_loss, u.first_norm)
    return {
        "now": at_least(u.fall, first, within=STEP, text="with $α_t$ and $‖V^(t)‖$", quantity=fell),
        "at_start": at_least(u.fall, later, within=STEP, text="with $Q₁$ and $‖V^(1)‖$", quantity=fell),
    }


@claim("chatterji2021.lemma_11", Kind.STEP, "Lemma 11, Section 3.4", reads=descents,
       given=[rate, short_steps, weight_use, start_loss, step_scale, schedule, rate_share, two_points, *SETTING],
       title="The loss bound carries over to the next step")  # fmt: skip
def lemma_11(runs: FollowedDescent, *, rate: Bound = rate_constant) -> Promised:
    """I1 carries over: where I1, I2 and I3 hold at $t$, $L_{t+1} ≤ L₁/(Q₂t + 1)$."""
    return {"loss": _grows(runs, rate, "$L_{t+1} ≤ L₁/(Q₂t + 1)$")}


def _grows(runs: FollowedDescent, rate: Bound, text: str) -> Sides:
    u = runs.per("step")
    promised = u.rate_share * rate(u.step_scale, u.first_norm, u.first_loss) * u.number
    return at_least(u.growth_after, promised, within=STEP, text=text, quantity="L₁/L_t − 1")


@claim("chatterji2021.lemma_12", Kind.STEP, "Lemma 12, Section 3.4", reads=descents,
       given=[third_term, loss_below_one], title="Step size times loss stays below $1/(30p)$")  # fmt: skip
def lemma_12(runs: FollowedDescent, *, product: Bound = step_product) -> Promise:
    """I2 carries over: $α_tL_t ≤ 1/(30p)$ for every step $α_t = Q₁ log²(1/L_t)$ with $Q₁ ≤ e²/(120p)$ and $L_t < 1$.

    The step is read off the weights, not computed again from Q₁.
    """
    u = runs.per("step")
    found = product(u.half_width, u.steps, u.loss_before)
    return Promise(
        {"product": at_most(found, 1.0, within=ROUNDING, text="$30pα_tL_t ≤ 1$")},
        details=lambda: {"schedule_error": np.max(u.schedule_error, initial=0.0)},
    )


@claim("chatterji2021.lemma_13", Kind.STEP, "Lemma 13, Section 3.4", reads=descents,
       given=[short_steps, lemma_10, loss_below_one, *SETTING],
       title="$log²(1/L)$ outgrows the norm of the weights")  # fmt: skip
def lemma_13(runs: FollowedDescent, *, by_product: float = 10 / 6, eighteenth: float = 1 / 18) -> Promised:
    """I3 carries over: $log²(1/L_t)/‖V^(t)‖$ is at least $log²(1/L₁)/‖V^(1)‖$, and it even grows at every step. On the
    way, $5α_t‖∇L_t‖²/(6L_t) ≤ 10pα_tL_t/6 ≤ 1/18$.
    """
    u = runs.per("step")
    lost = 5 * u.steps * u.gradient_before * (u.gradient_before / u.loss_before) / 6
    middle = by_product * u.half_width * u.steps * u.loss_before
    quantity = "2 log of the growth of log(1/L), against the log of that of ‖V‖"
    return {
        "first_value": at_least(
            u.use_after, u.stretched_after, within=STEP, text="at least its first value", quantity=quantity
        ),
        "grows": at_least(u.earned, u.stretches, within=STEP, text="grows at every step", quantity=quantity),
        "lost": at_most(lost, middle, within=STEP, text="$5α‖∇L‖²/(6L) ≤ 10pαL/6$"),
        "eighteenth": at_most(middle, eighteenth, within=ROUNDING, text="$10pαL/6 ≤ 1/18$"),
    }


@claim("chatterji2021.equation_9", Kind.STEP, "Eq. 9, proof of Lemma 13", reads=descents,
       given=[lemma_8, aligned(3 / 5), loss_below_one],
       title="A step multiplies $log²(1/L)/‖V‖$ by at least 1")  # fmt: skip
def equation_9(
    runs: FollowedDescent, *, factor: Bound = log_growth_factor, terms: Callable[..., tuple] = growth_terms
) -> Promised:
    """A step multiplies $log²(1/L)/‖V‖$ by at least $B_t = (1 + 5α‖∇L‖²/(3L log(1/L)))/(1 + α‖∇L‖/‖V‖)$, and
    $B_t ≥ 1$.
    """
    u = runs.per("step")
    taken = u.steps, u.gradient_before, u.loss_before, u.norm_before
    gained, grown = terms(*taken)
    return {
        "growth": at_least(
            u.earned - u.stretches,
            factor(*taken),
            within=STEP,
            of=gained + grown,
            text="$log²(1/L)/‖V‖$ grows by $B_t$",
            quantity="log of the growth",
        ),
        "at_least_one": at_least(
            gained, grown, within=STEP, text="$B_t ≥ 1$", quantity="5α‖∇L‖²/(3L log(1/L)) against α‖∇L‖/‖V‖"
        ),
    }


RATE = Meaning(
    topic=Topic.RATE,
    promise="Once the loss is small enough, gradient descent with the right steps brings it to zero, at least as fast "
    "as one over the number of steps.",
)


@claim("chatterji2021.theorem_1", Kind.MAIN, "Theorem 1, Section 2.3", reads=descents, means=RATE,
       given=[start_loss, step_scale, rate_share, schedule, two_points, *SETTING],
       title="From a small loss, it falls at least like 1/t, to zero")  # fmt: skip
def theorem_1(runs: FollowedDescent, *, rate: Bound = rate_constant) -> Promise:
    """From any start with $L₁ ≤ n^{−(1+C₁)}$, gradient descent with steps $α_t = Q₁ log²(1/L_t)$ has $L_t ≤ L₁/(Q₂(t −
    1) + 1)$ for all $t$. This is true for every $Q₁ ≤ Q̃₁$ (6) and $Q₂ ≤ Q̃₂(Q₁)$ (7), every $n ≥ 2$ and every width,
    with $h = 1/p$ and unit inputs.

    In reduced coordinates, where (6) and (7) live. The paper leaves C₁ open; 19.6564 is enough for every n. What is
    asked here is what the proof uses, a loss at which (5) gives Lemma 10, which is larger.
    """
    grows = _grows(runs, rate, "$L_t ≤ L₁/(Q₂(t − 1) + 1)$")
    positive = grows.promised > 0
    slack = (grows.measured[positive] / grows.promised[positive]).min(initial=np.inf)
    return Promise(
        {"loss": grows},
        details={"smallest (L₁/L_t − 1)/(Q₂(t − 1))": slack, "iterates": len(grows.measured)},
        note=lambda: " ".join(filter(None, (_start_of_rate(grows.promised.max(initial=0.0)), _ends(runs)))),
    )


def _start_of_rate(reached: float) -> str:
    """How much of a rate 1/(1 + s) was seen, with the largest s = Q₂(t − 1)."""
    return f"Of the rate only the start is seen: Q₂(t − 1) comes to {reached:.2g}." if reached < 1 else ""


def _ends(runs: FollowedDescent) -> str:
    """What a reader should know of runs that float64 could not follow to their last step."""
    short = np.asarray(runs.n_steps)[runs.left_float64]
    words = (
        f"{len(short)} of {len(runs)} runs ended where the loss leaves float64, the first after {min(short, default=0)}"
    )
    return f"{words} steps; nothing is said about later ones." if len(short) else ""


@claim("chatterji2021.weights_grow", Kind.STEP, "not in the paper; the norm must grow", reads=descents,
       given=[unit_inputs, labels], form=Form.OURS,
       title="As the loss tends to zero, the weights grow without bound")  # fmt: skip
def weights_grow(runs: FollowedDescent, *, factor: float = 1.0) -> Promised:
    """$‖V‖ ≥ max_s y_s f(x_s)/√p$, so the weights grow without bound as the loss tends to 0."""
    t = runs.per("iterate")
    limits = factor * t.largest_margins / np.sqrt(t.half_width)
    return {"norm": at_least(t.norms, limits, within=STEP, text="$‖V‖ ≥ max y f(x)/√p$")}
