"""Run several situations of a program in one process, where importing torch for each would take long."""

import sys
import traceback
from typing import Any


def run(names: list[str], situations: dict[str, Any]) -> None:
    """One name: just that. Several: each after a mark on both streams, with its exception, if any."""
    if len(names) == 1:
        situations[names[0]]()
        return
    for name in [*names, "the_end"]:
        print(f"=== {name}", flush=True)
        print(f"=== {name}", file=sys.stderr, flush=True)
        try:
            situations.get(name, print)()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
