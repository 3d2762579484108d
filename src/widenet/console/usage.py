"""A command line that cannot be understood, answered in one sentence. Needs no heavy library."""

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any


def sentence(error: Exception, prog_name: str, arguments: Sequence[str], commands: Mapping[str, Any]) -> str | None:
    """What was wrong and what to do, for an error of typer's parser; None for any other error.

    The classes of these errors are private to typer, so they are known by what they can do.
    """
    say = getattr(error, "format_message", None)
    if say is None:
        return None
    place = _place_of_command(arguments, commands)
    command = None if place is None else arguments[place]
    path = prog_name if command is None else f"{prog_name} {command}"
    option = getattr(error, "option_name", None)
    context = getattr(error, "ctx", None)
    if option is not None and context is not None and option not in (known := _options(context.command, context)):
        # An option before the command: `widenet` itself has few, so most likely it is one of the command's.
        if context.parent is None and place is not None:
            own = _options(commands[arguments[place]], context)
            if option in own:
                moved = [arguments[place], *arguments[:place], *arguments[place + 1 :]]
                return f"options go after the command: {prog_name} {shlex.join(moved)}"
            if difflib.get_close_matches(option, known, n=1):
                path = prog_name
            else:
                known = own
        near = difflib.get_close_matches(option, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"'{path} --help' shows those there are."
        return f"{path!r} has no option {option!r}; {hint}"
    message = " ".join(say().split()).rstrip(".")
    if extra := re.fullmatch(r"Got unexpected extra argument\(s\) \((.*)\)", message):
        return f"unexpected argument {extra[1]!r}; '{path} --help' shows what it takes."
    return f"{message[:1].lower()}{message[1:]}; '{path} --help' shows what it takes."


def _place_of_command(arguments: Sequence[str], commands: Mapping[str, Any]) -> int | None:
    """Where the command stands, also behind options that belong after it: a value of theirs is not a command."""
    with_value = {
        name
        for command in commands.values()
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("-") and not parameter.is_flag
    }
    before = ""
    for place, word in enumerate(arguments):
        if word in commands and before not in with_value:
            return place
        before = word
    return None


def _options(command: Any, context: Any) -> list[str]:
    parameters = command.get_params(context)
    return [name for parameter in parameters for name in parameter.opts if name.startswith("-")]
