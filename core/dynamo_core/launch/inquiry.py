"""Ask the program's Python about backends, in a process of its own."""

import json
import subprocess
from pathlib import Path
from typing import Any

_CORE_FOLDER = Path(__file__).resolve().parents[2]
# In the place of the working directory, whose files are the user's.
_ANSWER = "import sys; sys.path[0] = sys.argv[1]; from dynamo_core.backends.inquiry import main; main()"


def ask(python: str, question: str, **details: Any) -> Any:
    """The answer of a function of `backends/inquiry.py`; None where that Python has no torch that works."""
    result = subprocess.run(
        [python, "-c", _ANSWER, str(_CORE_FOLDER), question, json.dumps(details)],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(result.stdout.splitlines()[-1]) if result.returncode == 0 else None
