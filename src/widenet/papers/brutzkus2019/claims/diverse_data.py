"""What Section 6 assumes about a training set, measured; and a reader's own points as such a training set."""

from widenet.claims.base import Hypothesis, Silence, at_least, at_most
from widenet.claims.specimen import Specimen
from widenet.errors import DataError
from widenet.papers.brutzkus2019.formulas import largest_deviation
from widenet.papers.brutzkus2019.runs.training_set import TrainingSet, from_data

WRONG_LABEL = "with a label that is not f*(x), which is +1 where (1, 1) or (-1, -1) occurs"
NOT_SIGNS = "with an entry that is not ±1"


def data_hypotheses(points: TrainingSet) -> tuple[Hypothesis, ...]:
    """Points of XORD with the right labels, all diverse, and as many of each class."""
    positive, negative = points.per_class
    return (
        at_most(
            "signs",
            "points with an entry that is not ±1",
            points.not_signs,
            0,
            why=f"{points.not_signs} of {points.size} points {NOT_SIGNS}: not trained on." if points.not_signs else "",
        ),
        at_most(
            "labels",
            "points whose label is not f*(x)",
            points.mislabelled,
            0,
            why=f"{points.mislabelled} of {points.size} points {WRONG_LABEL}: not trained on."
            if points.mislabelled
            else "",
        ),
        at_most("diverse", "points that are not diverse", points.non_diverse, 0, why=_about_diversity(points)),
        at_least("both_classes", "points in the smaller class", min(positive, negative), 1),
        at_most("balanced", "difference of the two class sizes", abs(positive - negative), 0),
    )


def points_of(specimen: Specimen) -> TrainingSet | Silence:
    """A reader's points as training sees them: with a point of XORD of each class, diverse if so chosen."""
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


def _about_diversity(points: TrainingSet) -> str:
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
