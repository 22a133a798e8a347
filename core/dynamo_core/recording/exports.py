"""torch.export: the records of `dynamo export`, and calls of torch.export in a trace of torch's own."""

from collections.abc import Iterable, Mapping
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
from ..shared.names import FAILED, KINDS, OUTCOMES, RAISED
from ..shared.records import ExportCompared, ExportTried, ModulesCalled, ModuleToExport
from .breaks import parse_break_text
from .compile_context import CompileContext
from .interventions import compared_value
from .structured import Handler, around_of, reads, stack_frame, stack_of
from .trace_format import Record


class ExportBuilder:
    """Fills the results of `dynamo export` in a process. A wrong value raises an error."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            ModulesCalled.NAME: reads(ModulesCalled, self._modules_called),
            ModuleToExport.NAME: reads(ModuleToExport, self._module),
            ExportTried.NAME: reads(ExportTried, self._tried),
            ExportCompared.NAME: reads(ExportCompared, self._compared),
        }

    def _modules_called(self, called: ModulesCalled) -> None:
        self._process.export.modules_called = called

    def _module(self, noted: ModuleToExport) -> None:
        self._process.export.called_module = called_module(noted)

    def _tried(self, tried: ExportTried) -> None:
        self._process.export.trials.append(export_trial(tried))

    def _compared(self, compared: ExportCompared) -> None:
        self._process.export.comparisons.append(export_comparison(compared))


def called_module(noted: ModuleToExport) -> CalledModule:
    """The module of a record."""
    return from_fields(
        CalledModule,
        noted,
        place=None if noted.file is None or noted.line is None else Place(noted.file, noted.line),
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


def export_trial(tried: ExportTried) -> ExportTrial:
    """The trial of a record."""
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


def export_comparison(compared: ExportCompared) -> ExportComparison:
    """The comparison of an exported program with eager."""
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
# guard_on_data_dependent_error), torch/export/_draft_export.py (CaptureStructuredTrace). Run with 2.13.
_BEGINS, _ENDS = "export", "exported_program"
_EXPORTER = "/torch/export/"
_MOST_OBSTACLES = 1000  # of one export; a loop may meet the same one many times


class TracedExportBuilder:
    """Fills `traced_exports` of a process."""

    def __init__(self, process: Process, context: CompileContext) -> None:
        self._process = process
        self._context = context

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            _BEGINS: self._begin,
            _ENDS: self._end,
            "missing_fake_kernel": self._missing_kernel,
            "mismatched_fake_kernel": self._mismatched_kernel,
            "propagate_real_tensors_provenance": self._guessed,
            "guard_on_data_dependent_error": self._data_dependent,
        }

    def _begin(self, record: Record) -> None:
        self._process.export.traced.append(TracedExport(record.time))

    def _end(self, record: Record) -> None:
        """Note the exported program. draft_export writes that of its export once more."""
        exports = self._process.export.traced
        if not exports:
            self._begin(record)
        exports[-1].program = record.payload()

    def _missing_kernel(self, record: Record) -> None:
        content = record.metadata["missing_fake_kernel"]
        self._add_obstacle("MISSING_FAKE_KERNEL", str(content["op"]), record, content)

    def _mismatched_kernel(self, record: Record) -> None:
        content = record.metadata["mismatched_fake_kernel"]
        self._add_obstacle("MISMATCHED_FAKE_KERNEL", f"{content['op']}: {content['reason']}", record, content)

    def _guessed(self, record: Record) -> None:
        content = record.metadata["propagate_real_tensors_provenance"]
        text = f"{content['expr']} was taken to be {content['result']}, as it is with the inputs at hand"
        self._add_obstacle("DATA_DEPENDENT_ERROR", text, record, content)

    def _data_dependent(self, record: Record) -> None:
        content = record.metadata["guard_on_data_dependent_error"]
        text = f"Could not guard on data-dependent expression {content['expr']}"
        self._add_obstacle("DATA_DEPENDENT_ERROR", text, record, content)

    def _add_obstacle(self, kind: str, text: str, record: Record, content: Mapping[str, Any]) -> None:
        exports = self._process.export.traced
        if not exports or exports[-1].program is not None:
            if "frame_id" in record.metadata:
                return  # of a compile, which has a graph break for it
            self._begin(record)
        whole = self._context.stack(content.get("stack") or [])
        if "frame_id" in record.metadata and not any(_EXPORTER in each.place.file for each in whole):
            return  # of a compile after an export that failed; an export with strict=True has a frame too
        obstacle = DraftedObstacle(
            kind, text, tuple(self._context.stack(content.get("user_stack") or [])) or tuple(whole)
        )
        obstacles = exports[-1].obstacles
        if obstacle in obstacles:
            obstacles.remove(obstacle)  # the last one is what ended the export
        if len(obstacles) < _MOST_OBSTACLES:
            obstacles.append(obstacle)
