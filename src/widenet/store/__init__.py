"""Finished results on disk: one immutable file of plain arrays per cell, found by the hash of its key.

`widenet.store.datasets` turns an `xarray.Dataset` into what a cell holds, and back.
"""

from widenet.store.cells import Cell
from widenet.store.directory import Store, default_root, store_of
from widenet.store.keys import CellKey

__all__ = ["Cell", "CellKey", "Store", "default_root", "store_of"]
