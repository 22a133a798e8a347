"""The program's own line that calls a compiled frame, where the frame is torch's or another library's.

A compiled `nn.Sequential` is a frame in torch's container.py or external_utils.py, which says nothing of
where in the program it is.
"""

from ..model import CompileId, Place, Process, StackFrame
from .library import is_library


def own_call(process: Process, compile_id: CompileId | None, where: Place | None) -> StackFrame | None:
    """The line that called the frame at `where`; None where that is the program's own, or it is not known."""
    if where is None or not is_library(where):
        return None
    entire = process.entire
    called = [each.called_from for each in entire.frames if each.compile_id == compile_id]
    stack = [*entire.callers.get(compile_id, ()), *called]
    own = (each for each in reversed(stack) if each is not None and not is_library(each.place))
    return next(own, None)
