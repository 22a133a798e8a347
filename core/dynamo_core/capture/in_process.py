"""Record the current process without a launcher, for a tool that loads us as a plugin (pytest, IPython).

torch may have been imported before: what it compiled until then is not recorded. Where `dynamo run` started
this process, its engine exists already and is used.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..shared.early_records import NOWHERE, StreamPosition
from ..shared.names import ENGINE_FAILURE_PREFIX
from ..shared.settings import Settings
from . import arm
from .hidden_modules import hide_modules_in

if TYPE_CHECKING:
    from .engine_parts import EngineParts


class InProcessEngine:
    """The engine of this process, which starts when torch is imported. It watches, and captures nothing."""

    def __init__(self, recording: Path, *, is_kept: bool = False, verify: str | None = None) -> None:
        """Arrange for the engine to start, and to record to a folder; nothing where it is armed already.

        A recording that `is_kept` is for every report, and the engine makes its folder when it starts. One
        that is not is `brief` (`Settings`), and its folder is there. `verify` is as in `Settings`.
        """
        self._recording = own_recording() or recording
        if arm.recorded_to is not None:
            return
        package = str(Path(str(__spec__.origin)).parent.parent)
        hide_modules_in([package, f"{package}/capture"])
        settings = Settings(
            str(recording),
            capture="none",
            backend="eager",
            brief=not is_kept,
            makes_folder=is_kept,
            verify=verify,
        )
        arm.start_when_torch_is_imported({**os.environ, **settings.to_environment()}, None)

    def position(self) -> StreamPosition:
        """The position in the stream at which the next record of this process will be written."""
        parts = _running()
        return NOWHERE if parts is None else StreamPosition(*parts.stream.position())

    def compare_first_calls_again(self) -> None:
        """Have --verify compare the next calls of each compiled function as if they were its first."""
        parts = _running()
        if parts is not None and parts.program_verifier is not None:
            parts.program_verifier.begin_again()

    def finish_comparing(self) -> bool:
        """Record what --verify found of calls that wait for a backward; False where it is not switched on."""
        parts = _running()
        if parts is None:
            return True  # torch is not imported: there is nothing to compare
        if parts.program_verifier is None:
            return False
        parts.program_verifier.finish()
        return True

    def failure(self) -> str | None:
        """Why the engine could not start; None where it did, or where torch is not imported yet."""
        if _running() is not None or "torch" not in sys.modules:
            return None
        file = self._recording / f"{ENGINE_FAILURE_PREFIX}{os.getpid()}.txt"
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else "it did not start"


def own_recording() -> Path | None:
    """The folder that this process is recorded to, also before it imports torch; None where it is not."""
    return None if arm.recorded_to is None else Path(arm.recorded_to)


def _running() -> "EngineParts | None":
    engine = sys.modules.get("dynamo_core.capture.engine")  # imported when torch is
    parts: EngineParts | None = getattr(engine, "running", None)
    return parts
