"""Training in NumPy, for runs so short that compiling a program would cost more than running it."""

from widenet.training.small.networks import Increment, Inputs, SmallNetworks
from widenet.training.small.orders import Choice, NextSample, cyclic, permutations, uniform, with_replacement
from widenet.training.small.recorder import Recorder
from widenet.training.small.trainer import SmallRuns, Update, train_small

__all__ = [
    "Choice",
    "Increment",
    "Inputs",
    "NextSample",
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
