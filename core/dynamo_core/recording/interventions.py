"""What was done to the program's compiling: overrides, the freeze, and frames put off for their cost."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..model import (
    AppliedOverride,
    CompileId,
    GuardFailure,
    NotCompiled,
    Place,
    Process,
    PutOff,
    Replaced,
    StackFrame,
)
from ..shared.early_records import FramePutOff
from ..shared.records import FrameNotCompiled, OverrideApplied
from .payloads import stack_frame


class InterventionsBuilder:
    """Fills those fields of a process. What is met again replaces what was."""

    def __init__(self, process: Process, failure_of: Callable[[str], GuardFailure]) -> None:
        self._process = process
        self._failure_of = failure_of
        self._places: dict[object, int] = {}
        self._first_met: dict[object, int | None] = {}

    def not_compiled(self, record: FrameNotCompiled, at_ns: int | None) -> None:
        """A frame that was not compiled, for these reasons; `at_ns` is when that was said."""
        place = _place(record.file, record.line)
        reasons = None if record.reasons is None else tuple(record.reasons)
        came = tuple(record.came or [None] * len(reasons or ()))
        failures = tuple(
            replace(failure, actual=value) if failure.actual is None else failure
            for failure, value in zip(map(self._failure_of, reasons or ()), came, strict=True)
        )
        met = (record.name, place, reasons, came)
        item = NotCompiled(
            name=record.name,
            place=place,
            reasons=reasons,
            failures=tuple(failure for failure in failures if failure.entry is not None),
            times=record.times,
            at_ns=self._first_met.setdefault(met, at_ns),
            method=record.method,
            called_from=stack_frame(record.called_from),
        )
        self._put(self._process.not_compiled, item, met)

    def put_off(self, record: FramePutOff) -> None:
        """A frame that ran eager, as compiling had taken too long by then."""
        place = _place(record.file, record.line)
        if place is not None and record.name is not None:
            item = PutOff(record.name, place, record.times)
            self._put(self._process.put_off, item, (item.name, place))

    def override(
        self, record: OverrideApplied, compile_id: CompileId | None, begun: StackFrame | None
    ) -> None:
        """Arguments of a call, or the backend of a compile, which began with a frame, that were replaced."""
        item = AppliedOverride(
            overrides=tuple(record.overrides or ()),
            of=record.of if begun is None else begun.function,
            place=_place(record.file, record.line) if begun is None else begun.place,
            compile_id=compile_id,
            replaced=tuple(Replaced(*change) for change in record.replaced or ()),
            times=record.times,
        )
        kind = (item.overrides, item.of, item.place, item.replaced) if compile_id is None else object()
        self._put(self._process.overrides, item, kind)

    def _put(self, items: list[Any], item: Any, kind: object) -> None:
        at = self._places.setdefault((id(items), kind), len(items))
        items[at : at + 1] = [item]


def _place(file: str | None, line: int | None) -> Place | None:
    return None if file is None or line is None else Place(file, line)
