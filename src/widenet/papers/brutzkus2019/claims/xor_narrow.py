"""Section 3.3: with k = 2 the network can solve XOR, and with probability 3/4 gradient descent does not.

If W_0⁺(1) is empty, no w ever answers to x_1: none is pushed towards it (w moves along x_1 only through x_1, which it
does not see, and through x_3, which pushes it away). So N(x_1) ≤ 0 for all t; the same for the other points. For k = 2
the two w's share a side of the axis of x_1 with probability 1/2, and so do the two u's on the axis of x_2: 3/4 in all.
At the end no filter answers to a forgotten point, so its output is exactly 0, its loss 1, and no small change helps.

The remark of Section 3.1 is `observation_xor_realizable`; Lemma B.7 is `lemma_b_7`, Theorem 3.4 `theorem_3_4`, and
Theorem B.8, which adds that the end is a local minimum, `theorem_b_8`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Claim, Evidence, Hypothesis, Kind, Runs, at_least, at_most
from widenet.claims.legacy import Evidence_, decide, ratio
from widenet.claims.statistics import clopper_pearson, matches_rate
from widenet.diagnostics.exploration import XOR_LABELS, XOR_POINTS
from widenet.papers.brutzkus2019.claims.xor_verdicts import setting_of_section_3
from widenet.papers.brutzkus2019.runs.xor import XorStart, XorTrace, draw_start, every_octant, trace
from widenet.types import Progress, Scale, silent

SMALLEST_P = 1e-6
"""A rate is rejected where its exact two-sided p-value is below this."""
FEWEST_RUNS = 400
"""With fewer runs a rate that is off by a fifth would often pass."""
FAILURE_RATE = Fraction(3, 4)
Filters = Float[np.ndarray, "*network filter 2"]
Rule = Callable[[np.ndarray], np.ndarray]
"""Which points are right, from their outputs N(x_i)."""


def outputs(plus: Filters, minus: Filters) -> Float[np.ndarray, "*network 4"]:
    """N(x_1), …, N(x_4) of the network of Eq. 1."""
    return np.maximum(plus @ XOR_POINTS.T, 0).sum(axis=-2) - np.maximum(minus @ XOR_POINTS.T, 0).sum(axis=-2)


def strictly_right(values: Float[np.ndarray, "*run 4"]) -> Bool[np.ndarray, "*run 4"]:
    """y N > 0: an output of 0 has no sign and is wrong."""
    return XOR_LABELS * values > 0


@dataclass(frozen=True, eq=False)
class Networks:
    """A network with two filters of each sign, and many with one of each."""

    plus: Float[np.ndarray, "filter 2"]
    minus: Float[np.ndarray, "filter 2"]
    single_plus: Float[np.ndarray, "network single 2"]
    single_minus: Float[np.ndarray, "network single 2"]


SOLUTION = (XOR_POINTS[::2] / 2, XOR_POINTS[1::2] / 2)
"""w = x_1/2, x_3/2 and u = x_2/2, x_4/2."""


def check_observation_xor_realizable(networks: Networks, progress: Progress = silent) -> Evidence:
    """The given network has loss 0; no network with k = 1 is right on x_1 and on x_3 = −x_1."""
    loss = float(np.maximum(1 - XOR_LABELS * outputs(networks.plus, networks.minus), 0).sum())
    singles = outputs(networks.single_plus, networks.single_minus)
    solved = int(strictly_right(singles).all(axis=-1).sum())
    progress(1.0, "networks")
    conclusion = loss == 0 and solved == 0 if len(singles) else None
    conditions = (
        at_most("filters_of_each_sign_in_the", "filters of each sign in the construction", networks.plus.shape[-2], 2),
    )
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=1 + len(singles)),
        conclusion=conclusion,
        quantity="loss of the construction with k = 2",
        promised=0.0,
        measured=loss,
        config={"networks_with_k_1": len(singles), "of_them_right_everywhere": solved},
        note="k = 1 needs ⟨w, x_1⟩ > 0 and ⟨w, x_3⟩ = −⟨w, x_1⟩ > 0; random search finds none either.",
    )


def under_explored(start: XorStart) -> Bool[np.ndarray, "run 4"]:
    """For each point, whether no own filter starts in its half-plane."""
    return start.own_counts == 0


def check_lemma_b_7(
    starts: Sequence[XorStart], progress: Progress = silent, *, promised: Fraction = FAILURE_RATE
) -> Evidence:
    """Exactly, by all sign patterns of four filters; and the frequency among drawn starts. A control promises 7/16."""
    hits = [int(under_explored(start).any(axis=1).sum()) for start in starts]
    n_runs = sum(start.n_runs for start in starts)
    octants = under_explored(every_octant(0.1)).any(axis=1)
    exact = Fraction(int(octants.sum()), octants.size)
    p_value = matches_rate(sum(hits), n_runs, float(promised))
    progress(1.0, "starts")
    conclusion = None if n_runs < FEWEST_RUNS else p_value >= SMALLEST_P and exact == promised
    conditions = (_two_filters(starts),)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(tried=n_runs),
        conclusion=conclusion,
        quantity="probability that a point has no filter, by enumeration",
        promised=float(promised),
        measured=float(exact),
        tightness=ratio(float(exact), float(promised)),
        interval=clopper_pearson(sum(hits), n_runs),
        config={"exact": str(exact), "starts_enumerated": octants.size, "drawn": sum(hits), "p_value": p_value},
        note="The paper says at least 0.75; it is exactly 3/4.",
    )


@dataclass(frozen=True, eq=False)
class NarrowRuns:
    """Drawn starts, and one start for each octant of the four filters."""

    drawn: XorStart
    octants: XorStart


def check_theorem_3_4(setting: NarrowRuns, progress: Progress = silent, *, rule: Rule = strictly_right) -> Evidence:
    """Wrong at the end ⇔ no filter at the start, point by point; wrong outputs are 0; the rates 1/4, 1/2, 1/4 of loss.

    From every octant the share of failed runs is the probability itself. A control calls an output of 0 positive.
    """
    ends, mismatches = [], 0
    for number, start in enumerate((setting.drawn, setting.octants)):
        run = trace(start)
        empty, wrong = under_explored(start), ~rule(XOR_LABELS * run.margins[-1])
        loss_is_count = run.final_loss == empty.sum(axis=1)
        at_zero = np.where(empty, run.margins[-1] == 0, True).all(axis=1)
        agrees = (wrong == empty).all(axis=1) & loss_is_count & at_zero
        scored = start.in_event if start.in_event.any() else np.ones(start.n_runs, bool)
        mismatches += int((~agrees & scored).sum())
        ends.append((run, wrong, scored))
        progress((number + 1) / 2, f"{start.n_runs} runs")
    (run, wrong, scored), (whole, wrong_octants, _) = ends
    failed, counted = int(wrong[scored].any(axis=1).sum()), int(scored.sum())
    exact = Fraction(int(wrong_octants.any(axis=1).sum()), len(wrong_octants))
    p_value = matches_rate(failed, counted, float(FAILURE_RATE))
    losses = np.bincount(np.rint(whole.final_loss).astype(int), minlength=3)
    shares = [Fraction(int(count), len(whole.final_loss)) for count in losses]
    agreed = mismatches == 0 and exact == FAILURE_RATE and shares == [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    unfinished = int((~run.ended).sum() + (~whole.ended).sum())
    enough = counted >= FEWEST_RUNS and not unfinished
    conclusion = False if not agreed or p_value < SMALLEST_P else True if enough else None
    conditions = _narrow_hypotheses(setting)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(
            tried=len(wrong) + len(wrong_octants),
            unfinished=unfinished,
            outside=len(wrong) - int(setting.drawn.in_event.sum()),
        ),
        conclusion=conclusion,
        quantity="probability of an error at the end, by one run from every octant",
        promised=float(FAILURE_RATE),
        measured=float(exact),
        tightness=ratio(float(exact), float(FAILURE_RATE)),
        interval=clopper_pearson(failed, counted),
        config={
            "runs_that_disagree": mismatches,
            "failed": failed,
            "p_value": p_value,
            "final_losses": [str(share) for share in shares],
            "longest_run": int(max(run.steps.max(), whole.steps.max())),
        },
        note="The paper says at least 0.75; it is exactly 3/4. A failed point ends with output exactly 0.",
    )


def check_theorem_b_8(
    setting: NarrowRuns, progress: Progress = silent, *, draws: int = 20, seed: int = 0, share: float = 0.5
) -> Evidence:
    """At a standstill with positive loss: no filter answers to a failed point, and no small change lowers the loss.

    Each draw moves every weight so that no fit changes by more than `share` of the smallest one.
    """
    runs = [trace(start) for start in (setting.drawn, setting.octants)]
    lowered = answered = tried = 0
    deepest = np.inf
    for number, run in enumerate(runs):
        scored = run.start.in_event if run.start.in_event.any() else np.ones(run.start.n_runs, bool)
        stuck = scored & run.ended & (run.final_loss > 0)
        changes, failed_fits = _perturbed(run, stuck, draws, share, np.random.default_rng([seed, number, 8]))
        lowered += int((changes < 0).any(axis=1).sum())
        answered += int(failed_fits.sum())
        tried += int(stuck.sum())
        deepest = min(deepest, float(changes.min(initial=np.inf)))
        progress((number + 1) / 2, f"{int(stuck.sum())} runs that fail")
    conclusion = None if not tried else lowered == 0 and answered == 0
    conditions = _narrow_hypotheses(setting)
    return Evidence_(
        verdict=decide(conditions, conclusion),
        hypotheses=conditions,
        runs=Runs(
            tried=tried,
            unfinished=sum(int((~run.ended).sum()) for run in runs),
            outside=sum(int((~run.start.in_event).sum()) for run in runs),
        ),
        conclusion=conclusion,
        quantity="smallest change of the loss among small changes of the weights",
        promised=0.0,
        measured=deepest if tried else None,
        config={"draws_per_run": draws, "runs_lowered": lowered, "filters_that_answer_to_a_failed_point": answered},
    )


def _perturbed(
    run: XorTrace, stuck: Bool[np.ndarray, " run"], draws: int, share: float, draw: np.random.Generator
) -> tuple[Float[np.ndarray, "stuck draw"], Bool[np.ndarray, "stuck 4"]]:
    """How the loss changes under small changes, and whether a filter answers to a point that is wrong."""
    fits, goal = run.end[stuck], run.start.goal
    room = share * np.abs(fits).min(axis=(1, 2, 3), keepdims=True, initial=np.inf)
    before = run.final_loss[stuck]
    changes = []
    for _ in range(draws):
        moved = fits + room * draw.uniform(-1, 1, fits.shape)
        sums = np.concatenate([np.maximum(moved, 0).sum(axis=2), np.maximum(-moved, 0).sum(axis=2)], axis=2)
        margins = XOR_LABELS * (sums[:, 0] - sums[:, 1]) / goal
        # Failed points have loss 1 on both sides, so what is left of the difference is not rounding.
        changes.append(np.maximum(1 - margins, 0).sum(axis=1) - before)
    wrong = run.margins[-1][stuck] <= 0
    answers = np.concatenate([(fits > 0).any(axis=(1, 2)), (fits < 0).any(axis=(1, 2))], axis=1)
    return np.stack(changes, axis=1), wrong & answers


def _two_filters(starts: Sequence[XorStart]) -> Hypothesis:
    widths = {start.half_width for start in starts}
    return Hypothesis(
        key="half_width_k",
        name="half-width k",
        required="= 2",
        actual=float(max(widths)),
        slack=None,
        met=bool(widths == {2}),
    )


def _narrow_hypotheses(setting: NarrowRuns) -> tuple[Hypothesis, ...]:
    starts = (setting.drawn, setting.octants)
    return (
        _two_filters(starts),
        *setting_of_section_3(starts),
        at_least(
            "drawn_runs_that_start_in_the", "drawn runs that start in the event", int(setting.drawn.in_event.sum()), 1
        ),
    )


def _networks(scale: Scale, seed: int) -> Networks:
    draw = np.random.default_rng([seed, 31])
    singles = draw.normal(size=(2, 20_000 if scale is Scale.QUICK else 10**6, 1, 2))
    return Networks(*SOLUTION, *singles)


def _draws(scale: Scale, seed: int) -> list[XorStart]:
    return [draw_start(2, 0.1, 4000 if scale is Scale.QUICK else 100_000, seed)]


def _narrow(scale: Scale, seed: int) -> NarrowRuns:
    return NarrowRuns(draw_start(2, 0.1, 3000 if scale is Scale.QUICK else 50_000, seed), every_octant(0.1))


observation_xor_realizable = Claim(
    id="brutzkus2019.observation_xor_realizable",
    kind=Kind.CONSTRUCTION,
    statement=(
        "XOR: w = x_1/2, x_3/2 and u = x_2/2, x_4/2 have loss 0, so for k ≥ 2 every global minimum has loss 0 and all "
        "four signs right; no network with k = 1 has all four signs right."
    ),
    where="Section 3.1",
    judge=check_observation_xor_realizable,
    draws=_networks,
)

lemma_b_7 = Claim(
    id="brutzkus2019.lemma_b_7",
    kind=Kind.STEP,
    statement=(
        "XOR, k = 2: with probability 3/4 (exactly) some W_0⁺(i), i ∈ {1, 3}, or some U_0⁺(i), i ∈ {2, 4}, is empty."
    ),
    where="Lemma B.7, Section B.2; the first part of Theorem 3.4",
    judge=check_lemma_b_7,
    draws=_draws,
)

theorem_3_4 = Claim(
    id="brutzkus2019.theorem_3_4",
    kind=Kind.MAIN,
    statement=(
        "XOR, k = 2: with probability 3/4 gradient descent ends at a network that errs on at least one point. In the "
        "event of Lemma B.2 the wrong points are exactly those whose W_0⁺(i) or U_0⁺(i) is empty, N is 0 there, and "
        "the final loss is their number: 0, 1 or 2 with probability 1/4, 1/2 and 1/4."
    ),
    where="Theorem 3.4, Section 3.3 (the equivalence and the loss are added)",
    judge=check_theorem_3_4,
    draws=_narrow,
)

theorem_b_8 = Claim(
    id="brutzkus2019.theorem_b_8",
    kind=Kind.STEP,
    statement=(
        "XOR, k = 2, in the event of Lemma B.2: where gradient descent ends with positive loss, it ends at a local "
        "minimum, at which no filter answers to the points that are wrong."
    ),
    where="Theorem B.8, Section B.2 (its probability, 3/4, is that of theorem_3_4)",
    judge=check_theorem_b_8,
    draws=_narrow,
)

CLAIMS = (observation_xor_realizable, lemma_b_7, theorem_3_4, theorem_b_8)
