"""Records the process of the tests, and reads what one test has left in the recording."""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Container
from pathlib import Path

import pytest

from dynamo_core.capture.in_process import EngineHere
from dynamo_core.model import Recording
from dynamo_core.recording.parts import StreamParts

from .compiled import Compiled

_SWITCHES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")


class NotRecorded(Exception):
    """What a test compiled cannot be known; says why."""


class Recorder:
    """The recording of this process. One test at a time is looked at: from `begin` on."""

    def __init__(self, engine: EngineHere) -> None:
        self._engine = engine
        self._streams: dict[str, StreamParts] = {}
        self._began = engine.position()
        self._is_reset_at = self._began
        self.compiled = Compiled(self.so_far)

    def begin(self, *, reset: bool) -> None:
        """A test begins. With `reset`, nothing is compiled that was compiled before it.

        torch's caches are left alone where nothing was compiled since they were emptied: other tests go on
        with what they compiled as long as can be.
        """
        if reset and self._engine.position() != self._is_reset_at:
            dynamo = sys.modules.get("torch._dynamo")
            if dynamo is not None:
                dynamo.reset()
        self._began = self._engine.position()
        if reset:
            self._is_reset_at = self._began

    def so_far(self, contents: Container[str] = frozenset()) -> Recording:
        """What was recorded since the test began; NotRecorded where that cannot be known."""
        failure = self._engine.failure()
        if failure is not None:
            raise NotRecorded(f"dynamo's engine could not start: {failure}")
        began, now = self._began, self._engine.position()
        if now.offset is None:
            raise NotRecorded(f"{now.path or 'its recording'} is not there")
        is_same_file = now.path == began.path  # it is not in the first test, nor in a forked process
        if now.lost_records > (began.lost_records if is_same_file else 0):
            raise NotRecorded("records could not be written: is the disk full?")
        if now == began:
            return Recording(Path(now.path), None, [], python_processes=1, engine_failures=[])
        if now.path not in self._streams:
            self._streams[now.path] = StreamParts(Path(now.path))
        parts = self._streams[now.path]
        begin = began.offset if is_same_file else None
        try:
            return parts.recording(begin or 0, now.offset, contents)
        except OSError as error:
            raise NotRecorded(f"cannot read {now.path}: {error.strerror}") from error


def recorder_of_this_process() -> Recorder:
    """Begin to record this process, to a folder that goes when it ends."""
    for switch in _SWITCHES:
        if os.environ.get(switch) == "1":
            raise pytest.UsageError(f"--dynamo: {switch}=1 switches torch.compile off; unset it")
    try:
        folder = Path(tempfile.mkdtemp(prefix="dynamo_pytest_"))
    except OSError as error:
        raise pytest.UsageError(f"--dynamo: cannot record to {tempfile.gettempdir()}: {error}") from error
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)  # before the engine's own, which comes first then: it writes its last record
    return Recorder(EngineHere(folder))
