"""From one class to the pseudo gradient: Lemmas A.3 (5.2), B.2 and B.3, and how batches concentrate."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, derived
from widenet.claims.implication import Promise, Promised, at_least, at_most, equal
from widenet.claims.rates import Rate
from widenet.claims.tolerances import IDENTITY
from widenet.papers.li2018.formulas import (
    EXPLICIT_SLOPE,
    E,
    batch_deviation_bound,
    mean_event_share,
    mixing_share,
    share_room,
)
from widenet.papers.li2018.hypotheses import (
    DATA,
    DATA_AS_PRINTED,
    SEPARATED,
    coefficients,
    distance_limit,
    pieces_sum_to_zero,
    signs,
    some_distance,
    unit_norm,
)
from widenet.papers.li2018.runs.batches import SIZES, Batches, batches
from widenet.papers.li2018.runs.large_gradients import LargeGradients, hexagon_gradients, large_gradients
from widenet.papers.li2018.runs.mixtures_of_pieces import (
    ComponentPieces,
    MeanEvents,
    VotedPieces,
    draw_clusters,
    draw_mean_events,
    draw_mixed,
    draw_printed_mixing,
)
from widenet.records import Form


@claim("li2018.lemma_a_3_mixing", Kind.STEP, "proof of Lemma A.3", draws=draw_mixed, given=[pieces_sum_to_zero],
       form=Form.REPAIR, title="Random votes keep the largest piece with probability 0.317")  # fmt: skip
def lemma_a_3_mixing(found: VotedPieces, *, share: float = 1.0) -> Promised:
    """Given $w_r$, the votes $a_{i,r}$ make $‖Σ_i a_{i,r}P_{i,r}‖ ≥ ‖P_{1,r}‖$ with probability at least $q_k = 2(1 −
    Φ(√((k − 1)/k))) ≥ 2(1 − Φ(1)) = 0.317$: because $Σ_i P_{i,r} = 0$, its projection on $P_{1,r}$ has variance at
    least $k/(k − 1)$. $q_k$ is attained at $P_i = −P_1/(k − 1)$.

    The P_i of three classes span a plane, so the probability of a neuron is one integral, and no draw decides.
    """
    promised, least = share * mixing_share(found.n_classes), found.n_classes / (found.n_classes - 1)
    extreme = {"where": found.is_extreme, "event": "extreme neurons"}
    toys = {"where": ~found.is_extreme, "event": "neurons of a network"}
    drawn = share_room(found.exact, found.draws)
    return {
        "extreme": equal(
            found.shares,
            promised,
            room=share_room(promised, found.draws),
            text="$q_k$ at $P_i = −P_1/(k − 1)$",
            **extreme,
        ),
        "least": at_least(found.exact, promised, room=IDENTITY, text="at least $q_k$", **toys),
        "variance": at_least(found.variances, least, room=IDENTITY, text="variance at least $k/(k − 1)$"),
        "integral": equal(found.shares, found.exact, room=drawn, text="as often as its integral", **toys),
    }


@claim("li2018.lemma_a_3_mixing_as_printed", Kind.STEP, "proof of Lemma A.3", draws=draw_printed_mixing,
       given=[pieces_sum_to_zero], title="Random votes keep the largest piece with probability $1/e$")  # fmt: skip
def lemma_a_3_mixing_as_printed(found: VotedPieces) -> Promised:
    """With probability at least $1/e$ over the $a_{i,r}$: $‖Σ_i a_{i,r}P_{i,r}‖ ≥ ‖P_{1,r}‖$."""
    room = share_room(found.shares, found.draws)
    return {"likely": at_least(found.shares, 1 / E, room=room, text="probability at least $1/e$")}


# ── Lemma 5.2 ──

FAMILIES = {"training": "met in training", "drawn": "drawn", "one_wrong": "of one wrong point"}
"""In the order of `LargeGradients.kinds`."""


@claim("li2018.lemma_5_2", Kind.MAIN, "Lemma 5.2 (= A.3), Section 5.1", reads=large_gradients, given=DATA,
       form=Form.REPAIR, title="Many pseudo gradients are large, whatever the residuals")  # fmt: skip
def lemma_5_2(runs: LargeGradients, *, share: float = 1.0) -> Promise:
    """For $m = Ω̃(k³l²/δ)$, whatever the residuals are, even chosen after the start, a share of $Ω(δ/(kl))$ of the
    neurons has $‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl))$, $v = max p·v_{i,a,b}$; $δ$ counts mirror images, and the paper gives no
    constant. Checked with ½·0.317 times the sharp bound of Lemma A.2 at the component where $v$ is attained, and size
    $v/2$.

    These constants are ours, a target: the net of the proof would certify them for far larger widths only. Residuals
    are those of a softmax; the printed "every {p v} in [−v, v]" is meant so.
    """
    c = runs.per("case")
    promised, some = share * c.targets, c.targets > 0
    seen = float((c.shares[some] / c.targets[some]).min(initial=np.inf))
    return Promise(
        {
            key: at_least(
                c.shares,
                promised,
                room=share_room(promised, c.width),
                where=c.kinds == kind,
                event=f"residuals {name}",
                trivial=0.0,
                text=f"residuals {name}",
            )
            for kind, (key, name) in enumerate(FAMILIES.items())
        },
        open_constant=f"those of Ω̃(k³l²/δ) and Ω(δ/(kl)) (the smallest share seen is {seen:.3g} times the target)",
    )


class LastGradients(LargeGradients):
    """The residuals at the end of training."""

    last_share: Number = derived(lambda run: run.shares[-1])


@claim("li2018.lemma_5_2_as_printed", Kind.MAIN, "Lemma 5.2 (= A.3), Section 5.1",
       reads=large_gradients.at(hexagon_gradients), given=DATA_AS_PRINTED,
       title="Many pseudo gradients are large even beside mirror images")  # fmt: skip
def lemma_5_2_as_printed(runs: LastGradients) -> Promised:
    """Under (A1) to (A3), for $m = Ω̃(k³l²/δ)$ and every ${p v}$ in $[−v, v]$ with maximum $v$, a share of $Ω(δ/(kl))$
    of the neurons has $‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl))$.

    Judged against the constant 0.0829 at size v/2. On the hexagon gradient descent goes to o = 1/2, where every
    pseudo gradient is 0 although v = 1/12, so no constant would do.
    """
    limit = EXPLICIT_SLOPE * runs.separation / ((runs.n_classes - 1) * runs.per_class)
    return {"likely": at_least(runs.last_share, limit, text="many neurons have a large pseudo gradient")}


lemma_b_3_as_printed = lemma_5_2_as_printed.variant(
    "lemma_b_3_as_printed",
    kind=Kind.STEP,
    where="Lemma B.3, Appendix B.2",
    title="Many pseudo gradients are large beside mirrored components",
    statement=(
        "Under (A1) to (A3), for every $v > 0$, $m = Ω̃((kl/(vδ))⁴)$ and every ${p v}$ with $max E[p v] = v$, a share "
        "of $Ω(δ/(kl))$ of the neurons has $‖∂̃L/∂w_r‖ = Ω̃(vδ/(kl))$. Checked on components of one point each."
    ),
)


# ── clusters: Lemmas B.2 and B.3 ──


@claim("li2018.lemma_b_2_event", Kind.STEP, "proof of Lemma B.2", draws=draw_mean_events,
       given=[some_distance, distance_limit, coefficients],
       form=Form.REPAIR, title="The event of Lemma B.2 is likely at a smaller threshold")  # fmt: skip
def lemma_b_2_event(found: MeanEvents, *, share: float = 1.0, joint: float = 0.33) -> Promised:
    """Where mirror images of other classes are $δ$ apart too (A1'), with $τ = σδ/(24(k − 1)l)$ and $|p v_{1,a,b}| ≤ v$,
    the event $E_τ$ that $|α| ≤ τ$ and $S = Σ_{a≠1,b} |p v_{1,a,b}|·1[|⟨β, x*⟩| ≤ 4τ] ≤ v/3$ has probability at least
    $0.33τ/σ$, because $Pr[S ≤ v/3] ≥ 1 − c_G/(2√(1 − δ²/4)) ≥ 0.43$.

    The proof prints τ = σδ/(12l): `lemma_b_2_event_as_printed`. The conclusion Ω(δ/(kl)) fits the smaller τ. Without
    (A1') it is false: for x_{2,1} = −x_{1,1} and |p v| = v, ⟨β, x*⟩ = 0 and S ≥ v always.
    """
    known = {"where": found.orthonormal, "event": "orthonormal centres"}
    return {
        "small_sum": at_least(
            found.shares,
            share * mean_event_share(found.distances),
            room=found.share_room,
            text="$Pr[S ≤ v/3] ≥ 1 − c_G/(2√(1 − δ²/4))$",
        ),
        "orthonormal": equal(
            found.shares, found.exact, room=found.share_room, text="exactly so on orthonormal centres", **known
        ),
        "event": at_least(found.joint, joint * found.thresholds, text="$Pr[E_τ] ≥ 0.33τ/σ$"),
    }


@claim("li2018.lemma_b_2", Kind.STEP, "Lemma B.2, Appendix B.2", draws=draw_clusters,
       given=[unit_norm, signs, *SEPARATED],
       form=Form.REPAIR, title="A neuron has a large piece also for components with a width")  # fmt: skip
def lemma_b_2(found: ComponentPieces, *, slope: float = EXPLICIT_SLOPE) -> Promised:
    """As Lemma A.2, with expectations over components of diameter up to $λδ$: a large $P_{1,r}$ has probability
    $Ω(δ/(kl))$. Checked with $Pr[‖P_{1,r}‖ ≥ v/4] ≥ 0.0829·δ/((k − 1)l)$, which is ours; $δ$ counts mirror images.

    Proved, with v/2, where λ = 0. With the repaired event the argument reaches λ = O(1/(kl)); whether the lemma holds
    at λ = 1/(8l) for many classes is open, and this measures three.
    """
    room, text = share_room(found.shares, found.draws), "$Pr[‖P‖ ≥ v/4] ≥ 0.0829·δ/((k − 1)l)$"
    return {"likely": at_least(found.shares, slope * found.slopes, room=room, text=text)}


def fitted_slope(sizes: np.ndarray, values: np.ndarray) -> float:
    """Of log values against log sizes; NaN for one size alone, or where a value is 0."""
    if len(sizes) < 2 or not (values > 0).all():
        return float("nan")
    centred = np.log(sizes) - np.log(sizes).mean()
    return float(centred @ np.log(values) / (centred @ centred))


class FallingBatches(Batches):
    """How the gap falls with the size of the batch."""

    fall: Number = derived(lambda run: fitted_slope(run.batch_sizes, run.gaps.mean(axis=1)))


@claim("li2018.lemma_b_3", Kind.STEP, "Lemma B.3, Appendix B.2", reads=batches, given=DATA,
       form=Form.REPAIR, title="Gradients of samples approach the mean like $1/√S$")  # fmt: skip
def lemma_b_3(
    runs: FallingBatches, *, band: tuple[float, float] = (-0.65, -0.35), slope: float = EXPLICIT_SLOPE
) -> Promise:
    """The gradient of $S$ drawn points is $Õ(1/√S)$ away from that of the whole law, for every neuron at once, so that
    what Lemma A.3 says of $S$ points holds for the law: for $m = Ω̃((kl/(vδ))⁴)$ a share of $Ω(δ/(kl))$ of the neurons
    has a large pseudo gradient, without constants. Checked with a slope of −1/2 ± 0.15 in $log S$, and $0.0829·δ/((k −
    1)l)$ with size $v/4$, which are ours.

    The proof prints Õ(1/√(pS)) for the mean of the residuals of a component, where √(p/S) is right and needed.
    """
    promised = slope * runs.distance / ((runs.n_classes - 1) * runs.per_class)
    seen = float(np.min(runs.large / promised, initial=np.inf))
    return Promise(
        {
            "not_slower": at_most(runs.fall, band[1], text="the gap falls like $S^{−1/2}$, not slower"),
            "not_faster": at_least(runs.fall, band[0], text="the gap falls like $S^{−1/2}$, not faster"),
            "large": at_least(runs.large, promised, text="many neurons have a large mean gradient"),
        },
        open_constant=f"those of Ω̃((kl/(vδ))⁴) and Ω(δ/(kl)) (the share seen is {seen:.3g} times the target)",
    )


@claim("li2018.lemma_b_4_batches", Kind.STEP, "proof of Lemma B.4", reads=batches, given=[unit_norm],
       title="Batch gradients are within $Õ(1/√B)$ of their mean")  # fmt: skip
def lemma_b_4_batches(runs: Batches, *, failure: float = 0.01, factor: float = 1.0) -> Promised:
    """The gradient of a fresh batch of $B$ points is $Õ(1/√B)$ away from its mean for all neurons at once: with
    probability $1 − p₀$ by at most $2·max|a|·(1 + √(2 ln(m/p₀)))/√B$.
    """
    b = runs.per("size")
    limit = factor * batch_deviation_bound(b.largest_vote, b.width, b.batch_sizes, failure)
    beyond_limit = b.gaps > limit[:, None]
    return {
        f"batches_of_{size}": Rate(
            beyond_limit,
            failure,
            where=(b.batch_sizes == size)[:, None],
            event=f"batches of {size}",
            text=f"batches of {size}",
        )
        for size in SIZES
    }
