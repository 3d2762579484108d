"""What one step does to the units that capture a point, and to the others: Eqs. 11 and 14 to 18, Lemmas 18 and 19."""

from typing import Any

import numpy as np

from widenet.claims.base import Kind, claim
from widenet.claims.cases import column, derived
from widenet.claims.implication import Promise, at_least, at_most, equal
from widenet.claims.sides import Fact
from widenet.claims.tolerances import IDENTITY, STEP
from widenet.papers.chatterji2021.claims.starts import PerRun, RandomStarts
from widenet.papers.chatterji2021.cluster_formulas import (
    captured_and_active,
    captured_mean,
    lifted_bound,
    rest_bound,
    rest_height,
)
from widenet.papers.chatterji2021.cluster_hypotheses import (
    THEOREM_2,
    centres,
    one_cluster,
    opposite,
    products,
    unit_inputs,
)
from widenet.papers.chatterji2021.runs.first_steps import (
    PerPoint,
    centre_steps,
    first_steps,
    rest_settings,
    rows_of,
    step_settings,
)
from widenet.papers.chatterji2021.runs.start_laws import ExpectedSums, draw_expected
from widenet.records import Form

OF_SAMPLING = 5.0
"""Standard errors that a mean over runs may be away from its expectation."""


class Lifted(RandomStarts):
    """Random starts, with what one step adds to sums over captured units."""

    size: int = derived(lambda cell: cell.n_points * cell.half_width)  #: np
    own_share: PerRun = derived(lambda cell: cell.own_pull.mean(axis=1) / cell.size)  #: Ξ_1/(np)
    other_share: PerRun = derived(lambda cell: cell.other_pull.mean(axis=1) / cell.size)  #: Ξ_2/(np)
    lift_share: PerRun = derived(lambda cell: cell.lifted.mean(axis=1) / (cell.step * cell.half_width))
    own_mean: float = derived(lambda cell: cell.own_share.mean())
    own_room: float = derived(lambda cell: _of_sampling(cell.own_share))
    other_mean: float = derived(lambda cell: cell.other_share.mean())
    other_room: float = derived(lambda cell: _of_sampling(cell.other_share))
    lift_mean: float = derived(lambda cell: cell.lift_share.mean())
    #: Σ φ − Σ v_i·x_s + h|I_+s|/2
    lifted: PerPoint = derived(lambda cell: cell.helpful_after - cell.helpful_sum + cell.bandwidth * cell.helpful / 2)
    #: The same over I_−s
    lowered: PerPoint = derived(lambda cell: cell.harmful_after - cell.harmful_sum + cell.bandwidth * cell.harmful / 2)
    #: P[Z_1 ≥ h + 4α_0, Z_2 ≥ 0] for points at a right angle
    both_share: float = derived(lambda cell: float(captured_and_active(cell.level, cell.deviation, np.array([0.5]))[0]))
    #: h + 4.5α_0 + 2α_0(Δ + r)
    rest_height: float = derived(lambda cell: rest_height(cell.half_width, cell.step, cell.overlap, cell.radius))

    @column
    def lifted_least(self) -> float:
        """pχ + α_0p/48 − 2."""
        return lifted_bound(self.half_width, captured_mean(self.level, self.deviation), self.step, 1)

    @column
    def lowered_most(self) -> float:
        """pχ − α_0p/48 + 2."""
        return lifted_bound(self.half_width, captured_mean(self.level, self.deviation), self.step, -1)

    @column
    def rest_bound(self) -> float:
        """(√2/(σ√π))(h + 5α_0(2 + Δ + r))²p."""
        return rest_bound(self.half_width, self.step, self.deviation, self.overlap, self.radius)


def _of_sampling(values: np.ndarray) -> float:
    return OF_SAMPLING * values.std(ddof=1) / len(values) ** 0.5


@claim("chatterji2021.equation_11", Kind.STEP, "Eq. 11, Section 4.2", reads=first_steps.at(step_settings),
       given=[unit_inputs, products], title="A captured unit stays captured after one step")  # fmt: skip
def equation_11(runs: Lifted, *, most: float = 1.0, least: float = 3.0) -> Promise:
    """One step from any start changes $v_i·x_s$ by at most $α_0$. So a unit that captures $x_s$ ($v_i·x_s ≥ h + 4α_0$)
    is at $h + 3α_0$ or above after the step, and $φ(v_i·x_s) = v_i·x_s − h/2$ there.

    In code: `most` and `least`, in units of α_0, are for controls.
    """
    s = runs.per("point")
    return Promise(
        {
            "shift": at_most(s.shift, most * s.step, within=STEP, of=s.step, text="$v_i·x_s$ moves by at most $α_0$"),
            "captured": at_least(
                s.lowest,
                s.bandwidth + least * s.step,
                within=STEP,
                of=s.step,
                where=s.helpful + s.harmful != 0,
                event="points that a unit captures",
                text="a captured unit stays at $h + 3α_0$ or above",
            ),
            "straight": at_most(s.bent, 0.0, within=IDENTITY, text="$φ = z − h/2$ there"),
        },
        details=lambda: rows_of(runs.cells, largest=lambda cell: cell.shift.max() / cell.step),
    )


@claim("chatterji2021.equation_16", Kind.STEP, "Eqs. 15 and 16, Section 4.2; and the display for I_−",
       reads=first_steps.at(step_settings), given=[unit_inputs, products, one_cluster],
       title="One step lifts captured units by $(α_0/n)(Ξ_1 − Ξ_2)$")  # fmt: skip
def equation_16(runs: Lifted, *, more: float = 0.0, own: float = 1.0, harmful_own: float = 1.0) -> Promise:
    """After one step $Σ φ$ over $I_+s$ is at least $pχ + (α_0/n)(Ξ_1 − Ξ_2) − 2$ wherever part 1 of Lemma 15 holds at
    $s$, and over $I_−s$ at most $pχ − (α_0/n)(Ξ_1 − Ξ_2) + 2$ with the sums over $I_−s$; $−1 − h|I_+s|/2$ and $+1$ are
    enough in place of $−2$ and $+2$. Without the noise of the start: $Σ φ − Σ v_i·x_s + h|I|/2$ is at least
    $(α_0/n)(Ξ_1 − Ξ_2)$ over $I_+s$, and at most minus that over $I_−s$.

    In code: The constants are for controls: `more` is added to pχ, the others multiply Ξ_1.
    """
    s = runs.per("point")
    share = s.step / s.n_points
    up = share * (own * s.own_pull - s.other_pull)
    down = share * (harmful_own * s.harmful_own_pull - s.harmful_other_pull)
    helpful = {"within": IDENTITY, "of": 1 + np.abs(s.helpful_sum)}
    harmful = {"within": IDENTITY, "of": 1 + np.abs(s.harmful_sum)}
    good = {"event": "points at which part 1 of Lemma 15 holds"}
    return Promise(
        {
            "rises": at_least(s.lifted, up, text="$I_+s$ rises by $(α_0/n)(Ξ_1 − Ξ_2)$", **helpful),
            "falls": at_most(s.lowered, -down, text="$I_−s$ falls by $(α_0/n)(Ξ_1 − Ξ_2)$", **harmful),
            "helpful": at_least(
                s.helpful_after,
                s.mean_sum + more + up - 1 - s.bandwidth * s.helpful / 2,
                where=s.helpful_sum >= s.mean_sum - 1,
                text="$Σ φ$ over $I_+s$, with $pχ$",
                **good,
                **helpful,
            ),
            "harmful": at_most(
                s.harmful_after,
                s.mean_sum + more - down + 1,
                where=s.harmful_sum <= s.mean_sum + 1,
                text="$Σ φ$ over $I_−s$, with $pχ$",
                **good,
                **harmful,
            ),
        },
        details=lambda: rows_of(runs.cells),
    )


@claim("chatterji2021.equations_17_18", Kind.TREND, "Eqs. 17 and 18, Section 4.2",
       reads=centre_steps, given=[*THEOREM_2, centres],
       title="The pulls of a first step tend to $np/16$ and $np/24$")  # fmt: skip
def equations_17_18(runs: Lifted, *, own: float = 1 / 16, other: float = 1 / 24) -> Promise:
    """On a good run $Ξ_1 ≥ (1/16)(1 − c(√r + ε) − o(1))np$ and $Ξ_2 ≤ (1/24)(1 + c(Δ + r + ε) + o(1))np$. On the
    centres of XOR they are $ζnp/8$ and $P[Z_1 ≥ h + 4α_0, Z_2 ≥ 0]·np/8$ on average, and grow towards $np/16$ and
    $np/24$.
    """
    each = runs.per("cell")
    return Promise(
        {
            "own": equal(each.own_mean, each.captured / 8, room=each.own_room, text="$Ξ_1/(np)$ is $ζ/8$"),
            "other": equal(each.other_mean, each.both_share / 8, room=each.other_room, text="$Ξ_2/(np)$ is $P/8$"),
            "own_grows": _grows(each.own_mean, own, "$Ξ_1/(np)$ grows towards $1/16$"),
            "other_grows": _grows(each.other_mean, other, "$Ξ_2/(np)$ grows towards $1/24$"),
        },
        details=lambda: rows_of(runs.cells) | {"own": each.own_mean, "other": each.other_mean},
    )


def _grows(means: Any, goal: float, text: str) -> Fact:
    """Each width comes closer to the goal, from below, and the widest is within two fifths of it."""
    closer = (means[:-1] < means[1:]) & (means[1:] < goal)
    return Fact(bool(closer.all() and (means[-1:] > 0.6 * goal).all()), text=text)


@claim("chatterji2021.lemma_18", Kind.TREND, "Lemma 18 (Eqs. 12 and 13; the second display is over I_−)",
       reads=centre_steps, given=[*THEOREM_2, centres],
       form=Form.REPAIR, title="One step lifts helpful units and lowers harmful ones")  # fmt: skip
def lemma_18(runs: Lifted) -> Promise:
    """On a good run $Σ φ$ over $I_+s$ is at least $pχ + (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) − 2$ after one step, and
    over $I_−s$ at most $pχ − (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) + 2$.

    With the bracket read as 1; what I_+s gains beyond the noise of the start, over α_0p, grows towards 1/48 on the
    centres of XOR.
    """
    s, each = runs.per("point"), runs.per("cell")
    return Promise(
        {
            "helpful": at_least(s.helpful_after, s.lifted_least, text="$Σ φ$ over $I_+s$, the bracket read as $1$"),
            "harmful": at_most(s.harmful_after, s.lowered_most, text="$Σ φ$ over $I_−s$, the bracket read as $1$"),
            "grows": _grows(each.lift_mean, 1 / 48, "the gain of $I_+s$ over $α_0p$ grows towards $1/48$"),
        },
        details=lambda: rows_of(runs.cells) | {"gains": each.lift_mean},
    )


@claim("chatterji2021.lemma_18_as_printed", Kind.STEP, "Lemma 18, second display", draws=draw_expected, given=[],
       title="One step lowers the sum over helpful units")  # fmt: skip
def lemma_18_as_printed(found: ExpectedSums) -> Promise:
    """On a good run $Σ φ(v_i^(1)·x_s)$ over $i ∈ I_+$ is at most $pχ − (α_0p/48)(1 − c(Δ + √r + ε) − o(1)) + 2$."""
    return Promise(
        {"sum": at_most(found.sums, found.bounds, text="$(Σ φ − pχ)/(α_0p)$, the sum over $I_+s$")},
        details={"half_width": found.half_width, "scaling": "sec4", "beta": 0.25},
        note="The sum over I_+ rises; the display is true over I_−, and its proof and Eq. 13 say so.",
    )


@claim("chatterji2021.lemma_19", Kind.STEP, "Lemma 19 (Eq. 14)", reads=first_steps.at(rest_settings),
       given=[unit_inputs, products, opposite], title="Units that do not capture a point add little to it")  # fmt: skip
def lemma_19(runs: Lifted) -> Promise:
    """After one step $Σ φ(v_i·x_s)$ over the harmful units that do not capture $x_s$ is at most $h + 4.5α_0 + 2α_0(Δ +
    r)$ for each unit of part 6 of Lemma 15. So where part 6 holds it is at most $(√2/(σ√π))(h + 5α_0(2 + Δ + r))²p$.
    """
    s = runs.per("point")
    allowed = s.half_width * s.window_share
    return Promise(
        {
            "per_unit": at_most(
                s.rest_harmful, s.window * s.rest_height, room=IDENTITY, text="step (iv): per unit of the window"
            ),
            "equation_14": at_most(
                s.rest_harmful,
                s.rest_bound,
                room=IDENTITY,
                where=s.window <= allowed,
                event="points at which part 6 of Lemma 15 holds",
                text="Eq. 14",
            ),
        },
        details=lambda: rows_of(runs.cells),
    )
