"""Runs that several test files share, so that each is computed once per process."""

import dataclasses

from widenet.papers.brutzkus2019.runs.traces import Setting

FAST = Setting(half_width=120, step_constant=1 / 41, margin=8.0, n_runs=100, seed=1)
"""The widths of Theorem 6.3 with a larger step: ten times fewer iterations."""
SMALL = Setting(half_width=4, step_constant=1 / 8, margin=2.0, n_runs=6, seed=3)
SCATTERED = dataclasses.replace(SMALL, spread=200.0)
"""Initial weights far outside the event of Lemma E.3."""
