"""Lemma 10 and what leads to it: the negative gradient points along the weights. And the constants of (6) and (7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Runs, at_most, claim, pick
from widenet.claims.sides import Sense, Sides, evidence
from widenet.claims.tolerances import ROUNDING, STEP
from widenet.papers.chatterji2021.claims.choices import noted
from widenet.papers.chatterji2021.claims.conditions import conditions, followed, joined, small_loss, two_points
from widenet.papers.chatterji2021.claims.specimens import looks_and_runs_on, looks_on, runs_and_no_looks_on
from widenet.papers.chatterji2021.formulas import (
    THIRD_TERM_LIMIT,
    alignment_bound,
    alignment_share,
    largest_step_scale,
    rate_constant,
    step_scale_terms,
)
from widenet.papers.chatterji2021.runs.cases import ThinCases
from widenet.papers.chatterji2021.runs.descents import Descent, descents
from widenet.papers.chatterji2021.runs.networks import Networks, NetworkSetting, networks
from widenet.records import Scale

SETTING = ("labels", "bandwidth")
SHORTFALL = "F(nL)/n + ⟨∇L, V⟩"

Bound = Callable[..., np.ndarray]


def _rounding(cells: Sequence[Networks]) -> np.ndarray:
    """What rounding may do to a sum of g·y·f: large units may cancel in f."""
    return ROUNDING * joined(cells, "half_width") * joined(cells, "norms") * joined(cells, "pulls")


@claim("chatterji2021.equation_4", Kind.STEP, "Eq. 4, proof of Lemma 10", reads=networks)
def equation_4(
    cells: Sequence[Networks], *, printed: float = 1.0, by_loss: float = 1.0, sharp: float = 0.5
) -> Evidence:
    """−⟨∇L, V⟩ falls short of mean(g·y f(x)) by at most hp·mean(g), and so, where hp ≤ 1, by at most L. Sharper, and
    attained: by at most (hp/2)·mean(g).
    """
    shortfall = joined(cells, "weighted_margins") - joined(cells, "alignments")
    pull, room = joined(cells, "pulls"), _rounding(cells)
    band = joined(cells, "bandwidth") * joined(cells, "half_width")
    limits = {
        "at most hp·mean(g)": printed * band * pull,
        "at most L": by_loss * joined(cells, "losses"),
        "at most (hp/2)·mean(g)": sharp * band * pull,
    }
    return evidence(
        {name: Sides(shortfall, limit, room=room + STEP * limit) for name, limit in limits.items()},
        pick(conditions(cells), "labels", "narrow_band"),
    )


@claim("chatterji2021.equation_5", Kind.STEP, "Eq. 5, proof of Lemma 10", reads=networks)
def equation_5(cells: Sequence[Networks], *, printed: float = 1.0, sharp: float = 0.5) -> Evidence:
    """−⟨∇L, V⟩ ≥ F(nL)/n − L with F(z) = (1 − e^{−z}) log(1/(e^z − 1)), for h = 1/p and any L. Sharper: with mean(g)/2
    in place of L.

    The paper derives it from the concavity of F, which ends at 1.524. It holds beyond: F(z) = H(e^{−z}) − z with H the
    entropy of a coin, and the entropy of "all heads" is at most the sum of the entropies.
    """
    reached = alignment_bound(joined(cells, "n_samples"), joined(cells, "losses"), 0.0)
    shortfall, room = reached - joined(cells, "alignments"), _rounding(cells)
    limits = {
        "−⟨∇L, V⟩ ≥ F(nL)/n − L": printed * joined(cells, "losses"),
        "−⟨∇L, V⟩ ≥ F(nL)/n − mean(g)/2": sharp * joined(cells, "pulls"),
    }
    return evidence(
        {name: Sides(shortfall, limit, room=room + STEP * limit, quantity=SHORTFALL) for name, limit in limits.items()},
        pick(conditions(cells), *SETTING),
        details={"largest nL": float((joined(cells, "n_samples") * joined(cells, "losses")).max())},
    )


def thin_settings(scale: Scale, seed: int) -> list[NetworkSetting]:
    """The networks on which (5) gives Lemma 10 with nothing to spare."""
    return [NetworkSetting(networks=ThinCases())]


def _both(runs: Sequence[Descent], cells: Sequence[Networks]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """L, ‖∇L‖‖V‖ and −⟨∇L, V⟩ of all iterates and networks."""
    loss = np.concatenate([followed(runs, lambda run: run.losses), joined(cells, "losses")])
    along_runs = followed(runs, lambda run: run.gradient_norms * run.norms)
    products = np.concatenate([along_runs, joined(cells, "gradient_norms") * joined(cells, "norms")])
    return loss, products, np.concatenate([followed(runs, lambda run: run.alignments), joined(cells, "alignments")])


@claim(
    "chatterji2021.lemma_10",
    Kind.STEP,
    "Lemma 10, Section 3.3 (with n ≥ 2)",
    reads=(descents, networks.at(thin_settings)),
)
def lemma_10(
    runs: Sequence[Descent],
    cells: Sequence[Networks],
    *,
    share: Callable[[np.ndarray], np.ndarray] = alignment_share,
    aligned_share: Callable[[np.ndarray], np.ndarray] = alignment_share,
) -> Evidence:
    """‖∇L_t‖ ≥ (5/6)L_t log(1/L_t)/‖V^(t)‖ where L_t ≤ n^{−(1+C₁)} and n ≥ 2; its proof gives more, −⟨∇L_t, V^(t)⟩ ≥
    (5/6)L_t log(1/L_t).

    The lemma itself does not ask for n ≥ 2; Theorem 1 does, and so does the proof: at n = 1 a point on which every unit
    is off has L = log 2 ≤ 1 and no gradient. The paper leaves C₁ open; 19.6564 is enough for every n. What is asked
    here is what the proof uses: a loss at which (5) gives 5/6, which is larger.
    """
    loss, products, found = _both(runs, cells)
    limit, along = share(loss), aligned_share(loss)
    return evidence(
        {
            "‖∇L‖‖V‖ ≥ (5/6)L log(1/L)": Sides(products, limit, Sense.AT_LEAST, room=STEP * limit),
            "−⟨∇L, V⟩ ≥ (5/6)L log(1/L)": Sides(found, along, Sense.AT_LEAST, room=STEP * along),
        },
        (two_points([*runs, *cells]), small_loss([*runs, *cells]), *pick(conditions([*runs, *cells]), *SETTING)),
        note=noted(runs),
    )


@claim("chatterji2021.equation_6_third_term", Kind.STEP, "not in the paper; about Eq. 6", reads=(networks, descents))
def equation_6_third_term(
    cells: Sequence[Networks],
    runs: Sequence[Descent],
    *,
    terms: Callable[..., tuple] = step_scale_terms,
    limit: float = THIRD_TERM_LIMIT,
) -> Evidence:
    """Where L₁ ≤ 0.65, the minimum in (6) is its third term: Q̃₁ = e²/(120p).

    The first is not smaller because z log²(1/z) ≤ 4/e², the second because some margin is at least log(1/(e^L − 1)) and
    none exceeds √p‖V‖. Networks with a larger loss are not scored.
    """
    loss = np.concatenate([joined(cells, "losses"), [run.losses[0] for run in runs]])
    norm = np.concatenate([joined(cells, "norms"), [run.norms[0] for run in runs]])
    p = np.concatenate([joined(cells, "half_width"), [run.half_width for run in runs]])
    first, second, third = terms(norm, loss, p)
    inside = loss <= limit
    parts = {
        name: Sides(term, third, Sense.AT_LEAST, room=STEP * third, scored=inside)
        for name, term in (("first term ≥ third", first), ("second term ≥ third", second))
    }
    counted = Runs(tried=len(loss), outside=int((~inside).sum()))
    return evidence(parts, pick(conditions([*cells, *runs]), "unit_inputs", *SETTING), runs=counted, note=noted(runs))


@dataclass(frozen=True, eq=False)
class StartNumbers:
    """‖V^(1)‖, L₁, p and Q₁ of some starts."""

    norm: Float[np.ndarray, " start"]
    loss: Float[np.ndarray, " start"]
    half_width: Float[np.ndarray, " start"]
    step_scale: Float[np.ndarray, " start"]


def draw_starts(scale: Scale, seed: int) -> StartNumbers:
    """Numbers of all sizes; each term of (6) is the smallest in some of them, and Q₁ = Q̃₁ in every second one."""
    draw = np.random.default_rng([seed, 7])
    norm, loss = 10 ** draw.uniform(-2, 2, 300), 10 ** draw.uniform(-12, 0.8, 300)
    p = np.round(10 ** draw.uniform(0, 3, 300))
    norm[:3], loss[:3], p[:3] = np.sqrt([5.0, 2.0, 0.01]), [0.02, 3.0, 0.1], [3.0, 11.0, 2.0]
    shares = np.where(np.arange(300) % 2, draw.uniform(0.01, 1, 300), 1.0)
    return StartNumbers(norm, loss, p, shares * largest_step_scale(norm, loss, p))


@claim("chatterji2021.equation_7_half", Kind.STEP, "not in the paper; Eqs. 6 and 7", draws=draw_starts)
def equation_7_half(
    drawn: StartNumbers,
    *,
    rate: Bound = rate_constant,
    largest: Bound = largest_step_scale,
) -> Evidence:
    """Q̃₂(Q₁) ≤ 1/2 for every Q₁ ≤ Q̃₁, with equality exactly where Q₁ is the second term of (6)."""
    rates = rate(drawn.step_scale, drawn.norm, drawn.loss)
    second = step_scale_terms(drawn.norm, drawn.loss, drawn.half_width)[1]
    excess = (drawn.step_scale / largest(drawn.norm, drawn.loss, drawn.half_width)).max()
    attained = np.abs(drawn.step_scale / second - 1) <= STEP
    return evidence(
        {
            "Q̃₂(Q₁) ≤ 1/2": Sides(rates, 0.5, room=ROUNDING),
            "= 1/2 where Q₁ is the second term": Sides(rates, 0.5, Sense.EQUAL, room=STEP, scored=attained),
        },
        (at_most("step_scale", "largest Q₁/Q̃₁", excess, 1, tolerance=ROUNDING),),
    )


for _look in (equation_4, equation_5):
    _look.speaks(looks_on)
equation_6_third_term.speaks(looks_and_runs_on)
lemma_10.speaks(runs_and_no_looks_on)
