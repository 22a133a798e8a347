"""`dynamo explain` as JSON, with what no other report goes into: one declaration for it and its schema."""

from typing import Annotated, Any, Literal

from dynamo_core.analysis.excerpt import Excerpt
from dynamo_core.analysis.graphs.cuda_graphs import CudaGraphUse, cuda_graphs_of
from dynamo_core.analysis.memory import peaks
from dynamo_core.analysis.summary import Summary
from dynamo_core.analysis.time.compiles import Phase
from dynamo_core.case import Case
from dynamo_core.findings import Action, Finding
from dynamo_core.findings.since import Since
from dynamo_core.model import (
    AssignedBackend,
    CaptureDecision,
    CompileId,
    Place,
    Process,
    StackFrame,
)
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count, Ge, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from ..parts.actions import what_is_cured
from ..parts.after_freeze import FreezeDocument
from ..parts.backends import Verified
from ..parts.training_document import OptimizerMade, PairTotals, optimizers_of, totals_in
from .interventions import Overrides, Semantics


@dataclass(frozen=True)
class FrameTried:
    """A frame that Dynamo was given."""

    name: str
    place: Place | None
    compile_id: CompileId | None
    outcome: Literal["compiled", "skipped", "failed", "raised"]
    reason: str | None
    ok: bool
    whole_graph: Annotated[bool, At("is_whole_graph")]
    limit: Annotated[str | None, "the option whose limit made us leave the frame eager"]


@dataclass(frozen=True)
class GraphInShort:
    """A graph, as it was handed to the backend."""

    number: Annotated[int, Ge(1)]
    name: str | None
    compile_id: CompileId | None
    frame: Annotated[str | None, At("frame_name")]
    place: Annotated[Place | None, At("frame_place")]
    backend: str | None
    assigned_backend: Annotated[
        AssignedBackend | None, "null where torch gave the graph to the only backend, or in a plain trace"
    ]
    compiled: Annotated[bool, At("is_compiled"), "the backend took it"]
    specialization: Annotated[
        bool, At("is_specialization"), "a further compile of a graph that counts already"
    ]
    ops: Count | None
    calls: Count | None
    untimed_calls: Annotated[
        Count | None,
        At("times.untimed"),
        "of these, how many were only counted, since the calls are short: the time is extrapolated from the "
        "others",
    ]
    host_seconds: Seconds | None
    backend_seconds: Seconds | None
    cuda_graphs: Annotated[
        CudaGraphUse | None, "null where it was not to run as CUDA graphs, or that was not recorded"
    ]
    training: Annotated[
        list[PairTotals] | None,
        "its forward and backward graphs in numbers; null where there is a backward and its graphs were not "
        "recorded",
    ]


@dataclass(frozen=True)
class BreakInShort:
    """A graph break; `dynamo breaks` says more."""

    place: Place | None
    kind: str
    reason: str
    compile_id: CompileId | None
    stack: tuple[StackFrame, ...]
    explanation: Annotated[str | None, At("explanation.explanation")]
    hints: Annotated[tuple[str, ...] | None, At("explanation.hints")]
    registry_id: Annotated[str | None, At("explanation.registry_id")]


@dataclass(frozen=True)
class CompileInShort:
    """torch's compilation metrics of a frame, or of a backward graph."""

    compile_id: CompileId | None
    frame: Annotated[str | None, At("name")]
    place: Place | None
    seconds: Seconds | None
    forward: Annotated[bool, At("is_forward")]
    guards: Count | None
    ops: Count | None
    recompile_reason: str | None
    restart_reasons: Annotated[tuple[str, ...], "why tracing restarted"]
    seconds_before_restart: Seconds | None
    fail_type: str | None
    fail_reason: str | None
    cumulative_phases: Annotated[dict[str, float], At("phases"), "seconds; each phase holds those after it"]
    cache_hits: Count | None
    cache_misses: Count | None


@dataclass(frozen=True)
class LookUp:
    """A look-up in one of torch's compile caches."""

    cache: str
    outcome: Annotated[str, "hit, miss or bypass"]
    compile_id: CompileId | None


@dataclass(frozen=True)
class ExplainedProcess:
    """A process that imported torch. Null is what was not recorded, as in a plain torch trace."""

    stream: Annotated[str, At("stream.name")]
    rank: int | None
    info: Annotated[dict[str, Any] | None, "pid, ppid, argv, versions, environment"]
    torch: Annotated[str | None, At("torch_version"), "version"]
    captures: Annotated[
        list[CaptureDecision],
        At("interventions.captures"),
        "each decision to compile or only to observe, with its reason",
    ]
    frames: list[FrameTried] | None
    graphs: list[GraphInShort]
    optimizers: Annotated[
        list[OptimizerMade] | None,
        "a class of optimizers each, of which the program made one; null in a plain torch trace",
    ]
    inherited_graph_calls: Annotated[Count | None, "a forked child's calls of its parent's graphs"]
    graph_breaks: list[BreakInShort] | None
    compiles: list[CompileInShort]
    cache_lookups: list[LookUp]
    torch_totals: Annotated[
        dict[str, int] | None, At("runtime.end.torch_totals"), "torch's own counts at the process's end"
    ]
    peak_memory: Annotated[
        dict[str, Count] | None, "in bytes: resident, and allocated on each CUDA device in use"
    ]
    torch_config: Annotated[
        dict[str, dict[str, str]] | None,
        At("runtime.state.torch_config"),
        "settings that are not the defaults",
    ]
    devices: Annotated[list[str] | None, At("runtime.state.devices")]
    failed_probes: Annotated[
        dict[str, str], At("health.failed_probes"), "what could not be recorded, and why"
    ]
    damaged_records: Annotated[Count, At("health.damaged_records")]
    lost_records: Annotated[Count | None, At("health.lost_records")]
    records: Annotated[dict[str, int], At("health.record_counts"), "how many of each kind"]


def explained(process: Process) -> ExplainedProcess:
    """The figures of one process."""
    has_breaks = process.is_ours or process.breaks
    uses = cuda_graphs_of(process)
    return from_fields(
        ExplainedProcess,
        process,
        info=dict(vars(process.info)) or None,
        frames=[from_fields(FrameTried, frame) for frame in process.frames] if process.is_ours else None,
        graphs=[
            from_fields(
                GraphInShort,
                graph,
                cuda_graphs=uses.get(graph.compile_id),
                training=totals_in(graph, process),
            )
            for graph in process.graphs
        ],
        optimizers=optimizers_of(process),
        inherited_graph_calls=process.inherited_calls if process.is_ours else None,
        graph_breaks=[from_fields(BreakInShort, each) for each in process.breaks] if has_breaks else None,
        compiles=[from_fields(CompileInShort, each) for each in process.compiles],
        cache_lookups=[from_fields(LookUp, each) for each in process.caching.lookups],
        peak_memory=peaks([process]) or None,
    )


@dataclass(frozen=True)
class ActionInDocument(Action):
    __doc__ = Action.__doc__

    cured: Annotated[str, "what it cures, and where"]


def action_in_document(action: Action, case: Case) -> ActionInDocument:
    """The action, with what it cures as the text report has it."""
    return ActionInDocument(**vars(action), cured=what_is_cured(action, case.cured_by(action)))


@dataclass(frozen=True)
class Explained:
    """The whole picture of a recording."""

    verdict: Annotated[str, "the first sentence of the text report"]
    actions: Annotated[
        list[ActionInDocument], "what to do, what saves most first; each has findings that it cures"
    ]
    excerpt: Annotated[
        Excerpt | None, "the source around the place of the first action; null if not recorded"
    ]
    context: Annotated[
        list[str], "the identities of findings that are true of any short run; no action cures them"
    ]
    findings: Annotated[list[Finding], "what is in the way, the worst first"]
    summary: Annotated[Summary, "over all processes"]
    compile_phases: Annotated[list[Phase] | None, "exclusive times: they add up to compile_time_s"]
    run: Annotated[
        dict[str, Any] | None,
        "dynamo_run.json: command, cwd, settings, started, started_ns, ended_ns, exit_code, signal, notes; "
        "null for a plain torch trace",
    ]
    since: Annotated[
        Since | None,
        "beside the run of the same command before it; null where explain did not run the program",
    ]
    bisections: Annotated[
        list[str], "what torch's compiler bisector was at: the program was then not compiled as it asks for"
    ]
    python_processes: Annotated[
        Count | None, "Python processes that started with our start-up code, torch or not"
    ]
    in_progress: Annotated[
        list[str],
        "compiles and calls of compiled graphs that had begun and not ended when the recording ends, or that "
        "were interrupted",
    ]
    stopped_at: Annotated[
        list[str], "where Python was in each process that SIGINT or SIGTERM ended, if it left its stack"
    ]
    expected_breaks: Annotated[
        list[str], "graph breaks that torch makes on purpose, in code of its own: there is nothing to do"
    ]
    limits: Annotated[
        list[str],
        "frames that run eager for what capturing them would cost, and the option that says so",
    ]
    not_tried: Annotated[list[str], "why --try could try nothing on frames"]
    processes: Annotated[list[ExplainedProcess], "one for each process that imported torch"]
    freeze: Annotated[FreezeDocument | None, "of --freeze-after; null where it was not given"]
    overrides: Annotated[Overrides, "what --override, --config or --fullgraph replaced"]
    verified: Annotated[Verified | None, "what --verify found; null where it was not asked for"]
    semantics: Annotated[
        list[Semantics], "where torch.compile's semantics are not eager's, as far as this run met it"
    ]
    problems: Annotated[list[str], "what could not be seen, a sentence each"]
