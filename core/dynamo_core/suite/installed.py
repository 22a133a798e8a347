"""What the program's Python has: the version of torch, and which modules are missing. Nothing is imported."""

import json
import subprocess
from collections.abc import Collection

from ..shared.quick_dataclass import dataclass

_ASK = """
import importlib.metadata, importlib.util, json, sys
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps([version("torch"), [name for name in sys.argv[1:] if not has(name)]]))
"""
_LONGEST = 60.0  # seconds


@dataclass(frozen=True)
class Installed:
    """`torch` is None where there is none, or nothing was answered; then no module counts as missing."""

    torch: str | None = None
    missing: frozenset[str] = frozenset()


def installed(python: str, modules: Collection[str]) -> Installed:
    """Ask `python`."""
    try:
        answer = subprocess.run(
            [python, "-c", _ASK, *sorted(modules)],
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            stdin=subprocess.DEVNULL,
            check=True,
        ).stdout
        torch, missing = json.loads(answer.strip().splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return Installed()  # the programs will meet what is wrong with it themselves
    return Installed(torch, frozenset(missing))
