"""`dynamo skill`."""

import os
import re
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import click

from dynamo_core.shared.errors import CannotRecord
from dynamo_core.shared.safe_writing import replace_in_one_step

from .help_pages import CommandWithHelp
from .options import documented_option
from .report_output import put

_HOSTS = ("claude", "agents")
_SKILL_FILE = Path(".claude", "skills", "torch-compile", "SKILL.md")
_AGENTS_FILE = Path("AGENTS.md")
_BEGIN, _END = "<!-- dynamo-cli skill: begin -->", "<!-- dynamo-cli skill: end -->"
_BLOCK = re.compile(rf"\n*{re.escape(_BEGIN)}.*?{re.escape(_END)}\n?", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)


@click.command("skill", cls=CommandWithHelp)
@documented_option(
    "--install",
    "install_for",
    type=click.Choice(_HOSTS),
    help=f"Write it below the working folder: to {_SKILL_FILE}, or as a marked block of {_AGENTS_FILE}.",
)
@documented_option("--remove", "remove_from", type=click.Choice(_HOSTS), help="Take it away from there.")
def skill_command(install_for: str | None, remove_from: str | None) -> None:
    """Print what a coding agent needs to know to use this tool, or install it into a project.

    AGENTS.md keeps what it has: the skill stands between two marks, and installing it again replaces what is
    between them.

    \b
    Examples:
      dynamo-cli skill
      dynamo-cli skill --install claude
      dynamo-cli skill --remove agents
    """
    if install_for and remove_from:
        raise click.UsageError("--install and --remove: one at a time")
    if not install_for and not remove_from:
        put(skill_text(), None)
    elif "claude" in (install_for, remove_from):
        _change(_SKILL_FILE, skill_text() if install_for else None)
    else:
        skill = _FRONT_MATTER.sub("", skill_text()) if install_for else ""
        _change(_AGENTS_FILE, with_block(_read(_AGENTS_FILE), skill))


def skill_text() -> str:
    """The skill as a Markdown document, with the front matter that names and describes it."""
    return files("dynamo_cli").joinpath("skill.md").read_text(encoding="utf-8")


def with_block(text: str, skill: str) -> str | None:
    """A document with the skill as its marked block, or without one for ""; None where nothing is left."""
    rest = _BLOCK.sub("\n", text).strip("\n")
    block = f"{_BEGIN}\n{skill.strip()}\n{_END}" if skill else ""
    parts = [part for part in (rest, block) if part]
    return "\n\n".join(parts) + "\n" if parts else None


def _read(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotRecord(f"cannot read {file}: {error}") from error
    if text.count(_BEGIN) != text.count(_END) or text.count(_BEGIN) > 1:
        raise CannotRecord(f"{file}: its marks {_BEGIN} and {_END} are not one pair; take them out by hand")
    return text


def _change(file: Path, text: str | None) -> None:
    """Write the file, or remove it and its folder; what was done is said on stderr."""
    try:
        if text is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_symlink():
                raise CannotRecord(f"cannot write {file}: it is a symbolic link")
            mode = file.stat().st_mode & 0o777 if file.exists() else 0o644
            replace_in_one_step(file, text.encode(), mode)
        elif not file.exists():
            raise CannotRecord(f"there is no {file} to remove")
        else:
            file.unlink()
            with suppress(OSError):  # a folder that has something else in it stays
                os.removedirs(file.parent)
    except OSError as error:
        raise CannotRecord(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"dynamo: {'removed' if text is None else 'wrote'} {file}", err=True)
