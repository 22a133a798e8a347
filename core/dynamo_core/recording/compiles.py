"""Frames and their compiles: outcome, metrics, bytecode, resume functions, and time spent on tracing."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ..model import (
    Bytecode,
    Compile,
    CompileId,
    Frame,
    HooksLeftOut,
    Instruction,
    Place,
    Process,
    ResumeFunction,
    TracedFunction,
    UnusedCompile,
)
from ..shared.conversion import from_fields
from ..shared.early_records import CompileBegun, CompileResultUnused
from ..shared.records import (
    FrameRewritten,
    FrameTried,
    FunctionsTraced,
    HooksNotCalled,
    LinesTraced,
    ResumeFunctionMade,
)
from ..shared.settings import advised_settings_of, dynamic_of
from .breaks import BreakBuilder
from .caches import counts_in_metrics
from .compile_context import CompileContext, InProgressBuilder
from .graphs import GraphBuilder
from .structured import (
    MOST_VALUES,
    Handler,
    around_of,
    place_at,
    stack_frame,
    stack_of,
    structured,
    structured_head,
)
from .trace_format import Record

# Each phase includes the next ones. torch calls the time in any backend "aot_autograd" in its metrics
# (torch/_dynamo/output_graph.py, call_user_compiler: phase_name="backend_compile").
_PHASES = {
    "dynamo_cumulative_compile_time_us": "dynamo",
    "aot_autograd_cumulative_compile_time_us": "backend",
    "inductor_cumulative_compile_time_us": "inductor",
    "inductor_code_gen_cumulative_compile_time_us": "inductor_code_gen",
    "backward_cumulative_compile_time_us": "backward",
}


class CompileBuilder:
    """Fills `frames`, `compiles`, `bytecodes`, `resume_functions` and `tracing` of a process."""

    def __init__(
        self,
        process: Process,
        context: CompileContext,
        in_progress: InProgressBuilder,
        breaks: BreakBuilder,
        graphs: GraphBuilder,
        has_instructions: bool,
    ) -> None:
        self._process = process
        self._context = context
        self._in_progress = in_progress
        self._breaks = breaks
        self._graphs = graphs
        self._has_instructions = has_instructions
        self._methods: dict[CompileId | None, str] = {}

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {
            FrameTried.NAME: self._frame,
            CompileBegun.NAME: self._compile_begun,
            CompileResultUnused.NAME: self._unused_compile,
            HooksNotCalled.NAME: self._hooks_left_out,
            FrameRewritten.NAME: self._bytecode,
            LinesTraced.NAME: self._lines_traced,
            ResumeFunctionMade.NAME: self._resume_function,
            "compilation_metrics": self._compilation_metrics,
            "bwd_compilation_metrics": self._compilation_metrics,
        }

    def handlers_of_large(self) -> dict[str, Handler]:
        """The handler of each kind of large record that is only read when a report needs it."""
        return {FunctionsTraced.NAME: self._tracing_time}

    def _compile_begun(self, record: Record) -> None:
        compile_id = self._context.id_of(record)
        start = structured(CompileBegun, record)
        if start.test is not None:
            self._process.tests.setdefault(compile_id, start.test.removesuffix(" (call)"))
        frame = self._context.frame(compile_id)
        if start.def_line is not None and frame is not None:
            self._note_def_line(frame.place, start.def_line)
        self._in_progress.began(compile_id, frame, start.began_ns, start.backward)

    def _unused_compile(self, record: Record) -> None:
        unused = structured(CompileResultUnused, record)
        (line,) = stack_of([unused.line])
        self._process.unused_compiles.append(from_fields(UnusedCompile, unused, line=line))

    def _hooks_left_out(self, record: Record) -> None:
        hooks = structured(HooksNotCalled, record)
        (line,) = stack_of([hooks.line])
        classes, graphs = tuple(hooks.classes), tuple(hooks.graphs)
        left_out = from_fields(HooksLeftOut, hooks, line=line, classes=classes, graphs=graphs)
        self._process.hooks_left_out.append(left_out)

    def _frame(self, record: Record) -> Frame:
        tried = structured(FrameTried, record)
        place = Place(tried.file, tried.line)
        if tried.def_line is not None:
            self._note_def_line(place, tried.def_line)
        compile_id = self._context.id_of(record)
        self._context.called_from(compile_id, stack_frame(tried.called_from))
        failed_to_compile = tried.outcome in ("failed", "raised")
        failure = self._complete_compile(compile_id, tried)
        broke = self._breaks.break_from_error(tried.broke, compile_id)
        stopped = self._breaks.break_from_error(tried.stopped, compile_id)
        stopped = stopped or self._breaks.break_named_in(tried.reason or "", compile_id)
        where, explanation = broke or stopped, None
        if failed_to_compile:
            explanation = self._breaks.last_explanation(compile_id) or (where.explanation if where else None)
        frame = from_fields(
            Frame,
            tried,
            place=place,
            outcome=self._outcome(tried),
            reason=failure or tried.reason,
            is_whole_graph=tried.whole_graph,
            compile_id=compile_id,
            explanation=explanation,
            broke=broke,
            stopped=stopped,
            seconds=None if tried.ns is None else tried.ns / 1e9,
            called_from=stack_frame(tried.called_from),
            compiled_by=stack_frame(tried.compiled_by),
            in_inference_mode=tried.inference_mode,
        )
        if frame.is_exit:
            self._in_progress.interrupted(compile_id, frame.ended_ns, frame.reason)
        self._in_progress.ended(compile_id)
        self._process.frames.append(frame)
        return frame

    def _note_def_line(self, first: Place, def_line: int) -> None:
        self._process.first_lines[Place(first.file, def_line)] = first

    def _outcome(self, tried: FrameTried) -> Any:
        """The outcome of a frame. While we capture, an error in the compiler does not reach the program."""
        capture = self._process.capture
        reaches_program = tried.whole_graph or tried.is_exit or (capture and capture.raises)
        falls_back = self._process.is_captured_now and not reaches_program
        return "failed" if tried.outcome == "raised" and falls_back else tried.outcome

    def _complete_compile(self, compile_id: CompileId | None, tried: FrameTried) -> str | None:
        """Add the frame's names to its graphs, breaks and metrics; returns why it failed, if it did."""
        if compile_id is None:
            return None
        if tried.method is not None:
            self._methods[compile_id] = tried.method
            for graph in takewhile(
                lambda each: each.compile_id == compile_id, reversed(self._process.graphs)
            ):
                graph.method = tried.method
            _set_method(self._process.bytecodes, compile_id, tried.method)
        self._complete_breaks(compile_id, tried.method)
        compiles = self._process.compiles
        if not compiles or compiles[-1].compile_id != compile_id:
            return None
        last = replace(compiles[-1], method=tried.method)
        if last.place is None:
            last = replace(last, name=tried.name, place=Place(tried.file, tried.line))
        compiles[-1] = last
        return f"{last.fail_type}: {last.fail_reason}" if last.fail_reason else None

    def _complete_breaks(self, compile_id: CompileId, method: str | None) -> None:
        """Add to the breaks of a compile what is only known when it has ended."""
        callers = self._process.callers.get(compile_id, ())
        breaks = self._process.breaks
        for at in range(len(breaks) - 1, -1, -1):
            if breaks[at].compile_id != compile_id:
                break
            breaks[at] = replace(breaks[at], method=method or breaks[at].method, callers=callers)

    def _bytecode(self, record: Record) -> Bytecode:
        read = structured if self._has_instructions else structured_head
        frame = read(FrameRewritten, record, MOST_VALUES)
        bytecode = from_fields(
            Bytecode,
            frame,
            compile_id=self._context.id_of(record),
            method=None,
            place=Place(frame.file, frame.first_line),
            source={int(line): text for line, text in frame.source.items()},
            original=tuple(Instruction(*row) for row in frame.original or ()),
            modified=tuple(Instruction(*row) for row in frame.modified or ()),
        )
        self._process.bytecodes.append(bytecode)
        return bytecode

    def _resume_function(self, record: Record) -> None:
        made = structured(ResumeFunctionMade, record)
        made_by = self._context.id_of(record)
        self._process.resume_functions.append(from_fields(ResumeFunction, made, made_by=made_by))

    def _lines_traced(self, record: Record) -> None:
        for function in structured(LinesTraced, record).functions:
            lines = self._process.lines_traced.setdefault(function["file"], {})
            lines.update(around_of(function["around"]))

    def _tracing_time(self, record: Record) -> None:
        tracing = structured(FunctionsTraced, record)
        compile_id, attempt = self._context.id_of(record), record.metadata.get("attempt", 0)
        traced = [
            TracedFunction(
                compile_id=compile_id,
                attempt=attempt,
                name=function["name"],
                place=Place(function["file"], function["line"]),
                calls=function["calls"],
                exclusive_seconds=function["exclusive_ns"] / 1e9,
                inclusive_seconds=function["inclusive_ns"] / 1e9,
            )
            for function in tracing.functions
        ]
        others = tracing.others
        if others["functions"]:
            seconds = others["exclusive_ns"] / 1e9
            traced.append(
                TracedFunction(
                    compile_id, attempt, None, None, others["calls"], seconds, None, others["functions"]
                )
            )
        self._process.tracing.extend(traced)

    def _compilation_metrics(self, record: Record) -> Compile:
        metrics = record.metadata[record.kind]
        cache_metrics = {key: value for key, value in metrics.items() if "_cache_" in key}
        compile_id = self._context.id_of(record)
        compile_ = Compile(
            compile_id=compile_id,
            name=metrics.get("co_name"),
            place=place_at(metrics.get("co_filename"), metrics.get("co_firstlineno")),
            seconds=_duration(metrics),
            is_forward=record.kind == "compilation_metrics" and metrics.get("is_forward") is not False,
            guards=metrics.get("guard_count"),
            ops=metrics.get("graph_op_count"),
            recompile_reason=metrics.get("recompile_reason"),
            fail_type=metrics.get("fail_type"),
            fail_reason=metrics.get("fail_reason"),
            phases={
                phase: metrics[key] / 1e6 for key, phase in _PHASES.items() if metrics.get(key) is not None
            },
            cache_hits=_sum(cache_metrics, "_cache_hit_count"),
            cache_misses=_sum(cache_metrics, "_cache_miss_count"),
            restart_reasons=tuple(map(str, metrics.get("restart_reasons") or ())),
            seconds_before_restart=metrics.get("dynamo_time_before_restart_s"),
            dynamic=dynamic_of(metrics.get("dynamo_config")),
            settings=advised_settings_of(metrics.get("dynamo_config")),
            method=self._methods.get(compile_id),  # for a backward: known from the frame's record
            tells_recompile="recompile_reason" in metrics,
            failed_at=place_at(
                metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
            ),
        )
        self._process.compiles.append(compile_)
        self._process.caching.counts.extend(counts_in_metrics(metrics, compile_.compile_id))
        if record.kind == "bwd_compilation_metrics":
            self._in_progress.ended(compile_.compile_id)
        if not self._process.is_ours or "graph calls" in self._process.health.failed_probes:
            self._graphs.complete(compile_)
        return compile_


def _duration(metrics: Mapping[str, Any]) -> float | None:
    """Seconds of the whole compile. `duration_us` exists from torch 2.6 on; the other fields are older."""
    for key, unit in (
        ("duration_us", 1e6),
        ("entire_frame_compile_time_s", 1.0),
        ("dynamo_cumulative_compile_time_us", 1e6),
    ):
        if metrics.get(key) is not None:
            return float(metrics[key] / unit)
    return None


def _sum(metrics: Mapping[str, Any], suffix: str) -> int | None:
    counts = [value for key, value in metrics.items() if isinstance(value, int) and key.endswith(suffix)]
    return sum(counts) if counts else None


def _set_method(items: list[Any], compile_id: CompileId, method: str) -> None:
    """Set the method of the last of these breaks or bytecodes, as far as they are of this compile."""
    for at in range(len(items) - 1, -1, -1):
        if items[at].compile_id != compile_id:
            break
        items[at] = replace(items[at], method=method)
