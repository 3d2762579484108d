"""A plugin of pytest that weakens the program: `-p tools.weakened --weakened NAME`. The tests beside it must fail.

They show that the numeric tests notice a dropped term, and float32 where float64 is meant, on a machine with other
roundings too: tolerances that were widened until everything passes there would let these pass.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


def _without_the_last_term() -> None:
    """M_k of Theorem 2 without 2R‖w*‖/(ηvα)."""
    from widenet.papers.brutzkus2018 import formulas

    whole = formulas.update_bound_terms
    formulas.update_bound_terms = lambda *given: whole(*given)[:-1]


def _points_in_float32() -> None:
    """Separability decided on rounded points."""
    from widenet.diagnostics import separability

    whole = separability._judge
    separability._judge = lambda rows, *others: whole(rows.astype(np.float32).astype(np.float64), *others)


def _products_in_float32() -> None:
    """Every product of the networks in single precision."""
    import jax.numpy as jnp

    from widenet.networks import two_layer

    whole = two_layer.TwoLayer.__call__

    def rounded(self: two_layer.TwoLayer, x: Any) -> Any:
        return jnp.asarray(whole(self, x), jnp.float32).astype(jnp.float64)

    two_layer.TwoLayer.__call__ = rounded


WEAKENED: dict[str, tuple[Callable[[], None], str]] = {
    "a term of M_k dropped": (_without_the_last_term, "tests/papers/brutzkus2018/test_formulas.py"),
    "points in float32": (_points_in_float32, "tests/diagnostics/test_separability.py"),
    "outputs in float32": (_products_in_float32, "tests/networks/test_two_layer.py"),
}
"""What is weakened, and the tests that must notice."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which weakening."""
    parser.addoption("--weakened", choices=list(WEAKENED))


def pytest_configure(config: pytest.Config) -> None:
    """Weakens the program before a test has seen it."""
    if (name := config.getoption("--weakened")) is not None:
        WEAKENED[name][0]()
