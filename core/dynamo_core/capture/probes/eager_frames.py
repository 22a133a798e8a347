"""Be told when certain frames are entered that run as plain Python, at next to no cost for all others.

From Python 3.12 on, `sys.monitoring` does it. Before, a frame callback of torch's: being asked costs some
10 µs a call, as torch keeps the state of Python's random numbers meanwhile (torch/_dynamo/convert_frame.py,
preserve_global_state, says so). Run on Python 3.10, 3.11 and 3.13.
"""

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from ..frames.frame_callback import Answers, FrameCallback
from ..harmless import Probes

_TOOLS = (4, 3)  # those that sys.monitoring gives to nobody

# Whether a frame with this code is looked for; if it is, it has been noted.
Look = Callable[[CodeType], bool]


def watch(look: Look, probes: Probes) -> None:
    """Call `look` whenever a frame begins whose code it has once said yes to; of others it is asked once."""
    if sys.version_info >= (3, 12):
        _monitor(look)
    else:
        FrameCallback(lambda: _frame_callback(look), probes).enter()


def _frame_callback(look: Look) -> Callable[..., Any]:
    answer = Answers()

    def callback(frame: Any, cache_entry: Any, frame_state: Any) -> Any:
        return answer.not_now_below if look(frame.f_code) else answer.never

    return callback


def _monitor(look: Look) -> None:
    """Where all tools are taken, nothing is noted."""
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - mypy reads this file as 3.10
    for tool in _TOOLS:
        if monitoring.get_tool(tool) is None:
            break
    else:
        raise RuntimeError("other tools use sys.monitoring")
    monitoring.use_tool_id(tool, "dynamo bench")
    disable = monitoring.DISABLE

    def begun(code: CodeType, offset: int) -> Any:
        return None if look(code) else disable

    monitoring.register_callback(tool, monitoring.events.PY_START, begun)
    monitoring.set_events(tool, monitoring.events.PY_START)
