"""Closed records of plain values, and the two scales. No JAX: what only lists or reads starts at once."""

import enum
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict

from widenet.errors import UnknownName


class ClosedModel(BaseModel):
    """A frozen record of plain values: unknown fields are refused, infinities survive JSON.

    With fields that are numbers, text, tuples and other records it is hashable, and can be the setting of an
    experiment.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


def _one_number(value: Any) -> Any:
    """A number of NumPy or JAX as Python's own, which strict fields take."""
    return value.item() if getattr(value, "shape", None) == () else value


Whole = Annotated[int, BeforeValidator(_one_number), Strict()]
"""A whole number that a user gives: no text, and nothing that is rounded."""
Real = Annotated[float, BeforeValidator(_one_number), Strict()]
"""A number that a user gives."""


class Scale(enum.StrEnum):
    """How large a check or a figure is run."""

    QUICK = "quick"
    """Seconds to a minute on two cores; what the report runs."""
    PAPER = "paper"
    """The sizes of the paper."""

    @classmethod
    def _missing_(cls, value: object) -> "Scale":
        raise ValueError(f"scale must be 'quick' or 'paper', got {value!r}")

    @classmethod
    def named(cls, text: str) -> "Scale":
        """The scale of this name, or `UnknownName`."""
        known = {scale.value: scale for scale in cls}
        if text not in known:
            raise UnknownName("scale", text, known)
        return known[text]


class Form(enum.StrEnum):
    """Whose statement a claim is."""

    PAPER = "the paper's"
    PRINTED = "false as printed"
    REPAIR = "repaired"
    SHARPER = "sharper than printed"
    OURS = "ours, not in the paper"
