"""python -m tools.versions: does the suite pass on other versions of Python and of the libraries?

For each Python, the suite runs with the versions of constraints.txt and with the newest that pyproject.toml allows, in
a virtual environment of its own in build/versions. It writes the table of docs/machines.md. Verdicts are not compared.

    python -m tools.versions                                 Python 3.11, 3.12 and 3.13
    python -m tools.versions --python /opt/bin/python3.14    others; may be given again
    python -m tools.versions --libraries newest              newest or constraints alone
    python -m tools.versions tests/claims                    these tests instead of all
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tools.kept_table import NOT_TRIED, tree, update

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "versions"
PAGE = ROOT / "docs" / "machines.md"
MARKER = "<!-- made by: make test-versions -->"
COLUMNS = ("Python", "libraries", "versions", "suite", "time", "tree")
PYTHONS = ("3.11", "3.12", "3.13")
LIBRARIES = ("constraints", "newest")
NAMED = ("jax", "numpy", "scipy", "scikit-learn", "diffrax", "pydantic")
SUMMARY = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in .*", re.MULTILINE)


@dataclass(frozen=True)
class Try:
    """The suite on one Python with one set of libraries."""

    python: Path
    libraries: str

    @property
    def folder(self) -> Path:
        """Where its environment is."""
        return BUILD / f"{self.version}-{self.libraries}"

    @property
    def version(self) -> str:
        """Of Python."""
        return _said(self.python, "-c", "import platform; print(platform.python_version())")

    @property
    def own_python(self) -> Path:
        """That of the environment."""
        return self.folder / "bin" / "python"

    def install(self) -> None:
        """Makes the environment anew: the newest versions of yesterday are not those of today."""
        shutil.rmtree(self.folder, ignore_errors=True)
        subprocess.run([self.python, "-m", "venv", self.folder], check=True)
        bounds = ["-c", str(ROOT / "constraints.txt")] if self.libraries == "constraints" else []
        pip = [self.own_python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *bounds, "-e", f"{ROOT}[dev]"], check=True, stderr=subprocess.DEVNULL)

    def versions(self) -> dict[str, str]:
        """Of the libraries that numbers come from."""
        program = f"import json, importlib.metadata as m; print(json.dumps({{n: m.version(n) for n in {NAMED!r}}}))"
        return json.loads(_said(self.own_python, "-c", program))

    def test(self, tests: list[str], jobs: int) -> str:
        """Runs the suite with pytest's options in pyproject.toml, shows it, and says how it ended."""
        command = [self.own_python, "-m", "pytest", "-n", str(jobs), "-p", "no:cacheprovider", *tests]
        environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(self.folder / "compiled")}
        log = self.folder / "log"
        piped = {"text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with (
            log.open("w", encoding="utf-8") as file,
            subprocess.Popen(command, cwd=ROOT, env=environment, **piped) as done,
        ):
            for line in done.stdout or ():
                print(line, end="", flush=True)
                file.write(line)
            code = done.wait()
        found = SUMMARY.findall(log.read_text(encoding="utf-8"))
        words = found[-1] if found else f"ended with {code}"
        return words if code == 0 else f"FAILED: {words}"


def found_python(version: str) -> Path | None:
    """A Python of this version: on the path, or of pyenv."""
    known = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    known += [str(path) for path in sorted(pyenv.glob(f"{version}*/bin/python"), reverse=True)]
    for name in known:
        if name and _said(Path(name), "-c", "import sys; print('%d.%d' % sys.version_info[:2])") == version:
            return Path(name)
    return None


def _said(python: Path, *arguments: str) -> str:
    done = subprocess.run([python, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main() -> int:
    """The answer is 1 if a suite failed, and 2 if no Python was found."""
    parser = argparse.ArgumentParser(prog="python -m tools.versions", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tests", nargs="*", help="these tests instead of all")
    parser.add_argument("--python", action="append", help="a program, or a version such as 3.12; may be given again")
    parser.add_argument("--libraries", choices=LIBRARIES, action="append")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    rows, is_good = [], True
    for name in chosen.python or PYTHONS:
        python = Path(name) if "/" in name else found_python(name)
        if python is None:
            print(f"there is no Python {name} here; name one with --python /path/to/python.", file=sys.stderr)
            rows += [[name, libraries, *[NOT_TRIED] * 4] for libraries in LIBRARIES]
            continue
        for libraries in chosen.libraries or LIBRARIES:
            one = Try(python, libraries)
            print(f"Python {one.version}, {libraries}: installing", flush=True)
            one.install()
            start = time.monotonic()
            words = one.test(chosen.tests, chosen.jobs)
            minutes = (time.monotonic() - start) / 60
            versions = ", ".join(f"{key} {value}" for key, value in one.versions().items())
            rows.append([one.version, libraries, versions, words, f"{minutes:.0f} min", tree()])
            is_good &= not words.startswith("FAILED")
    if not chosen.tests:
        update(PAGE, MARKER, COLUMNS, rows, keys=2)
    print("\n".join(" | ".join(each) for each in rows))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
