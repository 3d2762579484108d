"""What a command of `widenet` has in common with the others: its help, and what becomes of an error."""

import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from widenet.console import interrupts, usage
from widenet.console.exit_codes import ExitCode
from widenet.errors import UnknownName, WidenetError


class Command(TyperCommand):
    """A command whose help has no types of Python in it, which typer writes behind an argument: ID <list[str]>."""

    def get_help(self, ctx: Any) -> str:
        return re.sub(r" <(list\[)?str\]?>", "", super().get_help(ctx))


class Commands(TyperGroup):
    """Turns an error of the user's making into one sentence and exit code 2, and Ctrl-C into one and 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except WidenetError as error:
            typer.echo(f"widenet: {error}", err=True)
            raise typer.Exit(ExitCode.BAD_INPUT) from None
        except typer.Exit:
            raise
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt) and not interrupts.pressed():
                raise
            typer.echo(interrupts.sentence(), err=True)
            raise typer.Exit(ExitCode.INTERRUPTED) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Refuses an unknown command in the words used for other unknown names."""
        if args[0] not in self.commands:
            raise UnknownName("command", args[0], [*self.commands, "--help", "--version"])
        interrupts.speak_for(args[0])
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *others: Any, **options: Any) -> Any:
        """Runs a command line; what typer's parser refuses is told without its frame."""
        arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
        options["standalone_mode"] = False
        try:
            code = super().main(arguments, *others, **options)
        except Exception as error:
            refusal = usage.sentence(error, "widenet", arguments, self.commands)
            if refusal is None:  # a mistake of this program; Python's own exit code 1 would mean a violated claim
                traceback.print_exc()
                code = ExitCode.OPEN
            else:
                typer.echo(f"widenet: {refusal}", err=True)
                code = ExitCode.BAD_INPUT
        sys.exit(code)
