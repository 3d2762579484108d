"""The vocabulary every layer shares: data sets and run outcomes.

Importing this module turns on 64-bit floats in JAX. Claims are decided in float64, and a flag that is set
after the first array exists would be too late. Arrays keep the dtype they are given: float32 data is trained
in float32.
"""

import enum
import numbers
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float, Int, Key, PyTree

from widenet.errors import DataError

jax.config.update("jax_enable_x64", True)

RunKey = Key[Array, ""]
RunKeys = Key[Array, " run"]


class Layers(enum.StrEnum):
    """Which layers training moves."""

    HIDDEN = "hidden"
    """The first layer and its biases; the output weights stay."""
    BOTH = "both"


class Dataset(eqx.Module):
    """Inputs and their labels. A leading run axis on both makes it one data set per run.

    The paper's S = {(x_i, y_i)}; inputs are rows.
    """

    inputs: Float[Array, "*run sample dim"]
    labels: Float[Array, "*run sample"]

    @property
    def is_per_run(self) -> bool:
        """Whether there is a leading run axis."""
        return self.inputs.ndim == 3

    @property
    def n_samples(self) -> int:
        """How many points (n)."""
        return self.labels.shape[-1]

    @property
    def dim(self) -> int:
        """The input dimension (d)."""
        return self.inputs.shape[-1]

    def __getitem__(self, rows: Any) -> "Dataset":
        """A subset by index, slice or mask along the leading axis."""
        return Dataset(self.inputs[rows], self.labels[rows])


def require_dataset(given: Any) -> Dataset:
    """What was given, if it is a data set.

    Raises:
      DataError: it is something else.
    """
    if not isinstance(given, Dataset):
        kind = type(given).__name__
        raise DataError(f"data must be a widenet.Dataset, got {kind}; widenet.from_arrays(inputs, labels) makes one.")
    return given


def require_key(given: Any) -> Any:
    """What was given, if it is a JAX key, new or old (two 32-bit numbers).

    Raises:
      ValueError: it is something else.
    """
    dtype = getattr(given, "dtype", None)
    if dtype is None or not (jax.numpy.issubdtype(dtype, jax.dtypes.prng_key) or dtype == np.uint32):
        raise ValueError(f"key must be a JAX key such as jax.random.key(0), got {given!r}")
    return given


def require_count(name: str, given: Any) -> int:
    """What was given, if it counts things of which there must be one.

    Raises:
      ValueError: it is no whole number, or below 1.
    """
    if not isinstance(given, numbers.Integral) or isinstance(given, bool) or given < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {given!r}")
    return int(given)


def require_float(given: Any) -> np.dtype:
    """What was given, if it is a floating-point dtype: whole numbers would round every weight to 0.

    Raises:
      ValueError: it is something else.
    """
    try:
        dtype = np.dtype(given)
    except TypeError:
        dtype = None
    if dtype is None or not jax.numpy.issubdtype(dtype, np.floating):
        raise ValueError(f"dtype must be a floating-point type such as float64 or float32, got {given!r}")
    return dtype


class RunStatus(enum.IntEnum):
    """Why a run ended. Failure is data: a diverged run is counted and shown, never dropped."""

    RUNNING = 0
    CONVERGED = 1
    BUDGET_SPENT = 2
    STALLED = 3
    DIVERGED = 4
    FROZEN = 5
    UNRESOLVED = 6

    @property
    def sentence(self) -> str:
        """The member in words."""
        return {
            RunStatus.RUNNING: "still running",
            RunStatus.CONVERGED: "the stopping rule was satisfied",
            RunStatus.BUDGET_SPENT: "the step budget was spent before the stopping rule was satisfied",
            RunStatus.STALLED: "no training point produces an update any more, and the loss is not zero",
            RunStatus.DIVERGED: "a weight or a loss is no longer finite",
            RunStatus.FROZEN: "updates are smaller than the last digit of the weights, or the loss than any number",
            RunStatus.UNRESOLVED: "the solver of the gradient flow could not reach its tolerance",
        }[self]


class Trajectory(eqx.Module):
    """What training leaves behind. From `ensemble`, every array has a leading run axis.

    Attributes:
      network: the network after the last step.
      status: one `RunStatus` per run.
      steps: steps taken until the run was stopped.
      updates: steps whose update was not identically zero (T in brutzkus2018). With mini-batches the fast kernels
        count a step at which the samples move the weights one by one and cancel exactly; the plain one does not.
      mistakes: steps at which the sampled point had the wrong sign (y N(x) ≤ 0).
      last_update: the step number, from 1, of the last non-zero update; 0 if there was none.
      zero_loss_step: the first step count at which every training loss is exactly 0; -1 if never.
      loss: the mean training loss at the end; NaN or infinite where the run diverged.
      times: the step counts at which `records` were taken.
      records: what the `Record` computed, the time axis right after the run axis.
      watched: the final value of the `Watch`, or None.
      report: what the method tells of a run beside its weights (a `FlowReport` of `Flow`), or None.
    """

    network: PyTree
    status: Int[np.ndarray, "*run"]
    steps: Int[np.ndarray, "*run"]
    updates: Int[np.ndarray, "*run"]
    mistakes: Int[np.ndarray, "*run"]
    last_update: Int[np.ndarray, "*run"]
    zero_loss_step: Int[np.ndarray, "*run"]
    loss: Float[np.ndarray, "*run"]
    times: tuple[int, ...] = eqx.field(static=True)
    records: dict[str, np.ndarray]
    watched: PyTree = None
    report: PyTree = None

    def __repr__(self) -> str:
        """How the runs ended and what was recorded. Arrays of numbers: compiled programs hold others."""
        if not isinstance(self.status, np.ndarray | np.generic | int) or not isinstance(self.records, dict):
            return super().__repr__()
        found = np.atleast_1d(self.status)
        ends = ", ".join(f"{self.count(each)} {each.name}" for each in RunStatus if (found == each).any())
        records = ", ".join(f"{name} {np.shape(values)}" for name, values in self.records.items())
        return f"<Trajectory: {ends}{f'; records {records}' if records else ''}>"

    def count(self, status: RunStatus) -> int:
        """How many runs ended with this status."""
        return int(np.sum(self.status == status))
