"""Gradient flow: clocks, kinks and sliding, one course of the solver. `methods.flow` has the method."""

from widenet.training.flow.clocks import Clock, LinearClock, LossClock
from widenet.training.flow.state import FlowReport, Moment

__all__ = ["Clock", "FlowReport", "LinearClock", "LossClock", "Moment"]
