"""The engine is tested under JAX's strict promotion: no dtype and no rank changes unless the code says so.

Not under it: XORD by pattern sets, where a number per lane meets arrays of channels and lanes in nearly every line and
its runs are compared bit for bit with an oracle instead; and optax, which multiplies floats and counts (`Adam` lets
it).
"""

from collections.abc import Iterator, Sequence

import jax
import pytest

NAMES = "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion"


@pytest.fixture(scope="module", autouse=True)
def strict_promotion(request: pytest.FixtureRequest) -> Iterator[None]:
    """For all tests of a module and what they share; in all threads, as a context would not be."""
    before = [jax.config.values[name] for name in NAMES]
    if request.path.parent.name != "xord":
        _set(("strict", "raise"))
    yield
    _set(before)


def _set(values: Sequence[str]) -> None:
    for name, value in zip(NAMES, values, strict=True):
        jax.config.update(name, value)


@pytest.fixture
def as_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is chosen on a CPU, wherever the tests run."""
    monkeypatch.setattr(jax, "default_backend", lambda: "cpu")
