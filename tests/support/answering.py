"""Runs a command in this process, from the same entry point as the installed one, in milliseconds.

For commands that read. One that starts a program may end as that does, by a signal: it needs a process.
"""

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from dynamo_cli.main import main


@dataclass(frozen=True)
class Result:
    """What a finished command left."""

    exit_code: int
    stdout: str
    stderr: str


def answer(*arguments: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Result:
    """What `dynamo ARGUMENTS` prints and how it ends, in an environment that asks for nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAMO_", "TORCH"))}
    environment = kept | {"NO_COLOR": "1"} | dict(env or {})
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before = os.getcwd()
    os.chdir(cwd or before)
    try:
        with (
            mock.patch.object(sys, "argv", ["dynamo", *map(str, arguments)]),
            mock.patch.dict(os.environ, environment, clear=True),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            main()
    except SystemExit as end:
        assert isinstance(end.code, int)
        return Result(end.code, _text(out), _text(err))
    finally:
        os.chdir(before)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode("utf-8", "backslashreplace")
