"""Where a report goes, and in which form."""

import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TextIO, cast

import click
from click.core import ParameterSource

from dynamo_core.shared.errors import EXIT_NOBODY_READS, CannotRecord, did_you_mean
from dynamo_core.shared.safe_writing import overwrite
from dynamo_reporters.report import Report, Subject, document, last_lines, page

from .failure import invocation
from .options import Command, documented_option, written_file_option
from .program import BUDGET, project_value

_report_file_option = written_file_option(
    *("-o", "--output", "report_file"),
    envvar="DYNAMO_REPORT",
    text="Write the report to FILE instead of stdout.",
)


class Output(NamedTuple):
    """The form that a report is written in, and the file; stdout without one."""

    form: str
    file: Path | None = None

    def put(self, content: str | bytes) -> None:
        """Write something there as it is."""
        put(content, self.file)


FORMATS = ("text", "markdown", "json", "html")
_LARGE = 1_000_000  # characters of a JSON document
_BOUNDED = ("text", "markdown", "json")  # forms that --budget is for
_JSON_KEY = "dynamo_cli.as_json"
_BUDGET_KEY = "dynamo_cli.budget"
_OF_ONE_COMMAND = ("chrome", "speedscope", "csv")


class _FormatOption(click.Option):
    """A form that DYNAMO_FORMAT names for another command, which alone knows it, is none for this one."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """What the environment says, where it is for this command."""
        value = super().resolve_envvar_value(ctx)
        assert isinstance(self.type, click.Choice)
        return None if value in _OF_ONE_COMMAND and value not in self.type.choices else value

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """`json` for --json; UsageError where --format says something else."""
        value, source = super().consume_value(ctx, opts)
        if not ctx.meta.get(_JSON_KEY):
            return value, source
        if source is ParameterSource.COMMANDLINE and value != "json":
            raise click.UsageError(f"--json is --format json: not with --format {value}")
        return "json", ParameterSource.COMMANDLINE


def _remember_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.meta[_JSON_KEY] = value


class _BudgetOption(click.Option):
    """Its value is the project's where neither the command line nor the environment has one."""

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """The number of tokens; LockFileProblem where the project's is none."""
        value, source = super().consume_value(ctx, opts)
        if source is not ParameterSource.DEFAULT or ctx.resilient_parsing:
            return value, source
        return project_value(self, "budget", ctx), ParameterSource.DEFAULT_MAP


def _remember_budget(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    is_insisted_on = ctx.get_parameter_source(BUDGET) is ParameterSource.COMMANDLINE
    ctx.meta[_BUDGET_KEY] = (value, is_insisted_on)


_budget_option = documented_option(
    "--budget",
    BUDGET,
    cls=_BudgetOption,
    type=click.IntRange(min=1),
    metavar="TOKENS",
    envvar="DYNAMO_BUDGET",
    expose_value=False,
    callback=_remember_budget,
    help="Text, markdown and JSON of at most so many tokens of 4 characters: what is worth most stays, and "
    "what is left out is counted.",
)


def writes_report(
    forms: Sequence[str] = FORMATS,
    meaning: str = "A page to read, the same as markdown, or a versioned JSON document",
    *,
    endings: Mapping[str, str] | None = None,
    has_budget: bool = True,
) -> Callable[[Command], Command]:
    """Add `--format`, `--json` and `-o`; the command is given what they say, an `Output`, as `out`.

    `endings` are further ones of files, with their forms. `--budget`, which `write_report` goes by, comes
    with them, unless the command has one of its own.
    """
    add_format = format_option(forms, meaning, has_budget=has_budget)

    def add(command: Command) -> Command:
        @functools.wraps(command)
        def call(*given: Any, form: str | None, report_file: Path | None, **options: Any) -> Any:
            out = Output(format_of(form, report_file, endings), report_file)
            return command(*given, out=out, **options)

        return cast(Command, add_format(_report_file_option(call)))

    return add


def format_option(
    forms: Sequence[str] = FORMATS,
    meaning: str = "A page to read, the same as markdown, or a versioned JSON document",
    *,
    has_budget: bool = True,
) -> Callable[[Command], Command]:
    """Add `--format`, given to the command as `form`, `--json` for one of its values, and `--budget`."""
    form = documented_option(
        "--format",
        "form",
        cls=_FormatOption,
        type=click.Choice(forms),
        default=None,
        envvar="DYNAMO_FORMAT",
        help=f"{meaning}.  [default: what the ending of -o says, else text]",
    )
    as_json = documented_option(
        "--json",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember_json,
        help="The same as --format json.",
    )
    return lambda command: form(as_json(_budget_option(command) if has_budget else command))


_FORMAT_OF_ENDING = {
    ".txt": "text",
    ".log": "text",
    ".out": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}


def write_report(
    report: Report[Subject],
    subject: Subject,
    out: Output,
    parts: Sequence[str] = (),
) -> None:
    """Write a report on its subject as one of FORMATS.

    Where a JSON document is large, a line on stderr names the `parts` of it that options pick out. UsageError
    where the command's budget is too small for a document.
    """
    from dynamo_reporters.page.console import show

    budget, _ = _budget()
    if out.form == "html":
        from dynamo_reporters.html import page_of_blocks

        out.put(page_of_blocks(list(page(report, subject))))
    elif out.form == "json":
        out.put(_json(document(report, subject), parts, budget))
    elif out == Output("text") and budget is None:
        with stdout() as stream:
            # The page of `explain` ends with commands that are chosen for people.
            is_followed = stream.isatty() and report.name != "explain"
            show(stream, chain(page(report, subject), last_lines(report, subject) if is_followed else ()))
    else:
        out.put(_page(report, subject, out.form, budget))


def _page(report: Report[Subject], subject: Subject, form: str, budget: int | None) -> str:
    """The report as text or markdown; one with a budget ends with the commands to go on with."""
    from dynamo_reporters.page.console import plain_text
    from dynamo_reporters.page.markdown import to_markdown

    write = to_markdown if form == "markdown" else plain_text
    content = write(page(report, subject, is_bounded=budget is not None))
    if budget is None:
        return content
    from dynamo_reporters.budget import bounded_text

    return bounded_text(content, budget, write(last_lines(report, subject)))


def _budget() -> tuple[int | None, bool]:
    """How many tokens a report of this command may have, and whether its command line says so."""
    context = click.get_current_context(silent=True)
    found: tuple[int | None, bool] = (None, False)
    return found if context is None else context.meta.get(_BUDGET_KEY, found)


def _json(content: dict[str, Any], parts: Sequence[str], budget: int | None) -> str:
    if budget is not None:
        from dynamo_reporters.budget import bounded_json

        try:
            return bounded_json(content, budget)
        except ValueError as error:
            raise click.UsageError(f"--budget {error}") from error
    from dynamo_reporters.documents import json_text

    text = json_text(content, indent=2) + "\n"
    if len(text) > _LARGE and parts:
        click.echo(
            f"dynamo: the document has {len(text) / 1e6:.1f} MB; for less: {', '.join(parts)}", err=True
        )
    return text


def put(content: str | bytes, report_file: Path | None) -> None:
    """Write it as it is; CannotRecord says why a file cannot be written."""
    if report_file is None and isinstance(content, str):
        with stdout() as out:
            out.write(content)
        return
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if report_file is None:
        with stdout() as out:
            out.buffer.write(data)
        return
    try:
        overwrite(report_file, data)
    except OSError as error:
        raise CannotRecord(f"cannot write {report_file}: {error.strerror}") from error


@contextmanager
def stdout() -> Iterator[TextIO]:
    """Where a report goes; CannotRecord if it is closed or full, and a quiet end if nobody reads on."""
    if sys.stdout is None:
        raise CannotRecord("stdout is closed, so nobody would see the report; name a file with -o")
    if (called := invocation()) is not None:
        called.has_answered = True
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError as error:
        raise click.exceptions.Exit(EXIT_NOBODY_READS) from error
    except OSError as error:
        raise CannotRecord(f"cannot write to stdout: {error.strerror}") from error


def format_of(
    form: str | None,
    report_file: Path | None,
    further_endings: Mapping[str, str] | None = None,
) -> str:
    """The format asked for, else that of the file's name; UsageError where --budget is not for it."""
    form = form or _format_of_name(report_file, _FORMAT_OF_ENDING | dict(further_endings or {}))
    budget, is_insisted_on = _budget()
    if budget is not None and is_insisted_on and form not in _BOUNDED:
        raise click.UsageError(f"--budget is for {', '.join(_BOUNDED)}: not with --format {form}")
    return form


def _format_of_name(report_file: Path | None, of_ending: Mapping[str, str]) -> str:
    """The format by the longest ending that is known; text where the name has none.

    UsageError for an ending that says another format than there is: nobody means text by `x.pdf`.
    """
    name = "" if report_file is None else report_file.name.lower()
    fitting = [ending for ending in of_ending if name.endswith(ending)]
    if fitting:
        return of_ending[max(fitting, key=len)]
    ending = re.search(r"\.[a-z]\w*$", name)
    if ending is not None:
        hint = did_you_mean(ending[0], of_ending) or f"known are {', '.join(of_ending)}"
        raise click.UsageError(f"-o {report_file}: no format has this ending ({hint}); --format names one")
    return "text"
