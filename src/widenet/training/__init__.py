"""Training: one run (`train`), many runs (`ensemble`), and what they are made of."""

from widenet.training.ensemble import ensemble
from widenet.training.flow import FlowReport, LinearClock, LossClock, Moment
from widenet.training.methods import SGD, Adam, Flow, GradientDescent, Method, Optax
from widenet.training.orders import Cyclic, Listed, Permutation
from widenet.training.recipe import Recipe
from widenet.training.record import OutputWatch, Record, Snapshot, Step, Watch
from widenet.training.schedules import LogSquared, StepRule
from widenet.training.stopping import loss_below, never, zero_error, zero_loss
from widenet.training.train import train
from widenet.training.widths import ensembles
from widenet.training.xord.patterns import PatternTrajectory, on_grid, train_patterns
from widenet.types import Layers

__all__ = [
    "SGD",
    "Adam",
    "Cyclic",
    "Flow",
    "FlowReport",
    "GradientDescent",
    "Layers",
    "LinearClock",
    "Listed",
    "LogSquared",
    "LossClock",
    "Method",
    "Moment",
    "Optax",
    "OutputWatch",
    "PatternTrajectory",
    "Permutation",
    "Recipe",
    "Record",
    "Snapshot",
    "Step",
    "StepRule",
    "Watch",
    "ensemble",
    "ensembles",
    "loss_below",
    "never",
    "on_grid",
    "train",
    "train_patterns",
    "zero_error",
    "zero_loss",
]
