"""Steps of the proof of Lemma A.2, for one neuron and fixed coefficients: its event, Eq. 2, and the tail.

σ is 1 here: everything scales with it.
"""

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.implication import Promised, at_least, at_most, equal
from widenet.claims.rates import Rate
from widenet.papers.li2018.formulas import (
    PUSH_SHARE,
    alpha_bound,
    event_bound,
    hit_bound,
    push_level,
    share_room,
    tail_safe,
)
from widenet.papers.li2018.hypotheses import DATA, signs, threshold
from widenet.papers.li2018.runs.single_neurons import (
    Pushes,
    PushEvent,
    PushTails,
    draw_event,
    draw_fan_pushes,
    draw_long_tails,
    draw_pushes,
    draw_tails,
)
from widenet.records import Form

# ── the event ──


@claim("li2018.lemma_a_2_event", Kind.STEP, "proof of Lemma A.2", draws=draw_event, given=[*DATA, threshold],
       title="The event of Lemma A.2 is as likely as its proof needs")  # fmt: skip
def lemma_a_2_event(found: PushEvent, *, hit: float = 1.0, union: float = 0.5, event: float = 1.0) -> Promised:
    """For $τ ≤ δσ/(16ekl)$ the event $E_τ$, that $|α| ≤ τ$ and $|⟨β, x⟩| ≥ 4τ$ for all $x$ of other classes, has
    probability at least $τ/(16e²σ)$: $Pr[|⟨β, x⟩| ≤ 4τ] ≤ 4eτ/(δσ)$, so with probability 1/2 no $x$ is hit, and $Pr[|α|
    ≤ τ] ≥ τ/(eσ)$. It needs $δ$ for mirror images too.
    """
    p, tau = found.per("point"), found.threshold
    hit_limit, hit_room = hit * hit_bound(p.threshold, p.distance, 1.0), share_room(p.hit_chance, p.n_draws)
    near_room = share_room(found.near_chance, found.n_draws)
    no_hit = Rate(
        ~found.per("draw").clear,
        1 - union,
        quantity="share of draws with a hit",
        text="no $x$ is hit: probability $≥ 1/2$",
    )
    return {
        "hit": at_most(p.hit_chance, hit_limit, text="$Pr[|⟨β, x⟩| ≤ 4τ] ≤ 4eτ/(δσ)$"),
        "hit_frequency": equal(p.hits, p.hit_chance, room=hit_room, text="as often as its closed form"),
        "no_hit": no_hit,
        "near": at_least(found.near_chance, alpha_bound(tau, 1.0), text="$Pr[|α| ≤ τ] ≥ τ/(eσ)$"),
        "near_frequency": equal(
            found.near_share, found.near_chance, room=near_room, text="$|α| ≤ τ$ as often as its closed form"
        ),
        "event": at_least(found.event_chance, event * event_bound(tau, 1.0), text="$Pr[E_τ] ≥ τ/(16e²σ)$"),
    }


# ── Eq. 2 ──

PUSHED = (*DATA, signs, threshold)
"""(A1), (A1') and (A2), coefficients of the own class that are not negative, and a small τ."""

BELOW = "share of draws below"


def rarest(large: Bool[np.ndarray, "draw set"]) -> Bool[np.ndarray, " draw"]:
    """The draws of the set of coefficients with the fewest large ones."""
    return large[:, int(large.mean(axis=0).argmin())]


@claim("li2018.equation_2", Kind.STEP, "Eq. 2, proof of Lemma A.2", draws=draw_pushes, given=PUSHED,
       form=Form.REPAIR, title="The push of a neuron is far from 0 often enough")  # fmt: skip
def equation_2(found: Pushes, *, level: float = 1.0, joint: float = 1.0) -> Promised:
    """$h = Σ p v_{1,a,b} ReLU(⟨w, x_{a,b}⟩)$, with $p_{1,1}v_{1,1,1} = v$ and $p_{1,b}v_{1,1,b} ≥ 0$, is far from 0:
    $Pr[|h| ≥ vτ/128 | E_τ] ≥ 1/(16e)$, so $Pr[|h| ≥ vτ/128] ≥ τ/(256e³σ)$, for $τ ≤ δσ/(16ekl)$.
    """
    large = rarest(np.abs(found.per("draw").pushes) >= level * push_level(1.0, 1.0))
    return {
        "given_event": Rate(~large, 1 - PUSH_SHARE, quantity=BELOW, text="$Pr[|h| ≥ vτ/128 | E_τ] ≥ 1/(16e)$"),
        "joint": at_least(
            large.mean() * found.event_share,
            joint * PUSH_SHARE * event_bound(found.threshold, 1.0),
            text="$Pr[|h| ≥ vτ/128] ≥ τ/(256e³σ)$",
        ),
    }


@claim("li2018.equation_2_as_printed", Kind.STEP, "Eq. 2, proof of Lemma A.2", draws=draw_fan_pushes, given=PUSHED,
       title="The push of a neuron is positive often enough")  # fmt: skip
def equation_2_as_printed(found: Pushes) -> Promised:
    """$Pr[h ≥ vτ/128] ≥ Pr[h ≥ vτ/128 | E_τ]·Pr[E_τ] ≥ τ/(256e³σ)$, without an absolute value; the first factor
    is at least $1/(16e)$.

    Judged by that factor. In the instance h ≤ 0 for every w, so the first probability is 0 as well.
    """
    large = rarest(found.per("draw").pushes >= push_level(1.0, 1.0))
    text = "$Pr[h ≥ vτ/128 | E_τ] ≥ 1/(16e)$"
    return {"given_event": Rate(~large, 1 - PUSH_SHARE, quantity=BELOW, text=text)}


# ── the tail ──


@claim("li2018.lemma_a_2_tail", Kind.STEP, "proof of Lemma A.2", draws=draw_tails, given=[],
       form=Form.REPAIR, title="A push may exceed its piece by the root of the rank")  # fmt: skip
def lemma_a_2_tail(found: PushTails, *, failure: float = 0.01, rank: bool = True) -> Promised:
    """$h = ⟨P_{1,r}, w_r⟩ ≤ σ‖P_{1,r}‖(√rank + √(2 ln 1/p₀))$ with probability $1 − p₀$, where rank counts the
    dimensions of the points: $P$ depends on $w$, so $h$ is no Gaussian of size $σ‖P‖$. On $n$ orthonormal points it is
    about $√(n/π)·σ‖P‖$.
    """
    limit, whole = tail_safe(rank * found.n_points, failure), found.per("cell")
    return {
        "tail": Rate(found.ratios > limit, failure, text="at most $σ‖P‖(√rank + √(2 ln 1/p₀))$"),
        "mean": equal(
            whole.mean_ratio, np.sqrt(whole.n_points / np.pi), room=0.03 * whole.mean_ratio, text="about $√(n/π)$"
        ),
    }


@claim("li2018.lemma_a_2_tail_as_printed", Kind.STEP, "proof of Lemma A.2", draws=draw_long_tails, given=[],
       title="The push of a neuron has the tail of one Gaussian")  # fmt: skip
def lemma_a_2_tail_as_printed(found: PushTails, *, c: float = 10.01) -> Promised:
    """For every fixed $v_{1,a,b}$ and every $c > 10$: $Pr[h ≥ 10cσ‖P_{1,r}‖] < e^{−c²}$."""
    return {"tail": Rate(found.ratios >= 10 * c, float(np.exp(-(c**2))), text="$Pr[h ≥ 10cσ‖P‖] < e^{−c²}$")}
