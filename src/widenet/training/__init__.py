"""Training: one run (`train`), many runs (`ensemble`), and what they are made of."""

from widenet.training.closest import Closest, Found
from widenet.training.ensemble import ensemble
from widenet.training.flow import FlowReport, LinearClock, LogClock, LossClock, Moment
from widenet.training.methods import SGD, Adam, Flow, GradientDescent
from widenet.training.orders import Continued, Cyclic, Listed, Permutation, WithReplacement
from widenet.training.potentials import Move, Potentials
from widenet.training.recipe import Recipe, gradient_descent
from widenet.training.record import OutputWatch, Record, Snapshot, Step, Watch, every, log_spaced
from widenet.training.schedules import LogSquared, StepRule
from widenet.training.stopping import loss_below, never, zero_error, zero_loss
from widenet.training.train import train
from widenet.training.widths import ensembles
from widenet.training.xord.patterns import PatternTrajectory, on_grid, train_patterns
from widenet.types import Layers

__all__ = [
    "SGD",
    "Adam",
    "Closest",
    "Continued",
    "Cyclic",
    "Flow",
    "FlowReport",
    "Found",
    "GradientDescent",
    "Layers",
    "LinearClock",
    "Listed",
    "LogClock",
    "LogSquared",
    "LossClock",
    "Moment",
    "Move",
    "OutputWatch",
    "PatternTrajectory",
    "Permutation",
    "Potentials",
    "Recipe",
    "Record",
    "Snapshot",
    "Step",
    "StepRule",
    "Watch",
    "WithReplacement",
    "ensemble",
    "ensembles",
    "every",
    "gradient_descent",
    "log_spaced",
    "loss_below",
    "never",
    "on_grid",
    "train",
    "train_patterns",
    "zero_error",
    "zero_loss",
]
