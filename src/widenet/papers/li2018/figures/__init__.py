"""Figures of li2018: numbers, and the reported ones beside them."""
