"""The figures of brutzkus2019: numbers and comparisons, one file per figure."""
