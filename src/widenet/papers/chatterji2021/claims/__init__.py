"""Judges of chatterji2021."""
