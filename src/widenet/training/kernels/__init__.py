"""Kernels: ways of SGD to take the steps of a segment of ONE run. All compute the same algorithm.

Each has the signature of `plain.advance`, which is the oracle. `widenet.training.methods.sgd` chooses among them.
"""

from collections.abc import Callable

from widenet.training.engine.segment import Segment
from widenet.training.engine.state import State
from widenet.training.kernels import blocked, fused, gram, minibatch, plain, single

KERNELS: dict[str, Callable[[State, Segment], State]] = {
    "plain": plain.advance,
    "single": single.advance,
    "blocked": blocked.advance,
    "gram": gram.advance,
    "fused": fused.advance,
    "minibatch": minibatch.advance,
}
