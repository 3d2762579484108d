"""Remark 4.1 and Appendix C.1: what the network can tell apart, and its VC dimension.

N(x) depends on x only through the pattern set A of x, so at most 15 points can be shattered. More is true: N is a
linear function of eight features of A (`runs.shattering`), and linear functions on an 8-dimensional space shatter at
most eight points. With k ≥ 8 every coefficient is possible (w = c·p_i, w = c·(p_i + p_{i+1}), or the same for u), and
the eight sets with one or two neighbouring patterns have independent features: eight points are shattered. A larger
width changes nothing.
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from widenet.claims.base import Evidence, Kind, Runs, Silence, at_least, at_most, claim
from widenet.claims.sides import Fact, Sense, Sides, evidence
from widenet.claims.specimen import Specimen
from widenet.claims.tolerances import ROUNDING
from widenet.data.xord import PATTERNS
from widenet.papers.brutzkus2019.runs.outputs import on_sets
from widenet.papers.brutzkus2019.runs.set_mates import SetMates, SetMatesSetting, set_mates
from widenet.papers.brutzkus2019.runs.shattering import FEATURES, INFEASIBLE, SOLVED, Shattering, shatterings

DIRECTIONS = np.concatenate([PATTERNS, PATTERNS + np.roll(PATTERNS, -1, axis=0)])
"""A filter c·direction answers 2c·feature."""
N_SETS, N_FEATURES = 15, 8

Coefficients = Float[np.ndarray, "*labelling 8"]
Build = Callable[[Coefficients], Float[np.ndarray, "*labelling channel 2"]]


def network_for(coefficients: Coefficients) -> Float[np.ndarray, "*labelling 16 2"]:
    """Eight w's and eight u's whose network is Σ coefficient·feature on every pattern set."""
    plus, minus = np.maximum(coefficients, 0) / 2, np.maximum(-coefficients, 0) / 2
    return np.concatenate([plus[..., None] * DIRECTIONS, minus[..., None] * DIRECTIONS], axis=-2)


@claim("brutzkus2019.remark_4_1", Kind.IDENTITY, "Remark 4.1, Section 4; Appendix C.1", reads=set_mates)
def remark_4_1(runs: Sequence[SetMates]) -> Evidence:
    """XORD: N(x) and its gradient depend on x only through the set of patterns in x; there are 15 such sets, so the
    VC dimension is at most 15, whatever k is.
    """
    counts = np.stack([each.inputs_per_set for each in runs])
    n_sets = int((counts.sum(axis=0) > 0).sum())
    shared = np.concatenate([np.broadcast_to(each.inputs_per_set > 1, each.output_spread.shape) for each in runs])
    outputs, gradients = (
        Sides(
            np.concatenate([getattr(each, name) for each in runs]),
            0.0,
            Sense.EQUAL,
            room=ROUNDING,
            scored=shared,
            quantity=f"largest difference of {what} at equal pattern sets; up to {ROUNDING:g} counts as 0",
        )
        for name, what in (("output_spread", "N"), ("gradient_spread", "its gradient"))
    )
    networks = [len(each.output_spread) for each in runs]
    return evidence(
        {
            "the same outputs": outputs,
            "the same gradients": gradients,
            "at most 15 pattern sets": Sides(n_sets, N_SETS, trivial=N_SETS, quantity="pattern sets that occur"),
        },
        [at_most("signs", "entries that are not ±1", sum(each.other_entries for each in runs), 0)],
        runs=Runs(tried=int(counts.sum(axis=1) @ networks)),
        details={
            "pattern_sets": n_sets,
            "compared": int((counts > 1).any(axis=0).sum()),
            "vc_dimension_at_most": N_SETS,
        },
        note="Only 15 pattern sets exist, so at most 15 points can be shattered; see remark_4_1_sharp.",
    )


@remark_4_1.speaks
def remark_4_1_on(specimen: Specimen) -> list[SetMatesSetting] | Silence:
    """Random networks on the reader's points, which need no labels."""
    inputs = specimen.inputs
    if inputs.ndim != 2 or inputs.shape[1] % 2 or not inputs.size:
        return Silence(f"It speaks about XORD: a point of XORD is made of pairs; inputs have the shape {inputs.shape}.")
    if not np.isin(inputs, (-1.0, 1.0)).all(axis=1).any():
        return Silence("A point of XORD is made of pairs of ±1, and every point here has another entry.")
    return [SetMatesSetting(n_words=0, seed=specimen.choices.seed, own_data=specimen.digest)]


@remark_4_1.fixes
def fixed_for_set_mates(specimen: Specimen) -> dict[str, str]:
    """Random networks of one shape, which are not trained."""
    untrained, setting = "nothing is trained", SetMatesSetting()
    fixed: dict[str, str] = {name: untrained for name in ("step_size", "init_scale", "max_updates", "required_margin")}
    if specimen.choices.n_neurons != 2 * setting.half_width:
        fixed["n_neurons"] = f"networks with k = {setting.half_width}, {2 * setting.half_width} neurons, are compared"
    if specimen.choices.n_runs != setting.n_networks:
        fixed["n_runs"] = f"{setting.n_networks} networks are compared"
    if specimen.choices.diverse_only:
        fixed["diverse_only"] = "all points are compared"
    return {**fixed, "slope": "these networks have ReLU"}


@claim(
    "brutzkus2019.remark_4_1_sharp",
    Kind.CONSTRUCTION,
    "Remark 4.1, Section 4 (added: sharper)",
    reads=shatterings,
)
def remark_4_1_sharp(
    runs: Sequence[Shattering], *, features: Float[np.ndarray, "15 8"] = FEATURES, build: Build = network_for
) -> Evidence:
    """XORD: N is linear in eight features of the pattern set, so the VC dimension is at most 8; for k ≥ 8 and d ≥ 2
    it is 8: {1}, {2}, {3}, {4}, {1, 2}, {2, 3}, {3, 4}, {1, 4} are shattered.

    Rank 8 is both halves of the bound: no nine sets have independent features, and eight have. Controls pass another
    feature, or networks that do not belong to their coefficients.
    """
    filters = np.concatenate([each.filters for each in runs])
    answers = on_sets(np.stack([filters, np.zeros_like(filters)], axis=1))
    coefficients = np.linalg.lstsq(features, answers.T, rcond=None)[0]
    residual = np.abs(features @ coefficients - answers.T)
    rank = int(np.linalg.matrix_rank(answers))
    found = np.concatenate([each.status == SOLVED for each in runs])
    lost = np.concatenate([~np.isin(each.status, (SOLVED, INFEASIBLE)) for each in runs])
    right = np.concatenate([(_margins(each, build) > 0).all(axis=1) for each in runs])
    failed = 2 * int((~right & ~lost).sum())
    n_sets = [len(each.sets) for each in runs]
    return evidence(
        {
            "a network with k = 8 realizes every labelling": Sides(
                np.nan if lost.any() and not failed else failed,
                0,
                quantity=f"labellings of {max(n_sets)} pattern sets that no network realizes",
            ),
            "every labelling is linear in the features": Fact(found, undecided=lost),
            "the answers of filters have rank 8": Sides(rank, N_FEATURES, Sense.EQUAL),
            "the answers are linear in the eight features": Sides(
                residual, 0.0, Sense.EQUAL, room=ROUNDING * max(1.0, float(np.abs(answers).max(initial=0.0)))
            ),
        },
        [at_least("filters", "random filters", len(filters), N_SETS)],
        runs=Runs(tried=2 * len(found)),
        details={
            "rank": rank,
            "residual": float(residual.max(initial=0.0)),
            "labellings": 2 * len(found),
            "printed_bound": N_SETS,
        },
        note="Rank 8 bounds the VC dimension by 8; the printed 15 is a valid bound, and not attained.",
    )


def _margins(runs: Shattering, build: Build) -> Float[np.ndarray, "labelling set"]:
    """y·N on the sets, for the network of each labelling; NaN where there is none."""
    networks = build(runs.coefficients)
    values = on_sets(networks, runs.sets.tolist())
    # Coefficients that were not found are NaN, and the maximum with 0 in `build` need not keep that.
    return np.where(np.isnan(runs.coefficients).any(axis=1, keepdims=True), np.nan, runs.labellings * values)
