"""The network of Section 3: what it can express, that it is homogeneous, and what first-layer biases change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from widenet.claims.base import Kind, Runs, claim
from widenet.claims.cases import Cases
from widenet.claims.implication import Promise, Promised, at_least, equal, hypothesis, more_than
from widenet.claims.sides import Fact, Sides
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.diagnostics.agreement_program import critical_margins
from widenet.papers.sarussi2021.claims.convergence import Arrivals, in_time, promised
from widenet.papers.sarussi2021.claims.linear_region import Balls, balls, reach, signs_agree
from widenet.papers.sarussi2021.formulas import update_bound
from widenet.papers.sarussi2021.hypotheses import SGD, output_weight, slope_below_one, slope_positive
from widenet.papers.sarussi2021.runs.clouds import Pairs, clouds, lifted_settings, random_network
from widenet.papers.sarussi2021.runs.epochs import epochs, lifted_epoch_settings
from widenet.papers.sarussi2021.runs.single_networks import Expressed, biased_network, express
from widenet.papers.sarussi2021.settings import SignedNetwork, SmallCloud, lift
from widenet.papers.sarussi2021.specimens import no_data
from widenet.records import Scale


def draw_expressed(scale: Scale, seed: int) -> Expressed:
    """A hundred networks with weights of both signs."""
    return express(np.random.default_rng([seed, 3]), 100)


@claim("sarussi2021.section_3_expressiveness", Kind.CONSTRUCTION, "Section 3, Network", draws=draw_expressed,
       given=[output_weight], title="Output weights $±v$ express any output weights")  # fmt: skip
def section_3_expressiveness(units: Expressed) -> Promised:
    """A network of k units with free output weights a_i equals one of 2k units with weights ±v: the unit a·σ(p·x) is
    v·σ((a/v)p·x) for a ≥ 0, and −v·σ((|a|/v)p·x) for a < 0.

    Only this inclusion; the converse needs 2k free weights.
    """
    how = {"within": IDENTITY, "of": units.size}
    return {
        "positive": equal(
            units.replaced, units.outputs, where=units.weights >= 0, text="units with $a ≥ 0$", event="a ≥ 0", **how
        ),
        "negative": equal(
            units.replaced, units.outputs, where=units.weights < 0, text="units with $a < 0$", event="a < 0", **how
        ),
    }


@dataclass(frozen=True, eq=False)
class Scaled(Cases):
    """Networks, asked about points before and after their weights were multiplied by c."""

    rows: ClassVar = "pair"

    factors: Pairs  #: c
    outputs: Pairs  #: N_W
    scaled: Pairs  #: N_{cW}
    signs: Pairs  #: of N_{cW}
    size: Pairs  #: Σ v|σ|, which rounding is measured against


def draw_scaled(scale: Scale, seed: int, *, factors: Sequence[float] = (1e-6, 0.5, 3.0, 1e6)) -> Scaled:
    """Random networks and points; a negative factor is a control."""
    draw, rows = np.random.default_rng([seed, 27]), []
    for factor in factors:
        for _ in range(10):
            network = random_network(draw)
            points = draw.normal(size=(10, network.plus.shape[1]))
            scaled = SignedNetwork(factor * network.plus, factor * network.minus, 1.0, network.slope)
            after = scaled.outputs(points)
            row = (np.full(10, factor), network.outputs(points), after, np.sign(after), network.scale(points))
            rows.append(np.stack(row))
    return Scaled(*np.concatenate(rows, axis=1))


@hypothesis("factor $c$")
def factor(drawn: Scaled) -> Sides:
    """c > 0."""
    return more_than(drawn.factors, 0)


@claim("sarussi2021.equation_27", Kind.IDENTITY, "Eq. 27, Section 13, and assumption (A2), Section 12",
       draws=draw_scaled, given=[factor], title="The network is homogeneous of degree 1 in its weights")  # fmt: skip
def equation_27(drawn: Scaled) -> Promised:
    """N_{cW} = c·N_W for c > 0: the network is homogeneous of degree 1 in its weights, and its sign has no scale."""
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


def biased(share: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs of a network with biases, of the one without on lifted points, and what rounding is measured against."""
    network, points = biased_network()
    rows, biases = network.weights[:, :-1], share * network.weights[:, -1]
    direct = network.activated(points @ rows.T + biases) @ network.output_weights
    return direct, network.outputs(lift(points)), network.scale(lift(points))


def lifted_critical(ones: bool = True) -> np.ndarray:
    """The critical β of a few lifted points."""
    data, labels = SmallCloud(n_samples=8).draw(0)
    return np.concatenate(critical_margins(lift(data) if ones else data, labels))


@claim("sarussi2021.section_8_1", Kind.MAIN, "Section 8.1",
       reads=(clouds.at(lifted_settings), epochs.at(lifted_epoch_settings)),
       given=[balls.of(0), slope_positive, slope_below_one,
              *(each.of(1) for each in SGD if each not in (slope_positive, slope_below_one))],
       on=no_data, title="First-layer biases act like a constant input coordinate")  # fmt: skip
def section_8_1(
    lifted: Balls,
    trained: Arrivals,
    *,
    bound: Callable[..., np.ndarray] = update_bound,
    bias_share: float = 1.0,
    ones: bool = True,
) -> Promise:
    """A network with biases in its first layer is the one without on the points (x, 1). So Theorems 4.1 and 5.1 hold
    for it with ‖(x, 1)‖ in place of ‖x‖. But V_β⁺ and V_β⁻ of Theorem 6.2 are then never empty for β ≤ 1, because
    (0, …, 0, 1) has inner product 1 with every lifted point: its Assumption 4 needs β > 1.

    Section 15 is no way around it: lifted data are never antipodal, also where the data are. `bias_share` and `ones`
    are for controls.
    """
    direct, outputs, size = biased(bias_share)
    e = trained.per("level")
    there = e.hit >= 0
    far = np.abs(lifted.difference) >= reach(lifted, 2.0)
    return Promise(
        {
            "networks": equal(direct, outputs, within=IDENTITY, of=size, text="the two networks are equal"),
            "theorem_5_1": signs_agree(lifted, far, "Theorem 5.1 with $‖(x, 1)‖$"),
            "theorem_4_1": in_time(
                e.hit, there, e.updates, promised(e, bound, e.levels), text="Theorem 4.1 with $√(R_x² + 1)$"
            ),
            "critical": at_least(
                lifted_critical(ones), 1.0, within=ROUNDING, text="$V_β⁺$ and $V_β⁻$ are not empty for $β ≤ 1$"
            ),
        },
        runs=Runs(tried=len(e), unfinished=int((~there).sum())),
        details={"pairs": len(lifted)},
    )
