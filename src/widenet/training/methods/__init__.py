"""Methods: how a step moves the weights. Each is a value that a `Recipe` holds."""

from widenet.training.methods.base import Method
from widenet.training.methods.descent import GradientDescent
from widenet.training.methods.flow import Flow
from widenet.training.methods.optimizers import Adam, Optax
from widenet.training.methods.sgd import SGD

__all__ = ["SGD", "Adam", "Flow", "GradientDescent", "Method", "Optax"]
