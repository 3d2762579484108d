"""An experiment that writes down each computation, and that waits, fails or ends its process where it is told to."""

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float
from pydantic import model_validator

from widenet.claims.cases import Cases, Number
from widenet.claims.experiments import Experiment
from widenet.progress import Progress
from widenet.records import ClosedModel, Scale

LOG, TROUBLE = "WIDENET_TOY_LOG", "WIDENET_TOY_TROUBLE"


class Inner(ClosedModel):
    shift: float = 0.0


class ToySetting(ClosedModel):
    size: int = 2
    factor: float = 1.0
    n_runs: int = 3
    seconds: float = 0.0
    hashes: int = 0
    seed: int = 0
    inner: Inner = Inner()


@dataclass(frozen=True, eq=False)
class Products(Cases):
    product: Float[np.ndarray, " run"]
    size: Number

    @property
    def double(self) -> np.ndarray:
        return 2 * self.product


class PairSetting(ClosedModel):
    """k of n, and no thirteen."""

    k: int = 1
    n: int = 5
    n_runs: int = 2

    @model_validator(mode="after")
    def _k_is_at_most_n(self) -> "PairSetting":
        if self.n == 13:
            raise ZeroDivisionError("thirteen")
        if self.k > self.n:
            raise ValueError(f"k must be at most n, got {self.k} of {self.n}")
        return self


def run_pair(setting: PairSetting, progress: Progress) -> Products:
    return Products(np.full(setting.n_runs, float(setting.k)), setting.n)


def run(setting: ToySetting, progress: Progress) -> Products:
    """In the file of trouble, "0.5 2" makes factor 0.5 fail twice, "0.5 end" ends the process, "0.5 wait" waits."""
    name = f"{setting.size} {setting.factor:g} {setting.seed}"
    _write(f"start {os.getpid()} {name}")
    trouble = os.environ.get(TROUBLE)
    if trouble is not None:
        for line in Path(trouble).read_text().splitlines():
            factor, what = line.split()
            if float(factor) == setting.factor:
                if what == "end":
                    os._exit(1)
                if what == "wait":
                    while line in Path(trouble).read_text().splitlines():
                        time.sleep(0.02)
                elif _count(f"start {os.getpid()} {name}") <= int(what):
                    raise ArithmeticError(f"no product with {setting.factor}")
    time.sleep(setting.seconds)
    if setting.hashes:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", setting.hashes)  # one call, which no signal interrupts
    draws = np.random.default_rng([setting.seed, setting.size]).normal(size=setting.n_runs)
    _write(f"end {os.getpid()} {name}")
    return Products(draws * setting.factor + setting.inner.shift, setting.size)


def _write(line: str) -> None:
    if LOG in os.environ:
        handle = os.open(os.environ[LOG], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)


def _count(line: str) -> int:
    return Path(os.environ[LOG]).read_text().splitlines().count(line)


def settings(scale: Scale, seed: int) -> Sequence[ToySetting]:
    return [ToySetting(seed=seed), ToySetting(seed=seed, size=5)]


def pair_settings(scale: Scale, seed: int) -> Sequence[PairSetting]:
    return [PairSetting()]


@dataclass(frozen=True, eq=False)
class Plain:
    amount: float


def run_plain(setting: ToySetting, progress: Progress) -> Plain:
    _write(f"start {os.getpid()} {setting.factor:g}")
    return Plain(2 * setting.factor)


def run_named(setting: ToySetting, progress: Progress) -> xr.Dataset:
    _write(f"start {os.getpid()} {setting.factor:g}")
    return xr.Dataset({"amount": 2 * setting.factor})


plain = Experiment("toy.plain", settings, run_plain, seconds=0.01)
named = Experiment("toy.named", settings, run_named, seconds=0.01)
pairs = Experiment("toy.pairs", pair_settings, run_pair, seconds=0.01)
products = Experiment("toy.products", settings, run, seconds=0.01)
