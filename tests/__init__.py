"""The tests, in the folders of what they test."""

from . import shapes  # noqa: F401  pytest finds the checker of shapes by this name, in examples/ too
