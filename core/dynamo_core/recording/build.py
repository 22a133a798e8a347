"""Turn the records of one process into the model, one record at a time.

The same code reads a finished recording and follows a running program; `add` returns what has just become
complete, so that it can be shown at once.
"""

import json
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any

from .. import names
from ..model import (
    AotPair,
    BreakExplanation,
    Bytecode,
    CacheLookup,
    CaptureDecision,
    Compile,
    CompileId,
    DeclinedBy,
    Frame,
    Graph,
    GraphBreak,
    GraphModes,
    Guard,
    GuardFailure,
    GuardSet,
    Import,
    Instruction,
    Node,
    Optimizer,
    Place,
    Process,
    RecompileReasons,
    ResumeFunction,
    SavedTensor,
    StackFrame,
    Stage,
    Symbol,
    Taking,
    TensorInfo,
    Timeline,
    TracedFunction,
)
from ..untrusted import fits, printable_values
from .aot_text import AOT_PAIRS_FROM_OUR_TEXT, AOT_PAIRS_FROM_TEXT, AOT_TEXTS, AotTexts
from .break_text import parse_break_text, parse_user_stack
from .guard_text import parse_guard_tree
from .interventions import InterventionsBuilder
from .phases import PhaseBuilder
from .recompile_text import parse_guard_failure
from .records import Damaged, Record
from .verified import verified_call

Item = Graph | GraphBreak | Compile | GuardSet | Bytecode | Frame

# Each phase holds those after it. torch calls the time in any backend "aot_autograd" in its metrics
# (torch/_dynamo/output_graph.py, call_user_compiler: phase_name="backend_compile").
_PHASES = {
    "dynamo_cumulative_compile_time_us": "dynamo",
    "aot_autograd_cumulative_compile_time_us": "backend",
    "inductor_cumulative_compile_time_us": "inductor",
    "inductor_code_gen_cumulative_compile_time_us": "inductor_code_gen",
    "backward_cumulative_compile_time_us": "backward",
}
_RANK_IN_NAME = re.compile(r"_rank_(\d{1,9})[_.]")
_CACHE_LOOKUP = re.compile(r"(\w+_cache)_(hit|miss|bypass)")
# Source: torch/_dynamo/exc.py. Other failures come before a graph is handed over, or after it is compiled.
_BACKEND_FAILURES = ("BackendCompilerFailed", "InductorError")
# Lines that stand between the user's call and the frame that is compiled, and are nobody's business.
_PLUMBING = re.compile(r"/torch/_dynamo/|/torch/nn/modules/module\.py$|/dynamo_core/capture/")
# What compiled autograd's graphs are shown as: the code that Dynamo compiles for them is torch's, in no file.
# Source: torch/fx/graph_module.py (_forward_from_src).
_COMPILED_AUTOGRAD = "compiled autograd"
_MADE_BY_TORCH = "<eval_with_key>"


class ProcessBuilder:
    """Builds one `Process`. A record that cannot be understood is counted as damaged and passed over.

    Payloads that can be large, or are many, are loaded only where `contents` has the name of their record: FX
    nodes and their code, instructions, guards, phases, and whatever else is a stage of a compile.
    """

    def __init__(self, process: Process, contents: Container[str] = frozenset()) -> None:
        self.process = process
        in_name = _RANK_IN_NAME.search(process.stream.name)
        process.rank = int(in_name[1]) if in_name else None
        self._contents = contents
        self._graphs: dict[int, Graph] = {}
        self._interned: dict[int, str] = {}
        self._frames_begun: dict[CompileId | None, StackFrame] = {}
        self._explanations: dict[tuple[CompileId | None, Place], BreakExplanation] = {}
        self._last_explanation: dict[CompileId | None, BreakExplanation] = {}
        self._phases = PhaseBuilder(process)
        self._interventions = InterventionsBuilder(process, self._failure)
        self._aot_texts = AotTexts()
        self._hints: dict[CompileId | None, dict[str, str]] = {}  # of symbolic sizes, by their name
        self._backwards: dict[CompileId, int] = {}
        self._autograds: dict[tuple[Any, Any], int] = {}
        self._generation = 0
        self._code: tuple[CompileId | None, str] | None = None
        self.window_records: list[dict[str, Any]] = []  # about files, which are for the reader to open
        self._handlers: dict[str, Callable[[Record], Item | None]] = {
            names.PROCESS_START: self._process_start,
            names.PROCESS_STATE: self._process_state,
            names.PROCESS_END: self._process_end,
            names.CAPTURE_DECISION: self._capture_decision,
            names.PROBE_FAILED: self._probe_failed,
            names.FRAME: self._frame,
            names.FX_GRAPH: self._fx_graph,
            names.GRAPH_TAKEN: self._graph_taken,
            names.GRAPH_COMPILED: self._graph_compiled,
            names.BACKWARD_COMPILED: self._backward_compiled,
            names.AOT_PAIR: self._aot_pair,
            names.OPTIMIZER: self._optimizer,
            names.TIMELINE: self._timeline,
            names.STEP_MARKS: self._step_marks,
            names.IMPORTED: self._imported,
            names.BYTECODE: self._bytecode,
            names.RESUME_FUNCTION: self._resume_function,
            names.GRAPH_BREAK: self._graph_break,
            names.FROZEN: self._freeze,
            names.NOT_COMPILED: self._not_compiled,
            names.OVERRIDE: self._override,
            names.VERIFIED: self._verified,
            "str": self._intern,
            "dynamo_start": self._dynamo_start,
            "torch_version": self._torch_version,
            "dynamo_graph_break_reason": self._break_explanation,
            "dynamo_output_graph": self._output_graph,
            "compilation_metrics": self._compilation_metrics,
            "bwd_compilation_metrics": self._compilation_metrics,
            "recompile_reasons": self._recompile_reasons,
            "create_symbol": self._symbol,
        }
        large: dict[str, Callable[[Record], Item | None]] = {
            names.GUARDS: self._guards,
            "dynamo_cpp_guards_str": self._guard_tree,
            names.TRACING_TIME: self._tracing_time,
            "chromium_event": self._phase,
            names.PROFILE_WINDOW: self._profile_window,
        }
        self._handlers |= {name: handle for name, handle in large.items() if name in contents}

    def add(self, record: Record) -> Item | None:
        """Take one record; what it completes, if anything."""
        name = record.artifact_name or record.kind
        counts = self.process.record_counts
        counts[name] = counts.get(name, 0) + 1
        handle = self._handlers.get(name)
        if handle is None:
            if counts[name] == 1 and (handle := self._handler_of_kind(name)):
                self._handlers[name] = handle
            else:
                return None
        try:
            return handle(record)
        except (Damaged, KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError):
            self.process.damaged_records += 1
            return None

    def finish(self) -> None:
        """There are no more records."""
        self._phases.finish()

    def _id(self, record: Record) -> CompileId | None:
        """The compile that a record belongs to. Records of ours lack compiled autograd's number of it."""
        metadata = record.metadata
        frame, compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
        autograd = metadata.get("compiled_autograd_id")
        if frame is None or compile_ is None:
            return None if autograd is None else CompileId(None, None, autograd, self._generation)
        if autograd is None:
            autograd = self._autograds.get((frame, compile_))
        return CompileId(frame, compile_, autograd, self._generation)

    def _handler_of_kind(self, name: str) -> Callable[[Record], Item | None] | None:
        """Who takes records that are known by what their name looks like, or were asked for by name."""
        lookup = _CACHE_LOOKUP.fullmatch(name)
        if lookup:
            return lambda record: self._cache_lookup(record, lookup[1], lookup[2])
        pairs = AOT_PAIRS_FROM_OUR_TEXT if self.process.is_ours else AOT_PAIRS_FROM_TEXT
        if name in AOT_TEXTS and (pairs in self._contents or AOT_PAIRS_FROM_TEXT in self._contents):
            return lambda record: self._aot_text(record, name)
        if name in self._contents:
            return lambda record: self._stage(record, name)
        return None

    def _process_start(self, record: Record) -> None:
        self.process.info = dict(record.json_payload())
        self.process.torch_version = str(self.process.info["torch"])

    def _process_state(self, record: Record) -> None:
        self.process.state = dict(record.json_payload())

    def _process_end(self, record: Record) -> None:
        end = dict(record.json_payload())
        if not fits(end.get("torch_totals"), dict[str, int] | None):
            raise Damaged("torch's totals are not counts")
        self.process.end = end

    def _timeline(self, record: Record) -> None:
        began_ns = self.process.info.get("began_ns")
        self.process.timeline = Timeline(began_ns=began_ns, **record.json_payload())

    def _step_marks(self, record: Record) -> None:
        content = record.json_payload()
        self.process.step_marks_index = int(content["calls_index"])
        self.process.step_mark_seconds = max(0.0, content["ns_each"] / 1e9)

    def _imported(self, record: Record) -> None:
        self.process.imports.append(Import(**record.json_payload()))

    def _profile_window(self, record: Record) -> None:
        self.window_records.append(dict(record.json_payload()))

    def _torch_version(self, record: Record) -> None:
        self.process.torch_version = str(record.json_payload()["pytorch_version"])

    def _intern(self, record: Record) -> None:
        text, number = record.metadata["str"]
        self._interned[number] = text

    def _dynamo_start(self, record: Record) -> None:
        self._note_autograd(record.metadata)
        compile_id = self._id(record)
        if compile_id in self._frames_begun and not record.metadata.get("attempt"):
            self._generation += 1  # torch._dynamo.reset() lets the ids begin anew
            compile_id = self._id(record)
        rank = record.metadata.get("rank")
        if isinstance(rank, int):
            self.process.rank = rank
        *callers, frame = self._stack(record.metadata["dynamo_start"]["stack"])
        self._frames_begun[compile_id] = frame
        self.process.callers[compile_id] = tuple(
            caller for caller in callers if not _PLUMBING.search(caller.place.file)
        )

    def _note_autograd(self, metadata: Mapping[str, Any]) -> None:
        """Whether the compile that begins is one of compiled autograd's; ids can begin anew without it."""
        compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
        self._autograds.pop(compile_, None)
        if metadata.get("compiled_autograd_id") is not None:
            self._autograds[compile_] = metadata["compiled_autograd_id"]

    def _stack(self, frames: list[Mapping[str, Any]]) -> list[StackFrame]:
        return [
            StackFrame(
                Place(self._interned.get(frame["filename"], "<unknown>"), frame["line"]),
                frame["name"],
                frame.get("loc") or "",
            )
            for frame in frames
        ]

    def _capture_decision(self, record: Record) -> None:
        self.process.captures.append(CaptureDecision(**record.json_payload()))

    def _probe_failed(self, record: Record) -> None:
        failure = record.json_payload()
        self.process.failed_probes[str(failure["probe"])] = str(failure["error"])

    def _frame(self, record: Record) -> Frame:
        content = record.json_payload()
        name, place = content["name"], Place(content["file"], content["line"])
        compile_id = self._id(record)
        gave_up = content["outcome"] in ("failed", "raised")
        failure = self._complete_compile(compile_id, name, place)
        broke = self._break_that_raised(content.get("broke"), compile_id)
        explanation = self._last_explanation.get(compile_id) or (broke.explanation if broke else None)
        frame = Frame(
            name=name,
            place=place,
            outcome=self._outcome(content),
            reason=failure or content["reason"],
            ok=content["ok"],
            is_whole_graph=content["whole_graph"],
            compile_id=compile_id,
            explanation=explanation if gave_up else None,
            broke=broke,
            ended_ns=content.get("ended_ns"),
            seconds=content["ns"] / 1e9 if "ns" in content else None,
        )
        self.process.frames.append(frame)
        return frame

    def _break_that_raised(
        self, content: Mapping[str, Any] | None, compile_id: CompileId | None
    ) -> GraphBreak | None:
        """torch's explanation is in the error's text, which does not say where."""
        if content is None:
            return None
        stack, reason = _user_stack(content), str(content["reason"])
        explanation = parse_break_text(f"Graph break in user code at {stack[-1].place}\n{reason}")
        callers = self.process.callers.get(compile_id, ())
        return GraphBreak(reason, stack, compile_id, explanation, callers, _around(content))

    def _outcome(self, content: Mapping[str, Any]) -> str:
        """What became of a frame. While we capture, an error in the compiler is kept from the program."""
        capture = self.process.capture
        reaches_program = content["whole_graph"] or content.get("is_exit") or (capture and capture.raises)
        is_kept = self.process.is_captured_now and not reaches_program
        return "failed" if content["outcome"] == "raised" and is_kept else str(content["outcome"])

    def _complete_compile(self, compile_id: CompileId | None, name: str, place: Place) -> str | None:
        """Name the frame of a compile that failed too early to know it; why it failed."""
        compiles = self.process.compiles
        if compile_id is None or not compiles or compiles[-1].compile_id != compile_id:
            return None
        last = compiles[-1]
        if last.place is None:
            compiles[-1] = replace(last, name=name, place=place)
        return f"{last.fail_type}: {last.fail_reason}" if last.fail_reason else None

    def _fx_graph(self, record: Record) -> None:
        has_nodes = names.FX_GRAPH in self._contents
        content = record.json_payload() if has_nodes else _head(record)
        compile_id = self._id(record)
        graph = Graph(
            number=content["graph"],
            compile_id=compile_id,
            attempt=record.metadata.get("attempt", 0),
            name=content["name"],
            backend=content["backend"],
            ops=content["ops"],
            optimizer_steps=_texts(content.get("optimizer_steps")),
            nodes=tuple(_node(node) for node in content["nodes"]) if has_nodes else None,
            key=content.get("key"),
            trains=content.get("trains"),
            modes=_modes(content.get("modes")),
            threads=content.get("threads"),
        )
        if self._code is not None and self._code[0] == compile_id:
            graph.code = self._code[1]
        if compile_id is not None:
            graph.backward_index = self._backwards.get(compile_id)
        self._name_frame(graph)
        self._graphs[graph.number] = graph
        self.process.graphs.append(graph)

    def _graph_taken(self, record: Record) -> None:
        content = record.json_payload()
        by, using = content["by"], content["using"]
        self._graphs[content["graph"]].taking = Taking(
            by=None if by is None else str(by),
            using=None if using is None else str(using),
            declined=tuple(
                DeclinedBy(str(each["backend"]), str(each["reason"])) for each in content["declined"]
            ),
        )

    def _graph_compiled(self, record: Record) -> Graph:
        content = record.json_payload()
        graph = self._graphs[content["graph"]]
        graph.is_compiled = True
        graph.name = content["name"] or graph.name
        graph.is_specialization = content["specialization"]
        graph.backend_seconds = content["backend_ns"] / 1e9
        graph.calls_index = content["calls_index"]
        return graph

    def _backward_compiled(self, record: Record) -> None:
        """Note which calls are the backward's. It may be known before its forward is (a cache has both)."""
        compile_id = self._id(record)
        if compile_id is None:
            return
        self._backwards[compile_id] = record.json_payload()["calls_index"]
        for graph in self.process.graphs:
            if graph.compile_id == compile_id:
                graph.backward_index = self._backwards[compile_id]

    def _aot_pair(self, record: Record) -> None:
        self._aot_texts.expect_texts_of_pair()
        content = record.json_payload()
        self._add_pair(content, record, content["graph"])

    def _add_pair(self, content: Mapping[str, Any], record: Record, graph: int | None) -> None:
        self.process.pairs.append(
            AotPair(
                compile_id=self._id(record),
                attempt=record.metadata.get("attempt", 0),
                graph=graph,
                joint=content["joint"],
                forward=content["forward"],
                backward=content["backward"],
                inputs=content["inputs"],
                outputs=content["outputs"],
                tangents=content["tangents"],
                gradients=content["gradients"],
                saved=tuple(_saved(value) for value in content["saved"]),
                recomputed=content["recomputed"],
            )
        )

    def _aot_text(self, record: Record, name: str) -> None:
        """A text of AOTAutograd's: all that there is of what comes from a cache, or is in a plain trace."""
        if name in self._contents:
            self._stage(record, name)
        hints = self._hints.get(self._id(record), {})
        content = self._aot_texts.add(name, record.payload, hints)
        if content is not None:
            self._add_pair(content, record, None)

    def _optimizer(self, record: Record) -> None:
        self.process.optimizers.append(Optimizer(**record.json_payload()))

    def _output_graph(self, record: Record) -> Graph | None:
        """torch's own record of a graph: its code, and all that there is in a trace that is not ours."""
        compile_id = self._id(record)
        code = record.payload() if record.kind in self._contents else None
        self._code = None if code is None else (compile_id, code)
        if self.process.is_ours:
            return None
        graph = Graph(
            number=len(self.process.graphs) + 1,
            compile_id=compile_id,
            attempt=record.metadata.get("attempt", 0),
            name=None,
            backend=None,
            ops=None,
            code=code,
            is_compiled=True,
        )
        self._name_frame(graph)
        earlier = self.process.graphs
        if earlier and earlier[-1].compile_id == compile_id and earlier[-1].attempt < graph.attempt:
            earlier.pop()  # a later attempt at the same compile replaces the graph
            graph.number -= 1
        earlier.append(graph)
        return graph

    def _name_frame(self, graph: Graph) -> None:
        begun = self._frames_begun.get(graph.compile_id)
        is_autograd = graph.compile_id is not None and graph.compile_id.autograd is not None
        if is_autograd and (begun is None or begun.place.file.startswith(_MADE_BY_TORCH)):
            graph.frame_name = _COMPILED_AUTOGRAD
        elif begun is not None:
            graph.frame_name, graph.frame_place = begun.function, begun.place

    def _bytecode(self, record: Record) -> Bytecode:
        has_instructions = names.BYTECODE in self._contents
        content = record.json_payload() if has_instructions else _head(record)
        bytecode = Bytecode(
            compile_id=self._id(record),
            name=content["name"],
            qualified_name=content["qualified_name"],
            place=Place(content["file"], content["first_line"]),
            fingerprint=content["fingerprint"],
            source={int(line): text for line, text in content["source"].items()},
            original=tuple(Instruction(*row) for row in content.get("original", ())),
            modified=tuple(Instruction(*row) for row in content.get("modified", ())),
        )
        self.process.bytecodes.append(bytecode)
        return bytecode

    def _resume_function(self, record: Record) -> None:
        content = record.json_payload()
        self.process.resume_functions.append(
            ResumeFunction(
                content["name"],
                content["code_name"],
                content["fingerprint"],
                self._id(record),
            )
        )

    def _guard_tree(self, record: Record) -> GuardSet | None:
        checks, latency = parse_guard_tree(record.payload() or "")
        guard_set = GuardSet(self._id(record), None, checks, latency)
        self.process.guard_sets.append(guard_set)
        return None if self.process.is_ours else guard_set  # ours has more to say, in the next record

    def _guards(self, record: Record) -> GuardSet:
        compile_id = self._id(record)
        sets = self.process.guard_sets
        if not (sets and sets[-1].compile_id == compile_id and sets[-1].guards is None):
            sets.append(GuardSet(compile_id))
        sets[-1].guards = tuple(
            Guard(
                type=guard["type"],
                source=guard["source"],
                scope=guard["scope"],
                code=tuple(guard["code"]),
                place=_place(guard),
            )
            for guard in record.json_payload()["guards"]
        )
        return sets[-1]

    def _graph_break(self, record: Record) -> GraphBreak:
        content = record.json_payload()
        return self._add_break(content["reason"], _user_stack(content), self._id(record), _around(content))

    def _add_break(
        self,
        reason: str,
        stack: tuple[StackFrame, ...],
        compile_id: CompileId | None,
        around: Mapping[int, str],
    ) -> GraphBreak:
        explanation = self._explanations.get((compile_id, stack[-1].place)) if stack else None
        callers = self.process.callers.get(compile_id, ())
        graph_break = GraphBreak(reason, stack, compile_id, explanation, callers, around)
        self.process.breaks.append(graph_break)
        return graph_break

    def _break_explanation(self, record: Record) -> GraphBreak | None:
        """torch's words on a break; in a trace that is not ours, all that there is of it."""
        text = record.payload() or ""
        explanation = parse_break_text(text)
        if explanation is None:
            return None
        compile_id = self._id(record)
        self._explanations[compile_id, explanation.place] = explanation
        self._last_explanation[compile_id] = explanation
        if self.process.is_ours:
            return None
        stack = parse_user_stack(text) or (StackFrame(explanation.place, "", ""),)
        begun = self._frames_begun.get(compile_id)
        entered = [i for i, frame in enumerate(stack) if begun and frame.function == begun.function]
        return self._add_break(text, stack[entered[-1] :] if entered else stack[-1:], compile_id, {})

    def _recompile_reasons(self, record: Record) -> None:
        """A list of texts; a text alone where there is one cache entry (torch/_dynamo/guards.py)."""
        try:
            reasons = record.json_payload()
        except Damaged:
            reasons = record.payload() or ""
        reasons = reasons if isinstance(reasons, list) else [reasons]
        failures = tuple(self._failure(str(reason)) for reason in reasons)
        self.process.recompile_reasons.append(RecompileReasons(self._id(record), failures))

    def _failure(self, reason: str) -> GuardFailure:
        failure = parse_guard_failure(reason)
        if failure.entry is None:
            return failure
        return replace(failure, entry=failure.entry._replace(generation=self._generation))

    def _freeze(self, record: Record) -> None:
        self._interventions.freeze(record.json_payload())

    def _not_compiled(self, record: Record) -> None:
        self._interventions.not_compiled(record.json_payload())

    def _override(self, record: Record) -> None:
        compile_id = self._id(record)
        content = record.json_payload()
        begun = self._frames_begun.get(compile_id)
        if begun is not None:
            content = {**content, "of": begun.function, "file": begun.place.file, "line": begun.place.line}
        self._interventions.override(content, compile_id)

    def _verified(self, record: Record) -> None:
        self.process.verified.append(verified_call(record.json_payload()))

    def _symbol(self, record: Record) -> None:
        content = record.metadata["create_symbol"]
        user_stack = self._stack(content.get("user_stack") or [])
        symbol = Symbol(
            compile_id=self._id(record),
            name=str(content["symbol"]),
            hint=str(content.get("val")),
            source=str(content.get("source")),
            place=user_stack[-1].place if user_stack else None,
        )
        self.process.symbols.append(symbol)
        self._hints.setdefault(symbol.compile_id, {})[symbol.name] = symbol.hint

    def _cache_lookup(self, record: Record, cache: str, outcome: str) -> None:
        self.process.cache_lookups.append(CacheLookup(cache, outcome, self._id(record)))

    def _phase(self, record: Record) -> None:
        self._phases.add(record, self._id(record), self._generation)

    def _tracing_time(self, record: Record) -> None:
        content = record.json_payload()
        compile_id, attempt = self._id(record), record.metadata.get("attempt", 0)
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
            for function in content["functions"]
        ]
        others = content["others"]
        if others["functions"]:
            seconds = others["exclusive_ns"] / 1e9
            others = TracedFunction(
                compile_id, attempt, None, None, others["calls"], seconds, None, others["functions"]
            )
            traced.append(others)
        self.process.tracing.extend(traced)

    def _stage(self, record: Record, name: str) -> None:
        content = record.metadata.get(record.kind)
        file = content.get("filename") if isinstance(content, dict) else None
        text = record.payload()
        if text is not None:
            self.process.stages.append(Stage(name, self._id(record), text, file))

    def _compilation_metrics(self, record: Record) -> Compile:
        metrics = record.metadata[record.kind]
        file, line = metrics.get("co_filename"), metrics.get("co_firstlineno")
        compile_ = Compile(
            compile_id=self._id(record),
            name=metrics.get("co_name"),
            place=Place(file, line) if file is not None and line is not None else None,
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
            cache_hits=_sum(metrics, "_cache_hit_count"),
            cache_misses=_sum(metrics, "_cache_miss_count"),
            restart_reasons=tuple(map(str, metrics.get("restart_reasons") or ())),
            seconds_before_restart=metrics.get("dynamo_time_before_restart_s"),
        )
        self.process.compiles.append(compile_)
        if not self.process.is_ours:
            self._complete_graph(compile_)
        return compile_

    def _complete_graph(self, compile_: Compile) -> None:
        """In a trace that is not ours, a graph's ops and whether the backend took it are known at the end.

        So is its frame: before 2.5 the stack of dynamo_start ended with the frame's caller.
        """
        graphs = self.process.graphs
        if graphs and graphs[-1].compile_id == compile_.compile_id and compile_.is_forward:
            graph = graphs[-1]
            graph.ops = compile_.ops
            graph.is_compiled = compile_.fail_type not in _BACKEND_FAILURES
            is_named = graph.frame_name == _COMPILED_AUTOGRAD
            if compile_.name is not None and compile_.place is not None and not is_named:
                graph.frame_name, graph.frame_place = compile_.name, compile_.place


def _duration(metrics: Mapping[str, Any]) -> float | None:
    """Seconds of the whole compile. `duration_us` is there from torch 2.6 on; the others say the same."""
    for key, unit in (
        ("duration_us", 1e6),
        ("entire_frame_compile_time_s", 1.0),
        ("dynamo_cumulative_compile_time_us", 1e6),
    ):
        if metrics.get(key) is not None:
            return float(metrics[key] / unit)
    return None


def _head(record: Record) -> Any:
    """The first line of a payload of ours, whose lists stand on the lines after it."""
    head = (record.payload_first_line() or "").rstrip()
    try:
        return printable_values(json.loads(head.removesuffix(",") + "}"))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"payload is not JSON: {error}") from error


def _sum(metrics: Mapping[str, Any], suffix: str) -> int | None:
    counts = [value for key, value in metrics.items() if key.endswith(suffix) and isinstance(value, int)]
    return sum(counts) if counts else None


def _place(content: Mapping[str, Any]) -> Place | None:
    return Place(content["file"], content["line"]) if "file" in content else None


def _user_stack(content: Mapping[str, Any]) -> tuple[StackFrame, ...]:
    return tuple(
        StackFrame(Place(frame["file"], frame["line"]), frame["name"], frame["text"] or "")
        for frame in content["user_stack"]
    )


def _around(content: Mapping[str, Any]) -> dict[int, str]:
    return {int(line): str(text) for line, text in (content.get("around") or {}).items()}


def _node(content: Mapping[str, Any]) -> Node:
    return Node(
        op=content["op"],
        name=content["name"],
        target=content["target"],
        args=content["args"],
        kwargs=content["kwargs"],
        inputs=tuple(content["inputs"]),
        tensors=_tensors(content),
        symbol=content.get("symbol"),
        source=content.get("source"),
        is_parameter=content.get("parameter", False),
        place=_place(content),
    )


def _modes(content: Mapping[str, Any] | None) -> GraphModes | None:
    if content is None:
        return None
    autocast = {str(device): str(dtype) for device, dtype in content["autocast"].items()}
    return GraphModes(
        bool(content["grad_enabled"]),
        autocast,
        content["float32_matmul_precision"],
        content.get("default_dtype"),
    )


def _tensors(content: Mapping[str, Any]) -> tuple[TensorInfo, ...]:
    if "shape" in content:
        stride = content.get("stride")
        return (
            TensorInfo(
                shape=tuple(content["shape"]),
                stride=None if stride is None else tuple(stride),
                dtype=content["dtype"],
                device=content["device"],
                requires_grad=content.get("requires_grad", False),
            ),
        )
    return tuple(tensor for value in content.get("values", ()) for tensor in _tensors(value))


def _texts(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _saved(content: Mapping[str, Any]) -> SavedTensor:
    return SavedTensor(
        name=content["name"],
        kind=content["kind"],
        operator=content["operator"],
        tensor=next(iter(_tensors(content)), None),
        symbol=content.get("symbol"),
        bytes=content["bytes"],
        storage=content["storage"],
        storage_bytes=content["storage_bytes"],
        place=_place(content),
    )
