"""All trials with one module, in the copy of the program's process, each in a fork of its own."""

import os
import signal
import time
from collections.abc import Callable

from ...shared.export_trials import (
    AOTI,
    COMPILE,
    CRASHED,
    DONE,
    DRAFT,
    EXPORT,
    FAILED,
    RAISED,
    STRICT,
    TOO_LONG,
)
from ...shared.records import ExportTried
from ...shared.settings import ExportSettings
from .snapshot import is_to_stop
from .trial import Tell, ToExport, Way, try_it

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
        status = self._ending_of(child)
        code = os.waitstatus_to_exitcode(status)
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

    def _ending_of(self, child: int) -> int:
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            if is_to_stop(self._folder):
                os.kill(child, signal.SIGKILL)
            time.sleep(_LOOKS_EVERY)
