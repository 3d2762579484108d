"""Drawings of brutzkus2019, one module per figure: `draw`, and `animate` where it moves."""
