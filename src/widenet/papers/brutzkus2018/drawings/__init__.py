"""Drawings of brutzkus2018, one module per figure with a function `draw`: the only matplotlib of this package."""
