"""What a sweep found, as a file for other programs: NetCDF, Parquet or CSV."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from widenet.console.output import write_files
from widenet.errors import InputError
from widenet.sweeps.result import RUN

FORMS = (".nc", ".parquet", ".csv")


def require_form(path: Path) -> Path:
    """The file, if it can be written at all.

    Raises:
      InputError: a suffix that means nothing here, or a library that is not there.
    """
    if path.suffix not in FORMS:
        raise InputError(f"--export writes {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {str(path)!r}.")
    if path.suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise InputError("--export to Parquet needs pyarrow; run pip install pyarrow, or export .csv.") from None
    return path


def write_numbers(numbers: xr.Dataset, path: Path) -> Path:
    """Write the file, whole or not at all.

    Raises:
      StoreError: the disk refuses.
    """
    if path.suffix == ".nc":
        content = bytes(netcdf_ready(numbers).to_netcdf(engine="scipy"))
    elif path.suffix == ".parquet":
        buffer = io.BytesIO()
        rows_of_runs(numbers).to_parquet(buffer, index=False)
        content = buffer.getvalue()
    else:
        content = rows_of_runs(numbers).to_csv(index=False, lineterminator="\n").encode()
    return write_files(path.parent, {path.name: content})[0]


def netcdf_ready(numbers: xr.Dataset) -> xr.Dataset:
    """The same in types that NetCDF has: text as characters, truth as 0 and 1, and whole numbers over 2³¹ as floats.

    Those that a float does not hold exactly become text.
    """
    found = numbers.copy()
    for name, array in numbers.variables.items():
        if array.dtype.kind == "b":
            found[name] = array.astype(np.int8)
        elif array.dtype.kind in "iu" and array.size and not _fits(array.values):
            found[name] = array.astype(np.float64 if _is_exact(array.values) else str)
        elif array.dtype.kind == "O":
            found[name] = array.astype(str)
    return found


def _fits(values: np.ndarray) -> bool:
    """Whether the whole numbers of NetCDF, which have 32 bits, hold these."""
    limits = np.iinfo(np.int32)
    return bool(values.min() >= limits.min and values.max() <= limits.max)


def _is_exact(values: np.ndarray) -> bool:
    """Whether floats hold these whole numbers."""
    return max(-int(values.min()), int(values.max())) <= 2**53


def rows_of_runs(numbers: xr.Dataset) -> pd.DataFrame:
    """One row per point and run, or per point where nothing has runs."""
    if not numbers.sizes:
        return pd.DataFrame({str(name): [array.item()] for name, array in numbers.items()})
    frame = numbers.to_dataframe(dim_order=[str(name) for name in numbers.sizes]).reset_index()
    if RUN in numbers.sizes:
        own = [str(name) for name, array in numbers.items() if RUN in array.dims]
        is_first = frame[RUN] == 0
        frame = frame.loc[is_first | frame[own].notna().any(axis=1)]
    return frame
