"""The figures of brutzkus2018: numbers and comparisons, one file per figure."""
