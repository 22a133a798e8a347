"""Run several situations of a program in one process, where importing torch for each would take long."""

import sys
import traceback
from typing import Any


def mark(name: str) -> None:
    """Say on both streams that what follows is of situation `name`."""
    for stream in (sys.stdout, sys.stderr):
        print(f"=== {name}", file=stream, flush=True)


def run(names: list[str], situations: dict[str, Any]) -> None:
    """One name: just that. Several: each after a mark on both streams, with its exception, if any."""
    if len(names) == 1:
        situations[names[0]]()
        return
    for name in [*names, "the_end"]:
        mark(name)
        try:
            situations.get(name, print)()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
