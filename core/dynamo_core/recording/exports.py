"""torch.export: the records of `dynamo export`, and calls of torch.export in a trace of torch's own."""

from collections.abc import Iterable
from typing import Any

from ..model import (
    UNKNOWN_FILE,
    VERIFY_OUTCOMES,
    CalledModule,
    ConstantSeen,
    DraftedObstacle,
    ExportComparison,
    ExportTrial,
    GraphBreak,
    InputSeen,
    Place,
    Process,
    TracedExport,
)
from ..shared.conversion import from_fields
from ..shared.export_records import ExportCompared, ExportTried, ModulesCalled, ModuleToExport
from ..shared.names import FAILED, KINDS, OUTCOMES, RAISED
from .breaks import parse_break_text
from .compile_context import CompileContext
from .interventions import compared_value
from .structured import Handler, around_of, keeps, place_at, reads, stack_frame, stack_of
from .trace_format import Record


def export_handlers(process: Process) -> dict[str, Handler]:
    """The handlers that fill the results of `dynamo export` in a process. A wrong value raises an error."""
    export = process.export

    def module(noted: ModuleToExport) -> None:
        export.called_module = _called_module(noted)

    return {
        ModulesCalled.NAME: keeps(ModulesCalled, export, "modules_called"),
        ModuleToExport.NAME: reads(ModuleToExport, module),
        ExportTried.NAME: reads(ExportTried, lambda tried: export.trials.append(_trial(tried))),
        ExportCompared.NAME: reads(ExportCompared, lambda each: export.comparisons.append(_comparison(each))),
    }


def _called_module(noted: ModuleToExport) -> CalledModule:
    return from_fields(
        CalledModule,
        noted,
        place=place_at(noted.file, noted.line),
        called_at=stack_frame(noted.called_at),
        inputs=tuple(
            InputSeen(str(tensor["name"]), str(tensor["dtype"]), tuple(map(_sizes, tensor["sizes"])))
            for tensor in noted.inputs
        ),
        constants=tuple(
            ConstantSeen(str(each["name"]), tuple(map(str, each["values"]))) for each in noted.constants
        ),
        dataclasses=tuple(noted.dataclasses),
    )


def _trial(tried: ExportTried) -> ExportTrial:
    if tried.kind not in KINDS or tried.outcome not in OUTCOMES:
        raise ValueError(f"{tried.kind!r}: {tried.outcome!r} is no trial's outcome")
    return from_fields(
        ExportTrial,
        tried,
        failed_at=_failed_at(tried),
        obstacles=tuple(
            DraftedObstacle(str(obstacle["kind"]), str(obstacle["text"]), stack_of(obstacle["user_stack"]))
            for obstacle in tried.obstacles or ()
        ),
    )


def _comparison(compared: ExportCompared) -> ExportComparison:
    if compared.outcome not in VERIFY_OUTCOMES:
        raise ValueError(f"{compared.outcome!r} is no outcome")
    sizes = {name: _sizes(each) for name, each in compared.sizes.items()}
    return from_fields(ExportComparison, compared, sizes=sizes, worst=compared_value(compared.worst))


def _failed_at(tried: ExportTried) -> GraphBreak | None:
    """The error as a graph break, so that it gets a graph break's explanation and remedy."""
    if tried.error is None or tried.outcome not in (FAILED, RAISED):
        return None
    stack = stack_of(tried.user_stack or ())
    place = stack[-1].place if stack else Place(UNKNOWN_FILE, 0)
    explanation = parse_break_text(f"Graph break in user code at {place}\n{tried.error}")
    return GraphBreak(tried.error, stack, None, explanation, around=around_of(tried.around))


def _sizes(dimensions: Iterable[Any]) -> tuple[int, ...]:
    return tuple(map(int, dimensions))


# Calls of torch.export in a trace of torch's own (TORCH_DTRACE), and their obstacles.
#
# `export` is the first record of a call, `exported_program` the last, with the program; obstacles stand
# between them. `draft_export` always writes a stream of its own, without the first record.
# Source: torch/export/_trace.py (_export), torch/_subclasses/fake_tensor.py (missing_fake_kernel,
# mismatched_fake_kernel), torch/fx/experimental/symbolic_shapes.py (propagate_real_tensors_provenance,
# guard_on_data_dependent_error), torch/export/_draft_export.py (CaptureStructuredTrace). Run with 2.13
# and 2.15.
_BEGINS, _ENDS = "export", "exported_program"
_EXPORTER = "/torch/export/"
# The kind of obstacle that each record between them is of, and what it says.
_OBSTACLES = {
    "missing_fake_kernel": ("MISSING_FAKE_KERNEL", "{op}"),
    "mismatched_fake_kernel": ("MISMATCHED_FAKE_KERNEL", "{op}: {reason}"),
    "propagate_real_tensors_provenance": (
        "DATA_DEPENDENT_ERROR",
        "{expr} was taken to be {result}, as it is with the inputs at hand",
    ),
    "guard_on_data_dependent_error": (
        "DATA_DEPENDENT_ERROR",
        "Could not guard on data-dependent expression {expr}",
    ),
}
_MOST_OBSTACLES = 1000  # of one export; a loop may meet the same one many times


class TracedExportBuilder:
    """Fills `traced_exports` of a process."""

    def __init__(self, process: Process, context: CompileContext) -> None:
        self._process = process
        self._context = context
        self._of_frames: dict[Any, list[DraftedObstacle]] = {}

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {_BEGINS: self._begin, _ENDS: self._end, **dict.fromkeys(_OBSTACLES, self._obstacle)}

    def _begin(self, record: Record) -> None:
        self._process.export.traced.append(TracedExport(record.time))

    def _end(self, record: Record) -> None:
        """Note the exported program. draft_export writes that of its export once more."""
        exports = self._process.export.traced
        if not exports:
            self._begin(record)
        exports[-1].program = record.payload()
        for obstacle in self._of_frames.pop(record.metadata.get("frame_id"), ()):
            self._add(obstacle)

    def _obstacle(self, record: Record) -> None:
        kind, text = _OBSTACLES[record.kind]
        content = record.metadata[record.kind]
        whole = self._context.stack(content.get("stack") or [])
        obstacle = DraftedObstacle(
            kind,
            text.format_map(content),
            tuple(self._context.stack(content.get("user_stack") or [])) or tuple(whole),
        )
        if "frame_id" in record.metadata and not any(_EXPORTER in each.place.file for each in whole):
            # Of a compile, which has a graph break for it; in 2.15 also of an export: its end has the frame.
            of_frame = self._of_frames.setdefault(record.metadata["frame_id"], [])
            if len(of_frame) < _MOST_OBSTACLES:
                of_frame.append(obstacle)
            return
        exports = self._process.export.traced
        if not exports or exports[-1].program is not None:
            self._begin(record)
        self._add(obstacle)

    def _add(self, obstacle: DraftedObstacle) -> None:
        obstacles = self._process.export.traced[-1].obstacles
        if obstacle in obstacles:
            obstacles.remove(obstacle)  # the last one is what ended the export
        if len(obstacles) < _MOST_OBSTACLES:
            obstacles.append(obstacle)
