"""What a store holds, read from its files."""

from widenet.store import Cell, Store
from widenet.store.cells import decode_cell


def stored(store: Store) -> list[Cell]:
    """Every cell, in the order of their digests."""
    return [decode_cell(path.read_bytes(), path.stem) for path in sorted(store.root.glob("??/*.npz"))]
