"""Peers side by side: the same data, sizes, dtype and steps, in one run.

One file per family of peers, `workloads.py` for what they are given, `measure.py` for how they are timed. Every peer
is a function of (workload, steps) and returns a `Measured`, with its final weights, so that the peers can be compared
before their times are.
"""
