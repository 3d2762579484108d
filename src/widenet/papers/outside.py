"""Claims in files of your own: `widenet check path/to/file.py:name`.

The folder of the file goes to the front of Python's path, so that it can import what lies beside it, and so that worker
processes find it. The keys of its cells cover the files of that folder (`widenet.run.reach`).
"""

import importlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from pydantic.errors import PydanticSchemaGenerationError

from widenet.claims.base import Claim
from widenet.claims.experiments import Experiment
from widenet.errors import InputError, UnknownName, WidenetError


def is_outside(id: str) -> bool:
    """Whether this names a file rather than a claim of a paper."""
    return id.partition(":")[0].endswith(".py")


def located(id: str) -> str:
    """The same, with the whole path of the file: other processes may be started in other folders."""
    file, colon, name = id.partition(":")
    return f"{Path(file).resolve()}{colon}{name}" if is_outside(id) else id


def claims_in(place: str) -> list[Claim]:
    """The claim that `file.py:name` names, or all of `file.py`, in their order.

    Raises:
      InputError: there is no such file or claim, the file cannot be imported, or the clauses of a claim that is asked
        for cannot be listed.
    """
    file, _, name = place.partition(":")
    module = _module(Path(file))
    claims = {key: each for key, each in vars(module).items() if isinstance(each, Claim)}
    if not claims:
        raise InputError(f"{file} has no claim; docs/add-a-theorem.md shows how to write one.")
    if name and name not in claims:
        raise UnknownName("claim", name, claims)
    return [_with_clauses(each) for each in ([claims[name]] if name else claims.values())]


def claim_or_experiment(place: str) -> Claim | Experiment:
    """What `file.py:name` names.

    Raises:
      InputError: there is no such file, claim or experiment, the file cannot be imported, or the clauses of the claim
        cannot be listed.
    """
    file, _, name = place.partition(":")
    known = {key: each for key, each in vars(_module(Path(file))).items() if isinstance(each, Claim | Experiment)}
    if name not in known:
        raise UnknownName(f"claim or experiment in {file},", name, known)
    found = known[name]
    return _with_clauses(found) if isinstance(found, Claim) else found


def _with_clauses(claim: Claim) -> Claim:
    """The claim, whose clauses can be listed."""
    try:
        assert claim.clauses is not None
    except (TypeError, ValueError) as error:
        raise InputError(f"{error}.") from error
    return claim


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    if not path.stem.isidentifier():
        raise InputError(f"{path.name!r} cannot be imported under this name; rename it to letters, digits and _.")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    known = sys.modules.get(path.stem)
    spec = importlib.util.find_spec(path.stem) if known is None else known.__spec__
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != path.resolve():
        raise InputError(f"{path.name!r} has the name of another Python module; rename the file.")
    try:
        return importlib.import_module(path.stem)
    except SyntaxError as error:
        raise InputError(f"{error.filename}, line {error.lineno}: {error.msg}.") from None
    except Exception as error:
        raise InputError(f"{path} cannot be imported: {_said(error)} ({_place(error, path)}).") from error


def _said(error: Exception) -> str:
    """What an import stumbled over, in one sentence."""
    if isinstance(error, WidenetError):
        return str(error).rstrip(".")
    if isinstance(error, PydanticSchemaGenerationError):
        kind = re.search(r"<class '([^']+)'>", str(error))
        rule = "a setting holds plain values (numbers, text, tuples and other settings)"
        return f"{rule}, got a field of the type {kind[1] if kind else 'Any'}; make arrays in run, or give it a tuple"
    return f"{type(error).__name__}: {error}"


def _place(error: Exception, path: Path) -> str:
    """The last line of the file that led there, or of another file where none did."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [each for each in frames if Path(each.filename).resolve() == path.resolve()]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}, line {last.lineno}"
