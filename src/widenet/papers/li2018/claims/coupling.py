"""Coupling: how many neurons keep their patterns, and for how long (Lemmas 5.1, A.1 and B.1)."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal, less_than
from widenet.claims.meaning import Meaning, Topic
from widenet.claims.rates import Rate
from widenet.claims.statistics import clopper_pearson
from widenet.claims.tolerances import STEP
from widenet.papers.li2018.formulas import (
    HALF_NORMAL,
    E,
    coupled_bound,
    coupled_mean_orthonormal,
    move_bound,
    point_coupled_bound,
    share_room,
    uniform_failure,
)
from widenet.papers.li2018.hypotheses import (
    DATA_AS_PRINTED,
    SHARES,
    a_step_is_promised,
    first_step_is_promised,
    scaled_theta,
    scaled_threshold,
    scaled_threshold_at_a_point,
    unit_norm,
)
from widenet.papers.li2018.runs.descents import PerStep, PerThreshold, PointDescent, coupled_descents, coupled_starts
from widenet.papers.li2018.runs.near_kinks import (
    THETAS,
    ClearShares,
    FirstStepLosses,
    ThresholdBreaks,
    draw_first_steps,
    draw_sizes,
    draw_uniform,
    draw_uniform_at_a_point,
)
from widenet.records import Form


@claim("li2018.lemma_a_1_size", Kind.STEP, "proof of Lemma A.1", draws=draw_sizes, given=[unit_norm, scaled_theta],
       title="Few neurons are near a kink at a fixed threshold",
       form=Form.REPAIR)  # fmt: skip
def lemma_a_1_size(found: ClearShares, *, constant: float = 1.0, mean: float = 1.0, failure: float = 0.01) -> Promised:
    """For one fixed $τ$ the set $H$ of neurons with $|⟨w_r⁰, x_{a,b}⟩| ≥ τ$ on all points has $|H| ≥ (1 − eτkl/σ)m$,
    with probability 0.99 once $eτklm/σ ≥ 20$; its mean is at least $(1 − c_G τkl/σ)m$, $c_G = √(2/π)$, and $(2 −
    2Φ(τ/σ))^{kl}·m$ on orthonormal points.

    The factor m is missing in print. For a smaller τ the statement is "no neuron is lost", which fails with constant
    probability.
    """
    s = found.per("start")
    lost = s.shares < 1 - constant * s.thetas
    lower = coupled_bound(found.thetas / (E * found.n_components), found.n_components, mean * HALF_NORMAL)
    exact = coupled_mean_orthonormal(found.thetas / (E * found.n_orthonormal), found.n_orthonormal)
    sizes = {
        f"size_at_{round(100 * theta)}_percent": Rate(
            lost,
            failure,
            where=s.thetas == theta,
            event=f"starts, at eτkl/σ = {theta:g}",
            text=f"$1 − eτkl/σ$ at $eτkl/σ = {theta:g}$",
        )
        for theta in THETAS
    }
    return {
        **sizes,
        "mean": at_least(found.mean_share, lower, room=found.mean_room, text="mean at least $1 − c_Gτkl/σ$"),
        "orthonormal": equal(
            found.mean_orthonormal, exact, room=found.orthonormal_room, text="mean on orthonormal points"
        ),
    }


@claim("li2018.lemma_a_1_all_thresholds", Kind.STEP, "proof of Lemma A.1", draws=draw_uniform, given=[],
       title="Few neurons are near a kink at all but tiny thresholds",
       form=Form.REPAIR)  # fmt: skip
def lemma_a_1_all_thresholds(found: ThresholdBreaks, *, failure: float = 0.01) -> Promised:
    """$|H| ≥ (1 − eτkl/σ)m$ holds for all $τ$ with $eτklm/σ ≥ 20$ at once, with probability 0.99. With smaller $τ$ too,
    some $τ$ breaks it with probability $(c_G/e)·n/(kl)$ as $m → ∞$, where $n$ counts the distinct lines $±x$: 0.2935
    for points in general position.
    """
    cell = found.per("cell")
    return {
        "large_thresholds": Rate(found.broken_above, failure, text="all $τ$ from $20σ/(emkl)$ on"),
        "some_threshold": equal(
            cell.broken_share,
            uniform_failure(cell.n_lines, cell.n_components, cell.constant),
            room=share_room(cell.broken_share, cell.n_starts) + 0.01,
            text="some $τ$ breaks it with probability $0.2935·n/(kl)$",
        ),
    }


@claim("li2018.lemma_b_1_as_printed", Kind.STEP, "Lemma B.1, Appendix B.1", draws=draw_uniform_at_a_point,
       given=[], title="At one point few neurons are lost at every threshold")  # fmt: skip
def lemma_b_1_as_printed(found: ThresholdBreaks, *, failure: float = 0.01) -> Promised:
    """For every unit vector $x$, with high probability over the start, for every $τ > 0$ and $t = Õ(τ/η)$, at least a
    share $1 − 10τ/σ$ of the neurons has $∂L/∂w_r = ∂̃L/∂w_r$ at $x$, whatever the label, and $|⟨w_r^t, x⟩| ≥ τ$.

    High probability is 0.99 here, and t = 0, where the gradients are equal: some τ has too many neurons with
    |⟨w_r⁰, x⟩| < τ with probability c_G/10 = 0.0798 as m → ∞.
    """
    return {"every_threshold": Rate(found.broken, failure, text="for every $τ$, at $t = 0$")}


@claim("li2018.lemma_5_1_as_printed", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", draws=draw_first_steps,
       given=[*DATA_AS_PRINTED, first_step_is_promised],
       title="Most neurons keep their patterns at every threshold")  # fmt: skip
def lemma_5_1_as_printed(found: FirstStepLosses) -> Promised:
    """With high probability over the start, for every $τ > 0$ and every $t = Õ(τ/η)$, at least a share $1 − eτkl/σ$ of
    the neurons has $∂L/∂w_r = ∂̃L/∂w_r$.

    High probability is 1 − 1/m here, the weakest of the paper's 1 − 1/poly(m), and t = 1 ≤ τ/(2·max|a|·η). At
    eτklm/σ < 1 no neuron may be lost, and the step loses one with a probability that falls like 1/√log m.
    """
    quantity, text = "share of starts that lose more", "few enough neurons are lost"
    return {"lost": Rate(found.lost > found.allowed, 1 / found.width, quantity=quantity, text=text)}


# ── along descents ──


class CoupledDescent(PointDescent):
    """Descents, with the number of each step, thresholds in other units, and means over points outside the data."""

    times: PerStep = derived(lambda run: np.arange(len(run.moves), dtype=np.float64))
    scaled_thresholds: PerThreshold = derived(lambda run: E * run.thresholds * run.n_components * run.width)  #: eτklm/σ
    scaled_at_a_point: PerThreshold = derived(lambda run: 10 * run.thresholds * run.width)  #: 10τm/σ

    @column
    def likely_fresh(self) -> PerThreshold:
        """The mean over fresh points, and what chance may do to it.

        Shares of one network at different points may lean on each other, so the room is that of one point.
        """
        means = self.fresh.mean(axis=1)
        return means + share_room(means, self.width)


@claim("li2018.lemma_a_1_move", Kind.STEP, "proof of Lemma A.1", reads=coupled_descents, given=SHARES,
       title="No neuron moves faster than twice the largest vote",
       form=Form.REPAIR)  # fmt: skip
def lemma_a_1_move(runs: CoupledDescent, *, factor: float = 1.0) -> Promised:
    """$‖w_r^t − w_r⁰‖ < 2·max|a|·ηt$ for every neuron $r$ and every step $t ≥ 1$ of gradient descent on points of norm
    1; no neuron ends farther from its start than the length of its path, $Σ η‖∂L/∂w_r‖$.

    The proof prints L·ηt with L a bound on |a|; see `lemma_a_1_gradient`.
    """
    s = runs.per("step")
    limit = factor * move_bound(s.largest_vote, s.step_size, s.times)
    return {
        "speed": less_than(
            s.moves, limit, where=s.times > 0, event="steps after the start", text="less than $2·max|a|·ηt$"
        ),
        "path": at_most(s.moves, s.paths, within=STEP, text="no farther than the longest path"),
        "start": equal(s.moves, 0, where=s.times == 0, event="the start", text="0 at the start"),
    }


@claim("li2018.lemma_5_1", Kind.MAIN, "Lemma 5.1 (= A.1), Section 5.1", reads=coupled_starts,
       given=[*SHARES, a_step_is_promised, scaled_threshold],
       form=Form.REPAIR, title="Most neurons keep their patterns for many steps",
       means=Meaning(topic=Topic.STABILITY, promise=(
           "In the first steps of training most neurons stay on the same side of every point, so the network changes "
           "as predictably as a linear one.")))  # fmt: skip
def lemma_5_1(runs: CoupledDescent) -> Promise:
    """With high probability over a Gaussian start, for steps $t ≤ τ/(2·max|a|·η)$, at least a share $1 − eτkl/σ$ of the
    neurons has $∂L/∂w_r = ∂̃L/∂w_r$: every
    neuron with $|⟨w_r⁰, x_{a,b}⟩| ≥ τ$ on all points keeps its patterns, and a neuron that keeps its patterns has equal
    gradients. This holds for $τ$ with $eτklm/σ ≥ 20$, whatever $η$. The share is compared in each start;
    the note says which rate of failures over starts that excludes.

    Printed is "for every τ > 0": `lemma_5_1_as_printed`.
    """
    t = runs.per("threshold")
    bounds = coupled_bound(t.thresholds, t.n_components)
    return Promise(
        {
            "coupled": at_least(t.least_coupled, bounds, trivial=0.0, text="at least a share $1 − eτkl/σ$ is coupled"),
            "clear": at_least(t.clear, bounds, trivial=0.0, text="$|H|/m ≥ 1 − eτkl/σ$"),
            "kept": at_most(t.lost, 0, quantity="neurons", text="no neuron of $H$ changes a pattern"),
            "equal_gradients": at_most(t.unequal, 0, quantity="neurons", text="coupled neurons have equal gradients"),
        },
        details={"steps promised": t.limits, "share of coupled neurons": t.least_coupled, "promised": bounds},
        note=lambda: _starts(len(runs)),
    )


def _starts(count: int) -> str:
    """What single starts say about "with high probability"."""
    _, highest = clopper_pearson(0, count)
    return f"Compared in {count} starts: where none fails, they exclude that more than {100 * highest:.2g} % do."


@claim("li2018.lemma_b_1", Kind.STEP, "Lemma B.1, Appendix B.1", reads=coupled_starts,
       given=[unit_norm, a_step_is_promised, scaled_threshold_at_a_point],
       form=Form.REPAIR, title="At a point fixed before, most neurons keep their pattern")  # fmt: skip
def lemma_b_1(runs: CoupledDescent, *, constant: float = 10.0, mean: float = 2 * HALF_NORMAL) -> Promise:
    """With high probability over a Gaussian start, for a unit vector $x$ fixed before it, in the data or not, and
    $t ≤ τ/(2·max|a|·η)$, at least a share $1 −
    10τ/σ$ of the neurons has the pattern of the start at $x$, so gradient and pseudo gradient agree there for every
    label, and $|⟨w_r^t, x⟩| ≥ τ$, for $τ$ with $10τm/σ ≥ 20$; the mean of that share is at least $1 − 2c_G τ/σ$.

    Printed is "for every τ > 0": `lemma_b_1_as_printed`.
    """
    t = runs.per("threshold")
    limit = point_coupled_bound(t.thresholds, constant)[:, None]
    return Promise(
        {
            "each": at_least(t.fresh, limit, trivial=0.0, text="at least $1 − 10τ/σ$"),
            "mean": at_least(
                t.likely_fresh, point_coupled_bound(t.thresholds, mean), text="mean at least $1 − 2c_Gτ/σ$"
            ),
        },
        note=lambda: _starts(len(runs)),
    )
