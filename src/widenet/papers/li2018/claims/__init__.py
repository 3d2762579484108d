"""Judges of li2018."""
