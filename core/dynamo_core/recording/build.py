"""Builds the model of one process from its records, one record at a time.

The same code reads a finished recording and follows a running program: `add` returns what a record has just
completed, so that it can be shown at once.
"""

import re
from collections.abc import Container
from typing import TypeVar

from ..model import CompileId, GeneratedKernels, Process, Stage
from ..shared import names
from ..shared.change_tried import ChangeTried
from ..shared.early_records import (
    CaptureDecision,
    FrameDeferred,
    Import,
    ProbeFailed,
    ProcessEnd,
    ProcessInfo,
    ProcessState,
    Timeline,
)
from ..shared.records import (
    CallsAtLimit,
    CallVerified,
    ChangedSetting,
    FrameNotCompiled,
    FreezeNoted,
    NotebookCell,
    OverrideApplied,
    ProgramCallVerified,
    SemanticsNoted,
    StepMarksKept,
    WindowNoted,
)
from .breaks import BreakBuilder
from .caches import CacheBuilder
from .compile_context import CompileContext, InProgressBuilder, name_cells, use_def_lines
from .compiles import CompileBuilder
from .exports import TracedExportBuilder, export_handlers
from .graphs import GraphBuilder
from .guards import GuardBuilder
from .interventions import (
    InterventionsBuilder,
    semantic_difference,
    tried_change,
    verified_call,
    verified_program_call,
)
from .kernels import CODE_FOR_WINDOW, GENERATED_CODE, GENERATED_KERNELS, kernels_in
from .phases import PhaseBuilder
from .structured import Handler, Item, RecordClock, fields_of, invalid_fields, keeps, reads, structured
from .trace_format import Damaged, Record
from .training import PairBuilder

_Described = TypeVar("_Described", ProcessInfo, ProcessState, ProcessEnd)

_RANK_IN_NAME = re.compile(r"_rank_(\d{1,9})[_.]")


class ProcessBuilder:
    """Builds one `Process`. A record that cannot be understood is counted as damaged and skipped.

    Payloads that are large or numerous are loaded only where `contents` has the name of their record: FX
    nodes and their code, instructions, guards, phases, and the other stages of a compile.
    """

    def __init__(
        self,
        process: Process,
        contents: Container[str] = frozenset(),
        earlier: "ProcessBuilder | None" = None,
    ) -> None:
        """`earlier` has read the records before these: its file names and cells hold for these, too."""
        self.process = process
        in_name = _RANK_IN_NAME.search(process.stream.name)
        process.rank = int(in_name[1]) if in_name else None
        self._contents = contents
        # Cell numbers of a notebook, by IPython's file names.
        self._cells: dict[str, int] = {} if earlier is None else dict(earlier._cells)
        self.window_records: list[WindowNoted] = []  # they name files, which the caller opens
        self._code_for_window: list[tuple[CompileId | None, Record]] = []
        self._context = context = CompileContext(process, {} if earlier is None else earlier.file_names)
        in_progress = InProgressBuilder(process)
        self._clock = RecordClock()
        breaks = BreakBuilder(process, context, self._clock)
        self._guards = guards = GuardBuilder(process, context, contents)
        graphs = GraphBuilder(process, context, in_progress, contents)
        compiles = CompileBuilder(process, context, in_progress, breaks, graphs, names.BYTECODE in contents)
        self._pairs = PairBuilder(process, context, graphs, contents)
        self._caches = caches = CacheBuilder(process, context, contents)
        self._phases = PhaseBuilder(process, context)
        self._interventions = InterventionsBuilder(process, guards.failure)
        self._handlers = self._own_handlers() | export_handlers(process)
        traced = TracedExportBuilder(process, context)
        for builder in (context, breaks, guards, graphs, self._pairs, compiles, caches, traced):
            self._handlers |= builder.handlers()
        large: dict[str, Handler] = {
            "chromium_event": self._phases.add,
            WindowNoted.NAME: reads(WindowNoted, self.window_records.append),
            **guards.handlers_of_large(),
            **compiles.handlers_of_large(),
        }
        self._handlers |= {name: handle for name, handle in large.items() if name in contents}

    def _own_handlers(self) -> dict[str, Handler]:
        changed, runtime = self.process.interventions, self.process.runtime
        return {
            ProcessInfo.NAME: self._process_start,
            ProcessState.NAME: self._process_state,
            ProcessEnd.NAME: self._process_end,
            CaptureDecision.NAME: reads(CaptureDecision, changed.captures.append),
            ProbeFailed.NAME: reads(ProbeFailed, self._probe_failed),
            ChangedSetting.NAME: reads(ChangedSetting, changed.changed_settings.append),
            NotebookCell.NAME: reads(NotebookCell, self._notebook_cell),
            Timeline.NAME: keeps(Timeline, runtime, "timeline"),
            StepMarksKept.NAME: reads(StepMarksKept, self._step_marks),
            Import.NAME: reads(Import, runtime.imports.append),
            FreezeNoted.NAME: keeps(FreezeNoted, changed, "freeze"),
            FrameNotCompiled.NAME: self._not_compiled,
            FrameDeferred.NAME: reads(FrameDeferred, self._interventions.deferred),
            CallsAtLimit.NAME: reads(CallsAtLimit, self._calls_at_limit),
            OverrideApplied.NAME: self._override,
            CallVerified.NAME: reads(CallVerified, lambda call: changed.verified.append(verified_call(call))),
            ProgramCallVerified.NAME: reads(ProgramCallVerified, self._verified_program_call),
            ChangeTried.NAME: self._tried_change,
            SemanticsNoted.NAME: reads(SemanticsNoted, self._semantics),
            "torch_version": self._torch_version,
        }

    @property
    def file_names(self) -> dict[int, str]:
        """The numbers that torch gives file names in a stream."""
        return self._context.file_names

    def add(self, record: Record) -> Item | None:
        """Take one record; returns the item of the model that it completes, if any."""
        name = record.artifact_name or record.kind
        counts = self.process.health.record_counts
        counts[name] = counts.get(name, 0) + 1
        handle = self._handlers.get(name)
        if handle is None:
            if counts[name] == 1 and (handle := self._handler_of_kind(name)):
                self._handlers[name] = handle
            else:
                return None
        try:
            return handle(record)
        except Damaged as error:
            self.process.health.note_damage(f"{name}: {error}")
            # Where a write was cut short, the next record stands on the same line.
            embedded_record = record.embedded_record()
            return None if embedded_record is None else self.add(embedded_record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            self.process.health.note_damage(f"{name}: {type(error).__name__}: {error}")
            return None

    def finish(self) -> None:
        """Complete the process, when there are no more records."""
        if self.window_records:
            self._read_code_for_window()
        self._phases.finish()
        self._guards.finish()
        use_def_lines(self.process)
        name_cells(self.process, self._cells)
        self._handlers.clear()  # they refer to this builder: without the cycle it is freed at once

    def _handler_of_kind(self, name: str) -> Handler | None:
        """The handler of records whose name matches a pattern, or was requested in `contents`."""
        if lookup := self._caches.handler_of_lookup(name):
            return lookup
        if self._pairs.takes_text(name):
            return lambda record: self._aot_text(record, name)
        if name == GENERATED_CODE and GENERATED_KERNELS in self._contents:
            return self._generated_code
        if name in self._contents:
            return lambda record: self._stage(record, name)
        if name == GENERATED_CODE and CODE_FOR_WINDOW in self._contents:
            return self._keep_code
        return None

    def _generated_code(self, record: Record) -> None:
        calls = kernels_in(record.unchecked_payload())
        self.process.kernels.append(GeneratedKernels(self._context.id_of(record), calls))
        if GENERATED_CODE in self._contents:
            self._stage(record, GENERATED_CODE)

    def _keep_code(self, record: Record) -> None:
        detached = None if record.may_be_broken() else record.detached()
        if detached is None:
            self._stage(record, GENERATED_CODE)
        else:
            self._code_for_window.append((self._context.id_of(record), detached))

    def _read_code_for_window(self) -> None:
        while self._code_for_window:
            compile_id, record = self._code_for_window.pop(0)
            try:
                self._add_stage(record, GENERATED_CODE, compile_id)
            except Damaged as error:
                self.process.health.note_damage(f"{GENERATED_CODE}: {error}")

    def _aot_text(self, record: Record, name: str) -> None:
        if name in self._contents:
            self._stage(record, name)
        self._pairs.add_text(record, name)

    def _process_start(self, record: Record) -> None:
        self.process.info = self._described(ProcessInfo, record)
        self._clock.start(record, self.process.info.started_ns)
        self.process.torch_version = str(vars(self.process.info)["torch"])

    def _process_state(self, record: Record) -> None:
        self.process.runtime.state = self._described(ProcessState, record)

    def _process_end(self, record: Record) -> None:
        end = self._described(ProcessEnd, record)
        if end.torch_totals is None:
            raise Damaged("torch's totals are not counts")
        self.process.runtime.end = end
        self.process.compiling.clear()

    def _described(self, kind: type[_Described], record: Record) -> _Described:
        """What a process says about itself: all recorded fields but those of a wrong type."""
        content = fields_of(kind, record.json_payload())
        wrong = invalid_fields(kind, content)
        if wrong:
            self.process.health.note_damage(f"{', '.join(sorted(wrong))}: not what is recorded there")
        return kind(**{name: value for name, value in content.items() if name not in wrong})

    def _step_marks(self, marks: StepMarksKept) -> None:
        self.process.runtime.step_marks_index = marks.calls_index
        self.process.runtime.step_mark_seconds = max(0.0, marks.ns_each / 1e9)

    def _torch_version(self, record: Record) -> None:
        self.process.torch_version = str(record.json_payload()["pytorch_version"])

    def _probe_failed(self, failure: ProbeFailed) -> None:
        self.process.health.failed_probes[failure.probe] = failure.error

    def _notebook_cell(self, cell: NotebookCell) -> None:
        self._cells[cell.file] = cell.number

    def _calls_at_limit(self, calls: CallsAtLimit) -> None:
        self.process.interventions.calls_at_limit = calls.times

    def _not_compiled(self, record: Record) -> None:
        refused = structured(FrameNotCompiled, record)
        self._interventions.not_compiled(refused, self._clock.moment(record))

    def _override(self, record: Record) -> None:
        compile_id = self._context.id_of(record)
        applied = structured(OverrideApplied, record)
        self._interventions.override(applied, compile_id, self._context.frame(compile_id))

    def _verified_program_call(self, call: ProgramCallVerified) -> None:
        self.process.interventions.verified_program_calls.append(verified_program_call(call))

    def _tried_change(self, record: Record) -> None:
        tried = structured(ChangeTried, record)
        self.process.interventions.tried_changes.append(tried_change(tried, self._context.id_of(record)))

    def _semantics(self, noted: SemanticsNoted) -> None:
        self.process.interventions.semantic_differences.append(semantic_difference(noted))

    def _stage(self, record: Record, name: str) -> None:
        self._add_stage(record, name, self._context.id_of(record))

    def _add_stage(self, record: Record, name: str, compile_id: CompileId | None) -> None:
        content = record.metadata.get(record.kind)
        file = content.get("filename") if isinstance(content, dict) else None
        text = record.payload()
        if text is not None:
            self.process.stages.append(Stage(name, compile_id, text, file))
