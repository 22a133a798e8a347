"""The program with some of its files edited, beside the user's own, which are never touched.

A folder of links to what stands beside the script stands in for the script's own folder, on `sys.path` too;
an edited file is a copy there, and so is each folder on the way to one.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..analysis.library import is_library
from ..checks.program import Program
from ..model import Place


def script_of(program: Program) -> Path | None:
    """The script that a program is; None where it is a module, code or another command."""
    if not program.is_python or program.arguments[0].startswith("-"):
        return None
    script = Path(program.arguments[0])
    return script if script.is_file() and script.suffix in (".py", ".pyw", "") else None


def can_be_edited(program: Program, file: str) -> bool:
    """Whether a file is the program's script, or stands in its folder or below, and is no library's."""
    script = script_of(program)
    if script is None or not os.path.isabs(file):
        return False
    home, path = script.resolve().parent, Path(file).resolve()
    if path.suffix != ".py" or home not in path.parents or not path.is_file():
        return False
    return not is_library(Place(f"/{path.relative_to(home)}", 1))  # in an environment beside the script


def overlay(program: Program, edited: Mapping[str, str], folder: Path) -> Program:
    """Make the folder, with these files' new texts by their paths, and give the program that runs there."""
    script = script_of(program)
    assert script is not None
    home = script.resolve().parent
    # The script is always a copy: of a link, Python would take the folder that it leads to.
    texts = {Path(script.resolve().name): script.read_bytes()}
    texts |= {Path(file).resolve().relative_to(home): text.encode("utf-8") for file, text in edited.items()}
    _mirror(home, folder, texts)
    copy = folder / script.resolve().name
    return replace(program, arguments=(str(copy), *program.arguments[1:]))


def _mirror(original: Path, copy: Path, texts: Mapping[Path, bytes]) -> None:
    copy.mkdir(mode=0o700)
    own = {path.parts[0] for path in texts}
    for entry in os.scandir(original):
        if entry.name == "__pycache__":
            continue
        inside = {
            path.relative_to(entry.name): text for path, text in texts.items() if path.parts[0] == entry.name
        }
        if entry.name not in own:
            (copy / entry.name).symlink_to(entry.path)
        elif entry.is_dir():
            _mirror(Path(entry.path), copy / entry.name, inside)
        else:
            (copy / entry.name).write_bytes(inside[Path()])
