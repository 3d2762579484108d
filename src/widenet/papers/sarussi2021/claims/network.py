"""The network of Section 3: what it can express, that it is homogeneous, and what first-layer biases change."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool

from widenet.claims.base import Kind, claim
from widenet.claims.cases import derived
from widenet.claims.implication import Promise, Promised, at_least, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.papers.sarussi2021.claims.convergence import Arrivals, in_time, promised
from widenet.papers.sarussi2021.claims.linear_region import RowBalls, balls, reach, signs_agree
from widenet.papers.sarussi2021.formulas import update_bound
from widenet.papers.sarussi2021.hypotheses import SGD, output_weight, slope_below_one, slope_positive
from widenet.papers.sarussi2021.runs.clouds import lifted_clouds
from widenet.papers.sarussi2021.runs.epochs import lifted_epochs
from widenet.papers.sarussi2021.runs.single_networks import (
    Expressed,
    Scaled,
    biased,
    draw_expressed,
    draw_scaled,
    lifted_critical,
)
from widenet.records import Form


@claim("sarussi2021.section_3_expressiveness", Kind.CONSTRUCTION, "Section 3, Network", draws=draw_expressed,
       given=[output_weight], title="Output weights $±v$ express any output weights")  # fmt: skip
def section_3_expressiveness(units: Expressed) -> Promised:
    """A network of $k$ units with free output weights $a_i$ equals one of $2k$ units with output weights $±v$: the unit
    $a·σ(p·x)$ is $v·σ((a/v)p·x)$ for $a ≥ 0$, and $−v·σ((|a|/v)p·x)$ for $a < 0$.

    Only this inclusion; the converse needs 2k free weights.
    """
    how = {"within": IDENTITY, "of": units.size}
    return {
        "positive": equal(
            units.replaced, units.outputs, where=units.weights >= 0, text="units with $a ≥ 0$", event="$a ≥ 0$", **how
        ),
        "negative": equal(
            units.replaced, units.outputs, where=units.weights < 0, text="units with $a < 0$", event="$a < 0$", **how
        ),
    }


@hypothesis("factor $c$")
def factor(drawn: Scaled) -> Sides:
    """c > 0."""
    return more_than(drawn.factors, 0)


@claim("sarussi2021.equation_27", Kind.IDENTITY, "Eq. 27, Section 13, and assumption (A2), Section 12",
       draws=draw_scaled, given=[factor], title="The network is homogeneous of degree 1 in its weights")  # fmt: skip
def equation_27(drawn: Scaled) -> Promised:
    """$N_{cW} = c·N_W$ for $c > 0$: the network is homogeneous of degree 1 in its weights, and its sign does not depend
    on their scale.
    """
    return {
        "outputs": equal(
            drawn.scaled,
            drawn.factors * drawn.outputs,
            within=ROUNDING,
            of=drawn.factors * drawn.size,
            text="$N_{cW} = c·N_W$",
        ),
        "signs": Fact(
            drawn.signs == np.sign(drawn.outputs),
            where=np.abs(drawn.outputs) > IDENTITY * drawn.size,
            event="outputs beyond rounding",
            text="the signs are the same",
        ),
    }


class LiftedBalls(RowBalls):
    """Pairs of a network with biases and a point; what is counted are the runs beside them."""

    def counts(self) -> dict[str, int]:
        """None."""
        return {"tried": 0, "diverged": 0, "unfinished": 0}


class LiftedArrivals(Arrivals):
    """Runs of SGD with biases."""

    unfinished: Bool[np.ndarray, " run"] = derived(lambda runs: (runs.hit < 0).any(axis=1))  #: gave up too early


@claim("sarussi2021.section_8_1", Kind.MAIN, "Section 8.1", form=Form.REPAIR,
       reads=(lifted_clouds, lifted_epochs),
       given=[balls.of(0), slope_positive, slope_below_one,
              *(each.of(1) for each in SGD if each not in (slope_positive, slope_below_one))],
       title="First-layer biases act like a constant input coordinate")  # fmt: skip
def section_8_1(
    lifted: LiftedBalls,
    trained: LiftedArrivals,
    *,
    bound: Callable[..., np.ndarray] = update_bound,
    bias_share: float = 1.0,
    ones: bool = True,
) -> Promise:
    """A network with first-layer biases is the network without them on the points $(x, 1)$. So Theorems 4.1 and 5.1
    hold for it with $‖(x, 1)‖$ in place of $‖x‖$. But $V_β⁺$ and $V_β⁻$ of Theorem 6.2 are then never empty for $β ≤
    1$, because $(0, …, 0, 1)$ has inner product $1$ with every lifted point: Assumption 4 of that theorem needs $β >
    1$.

    Section 15 is no way around it: lifted data are never antipodal, also where the data are.

    In code: `bias_share` and `ones` are for controls.
    """
    direct, outputs, size = biased(bias_share)
    e = trained.per("level")
    there = e.hit >= 0
    far = np.abs(lifted.difference) >= reach(lifted, 2.0)
    return Promise(
        {
            "networks": equal(direct, outputs, within=IDENTITY, of=size, text="the two networks are equal"),
            "theorem_5_1": signs_agree(
                lifted, far, "Theorem 5.1 with $‖(x, 1)‖$", event="pairs so far from the boundary"
            ),
            "theorem_4_1": in_time(
                e.hit, there, e.updates, promised(e, bound, e.levels), text="Theorem 4.1 with $√(R_x² + 1)$"
            ),
            "critical": at_least(
                lifted_critical(ones), 1.0, within=ROUNDING, text="$V_β⁺$ and $V_β⁻$ are not empty for $β ≤ 1$"
            ),
        },
        details={"pairs": len(lifted)},
    )
