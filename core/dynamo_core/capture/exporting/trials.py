"""All trials with one module, in the copy of the program's process, each in a fork of its own."""

import fcntl
import os
import select
import signal
import time
from collections.abc import Callable

from ...shared.export_records import ExportTried
from ...shared.names import (
    AOTI,
    COMPILE,
    CRASHED,
    DONE,
    DRAFT,
    EXPORT,
    EXPORT_ENDED,
    EXPORT_RUNNING,
    EXPORT_STOP,
    EXPORT_TURN,
    FAILED,
    RAISED,
    STRICT,
    TOO_LONG,
)
from ...shared.settings import ExportSettings
from ..forking import do_in_copy, exit_code
from ..primitives import O_CLOEXEC, O_RDWR, close, create_private, write
from .trial import Tell, ToExport, Way, try_it

REPLACED = b"replaced\n"
_SNAPSHOT_LOOKS_EVERY = 0.2  # seconds
_CHUNK = 1 << 16


class Snapshot:
    """One copy, as the program sees it: what is sent to it, it gets when the program has ended."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def send(self, line: bytes) -> None:
        """Hand something over; where nobody takes it, it is lost."""
        try:
            write(self._pipe, line)
        except OSError:
            pass

    def replace(self) -> None:
        """There is a better one: this one ends without a trial."""
        self.send(REPLACED)
        self.forget()

    def forget(self) -> None:
        """In a forked child of the program: the copy is not its business."""
        if self._pipe >= 0:
            close(self._pipe)
        self._pipe = -1


def take_snapshot(folder: str, work: Callable[[list[bytes]], None]) -> Snapshot:
    """Fork; the copy does `work` with the lines that were sent, once the program has ended."""
    receiving, sending = os.pipe()
    os.set_blocking(sending, False)
    # Held by the copy from before it exists until it ends, so that the launcher knows when all have ended.
    running = create_private(f"{folder}/{EXPORT_RUNNING}", O_RDWR | O_CLOEXEC)
    fcntl.flock(running, fcntl.LOCK_SH)
    try:
        do_in_copy(lambda: _work_after_the_end(folder, receiving, work), {receiving, running})
    finally:
        close(receiving)
        close(running)
    return Snapshot(sending)


def _work_after_the_end(folder: str, receiving: int, work: Callable[[list[bytes]], None]) -> None:
    lines = _lines_until_the_end(folder, receiving)
    if lines is not None and _wait_for_turn(folder):
        import torch

        torch.set_num_threads(1)
        work(lines)


def _lines_until_the_end(folder: str, receiving: int) -> list[bytes] | None:
    """What was sent; None for a copy that was replaced, or is to stop."""
    received = b""
    while True:
        if select.select([receiving], [], [], _SNAPSHOT_LOOKS_EVERY)[0]:
            data = os.read(receiving, _CHUNK)
            received += data
            if not data:
                break
        elif os.path.exists(f"{folder}/{EXPORT_ENDED}"):
            break  # a process of the program lives on
    return None if received.endswith(REPLACED) or is_to_stop(folder) else received.splitlines()


def _wait_for_turn(folder: str) -> bool:
    """Copies work one after the other; False where they are to stop."""
    turn = create_private(f"{folder}/{EXPORT_TURN}", O_RDWR | O_CLOEXEC)
    while not is_to_stop(folder):
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until this process ends
            return True
        except BlockingIOError:
            time.sleep(_SNAPSHOT_LOOKS_EVERY)
    return False


def is_to_stop(folder: str) -> bool:
    """Whether the launcher has said that no trial is wanted any more."""
    return os.path.exists(f"{folder}/{EXPORT_STOP}")


_LOOKS_EVERY = 0.01  # seconds
_EXIT_CODES = {DONE: 70, FAILED: 71, RAISED: 72}  # which no module gives by chance


class Trials:
    """Tries one way after the other; `tell` writes a record, `end` what a process writes last."""

    def __init__(
        self,
        subject: ToExport,
        settings: ExportSettings,
        folder: str,
        stem: str,
        tell: Tell,
        end: Callable[[], None],
    ) -> None:
        self._subject = subject
        self._settings = settings
        self._folder = folder
        self._stem = f"{folder}/{stem}"
        self._tell = tell
        self._end = end
        self._raises = False  # the module itself, so that there is nothing more to try
        self._takes_too_long = False

    def run(self) -> None:
        """Export it, dynamic where sizes varied, else with all fixed; where that fails, look further."""
        varies = bool(self._subject.varied)
        works = self._try_either(EXPORT, varies)
        works_strictly = self._try_either(STRICT, varies, is_to_be_saved=works is None)
        if not self._takes_too_long:  # where one does, those that go further would, too
            if works is None or works.is_dynamic != varies:
                self._try(Way(DRAFT, varies))
            if works is None or works_strictly is None:
                self._try(Way(COMPILE, False))
        best = works or works_strictly
        if best is not None and self._settings.aoti and best.file and os.path.exists(best.file):
            file = f"{self._stem}.aoti.pt2"
            self._try(Way(AOTI, best.is_dynamic, file=file, exported_file=best.file))

    def _try_either(self, kind: str, varies: bool, *, is_to_be_saved: bool = True) -> Way | None:
        """The way that worked; with fixed sizes where dynamic ones do not."""
        wants_file = is_to_be_saved and (self._settings.save or self._settings.aoti)
        file = f"{self._stem}.pt2" if wants_file else None
        for is_dynamic in (True, False) if varies else (False,):
            way = Way(kind, is_dynamic, file)
            if self._try(way):
                return way
            if self._takes_too_long:
                break
        return None

    def _try(self, way: Way) -> bool:
        if self._raises or is_to_stop(self._folder):
            return False
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            self._work(way)
        code = exit_code(child, lambda: is_to_stop(self._folder), _LOOKS_EVERY)
        if code in _EXIT_CODES.values():
            self._raises = code == _EXIT_CODES[RAISED]
            return code == _EXIT_CODES[DONE]
        if is_to_stop(self._folder):
            return False
        self._takes_too_long = code == -signal.SIGALRM
        outcome = TOO_LONG if self._takes_too_long else CRASHED
        by = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        error = by if outcome == CRASHED else None
        seconds = time.monotonic() - begun
        self._tell(
            ExportTried(
                kind=way.kind, is_dynamic=way.is_dynamic, outcome=outcome, seconds=seconds, error=error
            )
        )
        return False

    def _work(self, way: Way) -> None:
        """In the fork, which ends here."""
        ending = _EXIT_CODES[FAILED]
        try:
            # Left to the kernel, which ends code that Python cannot interrupt, too.
            signal.setitimer(signal.ITIMER_REAL, self._settings.time_limit)
            ending = _EXIT_CODES[try_it(self._subject, way, self._tell)]
            self._end()
        finally:
            os._exit(ending)
