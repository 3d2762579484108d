"""Kernels: ways to take the steps from `start` to `stop` of ONE run. All compute the same algorithm.

Each has the signature of `plain.advance`, which is the oracle. `choose` picks the fastest one that fits.
"""

from collections.abc import Callable
from typing import Any

from widenet.training.kernels import block, blocked, fused, gram, plain
from widenet.training.recipe import Recipe
from widenet.types import Dataset

Advance = Callable[..., Any]

KERNELS: dict[str, Advance] = {
    "plain": plain.advance,
    "blocked": blocked.advance,
    "gram": gram.advance,
    "fused": fused.advance,
}


def choose(network: Any, data: Dataset, recipe: Recipe, watch: Any) -> str:
    """The name of the kernel for this request."""
    if recipe.kernel != "auto":
        if recipe.kernel not in KERNELS:
            raise ValueError(f"kernel must be 'auto' or one of {sorted(KERNELS)}, got {recipe.kernel!r}")
        if recipe.kernel in ("blocked", "gram") and not block.fits(network, watch):
            raise ValueError(
                f"the {recipe.kernel} kernel trains a TwoLayer network without a watch, or with an OutputWatch or"
                " a PotentialWatch"
            )
        if recipe.kernel == "fused" and not fused.fits(network, data, recipe, watch):
            raise ValueError(
                "the fused kernel trains the hidden layer of a TwoLayer network with one output and at most"
                f" {fused.MOST_NEURONS} neurons, one sample per step, without a watch, on a GPU in float32"
            )
        return recipe.kernel
    if fused.fits(network, data, recipe, watch) and fused.pays(network, data):
        return "fused"
    batch_size = recipe.batch_size or data.n_samples
    if block.fits(network, watch) and batch_size <= block.ROWS // 2:
        return "gram" if gram.pays(data) else "blocked"
    return "plain"
