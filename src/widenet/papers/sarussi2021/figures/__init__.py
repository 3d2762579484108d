"""Figures of sarussi2021: numbers, and the reported ones beside them."""
