"""Lemma 15, parts 1, 2, 3 and 5: how many units capture a point at the start, and how the network answers there."""

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import Number, column
from widenet.claims.implication import Promise, at_least, at_most, equal
from widenet.papers.chatterji2021.claims.starts import LEVEL, SURENESS, RandomStarts, Seldom, seldom
from widenet.papers.chatterji2021.cluster_formulas import (
    captured_deviation,
    first_output_deviation,
    opposite_share,
)
from widenet.papers.chatterji2021.cluster_hypotheses import bandwidth, opposite, unit_inputs
from widenet.papers.chatterji2021.runs.first_steps import first_steps, rows_of
from widenet.papers.chatterji2021.runs.start_draws import StartDraws, first_outputs
from widenet.records import Form

SPREAD = 0.0325
"""How far a measured deviation of f_0, times p^(β/2), may be from the exact one: some three standard errors."""


@claim("chatterji2021.lemma_15_1", Kind.STEP, "Lemma 15, part 1; Appendix D.1", reads=first_steps,
       given=[unit_inputs, bandwidth], title="Sums over the units that capture a point are near $pχ$")  # fmt: skip
def lemma_15_1(runs: RandomStarts) -> Promise:
    """With high probability over $V^(0)$, for every $s$: $Σ v_i·x_s$ over $I_+s$ is at least $pχ − 1$, and over $I_−s$
    at most $pχ + 1$, with $χ = E[Z; Z ≥ h + 4α_0]$ for $Z ~ N(0, σ²)$.

    The paper leaves the constant of the probability open; δ here is n times Chernoff's bound, each side by itself.
    """
    return Promise(
        {"helpful": helpful_sums(runs), "harmful": harmful_sums(runs)},
        details=lambda: rows_of(runs.cells, mean=lambda cell: cell.mean_sum, spread=_spread),
        note=SURENESS,
    )


def _spread(cell: RandomStarts) -> float:
    """The standard deviation of a sum; a normal law with it would fail less often than Chernoff's bound allows."""
    return captured_deviation(cell.level, cell.deviation, cell.half_width)


def helpful_sums(runs: RandomStarts) -> Seldom:
    """Σ v_i·x_s over I_+s, at the point where it is smallest."""
    text = "the sum over $I_+s$ is at least $pχ − 1$"
    sides = at_least(runs.least_helpful_sum, runs.mean_sum - 1, trivial=0.0, text=text)
    return seldom(runs, sides, runs.helpful_sum_failure)


def harmful_sums(runs: RandomStarts) -> Seldom:
    """Σ v_i·x_s over I_−s, at the point where it is largest."""
    text = "the sum over $I_−s$ is at most $pχ + 1$"
    return seldom(runs, at_most(runs.largest_harmful_sum, runs.mean_sum + 1, text=text), runs.harmful_sum_failure)


@claim("chatterji2021.lemma_15_2", Kind.STEP, "Lemma 15, part 2; Appendix D.2", reads=first_steps,
       given=[unit_inputs, bandwidth], form=Form.SHARPER,
       title="About half of the units of either sign capture a point")  # fmt: skip
def lemma_15_2(runs: RandomStarts) -> Promise:
    """With high probability $|I_+s|$ and $|I_−s|$ are $(1/2 ∓ o(1))p$ for every $s$: within $p√(log(4n/δ)/(2p))$ of
    $ζp$ with probability $1 − δ$, $δ = 0.01$, and $1/2 − ζ ≤ (h + 4α_0)/(σ√(2π))$.

    The paper has the slack p^(3/4) in place of the first; that is weaker at every width here.
    """
    setting = runs.per("cell")
    return Promise(
        {
            "helpful_low": few_captured(runs, runs.fewest_helpful, "$|I_+s|$"),
            "helpful_high": many_captured(runs, runs.most_helpful, "$|I_+s|$"),
            "harmful_low": few_captured(runs, runs.fewest_harmful, "$|I_−s|$"),
            "harmful_high": many_captured(runs, runs.most_harmful, "$|I_−s|$"),
            "half": at_most(0.5 - setting.captured, setting.capture_loss, text="$1/2 − ζ ≤ a/(σ√(2π))$"),
        },
        details=lambda: rows_of(runs.cells, share=lambda cell: cell.captured, slack=lambda cell: cell.capture_slack),
        note=SURENESS,
    )


def few_captured(runs: RandomStarts, fewest: np.ndarray, symbol: str) -> Seldom:
    """The smallest count of captured units."""
    bound = runs.half_width * (runs.captured - runs.capture_slack)
    sides = at_least(fewest, bound, trivial=0.0, text=f"{symbol} is at least $pζ$ less $p$ times the slack")
    return seldom(runs, sides, LEVEL / 4)


def many_captured(runs: RandomStarts, most: np.ndarray, symbol: str) -> Seldom:
    """The largest count of captured units."""
    bound = runs.half_width * (runs.captured + runs.capture_slack)
    sides = at_most(most, bound, trivial=runs.half_width, text=f"{symbol} is at most $pζ$ plus $p$ times the slack")
    return seldom(runs, sides, LEVEL / 4)


class ScaledOutputs(StartDraws):
    """First outputs, with their standard deviation times p^(β/2)."""

    @column
    def scaled_deviation(self) -> float:
        """As measured."""
        return float(self.half_width ** (self.beta / 2) * self.outputs.std())

    @column
    def exact_deviation(self) -> Number:
        """As computed."""
        return self.half_width ** (self.beta / 2) * first_output_deviation(self.half_width, self.beta, self.scaling)

    def counts(self) -> dict[str, int]:
        """None: the runs are those on the data, and these show the law of one output."""
        return dict.fromkeys(super().counts(), 0)


@claim("chatterji2021.lemma_15_3", Kind.STEP, "Lemma 15, part 3; Appendix D.3",
       reads=(first_steps, first_outputs), given=[unit_inputs.of(0), bandwidth.of(0)],
       title="At the start the network is undecided on every point")  # fmt: skip
def lemma_15_3(runs: RandomStarts, drawn: ScaledOutputs) -> Promise:
    """With high probability $|g_0s − 1/2| = o(1)$ for every $s$: at most $p^(−β/4)$, with probability at least $1 − 2n
    exp(−p^(β/2)/4)$. The standard deviation of $f_0(x)$ is $0.8074 p^(−β/2)$ at $p = 1000$, $β = 1/4$.

    The bound says nothing before p is very large, so the law of f_0, which is exact, is what is tested.
    """
    setting = drawn.per("cell")
    return Promise(
        {
            "above": pulls_above(runs),
            "below": pulls_below(runs),
            "deviation": equal(
                setting.scaled_deviation,
                setting.exact_deviation,
                room=SPREAD,
                text="the deviation of $f_0$, times $p^(β/2)$",
            ),
        },
        details=lambda: rows_of(runs.cells, largest=lambda cell: np.abs(cell.pulls - 0.5).max()),
        note=SURENESS,
    )


def pulls_above(runs: RandomStarts) -> Seldom:
    """The largest g_0s."""
    text = "$g_0s$ is at most $1/2 + p^(−β/4)$"
    return seldom(runs, at_most(runs.largest_pull, 0.5 + runs.pull_slack, trivial=1.0, text=text), runs.pull_failure)


def pulls_below(runs: RandomStarts) -> Seldom:
    """The smallest g_0s."""
    text = "$g_0s$ is at least $1/2 − p^(−β/4)$"
    return seldom(runs, at_least(runs.smallest_pull, 0.5 - runs.pull_slack, trivial=0.0, text=text), runs.pull_failure)


@claim("chatterji2021.lemma_15_5", Kind.STEP, "Lemma 15, part 5; Appendix D.5", reads=first_steps,
       given=[unit_inputs, bandwidth, opposite],
       form=Form.SHARPER, title="Few units capture points of both classes")  # fmt: skip
def lemma_15_5(runs: RandomStarts) -> Promise:
    """With high probability, for all $s$, $q$ of opposite classes, at most $(1/3 + Δ/4 + r + o(1))p$ units of $I_+s$,
    and of $I_−s$, have $v_i·x_q ≥ 0$. The $o(1)$ is $√(log(n²/δ)/(2p))$ with probability $1 − δ$, $δ = 0.01$.

    The o(1) of the paper, p^(−1/4), is weaker, so much that its bound exceeds |I_±s| in the settings here.
    """
    return Promise(
        {"helpful": helpful_touched(runs), "harmful": harmful_touched(runs)},
        details=lambda: rows_of(runs.cells, share=lambda cell: opposite_share(cell.overlap, cell.radius)),
        note=SURENESS,
    )


def helpful_touched(runs: RandomStarts) -> Seldom:
    """Units that capture s and are active on q, for the pair of opposite classes with most of them."""
    text = "units of $I_+s$ with $v_i·x_q ≥ 0$"
    # No count of I_±s exceeds its size: a bound above that says nothing.
    return seldom(runs, at_most(runs.helpful_touch, runs.touch_bound, trivial=runs.most_helpful, text=text), LEVEL / 2)


def harmful_touched(runs: RandomStarts) -> Seldom:
    """The same of harmful units."""
    text = "units of $I_−s$ with $v_i·x_q ≥ 0$"
    return seldom(runs, at_most(runs.harmful_touch, runs.touch_bound, trivial=runs.most_harmful, text=text), LEVEL / 2)
