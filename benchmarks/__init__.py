"""Peers side by side: the same data, sizes, dtype and steps, in one run.

`workloads` and `xord` hold what the peers are given, `jax_peers`, `torch_peers` and `ours` the peers, `limits` what the
machine allows, `measure` how they are compared and timed, `suite` what is run on which device.
"""
