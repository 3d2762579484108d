"""Experiments of sarussi2021: what is trained, and at which settings."""
