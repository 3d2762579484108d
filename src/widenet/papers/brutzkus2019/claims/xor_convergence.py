"""Theorem 3.3: a wide network on XOR reaches loss 0, and how long that takes.

Every iteration before T has an active point, so T ≤ Σ_i a_i, and Proposition B.5 bounds each a_i. From below: one of
W_0⁺(1) and W_0⁺(3) has at most k/2 filters, each of which answers at most (2t + √2/4)η after t steps, so loss 0 needs
(k/2)(2t + √2/4)η ≥ 1, that is t ≥ 1/(kη) − √2/8. The printed bound, about 16, does not depend on η and cannot hold for
small steps: η ≤ c_η/k with c_η = 0.01 takes 100 iterations at least.

Theorem 3.3 (restated as B.6) is `theorem_3_3`; its number of iterations is `theorem_3_3_iterations`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, at_least, at_most
from widenet.claims.sides import Fact
from widenet.claims.tolerances import ROUNDING
from widenet.papers.brutzkus2019.claims.xor_events import (
    XorRuns,
    both_events,
    everyone,
    reached_in_event,
    with_probability,
)
from widenet.papers.brutzkus2019.hypotheses import (
    SECTION_3,
    SECTION_3_AS_PRINTED,
    runs_at_zero_loss,
    runs_in_both_events,
    width_above_16,
)
from widenet.papers.brutzkus2019.runs.xor import xor_traces
from widenet.papers.brutzkus2019.runs.xor_settings import (
    convergence_settings,
    nearest_convergence_settings,
    probability_settings,
    slow_convergence_settings,
)
from widenet.papers.brutzkus2019.xor_formulas import (
    active_limit,
    active_limit_by_width,
    failure_rate,
    iterations_as_printed,
    iterations_needed,
)
from widenet.records import Form

Iterations = Float[np.ndarray, " run"]
TIME = "iterations until loss 0"


class Convergence(XorRuns):
    """Runs on XOR, with the bounds on their number of iterations."""

    by_points: Iterations = derived(lambda runs: _by_points(runs))  #: Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉
    by_width: Number = derived(lambda runs: _by_width(runs))  #: 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉
    printed: Number = derived(lambda runs: max(iterations_as_printed(runs.half_width)))  #: the larger of the paper's
    arrivals: dict = derived(lambda runs: _arrivals(runs))  #: when they reach loss 0
    needed: Number = derived(lambda runs: iterations_needed(runs.goal, runs.half_width))  #: 1/(kη) − √2/8


def _by_points(runs: Convergence) -> Iterations:
    return np.ceil(active_limit(runs.goal, runs.half_width, runs.own_counts)).sum(axis=1)


def _by_width(runs: Convergence) -> float:
    return 4 * np.ceil(active_limit_by_width(runs.goal, runs.half_width))


Limit = Callable[[Convergence], Any]
"""A number of iterations for each run."""


def iterations(runs: Convergence) -> dict[str, Any]:
    """When the runs of each setting reach loss 0, beside what the paper and the lower bound say."""
    return {"iterations": runs.per("cell").arrivals}


@claim("brutzkus2019.theorem_3_3", Kind.MAIN, "Theorem 3.3, Section 3.2; Theorem B.6",
       reads=xor_traces.at(probability_settings), given=(width_above_16, *SECTION_3_AS_PRINTED),
       title="XOR: wide networks reach a global minimum")  # fmt: skip
def theorem_3_3(runs: Convergence, *, allowed: Callable[[int], float] = failure_rate) -> Promise:
    """XOR: for $k > 16$, $η ≤ c_η/k$, $c_η < 1/2$ and $σ_g ≤ c_η/(16k^{3/2})$, with probability at least
    $1 − √(2k/π)e^{−8k} − 8e⁻⁸$, gradient descent reaches a global minimum (loss 0, so all four signs are right).

    All runs count, so the hypotheses are the paper's own: η may be far below c_η/k, and then few are in the event of
    Lemma B.2. Of the runs in both events none may fail, however few they are.
    """
    inside = runs.in_event & runs.explored
    loss = at_most(runs.final_loss, 0.0, quantity="loss at the end")
    wrong = np.any(runs.end_margins <= 0, axis=1)
    return everyone(runs).promise(
        {
            "zero_loss": with_probability(runs, ~runs.reached, allowed, text="loss 0", sides=loss),
            "signs": with_probability(runs, wrong, allowed, text="all four signs right"),
            "in_events": Fact(
                runs.reached,
                undecided=runs.unfinished,
                where=inside,
                text="no failure in the events of Lemmas B.2 and 3.1",
                event="runs in the events of Lemmas B.2 and 3.1",
            ),
        }
    )


@claim("brutzkus2019.theorem_3_3_iterations", Kind.MAIN,
       "Theorem 3.3, Section 3.2; Theorem B.6 (with a number of iterations that depends on η)",
       reads=xor_traces.at(convergence_settings),
       given=(width_above_16, *SECTION_3, runs_in_both_events), details=iterations,
       form=Form.REPAIR, title="XOR: how many iterations take a wide network to loss 0")  # fmt: skip
def theorem_3_3_iterations(
    runs: Convergence, *, points: Limit = lambda runs: runs.by_points, width: Limit = lambda runs: runs.by_width
) -> Promise:
    """XOR, $k > 16$, in the events of Lemmas B.2 and 3.1: gradient descent reaches loss 0 after
    $T ≤ Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉ ≤ 4⌈(1 + 2kη)√k/(kη(√k − 4))⌉$ iterations.
    """
    event = both_events(runs)
    # The last part sees a run that stands still.
    reached = event.where(also=runs.reached)
    sum_of_points, by_width = "Σ_i ⌈(1 + 2kη)/(2ηn_i)⌉", "4⌈(1 + 2kη)√k/(kη(√k − 4))⌉"
    return event.promise(
        {
            "by_points": at_most(runs.steps, points(runs), text=f"$T ≤ {sum_of_points}$", quantity=TIME, **reached),
            "by_width": at_most(runs.steps, width(runs), text=f"$T ≤ {by_width}$", quantity=TIME, **reached),
            "updates": at_most(runs.steps, runs.updates.sum(axis=1), text="$T ≤ Σ_i a_i(T)$", **reached),
            "order": at_most(points(runs), width(runs), text=f"${sum_of_points} ≤ {by_width}$", **event.where()),
            "zero_loss": Fact(runs.reached, undecided=runs.unfinished, text="loss 0 is reached", **event.where()),
        }
    )


@claim("brutzkus2019.theorem_3_3_iterations_as_printed", Kind.MAIN, "Theorem 3.3, Section 3.2; Theorem B.6",
       reads=xor_traces.at(slow_convergence_settings), given=(width_above_16, *SECTION_3), details=iterations,
       title="XOR: about 16 iterations, whatever the step: fails")  # fmt: skip
def theorem_3_3_iterations_as_printed(runs: Convergence, *, printed: Limit = lambda runs: runs.printed) -> Promise:
    """XOR: for $k > 16$, $η ≤ c_η/k$ and $c_η < 1/2$, with probability at least $1 − √(2k/π)e^{−8k} − 8e⁻⁸$, gradient
    descent reaches loss 0 after $T ≤ 16√k/√(k − 2)$ iterations ($16√k/(√k − 2)$ by Proposition B.5).
    """
    limit = printed(runs)
    rate = with_probability(
        runs,
        ~runs.reached | (runs.steps > limit),
        failure_rate,
        text="loss 0 in time, with probability at least $1 − √(2k/π)e^{−8k} − 8e⁻⁸$",
        # A run that stands still at a positive loss has no T; it fails, and has no number to show.
        sides=at_most(np.where(runs.reached, runs.steps, np.nan), limit, quantity=TIME),
    )
    return everyone(runs).promise({"in_time": rate})


@claim("brutzkus2019.theorem_3_3_lower_bound", Kind.STEP,
       "Section 3.2 (derived: why the number of iterations in Theorem 3.3 must depend on η)",
       reads=xor_traces.at(nearest_convergence_settings), given=(*SECTION_3, runs_at_zero_loss), details=iterations,
       form=Form.OURS, title="XOR: no run reaches loss 0 before $1/(kη) − √2/8$ iterations")  # fmt: skip
def theorem_3_3_lower_bound(runs: Convergence, *, limit: Limit = lambda runs: runs.needed) -> Promise:
    """XOR, in the event of Lemma B.2: gradient descent needs $T ≥ 1/(kη) − √2/8$ iterations to reach loss 0."""
    event = reached_in_event(runs)
    late = at_least(
        runs.steps,
        limit(runs),
        within=ROUNDING,
        trivial=0.0,
        text="$T ≥ 1/(kη) − √2/8$",
        quantity=TIME,
        **event.where(),
    )
    return event.promise({"iterations": late})


def _arrivals(run: Convergence) -> dict[str, Any]:
    seen = run.steps[run.reached]
    return {
        "half_width": run.half_width,
        "step_constant": run.step_constant,
        "fewest": int(seen.min()) if len(seen) else None,
        "median": float(np.median(seen)) if len(seen) else None,
        "most": int(seen.max()) if len(seen) else None,
        "at_least": run.needed,
        "printed": list(iterations_as_printed(run.half_width)),
    }
