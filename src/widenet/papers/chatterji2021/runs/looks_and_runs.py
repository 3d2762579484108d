"""What to run on your data for claims that read both single networks and whole runs."""

from widenet.claims.silence import Applied, Silence
from widenet.claims.specimen import Specimen
from widenet.papers.chatterji2021.runs.descents import runs_on
from widenet.papers.chatterji2021.runs.networks import looks_on


def looks_and_runs_on(specimen: Specimen) -> Applied | Silence:
    """Both; without runs where none can be started."""
    looks, runs = looks_on(specimen), runs_on(specimen)
    if isinstance(looks, Silence):
        return looks
    return Applied((looks, [])) if isinstance(runs, Silence) else Applied((looks, runs.settings), runs.note)


def runs_and_no_looks_on(specimen: Specimen) -> Applied | Silence:
    """Runs alone, for a claim that is also judged on placed networks."""
    runs = runs_on(specimen)
    return runs if isinstance(runs, Silence) else Applied((runs.settings, []), runs.note)
