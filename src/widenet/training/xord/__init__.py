"""Exact gradient descent on XORD by pattern sets: `train_patterns`, on the grid of `on_grid`."""

from widenet.training.xord.patterns import GRID, PatternTrajectory, class_weights, on_grid, train_patterns

__all__ = ["GRID", "PatternTrajectory", "class_weights", "on_grid", "train_patterns"]
