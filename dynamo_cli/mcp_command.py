"""`dynamo mcp`."""

from pathlib import Path

import click

from .help_pages import CommandWithHelp
from .options import documented_option


@click.command("mcp", cls=CommandWithHelp)
@documented_option("--allow-edits", is_flag=True, help="Let `fix` make proven edits in files.")
def mcp_command(allow_edits: bool) -> None:
    """Serve the commands to a coding agent, by the Model Context Protocol over stdin and stdout.

    It runs programs and reads recordings below the folder that it is started in, and nothing elsewhere. It
    needs the extra `mcp`: pip install 'dynamo-cli[mcp]'.

    \b
    Examples:
      claude mcp add dynamo -- dynamo-cli mcp
      dynamo-cli mcp --allow-edits
    """
    try:
        from .mcp_server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio", "pydantic"):
            raise
        raise click.UsageError("`dynamo mcp` needs the package mcp: pip install 'dynamo-cli[mcp]'") from error
    server(Path.cwd(), allow_edits=allow_edits).run("stdio")
