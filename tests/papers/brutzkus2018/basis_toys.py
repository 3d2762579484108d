"""Runs of ReLU networks on the standard basis at toy size, and runs that were altered after the fact."""

import dataclasses

import numpy as np

from widenet.papers.brutzkus2018.runs.basis import BasisRuns, BasisShape, basis_start, train_batch

SHAPES = (
    BasisShape(n_runs=20, dim=8, half_width=2, step_size=0.3),
    BasisShape(n_runs=20, dim=6, half_width=5, step_size=0.7),
)


def starts(seed=0, *, mixed_labels=False, **others):
    draw = np.random.default_rng(seed)
    made = [basis_start(draw, shape, mixed_labels=mixed_labels, seed=seed) for shape in SHAPES]
    return [dataclasses.replace(start, **others) for start in made]


def trained(some_starts, perturbations=20, **others):
    batches = (train_batch(start, perturbations=perturbations, **others) for start in some_starts)
    return [BasisRuns(tuple(batches))]


def coherent_start(seed=0, dim=8, n_runs=60):
    """Unit vectors whose pairwise cosine is ½, so an update on one point moves all the others."""
    gram = np.full((dim, dim), 0.5) + 0.5 * np.eye(dim)
    shape = BasisShape(n_runs=n_runs, dim=dim, half_width=2, step_size=0.1)
    return dataclasses.replace(basis_start(np.random.default_rng(seed), shape, seed=0), inputs=np.linalg.cholesky(gram))


def altered(runs, **changes):
    """The first batch with arrays of its runs altered after the fact."""
    first, *others = runs[0].cases
    record = dataclasses.replace(first.runs, **{name: change(first) for name, change in changes.items()})
    return [BasisRuns((dataclasses.replace(first, runs=record), *others))]
