"""A user's points as a training set of XORD, and what each experiment runs on them."""

import numpy as np

from widenet.claims.silence import Applied, Silence
from widenet.claims.specimen import Specimen
from widenet.errors import DataError
from widenet.papers.brutzkus2019.formulas import LARGEST_STEP, SMALL_NET_STEP, SMALLEST_WIDTH, largest_deviation
from widenet.papers.brutzkus2019.runs.decoy import DECOY, decoy_on
from widenet.papers.brutzkus2019.runs.set_mates import SetMatesSetting
from widenet.papers.brutzkus2019.runs.trained import OctantSetting, TrainedSetting, corner, narrow_budget
from widenet.papers.brutzkus2019.runs.training_set import TrainingSet, from_data
from widenet.papers.brutzkus2019.runs.twins import twin_setting
from widenet.papers.brutzkus2019.runs.xord_descent import MAX_STEPS, DescentSetting

WRONG_LABEL = "with a label that is not f*(x), which is +1 where (1, 1) or (-1, -1) occurs"
NOT_SIGNS = "with an entry that is not ±1"

OWN_RUNS = 600
"""Networks on a user's data unless more are chosen. 557 can confirm Theorem 6.3, 1115 Propositions E.18 and E.22,
2232 Proposition E.14."""

LARGEST_OWN_MARGIN = 100.0
"""A larger γ takes more than a million steps to be certain."""

MOST_RUNS = 20
"""Networks, or pairs of them, of which an identity is checked: more show no more."""


def points_of(specimen: Specimen) -> TrainingSet | Silence:
    """A user's points as training sees them: with a point of XORD of each class, diverse if so chosen."""
    try:
        points = from_data(specimen.data)
    except DataError as error:
        return Silence(f"It speaks about XORD: {error}")
    if not specimen.choices.diverse_only:
        positive, negative = points.per_class
        if positive and negative:
            return points
        return Silence(
            f"It needs points of XORD of each class, got {positive} of +1 and {negative} of -1; left out: "
            f"{_reasons({NOT_SIGNS: points.not_signs, WRONG_LABEL: points.mislabelled})}."
        )
    part = points.diverse_part()
    if min(part.per_class):
        return part.model_copy(update={"whole": points})
    positive, negative = points.diverse
    return Silence(
        f"Among diverse points alone it needs one of each class, got {positive} of +1 and {negative} of -1; left out: "
        f"{_why_left_out(points)}."
    )


def about_diversity(points: TrainingSet) -> str:
    """How many points are not diverse or were left out, and why; "" where there is nothing to say."""
    if points.whole is not None:
        left_out = points.whole.size - points.size
        if not left_out:
            return "All points are diverse; none was left out."
        return f"{left_out} of {points.whole.size} points were left out: {_why_left_out(points.whole)}."
    if not points.non_diverse:
        return ""
    part = min(points.diverse)
    advice = f"; there are {part} diverse points of each class to ask about alone" if part else ""
    return f"{points.non_diverse} of {points.size} points lack a pattern that their class can have{advice}."


def _why_left_out(points: TrainingSet) -> str:
    return _reasons(
        {
            "not diverse": points.non_diverse,
            WRONG_LABEL: points.mislabelled,
            NOT_SIGNS: points.not_signs,
            "diverse but without a partner in the other class": abs(points.diverse[0] - points.diverse[1]),
        }
    )


def _reasons(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in counts.items() if count) or "none"


def fixed_by_regime(specimen: Specimen, half_width: int, step_constant: float) -> dict[str, str]:
    """The choices that a regime of the paper replaces: width, step and start are those of the statement."""
    deviation = largest_deviation(step_constant, half_width)
    fixed = {
        "step_size": f"η = c_η/k = {step_constant / half_width:.3g} is used",
        "init_scale": f"Gaussian weights with σ_g = {deviation:.3g} are used",
        "slope": "these networks have ReLU",
    }
    if specimen.choices.n_neurons != 2 * half_width:
        fixed["n_neurons"] = f"networks with k = {half_width}, {2 * half_width} neurons, are trained"
    return fixed


def up_to(specimen: Specimen, max_steps: int) -> int:
    """The budget of steps: this one, or the user's where it is smaller."""
    return min(specimen.choices.max_updates or max_steps, max_steps)


def _points_in_time(specimen: Specimen) -> TrainingSet | Silence:
    """The points, unless γ takes too long."""
    points, margin = points_of(specimen), specimen.choices.required_margin
    if not isinstance(points, Silence) and margin > LARGEST_OWN_MARGIN:
        return Silence(f"γ = {margin:g} takes too long; up to {LARGEST_OWN_MARGIN:g} is tried.")
    return points


def wide_on(specimen: Specimen) -> Applied | Silence:
    """Networks at the corner of Theorem 6.3 on a user's points, the same for every statement about wide networks.

    A set with points that are not diverse may need the whole budget of steps.
    """
    points, choices = _points_in_time(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    setting = corner(choices.seed, choices.n_runs or OWN_RUNS, choices.required_margin, points)
    settings = [setting.model_copy(update={"max_steps": up_to(specimen, setting.max_steps)})]
    return Applied(settings, specimen.unused(fixed_by_regime(specimen, SMALLEST_WIDTH, LARGEST_STEP)))


def narrow_on(specimen: Specimen) -> Applied | Silence:
    """Networks with k = 2 on a user's points, from every octant and from random starts."""
    points, choices = _points_in_time(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    every = OctantSetting(
        step_constant=SMALL_NET_STEP,
        required_margin=choices.required_margin,
        max_steps=up_to(specimen, 5 * narrow_budget(SMALL_NET_STEP, choices.required_margin)),
        seed=choices.seed,
        points=points,
    )
    drawn = TrainedSetting(
        half_width=2,
        step_constant=every.step_constant,
        required_margin=choices.required_margin,
        n_runs=choices.n_runs or OWN_RUNS,
        max_steps=every.max_steps,
        seed=choices.seed,
        points=points,
    )
    return Applied(([every], [drawn]), specimen.unused(fixed_by_regime(specimen, 2, SMALL_NET_STEP)))


def twins_on(specimen: Specimen) -> Applied | Silence:
    """Twenty pairs on a user's points, or fewer if so chosen, at γ = 1."""
    points, choices = points_of(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    setting = twin_setting(choices.seed, min(choices.n_runs or MOST_RUNS, MOST_RUNS), 1.0, points)
    fixed = fixed_by_regime(specimen, 2, SMALL_NET_STEP)
    if choices.required_margin != 1:
        fixed["required_margin"] = "γ = 1 is used"
    if (choices.n_runs or 0) > MOST_RUNS:
        fixed["n_runs"] = f"{MOST_RUNS} pairs are compared"
    settings = [setting.model_copy(update={"max_steps": up_to(specimen, setting.max_steps)})]
    return Applied(settings, specimen.unused(fixed))


def descents_on(specimen: Specimen) -> Applied | Silence:
    """Networks of the user's width and γ on the user's points; the step is that of small networks, c_η = 1/41."""
    points, choices = points_of(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    default = DescentSetting()
    setting = DescentSetting(
        half_width=choices.n_neurons // 2,
        required_margin=choices.required_margin,
        n_runs=min(choices.n_runs or default.n_runs, MOST_RUNS),
        seed=choices.seed,
        own_data=specimen.digest,
        diverse_only=choices.diverse_only,
    )
    fixed = fixed_by_regime(specimen, setting.half_width, setting.step_constant)
    fixed["max_updates"] = f"runs have up to {MAX_STEPS} steps"
    if (choices.n_runs or 0) > MOST_RUNS:
        fixed["n_runs"] = f"{MOST_RUNS} networks are trained"
    return Applied([setting], specimen.unused(fixed))


def set_mates_on(specimen: Specimen) -> Applied | Silence:
    """Random networks on the user's points, which need no labels."""
    inputs, choices = specimen.inputs, specimen.choices
    if inputs.ndim != 2 or inputs.shape[1] % 2 or not inputs.size:
        return Silence(f"It speaks about XORD: a point of XORD is made of pairs; inputs have the shape {inputs.shape}.")
    if not np.isin(inputs, (-1.0, 1.0)).all(axis=1).any():
        return Silence("A point of XORD is made of pairs of ±1, and every point here has another entry.")
    setting = SetMatesSetting(n_words=0, seed=choices.seed, own_data=specimen.digest)
    untrained = ("step_size", "init_scale", "max_updates", "required_margin")
    fixed: dict[str, str] = dict.fromkeys(untrained, "nothing is trained")
    if choices.n_neurons != 2 * setting.half_width:
        fixed["n_neurons"] = f"networks with k = {setting.half_width}, {2 * setting.half_width} neurons, are compared"
    if choices.n_runs != setting.n_networks:
        fixed["n_runs"] = f"{setting.n_networks} networks are compared"
    if choices.diverse_only:
        fixed["diverse_only"] = "all points are compared"
    return Applied([setting], specimen.unused({**fixed, "slope": "these networks have ReLU"}))


def decoy_for(specimen: Specimen) -> Applied | Silence:
    """The decoy on the user's training points."""
    points, choices = points_of(specimen), specimen.choices
    if isinstance(points, Silence):
        return points
    untrained = ("n_runs", "step_size", "init_scale", "max_updates")
    fixed: dict[str, str] = dict.fromkeys(untrained, "one network is given, and not trained")
    if choices.n_neurons != len(DECOY):
        fixed["n_neurons"] = f"the network has {len(DECOY)} neurons"
    return Applied(
        decoy_on(points, choices.required_margin), specimen.unused({**fixed, "slope": "the network has ReLU"})
    )
