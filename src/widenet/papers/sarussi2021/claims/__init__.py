"""Judges of sarussi2021."""
