"""Experiments of chatterji2021: what is trained, and at which settings."""
