"""The program's own lines that call compiled frames, where a frame is torch's or another library's.

A compiled `nn.Sequential` is a frame in torch's container.py or external_utils.py, which says nothing of
where in the program it is.
"""

from functools import cached_property

from ..model import CompileId, Frame, Place, Process, StackFrame
from .by_compile import ByCompile, by_compile
from .library import is_library


class OwnCalls:
    """The program's own calls of library frames in one process."""

    def __init__(self, process: Process) -> None:
        self._process = process.entire

    def of(self, compile_id: CompileId | None, where: Place | None) -> StackFrame | None:
        """The line that called the frame at `where`; None where that is the program's own, or unknown."""
        if where is None or not is_library(where):
            return None
        called = [frame.called_from for frame in self._frames.get(compile_id, ())]
        stack = [*self._process.callers.get(compile_id, ()), *called]
        own = (each for each in reversed(stack) if each is not None and not is_library(each.place))
        return next(own, None)

    @cached_property
    def _frames(self) -> ByCompile[list[Frame]]:
        return by_compile(self._process.frames)
