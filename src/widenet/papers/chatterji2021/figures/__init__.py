"""Figures of chatterji2021: numbers, and the reported ones beside them."""
