"""Probe: how many calls ran eager after torch refused to compile a frame once more, at its recompile limit.

torch goes on looking at the frame's entries, and where none fits it runs the frame without calling us. It
can be asked to say after each look-up whether an entry fitted; that is done from the first refusal on, so
that no other program pays for it. A look-up that found nothing was a call that ran eager, or the frame is
compiled again because of it: those are counted where torch's converter is called.

Source: torch/_C/_dynamo/eval_frame.pyi (set_guard_complete_hook: one hook, called with whether an entry
fitted; torch goes by what it answers, and says which was there before), torch/_dynamo/types.py
(ConvertFrameReturn). There since 2.8; run with 2.13.
"""

import operator
import os
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ...shared.records import CallsAtLimit
from ..writing.stream import Stream

NAME = "calls at torch's recompile limit"
_NONE: Mapping[str, int] = MappingProxyType({})


class CallsAtLimitCounter:
    """Counts them in this process, all frames together.

    It is made at the first refusal: that call ran eager, too, and was looked up before.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._refused, self._converted, self._of_parent = 1, 0, 0
        self._missing = _counting()
        self._look_ups = type("LookUps", (dict,), {"__missing__": self._missing})({True: True})

    def begin(self) -> None:
        """Ask torch to say what each look-up found; RuntimeError where somebody else has asked it to."""
        from torch._C._dynamo.eval_frame import set_guard_complete_hook

        before = set_guard_complete_hook(self._look_ups.__getitem__)
        if before is not None:
            set_guard_complete_hook(before)
            raise RuntimeError("torch's hook for look-ups of cache entries is taken")
        os.register_at_fork(after_in_child=self._begin_anew)

    def tried(self, compile_id: Mapping[str, int] | None, *, is_refused: bool) -> None:
        """The converter was called: for a frame that has entries, because a look-up found nothing."""
        self._converted += (compile_id or _NONE).get("frame_compile_id", 0) > 0
        self._refused += is_refused

    def finish(self) -> None:
        """The process ends: record how many calls there were."""
        found_nothing = self._missing.cache_info().misses - self._of_parent
        self._stream.record(CallsAtLimit(times=max(0, found_nothing - self._converted) + self._refused))

    def _begin_anew(self) -> None:
        """A forked child has a stream of its own."""
        self._refused, self._converted, self._of_parent = 0, 0, self._missing.cache_info().misses


def _counting() -> Any:
    """What a dict calls for a key that it has not: answers False, and counts how often.

    All of it is C. In code of Python's, Ctrl-C would raise KeyboardInterrupt, and torch, which calls this
    where nothing may be raised, would abort the program.
    """
    return lru_cache(maxsize=0)(operator.contains)


def is_refusal(result: Any) -> bool:
    """Whether the converter's answer is that the frame is not compiled again, and its entries are still used.

    Source: torch/_dynamo/convert_frame.py, where exceeds_recompile_limit is asked; nothing else answers so.
    Read in 2.13.
    """
    strategy = getattr(result, "frame_exec_strategy", None)
    return strategy is not None and strategy.cur_action.name == "RUN_ONLY"
