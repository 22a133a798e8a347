"""The processes that measure, seen from their parent: one request at a time, each with a time limit."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...launch.process import kill_session
from ...shared.errors import NotMeasured

_CORE = Path(__file__).resolve().parents[3]
_START = """
import sys
from importlib import import_module
sys.path[:0] = sys.argv[5:]
import_module(f"dynamo_core.backends.measuring.{sys.argv[1]}").main(*map(int, sys.argv[2:4]), sys.argv[4])
"""
_IMPORT_LIMIT = 120.0  # seconds for importing torch
_LOOK_EVERY = 0.2  # seconds


class NoAnswer(Exception):
    """The process gave no answer and was ended; the text says why. It `crashed`, or else was too slow."""

    def __init__(self, reason: str, *, crashed: bool) -> None:
        super().__init__(reason)
        self.crashed = crashed


class Worker:
    """A process in the program's Python that measures one backend, until `end` is called.

    Another `module` of `backends/measuring` does something else, about `backend`.
    """

    def __init__(self, python: str, backend: str, import_path: Sequence[str], module: str = "worker") -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by end()
        try:
            self._process = subprocess.Popen(
                [
                    *(python, "-c", _START, module, str(requests), str(answers), backend),
                    *(str(_CORE), *import_path),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                pass_fds=(requests, answers),
                start_new_session=True,  # it has children of its own, which end with it
            )
        except OSError as error:
            raise NotMeasured(f"cannot start {python}: {error.strerror}") from error
        finally:
            os.close(requests)
            os.close(answers)
        self._unread = b""

    def hello(self) -> dict[str, Any]:
        """What the process found when it had imported torch."""
        return self.ask({"do": "hello"}, _IMPORT_LIMIT)

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        """The answer to a request within `limit` seconds; else NoAnswer, and the process is ended."""
        try:
            with open(self._requests, "wb", closefd=False) as out:
                out.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            raise NoAnswer(self._how_it_ended(), crashed=True) from None
        deadline = time.monotonic() + limit
        while b"\n" not in self._unread:
            has_ended = self._process.poll() is not None  # its children may still hold the pipe open
            ready, _, _ = select.select([self._answers], [], [], 0 if has_ended else _LOOK_EVERY)
            piece = os.read(self._answers, 1 << 16) if ready else b""
            self._unread += piece
            if (ready or has_ended) and not piece:
                raise NoAnswer(self._how_it_ended(), crashed=True)
            if not ready and time.monotonic() >= deadline:
                self.end()
                raise NoAnswer(f"no answer after {limit:g} s", crashed=False)
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """End the process and its children; does nothing when called again."""
        if self._stderr.closed:
            return
        kill_session(self._process)
        os.close(self._requests)
        os.close(self._answers)
        self._stderr.close()

    def _how_it_ended(self) -> str:
        code = self._process.wait()
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "backslashreplace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self.end()
        how = (
            f"crashed: signal {-code} ({_signal_name(-code)})" if code < 0 else f"ended with exit code {code}"
        )
        return f"{how}; it said: {last[:200]}" if last and code >= 0 else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
