"""Experiments of li2018: what is trained, and at which settings."""
