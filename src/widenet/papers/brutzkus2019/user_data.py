"""A user's points as a training set of XORD; how many networks are trained on it, and which choices do not count."""

from widenet.claims.applicability import NotApplicable
from widenet.claims.user_data import UserData
from widenet.errors import DataError
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.sources import TrainingSet, from_data

WRONG_LABEL = "with a label that is not f*(x), which is +1 where (1, 1) or (-1, -1) occurs"
NOT_SIGNS = "with an entry that is not ±1"

OWN_RUNS = 600
"""Networks on a user's data unless more are chosen. 557 can confirm Theorem 6.3, 1115 Propositions E.18 and E.22,
2232 Proposition E.14."""

LARGEST_OWN_MARGIN = 100.0
"""A larger γ takes more than a million steps to be certain."""

MOST_RUNS = 20
"""Networks, or pairs of them, of which an identity is checked: more show no more."""


def points_of(user_data: UserData) -> TrainingSet | NotApplicable:
    """A user's points as training sees them: with a point of XORD of each class, diverse if so chosen."""
    try:
        points = from_data(user_data.data)
    except DataError as error:
        return NotApplicable(f"It applies to data of XORD only: {error}")
    if not user_data.choices.diverse_only:
        positive, negative = points.per_class
        if positive and negative:
            return points
        return NotApplicable(
            f"It needs points of XORD of each class, got {positive} of +1 and {negative} of -1; left out: "
            f"{_reasons({NOT_SIGNS: points.not_signs, WRONG_LABEL: points.mislabelled})}."
        )
    part = points.diverse_part()
    if min(part.per_class):
        return part.model_copy(update={"whole": points})
    positive, negative = points.diverse
    return NotApplicable(
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


def fixed_by_regime(user_data: UserData, half_width: int, step_constant: float) -> dict[str, str]:
    """The choices that a regime of the paper replaces: width, step and start are those of the statement."""
    deviation = largest_deviation(step_constant, half_width)
    fixed = {
        "step_size": f"η = c_η/k = {step_constant / half_width:.3g} is used",
        "init_scale": f"Gaussian weights with σ_g = {deviation:.3g} are used",
        "slope": "these networks have ReLU",
    }
    if user_data.choices.n_neurons != 2 * half_width:
        fixed["n_neurons"] = f"networks with k = {half_width}, {2 * half_width} neurons, are trained"
    return fixed


def up_to(user_data: UserData, max_steps: int) -> int:
    """The budget of steps: this one, or the user's where it is smaller."""
    return min(user_data.choices.max_updates or max_steps, max_steps)


def points_in_time(user_data: UserData) -> TrainingSet | NotApplicable:
    """The points, unless γ takes too long."""
    points, margin = points_of(user_data), user_data.choices.required_margin
    if not isinstance(points, NotApplicable) and margin > LARGEST_OWN_MARGIN:
        return NotApplicable(f"γ = {margin:g} takes too long; up to {LARGEST_OWN_MARGIN:g} is tried.")
    return points
