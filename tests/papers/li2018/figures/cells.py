"""Cells as `run_curves` leaves them, made up: what the paper says, with one number changed at will."""

from typing import Any

import numpy as np

from widenet.papers.li2018.runs.curves import Curves, CurveSetting
from widenet.papers.li2018.sources import Gaussians, Images

RUNS = np.arange(5)[:, None]


def made_up(
    setting: CurveSetting,
    *,
    pace: float,
    best: float = 1.0,
    target: float = 0.98,
    flips: float = 1.9,
    flip_power: float = -0.5,
    constant: float = 0.62,
    power: float = -0.5,
    falling: bool = False,
    cliff: int = 20,
    fall: float = 50.0,
    decay: float = 1.0,
    weight_fall: float = 1.0,
    weight_decay: float = 1.0,
) -> Curves:
    """Accuracy reaches the target at step `pace`, at distance constant·m^power; both grow on like log t."""
    steps = np.asarray(setting.looks)
    wobble = 1 + 0.01 * (RUNS - 2)
    rate = np.log((best - 0.1) / (best - target))
    accuracy = best - (best - 0.1) * np.exp(-rate * steps / (pace * wobble))
    growth = np.log1p(steps) * wobble
    growth = growth[:, ::-1] if falling else growth
    distance = constant * setting.width**power * growth / np.log1p(pace)
    changed = flips * setting.width**flip_power * growth / np.log1p(steps[-1])
    places = np.arange(100)
    update = 0.99**places * decay**places / np.where(places >= cliff, fall, 1.0)
    weights = 0.999**places * weight_decay**places / np.where(places >= 20, weight_fall, 1.0)
    return Curves(
        setting=setting,
        steps=steps,
        accuracy=accuracy,
        flips=changed,
        changed=np.minimum(1, 10 * changed),
        distance=distance,
        longest=distance,
        update_values=update * np.ones((5, 1)),
        weight_values=weights * np.ones((5, 1)),
    )


def synthetic_cell(width=1000, unit_norm=True, spread=1.0, per_class=2, **others) -> Curves:
    data = Gaussians(spread=spread, per_class=per_class, unit_norm=unit_norm)
    given: dict[str, Any] = {"pace": 14 - 0.3 * np.log2(width / 500), "cliff": 10 * per_class} | others
    return made_up(CurveSetting(data=data, width=width), **given)


def mnist_cell(width=1000, unit_norm=True, n_steps=800, **others) -> Curves:
    setting = CurveSetting(
        data=Images(unit_norm=unit_norm), width=width, n_steps=n_steps, each_step_until=0, cadence=20
    )
    given: dict[str, Any] = {
        "pace": 300.0,
        "best": 0.985,
        "target": 0.95,
        "flips": 0.8,
        "flip_power": -0.12,
        "constant": 8.5,
        "fall": 1.0,
        "decay": 0.9,
    }
    return made_up(setting, **given | others)


def both(make, values, name, **others):
    """With norm 1, and as drawn."""
    return [make(**{name: value, "unit_norm": norm}, **others) for norm in (True, False) for value in values]
