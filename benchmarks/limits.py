"""What the machine allows: the measured rate of matrix products, and of reading and writing memory.

A limit is the best the machine has done, so it is the fastest round and the fastest of several programs, where a peer's
time is its median. A peer can be below it only by doing less work than the limit counts.
"""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.measure import seconds_of
from benchmarks.threads import in_threads, shares
from widenet.training.engine.memory import cores

REPEATS = 32
"""Products in one measurement: with 8 the start of a call took a third of the time on a CPU."""
TINY = 1e-9
"""Keeps weights where they are, and the compiler from leaving anything out."""
COPIED_BYTES = {"cpu": 1 << 27, "gpu": 1 << 30}
SIX_PASSES = "BF16_BF16_F32_X6"


def device_name() -> str:
    """The GPU, or the CPU with the cores in use."""
    if jax.default_backend() != "cpu":
        return jax.devices()[0].device_kind
    name = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        lines = listed.read_text(encoding="utf-8").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    count = cores()
    return f"{name}, {count} core{'s' if count > 1 else ''}"


@runtime_checkable
class Workload(Protocol):
    """What every workload says of itself."""

    @property
    def name(self) -> str:
        """On the command line."""
        ...

    @property
    def dtype(self) -> str:
        """Of weights and data."""
        ...

    @property
    def closeness(self) -> str:
        """How near the weights of the peers must be: a key of `measure.TYPICAL`."""
        ...

    @property
    def n_runs(self) -> int:
        """Runs side by side."""
        ...

    @property
    def sizes(self) -> dict[str, int]:
        """What the times depend on."""
        ...

    @property
    def product_shape(self) -> tuple[int, int, int]:
        """Rows, inner size and columns of the product that a step cannot do without."""
        ...

    def products_per_step(self, active: float) -> float:
        """How many of them a step needs if this share of the steps changes something."""
        ...

    @property
    def bytes_per_step(self) -> float:
        """What a step must read and write."""
        ...


@dataclass
class Limit:
    """A rate that the machine reaches.

    Attributes:
      name: in the table.
      programs: different ways to do the same work; each waits for its own.
      us: microseconds per step and run for one second of the program.
      rate: the rate in words, for one second of the program.
      seconds: the fastest so far.
      compile_seconds: of the first calls.
    """

    name: str
    programs: list[Callable[[], Any]]
    us: float
    rate: Callable[[float], str]
    seconds: float = float("inf")
    compile_seconds: float = 0.0

    def measure(self) -> None:
        """One round."""
        if self.seconds == float("inf"):
            first = sum(seconds_of(program) for program in self.programs)
            self.compile_seconds = max(0.0, first - sum(seconds_of(program) for program in self.programs))
        self.seconds = min(self.seconds, *(seconds_of(program) for program in self.programs for _ in range(2)))

    @property
    def us_per_step_per_run(self) -> float:
        """What a step and run would cost if there were nothing else."""
        return self.us * self.seconds


def limits_of(workload: Workload, active: float = 1.0) -> list[Limit]:
    """Products first (float32 or float64 as the workload is), then copies."""
    found = [products(workload, active)]
    if jax.default_backend() == "gpu" and workload.dtype == "float32":
        found.append(products(workload, active, SIX_PASSES))
    return [*found, copies(workload)]


def products(workload: Workload, active: float = 1.0, algorithm: str = "") -> Limit:
    """Products of the workload's shape, all runs side by side, and there and back without leaving the device; on a
    CPU also run by run with one thread per core, and each run's products one after the other, so that its weights stay
    in the cache. The fastest way counts.
    """
    (rows, inner, columns), per_product = workload.product_shape, workload.products_per_step(active)
    n_runs, on_gpu = workload.n_runs, jax.default_backend() == "gpu"
    draw = np.random.default_rng(0)
    left = jnp.asarray(draw.normal(size=(n_runs, rows, inner)), workload.dtype)
    right = jnp.asarray(draw.normal(size=(n_runs, inner, columns)), workload.dtype)
    precision: Any = jax.lax.Precision.HIGHEST
    if on_gpu and workload.dtype == "float32":
        precision = getattr(jax.lax.DotAlgorithmPreset, algorithm or "F32_F32_F32")
    multiply = jax.jit(lambda a, b: jnp.matmul(a, b, precision=precision))

    parts = [(left[share], right[share]) for share in shares(n_runs)]
    one_by_one = jax.jit(lambda a, b: jax.lax.map(lambda pair: multiply(*pair), (a, b)))

    def there_and_back(pair: tuple[jax.Array, jax.Array]) -> jax.Array:
        """As many products as elsewhere, each from the result of the one before: none can be left out."""
        a, b = pair

        def step(b, _):
            return (b + TINY * multiply(a.T, multiply(a, b)), None)

        return jax.lax.scan(step, b, None, length=REPEATS // 2)[0]

    in_cache = jax.jit(lambda a, b: jax.lax.map(there_and_back, (a, b)))

    def side_by_side() -> Any:
        # Repeated by calls: inside one program the compiler would see that all repeats are the same, and do one.
        return jax.block_until_ready([multiply(left, right) for _ in range(REPEATS)])

    programs: list[Callable[[], Any]] = [side_by_side]
    if on_gpu:
        on_device = jax.jit(jax.vmap(lambda a, b: there_and_back((a, b))))
        programs.append(lambda: on_device(left, right).block_until_ready())
    else:
        numbers, out = list(zip(np.asarray(left), np.asarray(right), strict=True)), np.empty(0)

        def in_numpy() -> Any:
            nonlocal out
            for a, b in numbers * REPEATS:
                out = np.matmul(a, b, out=out if out.size else None)

        def repeated(*part):
            return [one_by_one(*part).block_until_ready() for _ in range(REPEATS)]

        def waiting(*part):
            return in_cache(*part).block_until_ready()

        programs += [lambda: in_threads(repeated, parts), lambda: in_threads(waiting, parts), in_numpy]
    flops = 2.0 * REPEATS * n_runs * rows * inner * columns
    name = f"limit: products{', six-pass bfloat16' if algorithm == SIX_PASSES else ''}"
    return Limit(
        name,
        programs,
        1e6 * per_product / REPEATS / n_runs,
        lambda seconds: f"{flops / seconds / 1e9:,.0f} GFLOP/s, {workload.dtype}",
    )


def copies(workload: Workload) -> Limit:
    """Reading and writing an array that is too large for a cache, scaled to the weights of the workload."""
    size = COPIED_BYTES["gpu" if jax.default_backend() == "gpu" else "cpu"]
    held = [jnp.ones(size // 4, jnp.float32)]
    add = jax.jit(lambda x: x + 1, donate_argnums=0)  # in place: the pages of a fresh array cost more than its bytes

    def once() -> Any:
        held[0] = add(held[0]).block_until_ready()

    return Limit(
        "limit: memory",
        [once],
        1e6 * workload.bytes_per_step / (2 * size),
        lambda seconds: f"{2 * size / seconds / 1e9:,.0f} GB/s",
    )
