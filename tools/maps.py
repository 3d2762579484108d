"""The maps of docs/maps.md: `run` computes every sweep of examples/maps, `draw` turns what it wrote into pictures.

`python -m tools.maps run OUT --jobs 16` writes one file, OUT/maps.zip, with a NetCDF file per sweep. A sweep that is
finished is in the file even if a later one is not.
"""

import argparse
import os
import time
import zipfile
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import xarray as xr

from widenet.store import Store
from widenet.sweeps import driver
from widenet.sweeps.driver import Quiet, Survey
from widenet.sweeps.export import netcdf_ready
from widenet.sweeps.order import order_of
from widenet.sweeps.progress import in_words
from widenet.sweeps.result import dataset_of
from widenet.sweeps.spec import read_spec

SPECS = Path(__file__).parent.parent / "examples" / "maps"
ORDER = (
    "crossed",
    "bounds-width",
    "bounds-step",
    "bounds-samples",
    "bounds-dim",
    "clustering",
    "agreement",
    "arbitrary-labels",
    "interpolation",
    "xord-recovery",
)
"""The cheap ones first."""
RESULT = "maps.zip"


def run(out: Path, store: Store, jobs: int) -> None:
    """Compute all sweeps."""
    out.mkdir(parents=True, exist_ok=True)
    total = time.monotonic()
    for name in ORDER:
        start = time.monotonic()
        sweep = Survey(order_of(read_spec(SPECS / f"{name}.toml"), store), store)
        counts = driver.in_processes(sweep, Quiet(), jobs)
        content = bytes(netcdf_ready(dataset_of(sweep)).to_netcdf(engine="scipy"))
        with zipfile.ZipFile(out / RESULT, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}.nc", content)
        took, spent = time.monotonic() - start, time.monotonic() - total
        told = f"{name}: {sweep.order.n_points:,} points, {in_words(counts)}"
        print(f"{told}, {took:.0f} s, {spent:.0f} s in all", flush=True)


def numbers_in(archive: Path) -> dict[str, xr.Dataset]:
    """The sweeps of a file that `run` wrote, by name."""
    with zipfile.ZipFile(archive) as found:
        return {Path(each).stem: xr.load_dataset(found.read(each), engine="scipy") for each in found.namelist()}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "draw"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    if options.what == "run":
        run(options.folder, Store(options.store or options.folder / "store"), options.jobs)


if __name__ == "__main__":
    main()
