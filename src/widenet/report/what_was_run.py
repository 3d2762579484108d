"""The settings of what was run, field by field: numbers with their exact values, long lists by their ends."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from widenet.report import numerals

Ran = tuple[str, list[tuple[str, Markup]]]
"""An experiment, and the values that each field of its settings had."""
FEW_VALUES = 6


def what_was_run(settings: Iterable[Mapping[str, Any]]) -> list[Ran]:
    """Of each experiment: its name, and the values of its fields."""
    found: dict[str, dict[str, list[Any]]] = {}
    for setting in settings:
        fields = found.setdefault(setting["experiment"], {})
        for name, value in _flat_fields(setting):
            fields.setdefault(name, []).append(value)
    return [(name, [(each, _values(of)) for each, of in fields.items()]) for name, fields in found.items()]


def _flat_fields(setting: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields of a setting and of what it holds, but for those that are empty."""
    for name, value in setting.items():
        words = f"{prefix}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _flat_fields(value, f"{words}: ")
        elif name != "experiment" and value not in (None, [], ""):
            yield words, value


def _values(values: Sequence[Any]) -> Markup:
    """Each once; of many numbers, from the smallest to the largest."""
    are_numbers = all(map(_is_number, values))
    different = list(dict.fromkeys(map(_in_words, values)))
    if len(different) > FEW_VALUES and are_numbers:
        ends = map(numerals.number, (min(values), max(values)))
        return Markup("{} to {}, {} values").format(*ends, numerals.count(len(different)))
    shown = Markup(", ").join(different[:FEW_VALUES])
    rest = len(different) - FEW_VALUES
    return Markup("{} and {} more").format(shown, numerals.count(rest)) if rest > 0 else shown


def _in_words(value: Any) -> Markup:
    """A value of a setting; of a long list, how many entries it has and how far they reach."""
    if _is_number(value):
        return numerals.number(value)
    if isinstance(value, Mapping):
        fields = (Markup("{} {}").format(name.replace("_", " "), _in_words(each)) for name, each in value.items())
        return Markup(", ").join(fields)
    if not isinstance(value, list):
        return Markup.escape(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    flat = [each for row in value for each in (row if isinstance(row, list) else [row])]
    if len(flat) <= FEW_VALUES or not all(map(_is_number, flat)):
        are_records = any(isinstance(each, Mapping) for each in value)
        return Markup("[{}]").format(Markup("; " if are_records else ", ").join(map(_in_words, value)))
    ends = map(numerals.number, (min(flat), max(flat)))
    return Markup("{} numbers from {} to {}").format(numerals.count(len(flat)), *ends)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
