"""Two pages of help for a command: `--help`, which fits a screen, and `--help-all` with every option."""

import inspect
import re
from typing import Any

import click

# As in pyproject.toml; to ask the installed package for it takes as long as half of click.
DOCUMENTATION = "https://github.com/dynamo-cli/dynamo-cli/blob/main/docs/index.md"
TARGET_MARK = "TARGET_HELP"  # a paragraph in the docstring of a command that reads a recording
_TARGET = """\
TARGET is a recording, its URL, or a TORCH_TRACE file or folder; without one, the newest recording. Or it is
a program (FILE.py, -m MODULE, -c CODE or -- COMMAND), which is run first."""
_TARGET_IN_FULL = """\
TARGET is a recording that `dynamo run` wrote, its URL (s3://…), or a TORCH_TRACE file or folder; of a folder
of recordings the newest is read; without one, the newest in .dynamo. Or it is a program, named as FILE.py, -m
MODULE, -c CODE or -- COMMAND: it is run first, with its stdout on stderr, so that stdout has the report
alone; the exit code is then the program's. Nothing else is ever run: for other forms of a program, `dynamo
run` it first."""
_IN_FULL = "dynamo_cli.help_in_full"
_WIDEST = 100  # columns
_MOST_EXAMPLES = 4
_EXAMPLES = "\b\nExample"
_EXTRA = re.compile(r"  \[.*", re.DOTALL)  # defaults and ranges, which click and we write behind the text
_DEFAULT = re.compile(r"\bdefault: ([^;\]]*)")
_END_OF_CLAUSE = re.compile(r"(?<=.{20})[.;:] ")


class CommandWithHelp(click.Command):
    """A command with a short `--help`, without the options in `further`."""

    def __init__(self, *args: Any, further: frozenset[str] = frozenset(), **named: Any) -> None:
        super().__init__(*args, **named)
        self.further = further  # names of parameters, as Python has them
        self.context_settings.setdefault("max_content_width", _WIDEST)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """All options, and `--help-all`."""
        in_full = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_in_full,
            help="Show all there is to know and exit.",
        )
        return [*super().get_params(ctx), in_full]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the command is for, and examples; in full, whatever else there is to know."""
        paragraphs, examples = self._texts()
        if not _is_in_full(ctx):
            paragraphs, examples = paragraphs[:2], list(map(_few, examples))
        target = _TARGET_IN_FULL if _is_in_full(ctx) else _TARGET
        formatter.write_paragraph()
        with formatter.indentation():
            texts = [target if each == TARGET_MARK else each for each in (*paragraphs, *examples)]
            formatter.write_text("\n\n".join(texts))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Every option, or those of the command itself and of its examples in a sentence each."""
        in_full = _is_in_full(ctx)
        in_examples = {
            word
            for each in self._texts()[1]
            for line in _few(each).splitlines()
            if f"dynamo {self.name} " in line
            for word in line.split()
        }
        records = [
            record if in_full else _shortened(*record)
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (in_full or parameter.name not in self.further or in_examples.intersection(parameter.opts))
            and (record := parameter.get_help_record(ctx)) is not None
        ]
        with formatter.section("Options"):
            formatter.write_dl(records, col_max=30 if in_full else 24)

    def _texts(self) -> tuple[list[str], list[str]]:
        """The paragraphs of the docstring, and its examples."""
        paragraphs = inspect.cleandoc(self.help or "").split("\n\n")
        examples = [each for each in paragraphs if each.startswith(_EXAMPLES)]
        return [each for each in paragraphs if each not in examples], examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Where there is more to read."""
        formatter.write_paragraph()
        if self.further and not _is_in_full(ctx):
            formatter.write_text("--help-all shows further options, and each one's environment variable.")
        write_documentation(formatter)


def _show_in_full(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_IN_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _is_in_full(ctx: click.Context) -> bool:
    return bool(ctx.meta.get(_IN_FULL))


def _few(examples: str) -> str:
    """The first of them; two lines stand before them."""
    return "\n".join(examples.split("\n")[: 2 + _MOST_EXAMPLES])


def first_clause(text: str) -> str:
    """What an option does, without what else there is to say of it."""
    return _END_OF_CLAUSE.split(_EXTRA.sub("", text))[0].rstrip(".")


def _shortened(names: str, text: str) -> tuple[str, str]:
    """The first sentence, or what stands before a colon or semicolon, and the default."""
    sentence = first_clause(text)
    default = _DEFAULT.search(text)
    return names, f"{sentence}.  [default: {default[1]}]" if default else f"{sentence}."


def write_documentation(formatter: click.HelpFormatter) -> None:
    """The address on one line of any length, so that it can be clicked and copied."""
    formatter.write(f"Documentation: {DOCUMENTATION}\n")
