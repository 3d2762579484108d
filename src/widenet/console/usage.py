"""A command line that cannot be understood, answered in one sentence. Needs no heavy library."""

import difflib
from collections.abc import Iterable, Sequence


def sentence(error: Exception, prog_name: str, arguments: Sequence[str], commands: Iterable[str]) -> str | None:
    """What was wrong and what to do, for an error of typer's parser; None for any other error.

    The classes of these errors are private to typer, so they are known by what they can do.
    """
    say = getattr(error, "format_message", None)
    if say is None:
        return None
    command = next((each for each in arguments if each in set(commands)), None)
    path = prog_name if command is None else f"{prog_name} {command}"
    option = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    if option is not None and context is not None and option not in (known := _options(context)):
        near = difflib.get_close_matches(option, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"'{path} --help' shows those there are."
        return f"{path!r} has no option {option!r}; {hint}"
    message = " ".join(say().split()).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}; '{path} --help' shows what it takes."


def _options(context: object) -> list[str]:
    parameters = context.command.get_params(context)  # pyright: ignore[reportAttributeAccessIssue]
    return [name for parameter in parameters for name in parameter.opts if name.startswith("-")]
