"""Overrides, the freeze, deferred frames, `--verify` and semantic differences, from our records."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..model import (
    AppliedOverride,
    ComparedValue,
    CompileId,
    Deferred,
    GuardFailure,
    NotCompiled,
    Place,
    Process,
    Replaced,
    SemanticDifference,
    StackFrame,
    TracedAgain,
    TriedChange,
    VerifiedCall,
    VerifiedProgramCall,
    WrongNode,
)
from ..shared.change_tried import ChangeTried
from ..shared.conversion import from_fields, from_json
from ..shared.early_records import FrameDeferred
from ..shared.records import (
    CallVerified,
    FrameNotCompiled,
    OverrideApplied,
    ProgramCallVerified,
    SemanticsNoted,
)
from .structured import place_at, stack_frame


class InterventionsBuilder:
    """Fills `not_compiled`, `deferred` and `overrides`. A repeated record replaces the earlier one."""

    def __init__(self, process: Process, failure_of: Callable[[str], GuardFailure]) -> None:
        self._process = process
        self._failure_of = failure_of
        self._positions: dict[object, int] = {}
        self._first_met: dict[object, int | None] = {}

    def not_compiled(self, record: FrameNotCompiled, at_ns: int | None) -> None:
        """Add a frame that was not compiled after the freeze; `at_ns` is when its record was written."""
        place = place_at(record.file, record.line)
        reasons = None if record.reasons is None else tuple(record.reasons)
        values = tuple(record.came or [None] * len(reasons or ()))
        failures = tuple(
            replace(failure, actual=value) if failure.actual is None else failure
            for failure, value in zip(map(self._failure_of, reasons or ()), values, strict=True)
        )
        key = (record.name, place, reasons, values)
        item = from_fields(
            NotCompiled,
            record,
            place=place,
            reasons=reasons,
            failures=tuple(failure for failure in failures if failure.entry is not None),
            at_ns=self._first_met.setdefault(key, at_ns),
            called_from=stack_frame(record.called_from),
        )
        self._put(self._process.interventions.not_compiled, item, key)

    def deferred(self, record: FrameDeferred) -> None:
        """Add a frame that ran eager because compiling had exceeded the capture budget."""
        place = place_at(record.file, record.line)
        if place is not None and record.name is not None:
            item = Deferred(record.name, place, record.times)
            self._put(self._process.interventions.deferred, item, (item.name, place))

    def override(
        self, record: OverrideApplied, compile_id: CompileId | None, frame: StackFrame | None
    ) -> None:
        """Add replaced arguments of a torch.compile call, or the replaced backend of a frame's compile."""
        item = AppliedOverride(
            overrides=tuple(record.overrides or ()),
            of=record.of if frame is None else frame.function,
            place=place_at(record.file, record.line) if frame is None else frame.place,
            compile_id=compile_id,
            replaced=tuple(Replaced(*change) for change in record.replaced or ()),
            times=record.times,
        )
        key = (item.overrides, item.of, item.place, item.replaced) if compile_id is None else object()
        self._put(self._process.interventions.overrides, item, key)

    def _put(self, items: list[Any], item: Any, key: object) -> None:
        """Append an item, or replace the one that has the same key."""
        at = self._positions.setdefault((id(items), key), len(items))
        items[at : at + 1] = [item]


# In the functions below a wrong value raises an error, and the record counts as damaged.


def verified_call(verified: CallVerified) -> VerifiedCall:
    """The call of a `--verify` record, which was to be compared with eager."""
    return from_fields(
        VerifiedCall,
        verified,
        worst=compared_value(verified.worst),
        first_wrong=compared_value(verified.first_wrong),
        node=_node(verified.node),
        seconds=verified.ns / 1e9,
    )


def verified_program_call(verified: ProgramCallVerified) -> VerifiedProgramCall:
    """The call of a `--verify` record, which was to be compared with plain Python."""
    return from_fields(
        VerifiedProgramCall,
        verified,
        compiled_at=Place(verified.file, verified.line),
        function_place=place_at(verified.function_file, verified.function_line),
        wrong_place=place_at(verified.wrong_file, verified.wrong_line),
        seconds=verified.ns / 1e9,
    )


def tried_change(tried: ChangeTried, compile_id: CompileId | None) -> TriedChange:
    """The changes of a `--try` record, and what came of them."""
    place = Place(tried.file, tried.line)
    before, after = _traced_again(tried.before), _traced_again(tried.after)
    return TriedChange(compile_id, place, tuple(tried.changes), before, after, tried.ns / 1e9)


def _traced_again(content: Mapping[str, Any]) -> TracedAgain:
    return TracedAgain(
        tuple(tuple(Place(str(file), int(line)) for file, line in stack) for stack in content["breaks"]),
        int(content["recompiled"]),
        int(content["left_eager"]),
        int(content["ops"]),
        content["why"],
    )


def compared_value(content: Mapping[str, Any] | None) -> ComparedValue | None:
    """A compiled value and its distance from eager's."""
    return None if content is None else from_json(ComparedValue, content)


def _node(content: Mapping[str, Any] | None) -> WrongNode | None:
    if content is None:
        return None
    return WrongNode(
        name=str(content["name"]),
        target=str(content["target"]),
        place=place_at(content["file"], content["line"]),
        value=compared_value(content["comparison"]),
    )


def semantic_difference(noted: SemanticsNoted) -> SemanticDifference:
    """Where torch.compile does not do what eager does, for a graph or a frame."""
    return from_fields(
        SemanticDifference,
        noted,
        place=place_at(noted.file, noted.line),
        outputs=tuple(noted.outputs or ()),
        inputs=tuple(noted.inputs or ()),
    )
