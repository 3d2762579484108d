"""Finished records with other fields, for controls."""

import dataclasses
from typing import Any


def altered(record: Any, **fields: Any) -> Any:
    """The same record with other fields; a function gets the old value."""
    return dataclasses.replace(
        record, **{name: value(getattr(record, name)) if callable(value) else value for name, value in fields.items()}
    )
