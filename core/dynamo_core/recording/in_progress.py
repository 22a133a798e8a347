"""Which compiles have begun and not ended, from the records that are written at both moments."""

from dataclasses import replace
from typing import Any

from ..model import Compiling, Graph, Process, StackFrame


class InProgressBuilder:
    """Keeps `compiling` of a process, whether it is read while it runs or after it was killed."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def began(self, compile_id: Any, frame: StackFrame | None, began_ns: int, is_backward: bool) -> None:
        """torch has begun to compile a frame or a backward; analysis that begins anew is the same compile."""
        if self._find(compile_id) is None:
            name, place = (None, None) if frame is None else (frame.function, frame.place)
            self._process.compiling.append(Compiling(compile_id, name, place, began_ns, is_backward))

    def handed_over(self, graph: Graph, backend_ns: int | None) -> None:
        """The backend has the graph now."""
        at = self._find(graph.compile_id)
        if at is not None:
            compiling = self._process.compiling
            compiling[at] = replace(
                compiling[at], graph=graph.number, ops=graph.ops, backend=graph.backend, backend_ns=backend_ns
            )

    def returned(self, graph: Graph) -> None:
        """The backend is done with the graph."""
        at = self._find(graph.compile_id)
        if at is not None:
            compiling = self._process.compiling
            compiling[at] = replace(compiling[at], graph=None, ops=None, backend=None, backend_ns=None)

    def interrupted(self, compile_id: Any, ended_ns: int | None, by: str | None) -> None:
        """By what is no error, and so goes on to the program."""
        at = self._find(compile_id)
        if at is not None:
            compiling = self._process.compiling[at]
            self._process.interrupted.append(
                replace(compiling, interrupted_ns=ended_ns, interrupted_by=(by or "an exit").strip(": "))
            )

    def ended(self, compile_id: Any) -> None:
        """A compile is over, whether it succeeded or not."""
        at = self._find(compile_id)
        if at is not None:
            del self._process.compiling[at]

    def _find(self, compile_id: Any) -> int | None:
        ids = [each.compile_id for each in self._process.compiling]
        return ids.index(compile_id) if compile_id in ids else None
