"""Answer the question of the command line: the last line of stdout is JSON."""

import json
import sys
from collections.abc import Callable
from typing import Any

from .arguments import check
from .details import details
from .registered import registered
from .trial import try_out

_QUESTIONS: dict[str, Callable[..., Any]] = {
    "check": check,
    "details": details,
    "registered": registered,
    "try_out": try_out,
}


def main() -> None:
    """The arguments are ours: a folder, the question, and what it is about as JSON."""
    question, about = sys.argv[2:]
    answer = _QUESTIONS[question](**json.loads(about))
    print("\n" + json.dumps(answer))
