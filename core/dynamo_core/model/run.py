"""A recording: the processes of a run, everything that each of them recorded, and what is missing in it."""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

from ..shared.early_records import (
    CacheBundleUsed,
    CaptureDecision,
    GradientExchange,
    Import,
    Optimizer,
    ProcessEnd,
    ProcessInfo,
    ProcessState,
    Timeline,
)
from ..shared.export_records import ModulesCalled
from ..shared.quick_dataclass import dataclass
from ..shared.records import CachesInUse, ChangedSetting, FreezeNoted
from ..shared.text import printable
from ..shared.validation import matches
from .caches import CacheLookup, CalledCollective, LayerCount
from .compiles import (
    Bytecode,
    Compile,
    Compiling,
    Deferred,
    Frame,
    GeneratedKernels,
    HooksLeftOut,
    Phase,
    ResumeFunction,
    Specialization,
    Stage,
    Symbol,
    TracedFunction,
    UnusedCompile,
)
from .exports import CalledModule, ExportComparison, ExportTrial, TracedExport
from .graphs import AotPair, CallTimes, CudaGraphNoted, Graph
from .guards import GraphBreak, GuardSet, RecompileReasons
from .ids import CompileId, Place, StackFrame
from .interventions import (
    AppliedOverride,
    NotCompiled,
    SemanticDifference,
    TriedChange,
    VerifiedCall,
    VerifiedProgramCall,
)
from .window import ProfileWindow

_LONGEST_DAMAGE = 200  # characters
_Described = TypeVar("_Described", bound="Description")


@dataclass(frozen=True)
class Description:
    """A base class for what a run says about itself; a field is None where that was not recorded.

    `recorded` has all fields as they were recorded: JSON documents have also those without a field here.
    """

    recorded: Mapping[str, Any] = field(default_factory=dict, kw_only=True, repr=False)

    def as_json(self) -> dict[str, Any]:
        """All recorded fields, in their order."""
        return dict(self.recorded)

    @classmethod
    def of(cls: type[_Described], recorded: Mapping[str, Any]) -> _Described:
        """The description made from recorded fields; a field of a wrong type is None."""
        known = {
            name: recorded[name]
            for name, hint in _hints(cast(Any, cls)).items()
            if name in recorded and matches(recorded[name], hint)
        }
        return cls(**known, recorded=recorded)


@cache
def _hints(kind: type[Description]) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name != "recorded"}


@dataclass(frozen=True)
class RunSettings(Description):
    """The options of a `dynamo run` that reports depend on, as in `shared/settings.py`."""

    semantics: str | None = None
    verify: str | None = None
    freeze_after: str | None = None
    on_recompile: str | None = None
    override: list[str] | None = None
    config: list[str] | None = None
    capture_budget: float | None = None


@dataclass(frozen=True)
class Run(Description):
    """A `dynamo run`, from its run file. `ended_ns` is None while it runs, or if dynamo was killed.

    `cpu_seconds` is what the program and the processes that it waited for computed.

    Where processes were started with the variables of `dynamo env`, `started_by` is "environment", and the
    first of them wrote the run file: no launcher knows how they end.
    """

    dynamo: str | None = None
    program: str | None = None
    command: list[str] | None = None
    cwd: str | None = None
    settings: RunSettings = field(default_factory=RunSettings)
    launcher_pid: int | None = None
    started: str | None = None
    started_ns: int | None = None
    ended_ns: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float | None = None
    notes: list[str] | None = None
    started_by: str | None = None

    @property
    def has_launcher(self) -> bool:
        """Whether a `dynamo run` started the program, and records how it ends."""
        return self.started_by is None

    @classmethod
    def of(cls, recorded: Mapping[str, Any]) -> "Run":
        """The run made from its file; as in all descriptions, a field of a wrong type is None."""
        settings = recorded.get("settings")
        return replace(
            super().of(recorded), settings=RunSettings.of(settings if isinstance(settings, dict) else {})
        )


@dataclass(frozen=True)
class EquivalentRank:
    """A rank equivalent to the one whose stream was read, with the values that are its own."""

    rank: int
    compile_seconds: float | None
    running_since_ns: int | None


@dataclass
class Interventions:
    """What a run changed in a process: capture, freeze, overrides, `--config`, `--verify`, semantics.

    `deferred` are frames that ran eager because of the capture budget.
    """

    captures: list[CaptureDecision] = field(default_factory=list)
    freeze: FreezeNoted | None = None
    not_compiled: list[NotCompiled] = field(default_factory=list)
    deferred: list[Deferred] = field(default_factory=list)
    calls_at_limit: int | None = None
    overrides: list[AppliedOverride] = field(default_factory=list)
    changed_settings: list[ChangedSetting] = field(default_factory=list)
    verified: list[VerifiedCall] = field(default_factory=list)
    verified_program_calls: list[VerifiedProgramCall] = field(default_factory=list)
    tried_changes: list[TriedChange] = field(default_factory=list)
    semantic_differences: list[SemanticDifference] = field(default_factory=list)


@dataclass
class Caching:
    """torch's compile caches as a process used them: look-ups, where they are, counts, and saved bundles."""

    lookups: list[CacheLookup] = field(default_factory=list)
    in_use: list[CachesInUse] = field(default_factory=list)
    counts: list[LayerCount] = field(default_factory=list)
    bundles: list[CacheBundleUsed] = field(default_factory=list)


@dataclass
class Runtime:
    """The process from its start to its end, and the time in which it ran compiled code.

    `inherited` are calls, in a forked child, of graphs that its parent compiled. `overlap_seconds` is
    counted more than once in the calls' time (calls inside calls, or on several threads at once);
    `compiling_in_calls_seconds` is calls' time in which Dynamo compiled another frame. `step_marks` are the
    moments at which a step began, as calls that take no time, in a run of `dynamo bench`; noting one took
    `step_mark_seconds`. `stopped_at` is the Python stack when SIGINT or SIGTERM came last, the innermost
    frame at the end; empty where none came, or the program has its own handler.
    """

    timeline: Timeline | None = None
    imports: list[Import] = field(default_factory=list)
    state: ProcessState = field(default_factory=ProcessState)
    end: ProcessEnd | None = None
    inherited: list[CallTimes] = field(default_factory=list)
    overlap_seconds: float | None = None
    compiling_in_calls_seconds: float | None = None
    step_marks_index: int | None = None
    step_mark_seconds: float | None = None
    step_marks: CallTimes | None = None
    stopped_at: tuple[StackFrame, ...] = ()
    gradient_exchanges: list[GradientExchange] = field(default_factory=list)


@dataclass
class Profiling:
    """`--profile`: the window of steady steps, or the `problem` for which there is none.

    `seconds` is the time of starting and stopping torch.profiler, and of writing its trace.
    """

    window: ProfileWindow | None = None
    problem: str | None = None
    cuda_graph_counters: dict[str, int] | None = None
    seconds: float | None = None


@dataclass
class Exporting:
    """`dynamo export`, and calls of torch.export in a trace that torch wrote (`traced`).

    `modules_called` is set in the program's own process; `called_module` and the trials are in recordings
    of their own (`dynamo_core/exports`), of a copy of the process and its forks.
    """

    modules_called: ModulesCalled | None = None
    called_module: CalledModule | None = None
    trials: list[ExportTrial] = field(default_factory=list)
    comparisons: list[ExportComparison] = field(default_factory=list)
    traced: list[TracedExport] = field(default_factory=list)


@dataclass
class Health:
    """What could not be recorded or read, and how many records of each kind there are."""

    failed_probes: dict[str, str] = field(default_factory=dict)
    damaged_records: int = 0
    first_damage: str | None = None
    lost_records: int | None = None
    calls_problem: str | None = None
    last_errno: int = 0
    record_counts: dict[str, int] = field(default_factory=dict)

    def note_damage(self, why: str) -> None:
        """Count a record that was skipped; the reason of the first one is kept."""
        self.damaged_records += 1
        if self.first_damage is None:
            self.first_damage = printable(why)[:_LONGEST_DAMAGE]


GROUPS = (Interventions, Caching, Runtime, Profiling, Exporting, Health)


@dataclass
class Process:
    """What one process recorded, in the order in which it happened.

    `compiling` are compiles in progress. `parallel_phases` ran in other threads beside the compile that
    they name, and have no tree. `recompiled_entries` are the cache entries of recompiled frames, with the
    checks on sizes and on what failed: these are always read, all other checks only where `guard_sets` is
    requested. `lines_traced` has the text of the program's traced functions, by file and line. `tests` are
    the tests of pytest that ran when a compile began. `first_lines` has the first line of the code of each
    decorated function, by the line of its `def`. `whole` is the complete process, where this one is a
    selection of it. `alike` are the ranks that are equivalent to this one, whose streams were not opened.
    """

    stream: Path
    rank: int | None = None
    info: ProcessInfo = field(default_factory=ProcessInfo)
    torch_version: str | None = None
    frames: list[Frame] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    breaks: list[GraphBreak] = field(default_factory=list)
    compiles: list[Compile] = field(default_factory=list)
    recompile_reasons: list[RecompileReasons] = field(default_factory=list)
    compiling: list[Compiling] = field(default_factory=list)
    interrupted: list[Compiling] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    kernels: list[GeneratedKernels] = field(default_factory=list)
    pairs: list[AotPair] = field(default_factory=list)
    cuda_graphs: list[CudaGraphNoted] = field(default_factory=list)
    optimizers: list[Optimizer] = field(default_factory=list)
    unused_compiles: list[UnusedCompile] = field(default_factory=list)
    hooks_left_out: list[HooksLeftOut] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    parallel_phases: list[Phase] = field(default_factory=list)
    tracing: list[TracedFunction] = field(default_factory=list)
    guard_sets: list[GuardSet] = field(default_factory=list)
    recompiled_entries: list[GuardSet] = field(default_factory=list)
    specializations: list[Specialization] = field(default_factory=list)
    lines_traced: dict[str, dict[int, str]] = field(default_factory=dict)
    bytecodes: list[Bytecode] = field(default_factory=list)
    resume_functions: list[ResumeFunction] = field(default_factory=list)
    callers: dict[CompileId | None, tuple[StackFrame, ...]] = field(default_factory=dict)
    tests: dict[CompileId | None, str] = field(default_factory=dict)
    first_lines: dict[Place, Place] = field(default_factory=dict)
    interventions: Interventions = field(default_factory=Interventions)
    caching: Caching = field(default_factory=Caching)
    runtime: Runtime = field(default_factory=Runtime)
    profiling: Profiling = field(default_factory=Profiling)
    export: Exporting = field(default_factory=Exporting)
    health: Health = field(default_factory=Health)
    whole: "Process | None" = None
    alike: tuple[EquivalentRank, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of the process, and its equivalent ranks."""
        own = () if self.rank is None else (self.rank,)
        return tuple(sorted((*own, *(each.rank for each in self.alike))))

    @property
    def inherited_calls(self) -> int:
        """How often this process called graphs that its parent compiled."""
        return sum(times.calls for times in self.runtime.inherited)

    @property
    def inherited_seconds(self) -> float:
        """The seconds of the inherited calls in all."""
        return sum(times.seconds for times in self.runtime.inherited)

    @cached_property
    def pairs_by_graph(self) -> dict[object, list[tuple[int, AotPair]]]:
        """The pairs with their positions, by their graph's number, else by compile id and attempt."""
        found: dict[object, list[tuple[int, AotPair]]] = {}
        for position, pair in enumerate(self.pairs):
            key = pair.graph if pair.graph is not None else (pair.compile_id, pair.attempt)
            found.setdefault(key, []).append((position, pair))
        return found

    @property
    def entire(self) -> "Process":
        """The process with everything that it recorded, whatever was selected of it."""
        return self.whole or self

    @property
    def capture(self) -> CaptureDecision | None:
        """The last decision whether we compile the program or only observe it."""
        return self.interventions.captures[-1] if self.interventions.captures else None

    @property
    def is_captured_now(self) -> bool:
        """Whether we compile the program, by the records read so far."""
        return self.capture is not None and self.capture.decision == "capture"

    @property
    def capture_began(self) -> bool:
        """Whether capture compiled any frame of the program."""
        return bool(self.frames or self.compiling) and any(
            decision.decision == "capture" for decision in self.interventions.captures
        )

    @property
    def lacks_last_record(self) -> bool:
        """Whether our last record is missing: the process was killed or called os._exit."""
        return self.is_ours and self.runtime.end is None and not self.info.forked

    @property
    def raised_at(self) -> Place | None:
        """The line that raised the exception which ended the process; None where that is not known."""
        end = self.runtime.end
        if end is None or end.raised_file is None or end.raised_line is None:
            return None
        return Place(end.raised_file, end.raised_line)

    @property
    def raised_in_a_graph(self) -> bool:
        """Whether a call of a compiled graph ended in an exception."""
        return any(times.raised for graph in self.graphs for times in (graph.times, graph.backward) if times)

    @property
    def ended_in_a_graph(self) -> bool:
        """Whether an exception ended the process, and a call of a compiled graph ended in one."""
        return self.runtime.end is not None and bool(self.runtime.end.raised) and self.raised_in_a_graph

    @property
    def is_ours(self) -> bool:
        """Whether our probes ran here; False for a plain TORCH_TRACE log."""
        return bool(vars(self.info))

    @property
    def compiled_graphs(self) -> list[Graph]:
        """The graphs that torch's `unique_graphs` counts: handed over, and taken by the backend."""
        return [graph for graph in self.graphs if graph.is_compiled and not graph.is_specialization]

    @property
    def counted_frames(self) -> list[Frame]:
        """The frames that torch's `counters["frames"]["total"]` counts."""
        return [frame for frame in self.frames if not frame.is_whole_graph]

    @property
    def recompiles(self) -> list[Compile]:
        """The compiles of frames that had a cache entry already, but a guard failed."""
        return [compile_ for compile_ in self.compiles if compile_.recompile_reason is not None]


@dataclass
class Recording:
    """A whole recording. `run` is None for a torch trace that is not ours.

    For a job of many ranks, `left_out` says which processes were not read. `not_arrived` names files that
    were not uploaded, or not completely. `called` are the collectives that each rank called last, where dumps
    of torch's flight recorder lie beside the streams. `whole` is the complete recording, where this one is a
    selection of its processes. `url` is where `path` was copied from. `is_running` says that a launcher
    records to it now.
    """

    path: Path
    run: Run | None
    processes: list[Process]
    python_processes: int | None
    engine_failures: list[str]
    left_out: tuple[str, ...] = ()
    not_arrived: tuple[str, ...] = ()
    called: dict[int, tuple[CalledCollective, ...]] = field(default_factory=dict)
    whole: "Recording | None" = None
    url: str | None = None
    is_running: bool = False

    @property
    def ended_well(self) -> bool:
        """Whether all of the run was recorded, and nothing says that the program failed."""
        return not self.is_partial and (self.run is None or self.run.exit_code == 0)

    @property
    def address(self) -> str:
        """What names it on a command line: its URL, or else its path."""
        return self.url or str(self.path)

    @property
    def entire(self) -> "Recording":
        """The recording with all of its processes, whatever was selected of it."""
        return self.whole or self

    @property
    def settings(self) -> RunSettings:
        """The settings of the run; a plain torch trace has none."""
        return self.run.settings if self.run is not None else RunSettings()

    @property
    def can_run_again(self) -> bool:
        """Whether a `dynamo run` started the program, so that `dynamo fix` can start it once more."""
        return self.run is not None and self.run.has_launcher

    @property
    def problems(self) -> list[str]:
        """What could not be recorded or read, and why: a sentence each."""
        found = [f"the engine could not start: {failure}" for failure in self.engine_failures]
        found += self.not_arrived
        for process in self.processes:
            pid, health = process.info.pid, process.health
            where = f"process {process.stream.name if pid is None else pid}"
            found += [f"{where}: no {probe} ({why})" for probe, why in health.failed_probes.items()]
            if self.run is not None and not process.is_ours:
                found.append(f"{where}: its first record (versions, environment) is missing")
            is_reader = pid == os.getpid() and not self._is_over  # a notebook's kernel, say
            if process.lacks_last_record and not is_reader:
                why = self._why_no_last_record(process)
                found.append(f"{where}: no last record ({why}): torch's own counters and the peak memory")
            if health.lost_records:
                found.append(f"{where}: {health.lost_records} records could not be written")
            if health.damaged_records:
                why = f" (the first: {health.first_damage})" if health.first_damage is not None else ""
                found.append(f"{where}: {health.damaged_records} damaged records were skipped{why}")
            calls_problem = process.info.calls_not_recorded or health.calls_problem
            if calls_problem and (process.is_ours or self.run is not None):
                found.append(
                    f"{where}: no calls of graphs, and no count of records that could not be written"
                    f" ({calls_problem})"
                )
        return found

    def _why_no_last_record(self, process: Process) -> str:
        if process.health.lost_records:
            return "it could not be written"
        if self._is_over:
            return "the process was killed, or called os._exit"
        return "the process goes on, or was killed"

    @property
    def _is_over(self) -> bool:
        return self.run is None or self.run.ended_ns is not None

    @property
    def is_partial(self) -> bool:
        """Whether the run is still in progress, or its recording is incomplete."""
        if self.not_arrived:
            return True
        if self.run is None:
            return False
        if self.run.has_launcher and (self.run.ended_ns is None or self.run.signal is not None):
            return True
        return any(
            process.health.damaged_records or process.health.lost_records or process.lacks_last_record
            for process in self.processes
        )
