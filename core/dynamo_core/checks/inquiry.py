"""Ask the program's Python about backends, in a process of its own."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

_CORE_FOLDER = Path(__file__).resolve().parents[2]
# In the place of the working directory, whose files are the user's.
_ANSWER = "import sys; sys.path[0] = sys.argv[1]; from dynamo_core.inquiry.answers import main; main()"


class NoAnswer(Exception):
    """How the process ended instead, in words."""


def ask(
    python: str, question: str, *, time_limit: float | None = None, folder: str | None = None, **about: Any
) -> Any:
    """The answer of one of `inquiry/answers.py`; NoAnswer after `time_limit` seconds, or if it fails.

    It runs in `folder`, or else where we do.
    """
    command = [python, "-c", _ANSWER, str(_CORE_FOLDER), question, json.dumps(about)]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=folder,
        start_new_session=True,
    )
    try:
        output, errors = child.communicate(timeout=time_limit)
    except BaseException as error:
        _kill(child)
        if isinstance(error, subprocess.TimeoutExpired):
            raise NoAnswer(f"it did not end within {time_limit:g} s") from error
        raise
    if child.returncode != 0:
        raise NoAnswer(_how_it_ended(child.returncode, errors))
    return json.loads(output.splitlines()[-1])


def _how_it_ended(code: int, errors: str) -> str:
    if code < 0:
        return f"the process was ended by signal {-code} ({signal.strsignal(-code)})"
    lines = errors.strip().splitlines()
    return lines[-1] if lines else f"the process ended with exit code {code}"


def _kill(child: "subprocess.Popen[str]") -> None:
    """With all that it has started: compilers, and Inductor's workers."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended by itself
        pass
    child.wait()
