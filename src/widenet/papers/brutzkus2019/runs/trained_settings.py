"""What the statements of Section 6 about wide networks run, beside `trained.corner_settings`.

No run reaches this module: what stands here is in the key of no cell.
"""

import math

from widenet.papers.brutzkus2019.formulas import steps_of_theorem_6_3
from widenet.papers.brutzkus2019.runs.trained import TrainedSetting, corner_settings
from widenet.records import Scale

EDGE = 201
"""A width on the edge of both propositions: 200.5 is asked for at γ = 8, c_η = 1/41, and at c_η = 1/161.9."""


def faster(scale: Scale, seed: int) -> TrainedSetting:
    """k = 120, γ = 8 with ten times the step, c_η = 1/41: same lemmas, a tenth of the time."""
    return corner_settings(scale, seed)[0].model_copy(update={"step_constant": 1 / 41, "max_steps": 12_000})


def convergence_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """Where Proposition E.14 is nearest to failing (narrow networks, large steps), and the other settings."""
    narrow = [
        TrainedSetting(
            half_width=20,
            step_constant=1 / 8,
            required_margin=margin,
            n_runs=840 if scale is Scale.QUICK else 2300,
            max_steps=20_000,
            seed=seed,
        )
        for margin in (1.0, 8.0)
    ]
    return [*narrow, faster(scale, seed), *corner_settings(scale, seed)]


def zero_loss_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """For Lemma E.17; at paper scale also the smallest width with the largest step."""
    edge = TrainedSetting(
        half_width=64, step_constant=1 / 8, required_margin=8.0, n_runs=1000, max_steps=20_000, seed=seed
    )
    return [*([edge] if scale is Scale.PAPER else []), faster(scale, seed), *corner_settings(scale, seed)]


def regime_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The corner of Theorem 6.3, and networks inside its regime, beyond the corner in one direction each."""
    inside = [(240, 1 / 410, 8.0), (120, 1 / 800, 8.0), (120, 1 / 410, 20.0)]
    if scale is Scale.PAPER:
        inside.append((121, 1 / 410, 8.0))
    return [
        *corner_settings(scale, seed),
        *(
            TrainedSetting(
                half_width=half_width,
                step_constant=step_constant,
                required_margin=margin,
                n_runs=10 if scale is Scale.QUICK else 100,
                max_steps=math.floor(steps_of_theorem_6_3(step_constant, margin)),
                seed=seed,
            )
            for half_width, step_constant, margin in inside
        ),
    ]


def _edge(scale: Scale, seed: int, step_constant: float, required_margin: float) -> TrainedSetting:
    return TrainedSetting(
        half_width=EDGE,
        step_constant=step_constant,
        required_margin=required_margin,
        n_runs=600 if scale is Scale.QUICK else 1200,
        max_steps=12_000,
        seed=seed,
    )


def positive_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The edge of Proposition E.18, at paper scale a second one (k = 112 at c_η = 1/410), and the corner."""
    second = TrainedSetting(
        half_width=112, step_constant=1 / 410, required_margin=8.0, n_runs=600, max_steps=103_000, seed=seed
    )
    edges = [_edge(scale, seed, 1 / 41, 8.0), *([second] if scale is Scale.PAPER else [])]
    return [*edges, *corner_settings(scale, seed)]


def negative_settings(scale: Scale, seed: int) -> list[TrainedSetting]:
    """The edge of Proposition E.22, and the corner."""
    return [_edge(scale, seed, 1 / 162, 1.0), *corner_settings(scale, seed)]
