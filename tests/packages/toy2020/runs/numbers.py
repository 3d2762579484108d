"""Runs that take as long as they are told to, and leave a line in a log when they are really made."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from widenet.claims.cases import Cases, Count
from widenet.claims.experiments import Experiment
from widenet.progress import Progress, over
from widenet.records import ClosedModel, Scale

LOG = "TOY_LOG"
"""The environment variable that names the log."""
GATE = "TOY_GATE"
"""The environment variable that names a file: all runs but the first wait until it exists."""


class NumbersSetting(ClosedModel):
    """Which of the runs, and how long it takes."""

    place: int
    seconds: float
    seed: int
    size: int = 64
    own_data: str | None = None


@dataclass(frozen=True, eq=False)
class Numbers(Cases):
    """The weights at the end, and the losses on the way."""

    weights: Float[np.ndarray, "neuron dim"]
    losses: Float[np.ndarray, " step"]
    place: Count


def write_log(words: str) -> None:
    if name := os.environ.get(LOG):
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(f"{words} {os.getpid()}\n")


def wait_at_gate() -> None:
    if name := os.environ.get(GATE):
        while not Path(name).exists():
            time.sleep(0.01)


def run(setting: NumbersSetting, progress: Progress) -> Numbers:
    """A few products of matrices that are large enough to be shared by threads, and naps in between."""
    write_log(f"start {setting.place}")
    if setting.place > 0:
        wait_at_gate()
    key = jax.random.fold_in(jax.random.key(setting.seed), setting.place)
    weights = jax.random.normal(key, (setting.size, setting.size), jnp.float64)
    losses = []
    for _ in over(range(10), progress, "naps"):
        time.sleep(setting.seconds / 10)
        weights = jnp.tanh(weights @ weights.T / setting.size + weights)
        losses.append(float(jnp.sum(weights**2)))
    write_log(f"end {setting.place}")
    return Numbers(np.asarray(weights), np.array(losses), setting.place)


def settings(scale: Scale, seed: int) -> Sequence[NumbersSetting]:
    """Three at once, or six that take half a second each."""
    count, seconds = (3, 0.0) if scale is Scale.QUICK else (6, 0.5)
    return [NumbersSetting(place=place, seconds=seconds, seed=seed) for place in range(count)]


numbers = Experiment("toy2020.numbers", settings, run, seconds=4.0)
