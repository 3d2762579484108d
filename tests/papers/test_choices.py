"""A choice reaches the runs of every claim that applies, or the note of the evidence names it."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from widenet import papers
from widenet.claims import Claim, Evidence, NotApplicable
from widenet.claims.applicability import Applied
from widenet.claims.user_data import OTHERWISE, Choices, Order, UserData
from widenet.data import from_arrays, scale_to_unit_ball
from widenet.run import check_on
from widenet.run.own_data import _not_used

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
XORD = from_arrays(np.array([[1, 1, 1, -1, -1, -1, -1, 1], [1, -1, -1, 1, 1, -1, -1, 1]], float), np.array([1.0, -1.0]))
CHOSEN: dict[str, Any] = {
    "n_runs": 7,
    "n_neurons": 14,
    "slope": 0.37,
    "step_size": 0.43,
    "init_scale": 0.71,
    "output_weight": 0.29,
    "order": Order.CYCLIC,
    "n_components": 2,
    "max_updates": 11,
    "required_margin": 5.0,
    "diverse_only": True,
    "seed": 5,
}


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


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and word of a setting, with the name of its field."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from leaves(each, key)
    elif isinstance(value, list | tuple):
        yield from ((name, len(value)), *(leaf for each in value for leaf in leaves(each, name)))
    else:
        yield name, value


NAMES = {
    "n_runs": ("n_runs", "n_networks", "n_pairs", "trials", "cases"),
    "n_neurons": ("n_neurons", "half_width", "half_widths", "width"),
    "slope": ("slope",),
    "step_size": ("step_size", "scaled_step", "step_constant"),
    "init_scale": ("init_scale", "row_length"),
    "output_weight": ("output_weight",),
    "order": ("order",),
    "n_components": ("n_components",),
    "max_updates": ("most_updates", "n_steps", "max_steps", "most_epochs", "n_epochs"),
    "required_margin": ("required_margin",),
    "seed": ("seed",),
}
"""What settings call a choice."""
N_POINTS = (2, 4)


def is_seen(name: str, settings: Any) -> bool:
    """Whether the chosen value is among the settings, in the units of the paper."""
    value, found = CHOSEN[name], [each for key, each in leaves(settings) if key in NAMES[name]]
    width = CHOSEN["n_neurons"]
    same = {
        "n_neurons": (value, value // 2) if name == "n_neurons" else (),
        "step_size": (value, width * value, width // 2 * value) if name == "step_size" else (),
        "max_updates": (value, *(value // points for points in N_POINTS)) if name == "max_updates" else (),
    }.get(name, (value,))
    if name == "init_scale":  # of data that was scaled to margin 1, in its units
        return any(each is not None for each in found)
    if name == "n_runs" and len(settings) % value == 0:  # one cell per run
        return True
    if name == "seed":
        return any(value <= each < value + 20 for each in found)
    return any(
        any(each == pytest.approx(one) if isinstance(one, float) else each == one for one in same) for each in found
    )


SMALL = {"corners": CORNERS, "xord": XORD}
KNOWN = {each: UserData(data) for each, data in SMALL.items()}


@functools.cache
def applying(name: str) -> tuple[Claim, ...]:
    """The claims that apply to a small data set under all choices at once."""
    user_data = KNOWN[name].but(**CHOSEN)
    return tuple(each for each in papers.claims_of() if not isinstance(each.on(user_data), NotApplicable))


@pytest.mark.parametrize("name", SMALL)
def test_every_choice_reaches_the_settings_or_is_named(name):
    """By the settings that run, which evidence carries, or by the words that the evidence carries."""
    user_data, seen = KNOWN[name].but(**CHOSEN), dict.fromkeys(CHOSEN, 0)
    assert len(applying(name)) > 60
    for claim in applying(name):
        answer = claim.on(user_data)
        said = answer.note if isinstance(answer, Applied) else ""
        said += _not_used(claim, user_data, said)
        settings = answer.settings if isinstance(answer, Applied) else answer
        for choice in CHOSEN:
            if f"{choice} = " in said:
                continue
            seen[choice] += 1
            if claim.reads and choice in NAMES:
                groups = [settings] if len(claim.reads) == 1 else settings
                rows = [each.model_dump() for group in groups for each in group]
                assert is_seen(choice, rows), f"{claim.id}: {choice} is neither in the settings nor in {said!r}"
    unheard = {choice for choice, count in seen.items() if not count}
    assert unheard <= ({"required_margin", "diverse_only"} if name == "corners" else set())


def test_settings_of_the_evidence_are_those_that_ran(tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path))
    data, _ = scale_to_unit_ball(CORNERS)
    chosen = {name: CHOSEN[name] for name in ("n_runs", "n_neurons", "output_weight", "order", "required_margin")}
    found = check_on(data, "brutzkus2018.theorem_2", **chosen)["brutzkus2018.theorem_2"]
    assert isinstance(found, Evidence)
    trials = found.settings[0]["trials"]
    assert {name: trials[name] for name in ("n_runs", "n_neurons", "output_weight", "order")} == {
        "n_runs": 7,
        "n_neurons": 14,
        "output_weight": 0.29,
        "order": "cyclic",
    }
    assert found.note.endswith("Not used here: required_margin = 5.0.")


@pytest.mark.parametrize("order", Order)
def test_a_theorem_about_any_order_is_checked_in_the_chosen_one(order, tmp_path, monkeypatch):
    monkeypatch.setenv("WIDENET_STORE", str(tmp_path))
    found = check_on(CORNERS, "brutzkus2018.theorem_2", n_runs=2, order=order)["brutzkus2018.theorem_2"]
    assert isinstance(found, Evidence)
    assert found.settings[0]["trials"]["order"] == order
    assert found.verdict == "HOLDS"
    assert "order" not in found.note


def test_every_choice_has_other_values():
    assert set(OTHERWISE) == set(Choices.model_fields) == set(CHOSEN)
    assert all(len(set(values)) > 1 for values in OTHERWISE.values())
