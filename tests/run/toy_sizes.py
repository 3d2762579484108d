"""A setting of each experiment that takes a moment: the first of quick scale, with smaller numbers where needed."""

from typing import Any

from widenet.claims import Experiment
from widenet.records import ClosedModel, Scale

SMALL_MNIST = {"n_train": 40, "n_test": 20}

TOYS: dict[str, dict[str, Any]] = {
    "brutzkus2018.bad_minimum": {"n_train": 10, "n_test": 10, "multiples": (1,), "n_sets": 1},
    "brutzkus2018.recorded_runs": {"trials": {"n_batches": 1, "per_batch": 2, "max_bound": 300.0}},
    "brutzkus2018.learning": {"samples": {"trials": 2, "n_samples": 20}},
    "brutzkus2018.mnist": {"width": 4, "n_runs": 1, "max_epochs": 1, **SMALL_MNIST},
    "brutzkus2018.mnist_separator": {"n_train": 40},
    "brutzkus2018.sign_scan": {
        "width": 4, "step_sizes": (0.1,), "n_pilot": 1, "n_runs": 1, "max_epochs": 1, **SMALL_MNIST
    },
    "brutzkus2018.step_sizes": {"powers": (-1, 0), "n_runs": 1},
    "brutzkus2019.explored": {"widths": (1, 2, 3)},
    "brutzkus2019.mnist_filters": {
        "pairs": ((0.01, 0.01),), "n_runs": 1, "wide_epochs": 1, "narrow_epochs": 1, **SMALL_MNIST
    },
    "brutzkus2019.octants": {"max_steps": 20},
    "brutzkus2019.one_patch": {"n_runs": 1},
    "brutzkus2019.recorded_runs": {"half_width": 2, "n_runs": 2, "n_times": 5},
    "brutzkus2019.recovery": {"n_runs": 2, "margins": (1.0,)},
    "brutzkus2019.sampled_runs": {"n_runs": 4},
    "brutzkus2019.samples": {"n_runs": 2, "half_width": 4, "max_steps": 50, "per_class": 2},
    "brutzkus2019.same_pattern_set": {"n_words": 6, "n_networks": 2},
    "brutzkus2019.traces": {"n_runs": 1},
    "brutzkus2019.trained": {"half_width": 4, "n_runs": 2, "max_steps": 50},
    "brutzkus2019.sign_flips": {"n_pairs": 2, "max_steps": 20},
    "brutzkus2019.xord_descents": {"n_runs": 1, "half_width": 2},
    "li2018.descents": {"width": 20, "n_steps": 3, "thresholds": (0.05,), "n_fresh": 2},
    "li2018.curves": {
        "data": {"dim": 20, "n_points": 20}, "width": 20, "n_runs": 1, "n_steps": 4, "n_test": 10, "n_patterns": 5,
        "each_step_until": 2, "cadence": 2
    },
    "li2018.batches": {"width": 20, "n_batches": 3, "n_reference": 200},
    "li2018.drops": {"width": 20, "n_steps": 2, "batch_size": 4, "n_reference": 20},
    "li2018.passes": {"width": 20, "n_steps": 3, "n_test": 20},
    "li2018.fits": {"width": 20, "max_steps": 3},
    "li2018.large_gradients": {"width": 20, "n_random": 2, "n_steps": 4, "every": 2, "n_wrong": 1},
    "chatterji2021.descents": {"n_steps": 20},
    "chatterji2021.first_steps": {"n_runs": 2, "half_width": 20},
    "chatterji2021.networks": {"networks": {"n_networks": 5}},
    "chatterji2021.simulations": {"n_runs": 1, "n_samples": 8, "half_width": 4, "n_steps": 3},
    "chatterji2021.second_phases": {"half_width": 10, "n_steps": 5},
    "chatterji2021.start_draws": {"half_width": 10, "n_draws": 20},
    "sarussi2021.clouds": {"n_networks": 5},
    "sarussi2021.curves": {"points": {"n_samples": 10}, "n_runs": 1, "looks": (0, 1, 10), "half_width": 2},
    "sarussi2021.epochs": {"deviations": (0.1,), "n_runs": 1, "most_epochs": 50},
    "sarussi2021.flows": {"half_width": 1, "until": 5},
    "sarussi2021.maps": {
        "points": {"n_samples": 10, "n_test": 10}, "slopes": (0.1,), "step_sizes": (0.01,), "deviations": (0.001,),
        "looks": (0, 1), "half_width": 2
    },
}  # fmt: skip
"""What is smaller in the toy of an experiment; an object is a record inside the setting."""


def toy(experiment: Experiment, seed: int = 0, place: int = 0) -> ClosedModel:
    """A small setting of an experiment: the first, or the one at `place`, counted on from the last to the first."""
    settings = experiment.settings(Scale.QUICK, seed)
    return _smaller(settings[place % len(settings)], TOYS.get(experiment.id, {}))


def _smaller(setting: ClosedModel, changes: dict[str, Any]) -> ClosedModel:
    inside = {name: _smaller(getattr(setting, name), each) for name, each in changes.items() if isinstance(each, dict)}
    # Checked as if a reader had written it: a change that the record does not know is a mistake in the table.
    return type(setting).model_validate({**dict(setting), **changes, **inside})
