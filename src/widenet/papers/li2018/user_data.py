"""How this paper is checked on your data: how rows are prepared, which choices count, and when it does not apply.

An experiment names a function under `@on_points` in its `on=`; a function that draws cases has `@drawn_on_points`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from widenet.claims.applicability import Applied, NotApplicable
from widenet.claims.experiments import drawn_on
from widenet.claims.user_data import Choices, UserData
from widenet.papers.li2018.sources import OwnSample, Sample, prepare

MOST_POINTS = 1000
FOLLOWED = "Every neuron is followed on every point here"
MOST_DIMENSIONS = 4000
DIVIDED = "every row was divided by its norm"

Applies = Callable[[UserData], Applied | NotApplicable]


def on_points(
    *,
    most: int = MOST_POINTS,
    for_what: str = FOLLOWED,
    single: bool = False,
    most_runs: int = 0,
    remark: str = "",
) -> Callable[[Callable[[OwnSample, Choices], Any]], Applies]:
    """Makes a function of your points and choices what an experiment runs on them, or why it does not apply.

    The note says how the rows were prepared. (A2), which is true of any rows that were divided by their norms, is
    marked as such. With `max_updates` no run takes more steps, and `n_components` are those of each class.

    Arguments:
      most: the most points; `for_what` says why there is a limit.
      single: every point is a component of its own.
      most_runs: the most runs that are made, where you may choose how many.
      remark: a sentence of its own, behind the others.
    """

    def declare(settings_on: Callable[[OwnSample, Choices], Any]) -> Applies:
        def on(user_data: UserData) -> Applied | NotApplicable:
            if why := out_of_reach(user_data, most, for_what):
                return why
            chosen = user_data.choices
            components = None if single else chosen.n_components
            own = OwnSample(own_data=user_data.digest, single=single, n_components=components)
            found = settings_on(own, chosen)
            if isinstance(found, NotApplicable):
                return found
            if isinstance(found, list) and all(hasattr(each, "n_steps") for each in found):
                found = [cut_off(each, chosen.max_updates) for each in found]
            done = prepare(user_data.digest)[1]
            fewer = f"Not used here: n_runs = {chosen.n_runs} (at most {most_runs})."
            words = (done.sentence, remark, fewer if 0 < most_runs < (chosen.n_runs or 0) else "")
            return Applied(found, " ".join(filter(None, words)), {"unit_norm": DIVIDED} if done.rescales else {})

        return on

    return declare


def drawn_on_points(
    measure: Callable[[Sample, int], Any], *, most: int = MOST_POINTS, for_what: str = FOLLOWED
) -> Callable[[Any], Any]:
    """Says of a function that draws cases how it makes them on your points: `measure` gets these and the seed."""

    @on_points(most=most, for_what=for_what)
    def on(data: OwnSample, choices: Choices) -> Any:
        return measure(data.draw(choices.seed), choices.seed)

    return drawn_on(on)


def out_of_reach(user_data: UserData, most: int, for_what: str) -> NotApplicable | None:
    """Why nothing is run on this data, where it is so."""
    if len(user_data.classes) < 2:
        return NotApplicable("It is about two classes or more, and this data has one.")
    if len(user_data.classes) > 100:
        return NotApplicable(f"It is about classes, and this data has {len(user_data.classes)} different labels.")
    if len(user_data.labels) > most:
        return NotApplicable(f"{for_what}, on at most {most} points.")
    if user_data.inputs.shape[1] > MOST_DIMENSIONS:
        return NotApplicable(f"Networks are kept whole here, in at most {MOST_DIMENSIONS} dimensions.")
    norms = np.abs(user_data.inputs).max(axis=1)
    if len(np.unique(user_data.labels[norms > 0])) < 2:
        return NotApplicable("It is about directions, and only one class has a point other than 0.")
    if norms.max() > 1e150 or norms[norms > 0].min() < 1e-150:
        return NotApplicable("The norms of these points overflow or vanish; bring them to usual units.")
    return None


def cut_off(setting: Any, most: int | None) -> Any:
    """The same run with no more steps than this."""
    steps = setting.n_steps if most is None else min(setting.n_steps, most)
    return setting.model_copy(update={"n_steps": steps})


def needs_the_law(user_data: UserData) -> NotApplicable:
    """Statements about fresh batches do not apply to a data set."""
    return NotApplicable(
        "It is about fresh batches from the law of the data, and of a data set only the points are known."
    )
