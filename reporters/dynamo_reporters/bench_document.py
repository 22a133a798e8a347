"""`dynamo bench` as JSON and as CSV: one declaration for the document and its schema."""

from typing import Annotated, Any

from dynamo_core.bench.comparison import Basis, Figures, Speed, compare, speed_of
from dynamo_core.bench.graphs import GraphTimes
from dynamo_core.bench.measured import Agreement, Bench, OutputComparison
from dynamo_core.model import Place
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count, Ge, Seconds
from dynamo_core.shared.quick_dataclass import dataclass

from .documents import csv_text
from .parts.measured import Measured, speed_cells

_COLUMNS = (
    *("backend", "mode", "basis", "median_seconds", "speed_up", "ci_low", "ci_high", "rounds"),
    *("compile_cold_seconds", "compile_warm_seconds", "break_even_steps", "peak_bytes", "peak_cuda_bytes"),
    *("graphs", "graph_breaks", "recompiles", "agreement", "output", "problem"),
)


@dataclass(frozen=True)
class StepValue:
    """The function whose call begins a step."""

    function: Annotated[str, At("name")]
    place: Place
    called_at: Annotated[
        Place | None, "the program's line that calls it, where it is torch's or another library's"
    ]


@dataclass(frozen=True)
class CompileSeconds:
    """What all compiles of a run take."""

    cold: Annotated[Seconds | None, At("compile_cold"), "of the first round, with an empty cache"]
    warm: Annotated[Seconds | None, At("compile_warm"), "the median of the other rounds"]


@dataclass(frozen=True)
class PeakBytes:
    """The most memory that a run had."""

    resident: Annotated[float | None, At("peak_resident")]
    cuda: Annotated[
        float | None,
        At("peak_cuda"),
        "allocated by torch on the fullest device; null where CUDA was not used",
    ]


@dataclass(frozen=True)
class RunOfRound:
    """A run of the program with a backend."""

    round: Annotated[int, Ge(1)]
    problem: str | None
    others_share: Annotated[
        float | None,
        At("load.others"),
        "of the processors' time that others used during the run; null where the system does not say",
    ]
    waiting_share: Annotated[
        float | None, At("load.waiting"), "of its time in which something waited for a processor"
    ]
    recording: Annotated[str | None, "null where nothing was recorded, or it was not kept"]


@dataclass(frozen=True)
class BackendFigures:
    """A backend, and how it compares with eager."""

    backend: Annotated[str, At("backend.name"), "as it was named; eager is the program without Dynamo"]
    problem: Annotated[str | None, At("backend.problem"), "why a run failed, the first that did"]
    basis: Annotated[
        Basis,
        "what the times are of: a step, or the whole run without imports, compiling and interpreter shutdown",
    ]
    why_run: Annotated[str | None, "why no steps were compared"]
    steps_compared: Annotated[Count | None, "in each run"]
    seconds: Annotated[list[Seconds], "one a round, the median of its steps; rounds that failed have none"]
    median_seconds: Seconds | None
    speed_up: Annotated[
        Speed | None,
        "eager's time by the backend's in the same round, the geometric mean, from ten rounds on without the "
        "fifth at each end; null for eager itself",
    ]
    is_decided: Annotated[
        bool | None,
        "whether it is faster or slower than eager, or within 3 % of it, with 99 % confidence; null for "
        "eager, and from one round",
    ]
    compile_seconds: Annotated[CompileSeconds, "all compiles of a run"]
    break_even_steps: Annotated[
        Count | None,
        At("break_even"),
        "that pay for the cold compiles; null where no step is known to be faster",
    ]
    peak_bytes: Annotated[PeakBytes, "of the largest process, compiling included, the median over rounds"]
    graphs: Annotated[Count | None, At("first_success.graphs")]
    graph_breaks: Annotated[Count | None, At("first_success.graph_breaks")]
    recompiles: Annotated[Count | None, At("first_success.recompiles")]
    untaken: Annotated[str | None, At("first_success.untaken"), "the graphs that it did not take, and why"]
    without_cuda_graphs: Annotated[
        str | None, At("first_success.without_cuda_graphs"), "the graphs of which torch skipped them, and why"
    ]
    agreement: Annotated[
        Agreement | None,
        "of the outputs of its graphs with eager's, on the same inputs; null for eager itself",
    ]
    output: Annotated[
        OutputComparison | None,
        "the program's stdout beside eager's of the first round; for eager, its second round's",
    ]
    runs: list[RunOfRound]


@dataclass(frozen=True)
class OfBackend:
    """The backend that something is of, by the name under which it runs the program."""

    backend: str


@dataclass(frozen=True)
class BackendOnGraph(Measured, OfBackend):
    """What came of a backend on a graph. The fields of the last base come first."""


@dataclass(frozen=True)
class GraphFigures:
    """A distinct graph under each backend."""

    graph: Annotated[int, At("number"), "its number in the first run"]
    frame: str | None
    place: Place | None
    op_count: Annotated[Count | None, At("ops")]
    calls: Annotated[Count | None, "by the program"]
    problem: Annotated[str | None, "why it could not be measured"]
    fastest: Annotated[str | None, "what autotune would choose; null where the rounds do not decide"]
    backends: list[BackendOnGraph]


@dataclass(frozen=True)
class BenchDocument:
    """A program under several backends. What was not recorded is null, never 0."""

    program: str
    rounds: Annotated[
        int,
        Ge(1),
        "how many were to be run in the end: there are more of them while they do not decide",
    ]
    threads: Annotated[tuple[int, ...], "how many threads torch had, where graphs of the first run say so"]
    is_interrupted: Annotated[bool, "what is missing was not run"]
    step: Annotated[StepValue | None, "what is taken for a step; null where nothing repeats"]
    recordings: Annotated[str | None, "the folder of --recordings"]
    backends: Annotated[list[BackendFigures], "eager, then as they were named"]
    graphs: Annotated[
        list[GraphFigures] | None,
        "of --per-graph, null without it: the distinct graphs of the first run",
    ]


def bench_document(bench: Bench) -> BenchDocument:
    """The document."""
    step, graphs = bench.step, bench.graphs
    return from_fields(
        BenchDocument,
        bench,
        step=None if step is None else from_fields(StepValue, step),
        backends=[_backend(figures, bench) for figures in compare(bench)],
        graphs=None if graphs is None else list(map(_graph, graphs)),
    )


def speedups_csv(bench: Bench) -> str:
    """A row a backend; what is not known is empty."""
    return csv_text(_COLUMNS, [_row(figures, _backend(figures, bench)) for figures in compare(bench)])


def _backend(figures: Figures, bench: Bench) -> BackendFigures:
    backend, speed = figures.backend, figures.speed_up
    return from_fields(
        BackendFigures,
        figures,
        speed_up=None if speed is None else speed_of(speed),
        compile_seconds=from_fields(CompileSeconds, figures),
        peak_bytes=from_fields(PeakBytes, figures),
        agreement=None if backend.is_eager else backend.agreement,
        runs=[
            from_fields(
                RunOfRound,
                run,
                round=number,
                recording=None if bench.recordings is None else run.recording,
            )
            for number, run in backend.runs.items()
        ],
    )


def _graph(graph: GraphTimes) -> GraphFigures:
    return from_fields(
        GraphFigures,
        graph,
        backends=[
            BackendOnGraph(backend=name, **measurement.as_json())
            for name, measurement in graph.measurements.items()
        ],
    )


def _row(figures: Figures, value: BackendFigures) -> dict[str, Any]:
    agreement, output = value.agreement, value.output
    return {name: getattr(value, name) for name in _COLUMNS if hasattr(value, name)} | {
        "mode": figures.backend.mode,
        **speed_cells(value.speed_up),
        "compile_cold_seconds": value.compile_seconds.cold,
        "compile_warm_seconds": value.compile_seconds.warm,
        "peak_bytes": value.peak_bytes.resident,
        "peak_cuda_bytes": value.peak_bytes.cuda,
        "agreement": None if agreement is None else agreement.verdict,
        "output": None if output is None else output.likeness,
    }
