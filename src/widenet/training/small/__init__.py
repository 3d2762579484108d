"""Training in NumPy, for runs so short that compiling a program would cost more than running it."""

from widenet.training.small.course import SmallRuns, Update, train_small
from widenet.training.small.networks import Increment, Inputs, SmallNetworks
from widenet.training.small.orders import Look, Order, cyclic, permutations, uniform, with_replacement
from widenet.training.small.recorder import Recorder

__all__ = [
    "Increment",
    "Inputs",
    "Look",
    "Order",
    "Recorder",
    "SmallNetworks",
    "SmallRuns",
    "Update",
    "cyclic",
    "permutations",
    "train_small",
    "uniform",
    "with_replacement",
]
