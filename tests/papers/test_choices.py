"""What a reader chooses reaches the runs of every room."""

import numpy as np
import pytest

from widenet import papers
from widenet.claims import NotApplicable
from widenet.claims.applicability import Applied
from widenet.claims.user_data import Choices, UserData
from widenet.data import from_arrays

LIMITS = {
    "brutzkus2018.recorded_runs": "most_updates",
    "brutzkus2018.learning": "most_updates",
    "li2018.passes": "n_steps",
    "li2018.descents": "n_steps",
    "li2018.large_gradients": "n_steps",
    "sarussi2021.epochs": "most_epochs",
    "sarussi2021.ledgers": "n_epochs",
    "sarussi2021.clouds": "most_epochs",
    "chatterji2021.second_phases": "n_steps",
    "chatterji2021.descents": "n_steps",
    "chatterji2021.coordinates": "n_steps",
}
CORNERS = from_arrays(np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0], [-0.6, -0.8]]), np.array([1.0, 1.0, -1.0, -1.0]))


def most(experiment: str, max_updates: int | None = None) -> set[int | None]:
    """The limits of all runs of an experiment that claims of its paper ask for; empty where all are silent."""
    user_data = UserData(CORNERS, Choices(max_updates=max_updates))
    found = set()
    for claim in papers.claims_of(experiment.split(".")[0]):
        places = [place for place, each in enumerate(claim.reads) if each.id == experiment]
        if places and not isinstance(answer := claim.on(user_data), NotApplicable):
            settings = answer.settings if isinstance(answer, Applied) else answer
            groups = [settings] if len(claim.reads) == 1 else settings
            found |= {getattr(each, LIMITS[experiment]) for place in places for each in groups[place]}
    return found


@pytest.mark.parametrize("experiment", LIMITS)
def test_runs_are_cut_off_after_the_updates_that_are_allowed(experiment):
    allowed = {9 // 4, 1} if "epochs" in LIMITS[experiment] else {9}
    assert most(experiment, 9) <= allowed
    assert most(experiment, 9)
    assert not most(experiment) & allowed
    silent = {"chatterji2021.second_phases", "sarussi2021.epochs", "sarussi2021.ledgers", "sarussi2021.clouds"}
    assert most(experiment, 1) == (set() if experiment in silent else {1})
