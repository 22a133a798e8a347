"""Another package's command `dynamo` before this one on PATH, where what is typed next finds it."""

import os
import re
import shutil

_LARGEST = 1 << 16  # bytes of the script that pip writes for a command, which has some hundred
_IMPORTED = re.compile(rb"^\s*(?:from|import)\s+([\w.]+)", re.MULTILINE)


def foreign_command(started_as: str) -> str | None:
    """The path of that command, where this one was `started_as` `dynamo`; None where there is none.

    Only a Python script that does not import this package, or a binary file, is surely another's: a shell
    script may start any Python.
    """
    found = shutil.which("dynamo")
    if found is None or os.path.basename(started_as) != "dynamo" or os.path.realpath(found) == started_as:
        return None
    try:
        with open(found, "rb") as file:
            text = file.read(_LARGEST)
    except OSError:
        return None
    if text.startswith(b"#!"):
        imported = {each.partition(b".")[0] for each in _IMPORTED.findall(text)}
        is_python = b"python" in text.partition(b"\n")[0]
        return found if is_python and imported and b"dynamo_cli" not in imported else None
    return found if b"\0" in text else None


def warning(found: str) -> str:
    """What to say of it, in a line."""
    return f"`dynamo` on your PATH is another package's command ({found}): type `dynamo-cli` for this one"
