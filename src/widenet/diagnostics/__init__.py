"""Observations: arrays in, arrays out."""

from widenet.diagnostics.margins import margins, mean_loss, training_error
from widenet.diagnostics.separability import Separation, find_separator

__all__ = ["Separation", "find_separator", "margins", "mean_loss", "training_error"]
