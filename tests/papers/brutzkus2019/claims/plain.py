"""The oracle of `traces`: automatic differentiation on real points, and every sum written out filter by filter."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from widenet.data.xord import PATTERNS
from widenet.networks.conv_maxpool import ConvMaxPool
from widenet.papers.brutzkus2019.runs.lattice import GROUPS
from widenet.papers.brutzkus2019.runs.traces import Series, Trace, TraceSetting
from widenet.types import Dataset, RunStatus


def points(*sets: tuple[int, ...], n_patches: int = 7) -> Dataset:
    """One point for each pattern set: every pattern at least once, the rest repeated at random places."""
    draw = np.random.default_rng(0)
    rows = [draw.permutation(np.resize(np.asarray(held) - 1, n_patches)) for held in sets]
    labels = [1.0 if {1, 3} & set(held) else -1.0 for held in sets]
    return Dataset(jnp.asarray(PATTERNS[np.array(rows)].reshape(len(sets), -1)), jnp.asarray(labels))


DIVERSE = ((1, 2, 3, 4), (2, 4)) * 3


def descend(setting: TraceSetting, fits: np.ndarray, data: Dataset, n_steps: int) -> np.ndarray:
    """Fits (t, run, filter, 2) of plain gradient descent in float64, in units of η."""
    eta, half = setting.step_size, setting.half_width
    votes = jnp.asarray(np.repeat([1.0, -1.0], half))
    positive = np.asarray(data.labels) > 0

    def loss(filters):
        outputs = jax.vmap(ConvMaxPool(filters, votes))(data.inputs)
        return jnp.mean(jnp.maximum(setting.margin - outputs[positive], 0)) + jnp.mean(
            jnp.maximum(1 + outputs[~positive], 0)
        )

    def step(filters, _):
        return filters - eta * jax.vmap(jax.grad(loss))(filters), filters

    start = jnp.asarray(eta * fits @ PATTERNS[:2] / 2)
    _, filters = jax.jit(lambda first: jax.lax.scan(step, first, length=n_steps + 1))(start)
    return np.asarray(filters) @ PATTERNS[:2].T / eta


def plain_trace(setting: TraceSetting, fits: np.ndarray, data: Dataset, n_steps: int) -> Trace:
    """The same record as `traces.follow`, from `descend` and the definitions of the paper."""
    course = np.swapaxes(descend(setting, fits, data, n_steps), 0, 1)
    values: dict[str, list] = {}
    for run in course:
        for name, series in _record(run, setting.half_width).items():
            values.setdefault(name, []).append(series)
    sums = {field.name for field in dataclasses.fields(Trace) if field.type is Series}
    arrays: dict[str, Any] = {name: np.array(rows, float if name in sums else int) for name, rows in values.items()}
    ranges: dict[str, Any] = {
        kind: {
            group: np.stack([arrays.pop(f"{kind}_{group}_0"), arrays.pop(f"{kind}_{group}_1")])
            for group in (GROUPS if kind.endswith("range") else GROUPS[:2])
        }
        for kind in ("a_range", "b_range", "a_step", "b_step")
    }
    moved = np.abs(np.diff(course, axis=1)).max(axis=(2, 3)) > 1e-6
    steps = np.where(moved.any(axis=1), n_steps - np.argmax(moved[:, ::-1], axis=1), 0)
    status = np.where(steps < n_steps, RunStatus.CONVERGED, RunStatus.BUDGET_SPENT)
    return Trace(setting, course[:, 0], course[:, -1], steps, status, **arrays, **ranges)


def _record(course: np.ndarray, half: int) -> dict[str, list]:
    """One run, (t, filter, 2), looked at filter by filter."""
    rows: dict[str, list] = {}
    first = course[0]
    best_0, minus_0 = _best(first, (1, 2, 3, 4)), _best(first, (2, 4))
    for t, fits in enumerate(course):
        after = course[min(t + 1, len(course) - 1)]
        best, next_best = _best(fits, (1, 2, 3, 4)), _best(after, (1, 2, 3, 4))
        on_plus, on_minus = _response(fits, (1, 2, 3, 4)), _response(fits, (2, 4))
        next_minus = _response(after, (2, 4))
        ws, us = range(half), range(half, 2 * half)
        odd = (1, 3)
        row = {
            "s_plus": sum(on_plus[j] for j in ws if best[j] in odd),
            "s_minus": sum(on_minus[j] for j in ws if best[j] in odd),
            "p_plus": sum(on_plus[j] for j in us if best[j] in odd),
            "p_minus": sum(on_minus[j] for j in us if best[j] in odd),
            "x": sum(on_plus[j] for j in ws if best[j] not in odd),
            "y": sum(on_plus[j] for j in us if best[j] not in odd),
            "s_plus_1": sum(on_plus[j] for j in ws if best[j] == 1),
            "y_2": sum(on_minus[j] for j in us if best_0[j] == 2),
            "y_4": sum(on_minus[j] for j in us if best_0[j] == 4),
            "z_2": sum(on_minus[j] for j in us if best_0[j] in odd and minus_0[j] == 2),
            "z_4": sum(on_minus[j] for j in us if best_0[j] in odd and minus_0[j] == 4),
            "y_kept": sum(next_minus[j] for j in us if best[j] not in odd and next_best[j] not in odd),
            "largest_r": max((on_minus[j] for j in ws if best_0[j] in odd), default=0.0),
            "w13": sum(best[j] in odd for j in ws),
            "u13": sum(best[j] in odd for j in us),
            "w_moved": sum(any((best[j] == i) != (best_0[j] == i) for i in odd) for j in ws),
            "u_left": sum(best_0[j] not in odd and best[j] in odd for j in us),
            "u_lost": sum(best[j] not in odd and next_best[j] in odd for j in us),
            "u_flipped": sum(np.sign(fits[j, 1]) != np.sign(first[j, 1]) for j in us),
        }
        groups = {
            "w13": [j for j in ws if best_0[j] in odd],
            "w24": [j for j in ws if best_0[j] not in odd],
            "u13": [j for j in us if best_0[j] in odd],
            "u24": [j for j in us if best_0[j] not in odd],
        }
        for group, members in groups.items():
            for place, letter in enumerate("ab"):
                moved = [np.round((fits - first)[j, place] * np.sign(first[j, place]) / 2) for j in members] or [0]
                row |= {f"{letter}_range_{group}_0": min(moved), f"{letter}_range_{group}_1": max(moved)}
                if group[0] == "w":
                    sign = first if letter == "a" else fits
                    step = [np.round((after - fits)[j, place] * np.sign(sign[j, place]) / 2) for j in members] or [0]
                    row |= {f"{letter}_step_{group}_0": min(step), f"{letter}_step_{group}_1": max(step)}
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    return rows


def _best(fits: np.ndarray, among: tuple[int, ...]) -> list[int]:
    with_patterns = np.stack([fits[:, 0], fits[:, 1], -fits[:, 0], -fits[:, 1]], axis=1)
    return [max(among, key=lambda i, row=row: row[i - 1]) for row in with_patterns]


def _response(fits: np.ndarray, among: tuple[int, ...]) -> list[float]:
    with_patterns = np.stack([fits[:, 0], fits[:, 1], -fits[:, 0], -fits[:, 1]], axis=1)
    return [max(0.0, *(row[i - 1] for i in among)) for row in with_patterns]
