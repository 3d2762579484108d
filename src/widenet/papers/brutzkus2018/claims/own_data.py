"""The claims of this paper that can speak about a reader's own data, each with its setting on that data.

The data is taken as it is (`scale_to_unit_ball` and `with_bias` prepare it); what is wrong with it shows in the
hypotheses. A separator is looked for once, with its certificate, and every statement that needs one gets the same.
"""

from typing import Any

import numpy as np

from widenet.claims.base import Claim, Evidence
from widenet.diagnostics import Separation, find_separator
from widenet.errors import DataError
from widenet.networks import leaky_relu
from widenet.papers.brutzkus2018.claims.convergence import theorem_2
from widenet.papers.brutzkus2018.claims.expressiveness import Memory, printed_half_width, theorem_7
from widenet.papers.brutzkus2018.claims.generalization import theorem_6
from widenet.papers.brutzkus2018.claims.landscape import proposition_1_2
from widenet.papers.brutzkus2018.claims.local_minima import lemma_11, theorem_8
from widenet.papers.brutzkus2018.claims.potentials import (
    Book,
    equation_9,
    equation_11,
    equation_11_step,
    equation_12,
    equation_12_step,
    theorem_2_chain,
)
from widenet.papers.brutzkus2018.claims.zero_loss import Separated, section_2_zero_minimum
from widenet.papers.brutzkus2018.runs.bad_minima import PointSet
from widenet.papers.brutzkus2018.runs.learning import Learning, Rule, samples_of
from widenet.papers.brutzkus2018.runs.nonconvexity import Landscape
from widenet.papers.brutzkus2018.runs.trials import trials_on
from widenet.types import Dataset, Progress, silent

MOST_POINTS = 400
"""Theorem 7 solves for n weights per labelling; beyond this many points it is left out."""


def settings_on(
    data: Dataset,
    *,
    n_runs: int = 3,
    n_neurons: int = 20,
    slope: float = 0.2,
    step_size: float = 1.0,
    seed: int = 0,
    separation: Separation | None = None,
) -> list[tuple[Claim, Any]]:
    """(claim, setting) for every claim that can be checked on one data set; `claim.check(setting)` gives a verdict.

    Statements about a distribution (Theorem 6) hold out half of what they do not train on, and find w* on all of the
    data, so their verdicts are heuristics and say so. Theorem 7 is left out beyond `MOST_POINTS` points.
    """
    inputs, labels = np.asarray(data.inputs, np.float64), np.asarray(data.labels, np.float64)
    if len(labels) < 4:
        raise DataError(f"the claims need at least 4 points, got {len(labels)}.")
    separation = find_separator(data) if separation is None else separation
    trials = trials_on(
        data,
        n_runs=n_runs,
        n_neurons=n_neurons,
        activation=leaky_relu(slope),
        step_size=step_size,
        seed=seed,
        separation=separation,
    )
    separator = np.asarray(trials.separators)[0]
    half, weight = n_neurons // 2, n_neurons**-0.5
    outputs = np.repeat([weight, -weight], half)
    book = Book((trials,))
    rule = Rule(half, slope, step_size)
    # Enough trials to decide "at most δ of them fail", where the data is large enough for Theorem 6 to speak.
    n_trials = 60 if separator.any() and rule.update_bound(float(np.linalg.norm(separator))) <= len(labels) else 3
    learning = Learning(samples_of(data, n_trials, len(labels) // 2, seed, separation), rule, seed)
    settings: list[tuple[Claim, Any]] = [
        (theorem_2, [trials]),
        *((claim, book) for claim in (equation_11_step, equation_11, equation_12_step, equation_12, theorem_2_chain)),
        (section_2_zero_minimum, [Separated(inputs, labels, separator, half, weight, slope)]),
        (proposition_1_2, [Landscape(inputs, labels, separator, outputs, slope)]),
        (theorem_6, [learning]),
    ]
    if len(labels) <= MOST_POINTS and data.dim >= 2:
        k = printed_half_width(len(labels), data.dim)
        settings.append((theorem_7, [Memory(inputs, labels[:, None], k, slope)]))
    if separator.any():
        # A separable set has no point at 0, and |F| ≤ G‖W*‖ with w* = 0 would say nothing.
        points = PointSet(inputs, labels, separator)
        settings += [(equation_9, book), (lemma_11, [points]), (theorem_8, [(points, half)])]
    return settings


def check_on(data: Dataset, progress: Progress = silent, **choices: Any) -> dict[str, Evidence]:
    """The evidence of every claim that can speak about this data, by claim id; `choices` are those of `settings_on`."""
    separation = find_separator(data)
    settings = settings_on(data, separation=separation, **choices)
    found = {}
    for index, (claim, setting) in enumerate(settings):
        progress(index / len(settings), claim.id)
        evidence = claim.check(setting, silent)
        if any(not each.met and each.name.startswith("separable") for each in evidence.hypotheses):
            # Why the hypothesis fails is a proof of its own; a reader should see it.
            evidence = evidence.model_copy(update={"note": f"{evidence.note} The data: {separation.sentence}.".strip()})
        found[claim.id] = evidence
    progress(1.0, "done")
    return found
