"""`dynamo schema`."""

from typing import Any

import click

from dynamo_core.shared.errors import did_you_mean
from dynamo_reporters.registry import REPORTS

from .help_pages import CommandWithHelp
from .report_output import put


class _DocumentName(click.Choice):  # type: ignore[type-arg]  # click 8.1 has no parameter
    """A name of a document; one that is none is answered with those that are near."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name, also of one with the `dynamo-` that the document itself has before it."""
        name = str(value).removeprefix("dynamo-")
        if name not in self.choices:
            hint = did_you_mean(name, self.choices, most=3) or "`dynamo schema` lists all there are"
            raise click.UsageError(f"there is no document {value!r}; {hint}")
        return name


@click.command("schema", cls=CommandWithHelp)
@click.argument("name", required=False, type=_DocumentName(tuple(REPORTS)))
def schema_command(name: str | None) -> None:
    """Print the JSON Schema of a document that a report gives with --json, or list the documents.

    NAME is the report's, or what stands at `schema` in the document. The schema needs no other file.

    \b
    Examples:
      dynamo schema                           the names
      dynamo schema explain > explain.schema.json
    """
    from dynamo_reporters.shipped_schemas import self_contained

    put("\n".join(REPORTS) + "\n" if name is None else self_contained(name), None)
