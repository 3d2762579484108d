"""The data sets you can name. No JAX: a list of them is there at once."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A line of `DATASETS`: one sentence, and where the function lies that makes the distribution."""

    description: str
    maker: str

    @property
    def make(self) -> Callable[..., Any]:
        """Makes the distribution; its module is imported now."""
        module, name = self.maker.split(".")
        return getattr(importlib.import_module(f"widenet.data.{module}"), name)


DATASETS: dict[str, Entry] = {
    "separable": Entry("points of the unit ball with a known separator through the origin", "separable.make_separable"),
    "xord": Entry("XOR detection: d patches of ±1 pairs, +1 where a pair agrees (brutzkus2019)", "xord.make_xord"),
    "clusters": Entry("four clusters of unit vectors, two of each class (chatterji2021)", "clusters.make_clusters"),
    "xor_mixture": Entry(
        "four Gaussians in the plane with centres like XOR (chatterji2021)", "mixtures.make_xor_mixture"
    ),
    "shoulders": Entry("the same, two centres crowding a third (chatterji2021)", "mixtures.make_shoulders"),
    "mnist": Entry("MNIST images of two digits, 3 against 5 unless told otherwise", "mnist.load_digits"),
}
