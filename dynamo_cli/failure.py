"""How a command says that it failed: a line on stderr and, with `--format json`, a document on stdout."""

import itertools
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from dynamo_core.shared.text import printable


class Invocation:
    """What is known of the command that was called: the `obj` of click's context.

    `has_answered` says that it has written to stdout: what follows a report is no document of its own.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self.command: click.Command | None = None  # None until its name is known to be one
        self.arguments = arguments  # what follows its name
        self.has_answered = False

    def fail(self, message: str, code: int, parameter: str = "") -> NoReturn:
        """End with a line on stderr, and a document where one is wanted; `parameter` is the wrong one."""
        line = printable(" ".join(message.split()))
        with suppress(OSError, ValueError):
            print(f"dynamo: {line}", file=sys.stderr)
        if not self.has_answered and sys.stdout is not None and self._asks_for_json():
            name = None if self.command is None else self.command.name
            _write_document(line, code, " ".join(filter(None, ("dynamo", name, parameter))))
        sys.exit(code)

    def wants_only_the_answer(self) -> bool:
        """Whether a note beside the answer would disturb: JSON or quiet is asked for."""
        own = self._own_arguments()
        return self._asks_for_json() or "DYNAMO_QUIET" in os.environ or not {"-q", "--quiet"}.isdisjoint(own)

    def _asks_for_json(self) -> bool:
        """Whether the command line, which may be a bad one, or else the environment asks for JSON."""
        own = self._own_arguments()
        forms = [following for name, following in itertools.pairwise(own) if name == "--format"]
        forms += [name.removeprefix("--format=") for name in own if name.startswith("--format=")]
        if "--json" in own or forms:
            return "--json" in own or "json" in forms
        parameters = [] if self.command is None else self.command.params
        is_for_it = any(each.envvar == "DYNAMO_FORMAT" for each in parameters)
        return is_for_it and os.environ.get("DYNAMO_FORMAT") == "json"

    def _own_arguments(self) -> Sequence[str]:
        """The arguments without those of the program that the command runs."""
        from .program import ProgramCommand, options_with_value

        if not isinstance(self.command, ProgramCommand):
            return self.arguments
        from dynamo_core.launch.program import split_command_line

        own, program = split_command_line(self.arguments, options_with_value(self.command))
        return own if program is not None and self.command.runs(program) else self.arguments


def invocation() -> Invocation | None:
    """What is known of the command that runs; None where it was called by other Python code."""
    context = click.get_current_context(silent=True)
    found = None if context is None else context.obj
    return found if isinstance(found, Invocation) else None


def _write_document(message: str, code: int, where: str) -> None:
    from dynamo_reporters.documents import json_text
    from dynamo_reporters.error import REPORT, error_document
    from dynamo_reporters.report import document

    content = document(REPORT, error_document(message, code, where))
    with suppress(OSError, ValueError):
        print(json_text(content, indent=2), flush=True)
