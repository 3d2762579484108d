"""A wide and a narrow network on the same small training set, with the filters on the way: Figures 2, 3 and 6.

For each width many runs with fresh filters are trained; one of them is shown and trained once more, piece by piece, so
that its filters are known at chosen steps. XOR is XORD with one patch: its loss is a sum over four points, twice the
loss of `train_patterns`, so it takes twice the step size.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int

from widenet.data.xord import DIVERSE_NEGATIVE, DIVERSE_POSITIVE, PATTERN_SETS, SET_LABELS, set_index
from widenet.networks import ConvMaxPool
from widenet.training import on_grid, train_patterns
from widenet.training.xord import class_weights, outputs_on_sets
from widenet.types import Progress, silent

NETWORKS = ("wide", "narrow")

SET_NAMES = tuple("".join(str(pattern + 1) for pattern in np.flatnonzero(row)) for row in PATTERN_SETS)
"""The 15 pattern sets by the numbers of their patterns: "24" holds p₂ and p₄."""


class Recording(eqx.Module):
    """One run at chosen steps.

    Attributes:
      steps: how many gradient steps were taken; the first is 0, the last the end of the run.
      filters: w's, then u's.
      loss: ℓ, the sum of the mean losses of the two classes.
      outputs: N on the 15 pattern sets.
    """

    steps: Int[np.ndarray, " time"]
    filters: Float[np.ndarray, "time channel 2"]
    loss: Float[np.ndarray, " time"]
    outputs: Float[np.ndarray, "time 15"]


def decoy_counts(n_single: int = 0, n_per_class: int = 6) -> Int[np.ndarray, " 15"]:
    """Diverse positives, and as many negatives, of which `n_single` hold p₂ alone and the others both patterns."""
    counts = np.zeros(15, int)
    counts[DIVERSE_POSITIVE], counts[set_index(2)] = n_per_class, n_single
    counts[DIVERSE_NEGATIVE] = n_per_class - n_single
    return counts


def xor_counts() -> Int[np.ndarray, " 15"]:
    """The four points of XOR, as sets of one pattern."""
    counts = np.zeros(15, int)
    counts[[set_index(pattern) for pattern in (1, 2, 3, 4)]] = 1
    return counts


def record_run(
    network: ConvMaxPool,
    counts: Int[np.ndarray, " 15"],
    step_size: float,
    steps: Sequence[int],
    *,
    margin: float = 1.0,
) -> Recording:
    """Train one network (no run axis) and keep its filters after each of the given numbers of steps.

    Training is cut into pieces that start where the last one ended. Each piece takes exactly its steps, or fewer where
    the update has become exactly zero. The stopping rule is the caller's: it decides the last step.
    """
    times = np.array(sorted({0, *(int(step) for step in steps)}))
    current = ConvMaxPool(network.filters[None], network.output_weights[None])
    outputs = np.asarray(outputs_on_sets(network.filters[:, :1], network.filters[:, 1:])[:, 0])
    path, seen, losses = [np.asarray(network.filters)], [outputs], [_loss(outputs, counts, margin)]
    for n_steps in np.diff(times):
        piece = train_patterns(
            current, counts[None], step_size, margin=margin, max_steps=int(n_steps), patience=None, workers=1
        )
        current = piece.network
        path.append(np.asarray(current.filters[0]))
        seen.append(piece.outputs[0])
        losses.append(float(piece.loss[0]))
    return Recording(times, np.stack(path), np.array(losses), np.stack(seen))


def steps_on_log_scale(last: int, n_times: int) -> list[int]:
    """Whole steps from 0 to the last, about evenly spaced in log(1 + step)."""
    return np.unique(np.rint(np.expm1(np.linspace(0, np.log1p(last), n_times))).astype(int)).tolist()


def train_and_record(
    networks: ConvMaxPool,
    counts: Int[np.ndarray, " 15"],
    step_size: float,
    *,
    margin: float,
    patience: int | None,
    asked: Bool[np.ndarray, " 15"],
    failing: bool,
    n_times: int,
    progress: Progress = silent,
) -> tuple[dict[str, np.ndarray], Recording, int]:
    """Outcomes of all runs, the recording of the one that is shown, and its number.

    Arguments:
      asked: the sets on which a network should be right.
      failing: show the first run that is right on the training points (unless none of them can be: XOR) and wrong
        elsewhere; otherwise the first run.
    """
    every = np.tile(counts, (networks.filters.shape[0], 1))
    networks, step_sizes = on_grid(networks, every, step_size)
    runs = train_patterns(networks, every, step_sizes, margin=margin, patience=patience, progress=progress)
    wrong = ~(SET_LABELS * runs.outputs > 0) & asked
    outcomes = {
        "train_error": runs.train_error,
        "n_wrong_sets": wrong.sum(axis=1),
        "final_loss": runs.loss,
        "last_step": runs.steps,
        "status": runs.status,
    }
    shown = (
        _first_failure(runs.train_error, wrong, only_elsewhere=bool((asked & (counts == 0)).any())) if failing else 0
    )
    one = ConvMaxPool(networks.filters[shown], networks.output_weights[shown])
    times = steps_on_log_scale(int(runs.steps[shown]), n_times)
    return outcomes, record_run(one, counts, float(step_sizes[shown]), times, margin=margin), shown


def as_dataset(
    half_widths: Sequence[int],
    found: Sequence[tuple[dict[str, np.ndarray], Recording, int]],
    counts: Int[np.ndarray, " 15"],
    asked: Bool[np.ndarray, " 15"],
    **attributes: Any,
) -> xr.Dataset:
    """Both networks in one data set: outcomes by network and run, recordings by network name and step."""
    variables: dict[str, Any] = {
        name: (("network", "run"), np.stack([outcomes[name] for outcomes, _, _ in found])) for name in found[0][0]
    }
    coords: dict[str, Any] = {
        "network": list(NETWORKS),
        "run": np.arange(len(found[0][0]["train_error"])),
        "set": list(SET_NAMES),
        "axis": ["first", "second"],
    }
    variables["half_width"] = ("network", list(half_widths))
    variables["shown_run"] = ("network", [shown for _, _, shown in found])
    variables["n_training_points"] = ("set", counts)
    variables["asked"] = ("set", asked)
    for name, (_, recording, _) in zip(NETWORKS, found, strict=True):
        coords[f"{name}_step"] = recording.steps
        variables[f"{name}_filters"] = ((f"{name}_step", f"{name}_channel", "axis"), recording.filters)
        variables[f"{name}_loss"] = (f"{name}_step", recording.loss)
        variables[f"{name}_outputs"] = ((f"{name}_step", "set"), recording.outputs)
    return xr.Dataset(variables, coords, attributes)


def shares(numbers: xr.Dataset, network: str) -> dict[str, tuple[int, int]]:
    """How many of the runs end in each way, and how many there are."""
    of = numbers.sel(network=network)
    solved = of.train_error.values == 0
    right = of.n_wrong_sets.values == 0
    counted = {
        "recovers": solved & right,
        "zero training error, wrong elsewhere": solved & ~right,
        "training error left": ~solved,
    }
    return {name: (int(chosen.sum()), len(chosen)) for name, chosen in counted.items()}


def _first_failure(train_error: np.ndarray, wrong: np.ndarray, only_elsewhere: bool) -> int:
    failed = wrong.any(axis=1) & (train_error == 0) if only_elsewhere else wrong.any(axis=1)
    if not failed.any():
        raise ValueError(f"none of the {len(train_error)} runs fails in the way that is to be shown; take more runs")
    return int(failed.argmax())


def _loss(outputs: np.ndarray, counts: np.ndarray, margin: float) -> float:
    weights, total = class_weights(counts[None])
    asked = np.where(SET_LABELS > 0, margin, 1.0)
    return float((weights[0] * np.maximum(asked - SET_LABELS * outputs, 0)).sum() / total[0])


def reflected(networks: ConvMaxPool) -> ConvMaxPool:
    """A control: the same filters, but every w turned into the half-plane ⟨w, p₁⟩ > 0, so that none looks at p₃."""
    half = networks.filters.shape[1] // 2
    towards = jnp.sum(networks.filters, axis=-1, keepdims=True) > 0
    plus = jnp.where(towards, networks.filters, -networks.filters)[:, :half]
    return ConvMaxPool(jnp.concatenate([plus, networks.filters[:, half:]], axis=1), networks.output_weights)
