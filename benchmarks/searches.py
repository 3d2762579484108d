"""Grid searches over `WideClassifier` by one process, by two, and by two threads, in Markdown.

Every search is made twice in a fresh process: the first call starts workers, imports and compiles, the second finds
all that. Seconds are those of a clock, which a busy machine stretches; processor time is of both calls and of all
processes, which it hardly does. `python -m benchmarks.searches`.
"""

import argparse
import resource
import subprocess
import sys
import time

DATA = ("wine", "digits")
WAYS = ("n_jobs=1", "n_jobs=2", "n_jobs=2, threads")
STEPS, FOLDS = (0.1, 0.3, 0.5, 1.0), 4


def search(name: str, way: str) -> tuple[float, float, float]:
    """Seconds of the first and of the second search, and processor time of both; imports of this process apart."""
    from joblib import parallel_config
    from joblib.externals.loky import get_reusable_executor
    from sklearn import datasets
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import StandardScaler

    from widenet.estimators import WideClassifier

    inputs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    inputs = StandardScaler().fit_transform(inputs)
    seconds, began = [], time.process_time()
    for _ in range(2):
        grid = GridSearchCV(
            WideClassifier(100, random_state=0), {"step_size": STEPS}, cv=FOLDS, n_jobs=1 if way == WAYS[0] else 2
        )
        start = time.perf_counter()
        with parallel_config(backend="threading" if way == WAYS[2] else "loky"):
            grid.fit(inputs, labels)
        seconds.append(time.perf_counter() - start)
    own = time.process_time() - began
    if way == WAYS[1]:
        get_reusable_executor().shutdown(wait=True)  # processor time of a child counts once it has ended
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds[0], seconds[1], own + children.ru_utime + children.ru_stime


def main() -> None:
    """One row per data set and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--one", nargs=2, metavar=("DATA", "WAY"), help="make one search, in this process")
    asked = parser.parse_args().one
    if asked:
        print("| {} | {} | {:.1f} s | {:.1f} s | {:.1f} s |".format(*asked, *search(*asked)))
        return
    print("| data | search | first call | second call | processor time |\n|---|---|---|---|---|", flush=True)
    for name in DATA:
        for way in WAYS:
            subprocess.run([sys.executable, "-m", "benchmarks.searches", "--one", name, way], check=True)


if __name__ == "__main__":
    main()
