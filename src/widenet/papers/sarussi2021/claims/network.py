"""The network of Section 3: what it can express, that it is homogeneous, and what first-layer biases change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from widenet.claims.base import Evidence, Hypothesis, Kind, Runs, claim, more_than
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.tolerances import IDENTITY, ROUNDING
from widenet.diagnostics.agreement_program import critical_margins
from widenet.papers.sarussi2021.claims.conditions import conditions
from widenet.papers.sarussi2021.claims.convergence import promised
from widenet.papers.sarussi2021.claims.linear_region import balls, joined, reach, signs_agree
from widenet.papers.sarussi2021.formulas import update_bound
from widenet.papers.sarussi2021.runs.clouds import Clouds, clouds, lifted_settings, random_network
from widenet.papers.sarussi2021.runs.epochs import Epochs, epochs, lifted_epoch_settings
from widenet.papers.sarussi2021.runs.single_networks import Expressed, biased_network, express
from widenet.papers.sarussi2021.settings import SignedNetwork, SmallCloud, lift
from widenet.records import Scale


def draw_expressed(scale: Scale, seed: int) -> Expressed:
    """A hundred networks with weights of both signs."""
    return express(np.random.default_rng([seed, 3]), 100)


@claim("sarussi2021.section_3_expressiveness", Kind.CONSTRUCTION, "Section 3, Network", draws=draw_expressed)
def section_3_expressiveness(units: Expressed) -> Evidence:
    """A network of k units with free output weights a_i equals one of 2k units with weights ±v: the unit a·σ(p·x) is
    v·σ((a/v)p·x) for a ≥ 0, and −v·σ((|a|/v)p·x) for a < 0.

    Only this inclusion; the converse needs 2k free weights.
    """
    parts = {}
    for name, scored in (("units with a ≥ 0", units.weights >= 0), ("units with a < 0", units.weights < 0)):
        parts[name] = Sides(units.replaced, units.outputs, Sense.EQUAL, room=IDENTITY * units.sizes, scored=scored)
    return evidence(parts, (more_than("output_weight", "smallest output weight v", units.output_weight, 0),))


@dataclass(frozen=True, eq=False)
class Scaled:
    """Outputs of networks before and after their weights were multiplied by c, and Σ v|σ| to measure rounding."""

    factors: np.ndarray
    outputs: np.ndarray
    scaled: np.ndarray
    signs: np.ndarray
    sizes: np.ndarray


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


@claim(
    "sarussi2021.equation_27", Kind.IDENTITY, "Eq. 27, Section 13, and assumption (A2), Section 12", draws=draw_scaled
)
def equation_27(drawn: Scaled) -> Evidence:
    """N_{cW} = c·N_W for c > 0: the network is homogeneous of degree 1 in its weights, and its sign has no scale."""
    clear = np.abs(drawn.outputs) > IDENTITY * drawn.sizes
    return evidence(
        {
            "N_{cW} = c·N_W": Sides(
                drawn.scaled,
                drawn.factors * drawn.outputs,
                Sense.EQUAL,
                room=ROUNDING * np.abs(drawn.factors) * drawn.sizes,
            ),
            "the signs are the same": Fact(drawn.signs == np.sign(drawn.outputs), scored=clear),
        },
        (more_than("factor", "smallest factor c", drawn.factors.min(), 0),),
    )


@claim(
    "sarussi2021.section_8_1",
    Kind.MAIN,
    "Section 8.1",
    reads=(clouds.at(lifted_settings), epochs.at(lifted_epoch_settings)),
)
def section_8_1(
    lifted: Sequence[Clouds],
    trained: Sequence[Epochs],
    *,
    bound: Callable[..., np.ndarray] = update_bound,
    bias_share: float = 1.0,
    ones: bool = True,
) -> Evidence:
    """A network with biases in its first layer is the one without on the points (x, 1). So Theorems 4.1 and 5.1 hold
    for it with ‖(x, 1)‖ in place of ‖x‖. But V_β⁺ and V_β⁻ of Theorem 6.2 are then never empty for β ≤ 1, because
    (0, …, 0, 1) has inner product 1 with every lifted point: its Assumption 4 needs β > 1.

    Section 15 is no way around it: lifted data are never antipodal, also where the data are. `bias_share` and `ones`
    are for controls.
    """
    network, points = biased_network()
    rows, biases = network.weights[:, :-1], bias_share * network.weights[:, -1]
    direct = network.activated(points @ rows.T + biases) @ network.output_weights
    pairs = joined(lifted)
    limits = np.concatenate([promised(runs, bound, level) for runs in trained for level in runs.levels])
    hits = np.concatenate([runs.hits[:, number] for runs in trained for number in range(len(runs.levels))])
    made = np.concatenate([np.full(len(runs) * len(runs.levels), runs.updates) for runs in trained])
    counts = np.where(hits < 0, made, hits)
    data, labels = SmallCloud(n_samples=8).draw(0)
    critical = np.concatenate(critical_margins(lift(data) if ones else data, labels))
    return evidence(
        {
            "the two networks are equal": Sides(
                direct, network.outputs(lift(points)), Sense.EQUAL, room=IDENTITY * network.scale(lift(points))
            ),
            "Theorem 5.1 with ‖(x, 1)‖": signs_agree(pairs, np.abs(pairs.difference) >= reach(pairs, 2.0)),
            "Theorem 4.1 with √(R_x² + 1)": Sides(
                counts, limits, room=ROUNDING * limits, undecided=(hits < 0) & (counts <= limits)
            ),
            "V_β⁺ and V_β⁻ are not empty for β ≤ 1": Sides(critical, 1.0, Sense.AT_LEAST, room=ROUNDING),
        },
        nearest(*balls(pairs), *conditions(trained)),
        runs=Runs(tried=len(hits), unfinished=int((hits < 0).sum())),
        details={"pairs": len(pairs)},
    )


def nearest(*hypotheses: Hypothesis) -> tuple[Hypothesis, ...]:
    """Of those with the same key the one with the least slack."""
    return tuple({each.key: each for each in sorted(hypotheses, key=_slack, reverse=True)}.values())


def _slack(hypothesis: Hypothesis) -> float:
    return -np.inf if hypothesis.slack is None or np.isnan(hypothesis.slack) else hypothesis.slack
