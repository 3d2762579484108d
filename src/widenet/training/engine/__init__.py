"""The engine behind `train` and `ensemble`: runs of a chunk, looks, counters, memory, and requests that are checked."""
