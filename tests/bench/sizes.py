"""Sizes at which the whole benchmark takes seconds. Times mean nothing there, and nobody looks at them."""

from widenet.bench.suite import Sizes

TINY = Sizes(
    runs=3,
    steps=32,
    long=256,
    neurons=10,
    inputs=100,
    samples=384,
    xord_runs=4,
    xord_channels=4,
    xord_steps=16,
    xord_long=64,
    figure_runs=4,
    figure_repeats=1,
    figure_widths=(4,),
    scaled_runs=(3,),
    scaled_steps=(64, 256),
    scaled_long=128,
    memory_runs=2,
    memory_steps=(64, 128),
    rounds=2,
)
