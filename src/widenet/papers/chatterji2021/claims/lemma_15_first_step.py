"""Lemma 15, parts 6 and 7: units that a first step may wake, the norm after it, and the tails behind both."""

import numpy as np
from jaxtyping import Bool, Float

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column
from widenet.claims.implication import Promise, Promised, at_least, at_most
from widenet.papers.chatterji2021.claims.starts import SURENESS, RandomStarts, Seldom, Worst, seldom
from widenet.papers.chatterji2021.cluster_formulas import (
    lower_norm_tail,
    output_tail,
    upper_norm_tail,
)
from widenet.papers.chatterji2021.cluster_hypotheses import bandwidth, first_step, start, unit_inputs, wide_enough
from widenet.papers.chatterji2021.runs.first_steps import first_steps, rows_of
from widenet.papers.chatterji2021.runs.start_draws import StartDraws, start_draws, tail_settings
from widenet.papers.chatterji2021.runs.start_laws import ReducedNorms, Windows, draw_reduced_norms, draw_windows
from widenet.records import Form


@claim("chatterji2021.lemma_15_6", Kind.STEP, "Lemma 15, part 6; Appendix D.6", reads=first_steps,
       given=[unit_inputs, bandwidth], title="The first step can activate few harmful units")  # fmt: skip
def lemma_15_6(runs: RandomStarts) -> Promise:
    """With probability $1 − n exp(−2η²p)$, $η = 5α_0/(σ√(2π))$, for every $s$ at most $(√2/(σ√π))(h + 5α_0(2 + Δ +
    r))p$ units with $u_i ≠ y_s$ have $v_i·x_s$ between $−α_0(1/2 + 2(Δ + r))$ and $h + 4α_0$. The proof gives half as
    many.
    """
    return Promise(
        {"printed": in_window(runs, 1.0, "as printed"), "half": in_window(runs, 0.5, "half of it, as proved")},
        details=lambda: rows_of(runs.cells, share=lambda cell: cell.window_share),
        note=SURENESS,
    )


def in_window(runs: RandomStarts, share: float, text: str) -> Seldom:
    """The largest count of units in the window, against this share of the printed bound."""
    bound = share * runs.window_share * runs.half_width
    sides = at_most(runs.most_in_window, bound, trivial=runs.half_width, text=text, quantity="units in the window")
    return seldom(runs, sides, runs.window_failure)


@claim("chatterji2021.lemma_15_7", Kind.STEP, "Lemma 15, part 7; Appendix D.7", reads=first_steps,
       given=[unit_inputs, bandwidth, start, first_step, wide_enough],
       title="After one step the norm is of the order $√(d/p^β)$")  # fmt: skip
def lemma_15_7(runs: RandomStarts) -> Promise:
    """With probability $1 − exp(−(d+1)p/2048) − exp(−(d+1)p/1024)$, the weights after the first step have norm
    $3/5·√(d/p^β) ≤ ‖V^(1)‖ ≤ 3√(d/p^β)$, if $p$ is large enough.

    Large enough is worked out from the proof: p^(β/2) ≥ 2 suffices for every d with the numbers of Section 4.
    """
    return Promise(
        {"low": norm_above(runs), "high": norm_below(runs)},
        details=lambda: rows_of(runs.cells, ratio=lambda cell: cell.norm.mean() / cell.norm_unit),
        note=SURENESS,
    )


def norm_above(runs: RandomStarts) -> Seldom:
    """‖V^(1)‖ against 3/5·√(d/p^β)."""
    sides = at_least(runs.norm, 0.6 * runs.norm_unit, text="$‖V^(1)‖$ is at least $3/5·√(d/p^β)$")
    return seldom(runs, sides, runs.low_norm_failure)


def norm_below(runs: RandomStarts) -> Seldom:
    """‖V^(1)‖ against 3√(d/p^β)."""
    sides = at_most(runs.norm, 3.0 * runs.norm_unit, text="$‖V^(1)‖$ is at most $3√(d/p^β)$")
    return seldom(runs, sides, runs.high_norm_failure)


@claim("chatterji2021.equation_27", Kind.STEP, "Eq. 27, Appendix D.6", draws=draw_windows, given=[],
       title="A unit seldom lies in the window of the first step")  # fmt: skip
def equation_27(found: Windows) -> Promised:
    """For $Z ~ N(0, σ²)$, $P[−α_0(1/2 + 2(Δ + r)) ≤ Z ≤ h + 4α_0] ≤ (h + 4.5α_0 + 2α_0(Δ + r))/(σ√(2π)) ≤ (h + 5α_0(1 +
    Δ + r))/(σ√(2π))$.
    """
    return {
        "density": at_most(found.exact, found.middle, text="the probability is at most width times density"),
        "width": at_most(found.middle, found.right, text="the width is at most $h + 5α_0(1 + Δ + r)$"),
    }


ETAS = (0.1, 0.2, 0.3)
MULTIPLES = (1.0, 2.0, 3.0)
"""η²/(4pσ²) for the tail of f_0: smaller ones bound nothing."""


class StartTails(StartDraws):
    """Starts, with what lies in a tail, for each of `ETAS` and each of `MULTIPLES`."""

    @column
    def small(self) -> Bool[np.ndarray, "draw eta"]:
        """‖V‖² ≤ (1 − η)·2(d+1)pσ²."""
        return self.norms[:, None] ** 2 <= 1 - np.array(ETAS)

    @column
    def large(self) -> Bool[np.ndarray, "draw eta"]:
        """‖V‖ ≥ (1 + η)σ√(2(d+1)p)."""
        return self.norms[:, None] >= 1 + np.array(ETAS)

    @column
    def far(self) -> Bool[np.ndarray, "draw multiple"]:
        """|f_0(x)| ≥ η."""
        return np.abs(self.outputs)[:, None] >= self._output_etas

    @column
    def small_allowed(self) -> Float[np.ndarray, " eta"]:
        """How often."""
        return np.array([lower_norm_tail(self.dim, self.half_width, eta) for eta in ETAS])

    @column
    def large_allowed(self) -> Float[np.ndarray, " eta"]:
        """How often."""
        return np.array([upper_norm_tail(self.dim, self.half_width, eta) for eta in ETAS])

    @column
    def far_allowed(self) -> Float[np.ndarray, " multiple"]:
        """How often."""
        return np.array([output_tail(self.half_width, self.deviation, eta) for eta in self._output_etas])

    @property
    def _output_etas(self) -> np.ndarray:
        return np.sqrt(4 * self.half_width * np.array(MULTIPLES)) * self.deviation


@claim("chatterji2021.appendix_d_tails", Kind.STEP, "Appendices D.3 and D.7", reads=start_draws.at(tail_settings),
       given=[], form=Form.REPAIR, title="Norm and output at the start have exponential tails")  # fmt: skip
def appendix_d_tails(drawn: StartTails) -> Promised:
    """At the start, $P[‖V‖² ≤ (1 − η)·2(d+1)pσ²] ≤ exp(−(d+1)pη²/2)$, $P[‖V‖ ≥ (1 + η)σ√(2(d+1)p)] ≤ exp(−(d+1)pη²)$,
    and $P[|f_0(x)| ≥ η] ≤ 2 exp(−η²/(4pσ²))$.
    """
    norms, outputs = drawn.per("eta"), drawn.per("multiple")
    return {
        "low": _tail(norms, norms.small, norms.small_allowed, "lower tail of $‖V‖²$"),
        "high": _tail(norms, norms.large, norms.large_allowed, "upper tail of $‖V‖$"),
        "output": _tail(outputs, outputs.far, outputs.far_allowed, "tail of $f_0$"),
    }


def _tail(tries: StartTails, failed: np.ndarray, allowed: np.ndarray, text: str) -> Worst:
    """Each of the three η is a setting of its own."""
    settings = len(ETAS) * tries.cell + np.arange(len(tries)) % len(ETAS)
    return Worst(failed, allowed, setting=settings, text=text)


@claim("chatterji2021.appendix_d_tails_as_printed", Kind.STEP, "Appendix D, v_i·x_s ~ N(0, σ²), and D.7, upper tail",
       draws=draw_reduced_norms, given=[],
       title="The start of Theorem 2 seldom has a norm above the bound")  # fmt: skip
def appendix_d_tails_as_printed(found: ReducedNorms) -> Promise:
    """From the start of Theorem 2, in the reduced coordinates of Section 4, $P[‖V^(0)‖ ≥ 3√(d+1)/(2p^(β/2))] ≤
    exp(−(d+1)p/1024)$.
    """
    return Promise(
        {"high": at_most(found.shares, found.allowed, text="upper tail of $‖V^(0)‖$")},
        note="Reduced weights have deviation √2σ by Appendix C, and Appendix D keeps σ. The share is above 1/2 for "
        "every p, so no constant in the exponent makes the bound true.",
    )
