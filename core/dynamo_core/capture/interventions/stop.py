"""End the program once a compiled frame has been called often enough (`dynamo fix --steps`).

A frame's calls are those of its graphs, whichever cache entry they are of: the program then ends at the same
point in every run, as long as the same frames are compiled. What the program would have done at its end is
left out, as the run says.
"""

import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..probe_guard import ProbeGuard


class StopAfter:
    """Counts the calls of each frame; `finish` writes the last records."""

    def __init__(self, steps: int, probes: ProbeGuard, finish: Callable[[], None]) -> None:
        self._steps = steps
        self._calls: dict[CodeType, int] = {}
        self._finish = probes.guarded("process end")(finish)

    def around(self, compiled: Callable[..., Any], frame: CodeType) -> Callable[..., Any]:
        """The compiled graph, which ends the process in place of the call after the last one."""
        calls = self._calls

        def called(*arguments: Any) -> Any:
            if calls.get(frame, 0) >= self._steps:
                self._end()
            calls[frame] = calls.get(frame, 0) + 1
            return compiled(*arguments)

        return called

    def _end(self) -> None:
        self._finish()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass
        os._exit(0)
