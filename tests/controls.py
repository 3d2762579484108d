"""What a test of a claim asks of its evidence: which parts it breaks, and which hypotheses it does not meet.

Controls, which break one clause at a time, are rows of a table: `tests/control_table.py`.
"""

import importlib
from types import ModuleType

from widenet.claims.base import Claim, Evidence


def claims_of(module: ModuleType) -> list[Claim]:
    """The claims that the table of contents has in this module."""
    package, place = module.__name__.split(".claims.")
    entries = [entry.rsplit(".", 1) for entry in importlib.import_module(package).PAPER.claims]
    return [getattr(module, name) for where, name in entries if where == place]


def broken_in(evidence: Evidence) -> list[str]:
    """The parts that were measured to fail."""
    return [part.name for part in evidence.parts if part.kept is False]


def unmet_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses that are not met."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if hypothesis.met is False]


def undecided_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses of which it is not known whether they are met."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if hypothesis.met is None]


def lacking_in(evidence: Evidence) -> list[str]:
    """The keys of the hypotheses that are not met, or of which it is not known."""
    return [hypothesis.key for hypothesis in evidence.hypotheses if not hypothesis.met]


def answers_in(evidence: Evidence) -> list[bool | None]:
    """What was found about each part, in order."""
    return [part.kept for part in evidence.parts]
