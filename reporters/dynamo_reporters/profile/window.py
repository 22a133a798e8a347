"""What `dynamo run --profile` saw of steady steps: graphs, operators, kernels, memory and user lines."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal

from dynamo_core.analysis.memory import growth_text
from dynamo_core.analysis.time.wall import calls_of, coverage, sum_seconds
from dynamo_core.analysis.words import memory, number, place, process_title, seconds
from dynamo_core.model import (
    EagerOperator,
    GraphPart,
    Place,
    Process,
    ProfileWindow,
    Recording,
    StepMemory,
    WindowKernel,
    WindowOperator,
    WindowPart,
)
from dynamo_core.recording.kernels import CODE_FOR_WINDOW
from dynamo_core.shared import names
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Bullets, Heading, Paragraph, table

# What the reader must load for this. The last two name the nodes and lines behind kernels.
CONTENTS = frozenset({names.PROFILE_WINDOW, names.FX_GRAPH, CODE_FOR_WINDOW})
_ROWS_SHOWN = 15
_NOT_RECORDED = "not recorded"
_CPP_NAMESPACE = re.compile(r"(?<![\w:>])(?:(?:\w+|\(anonymous namespace\))::)+")
_LONGEST_KERNEL_NAME = 90  # of a C++ template; torch's own table ends names after 55


def window_blocks(recording: Recording) -> Iterator[Block]:
    """The section about the window, for each process that was to have one."""
    for process in recording.processes:
        title = f"In a window of steady steps{process_title(process, recording)}"
        if process.profiling.window is not None:
            yield Heading(title)
            yield from _window(process, process.profiling.window)
        elif process.profiling.problem is not None:
            yield Heading(title)
            yield Paragraph(f"No window was profiled: {process.profiling.problem}.")


def _window(process: Process, window: ProfileWindow) -> Iterator[Block]:
    each = seconds(window.seconds / window.steps)
    yield Paragraph(
        f"torch.profiler around {number(window.steps, 'step')}, {each} each: "
        f"a step is from one call of graph {window.anchor} to its next."
    )
    if window.compiles:
        yield Paragraph(f"{number(window.compiles, 'compile')} fell into it: it was not steady.", "warning")
    yield from _coverage(window)
    yield from _parts(window)
    yield from _memory(window)
    yield from _eager(window)
    yield from _kernels(window)
    yield from _operators(window)
    yield from _cuda_graphs(process, window)


def _coverage(window: ProfileWindow) -> Iterator[Block]:
    shares = coverage(window)
    inside, outside = sum(part.seconds for part in window.parts), sum_seconds(window.eager)
    calls = sum(part.operator_calls for part in window.parts)
    yield Heading("Coverage", 3)
    lines = [
        f"{_percent(shares['time'])} of the host's time in graphs and operators was inside compiled graphs "
        f"({seconds(inside)}; operators outside: {seconds(outside)}).",
        f"{_percent(shares['operators'])} of the operator calls that torch's profiler saw were inside them "
        f"({calls:,} of {calls + calls_of(window.eager):,}; fused kernels are no operator calls).",
    ]
    if window.kernels is not None:
        total = sum_seconds(window.kernels)
        lines.append(
            f"{_percent(shares['kernel_time'])} of {seconds(total)} of kernel time was launched inside them."
        )
    yield Bullets(lines)


def _parts(window: ProfileWindow) -> Iterator[Block]:
    if not window.parts:
        return
    yield Heading("By graph", 3)
    has_kernels = window.kernels is not None
    rows = [
        [
            _graph(part.graph),
            f"{part.calls:,}",
            seconds(part.seconds),
            f"{seconds(part.operator_seconds)} in {part.operator_calls:,}",
            seconds(max(0.0, part.seconds - part.operator_seconds)),
            *([f"{seconds(part.kernel_seconds)} in {part.kernels:,}"] if has_kernels else []),
            _extra_bytes(part),
        ]
        for part in sorted(window.parts, key=lambda part: -part.seconds)
    ]
    on_device = "kernels>|" if has_kernels else ""
    yield table(f"graph|calls>|host time>|operators>|the rest>|{on_device}memory of a call>", rows)
    yield Paragraph(
        "The rest is what no operator accounts for: Inductor's kernels for the CPU, which are not shown, "
        "and the code around them. Memory is the most that a call held beyond what was allocated before it.",
        "dim",
    )


def _memory(window: ProfileWindow) -> Iterator[Block]:
    """The memory of the step that was recorded with allocations; nothing where there was none."""
    if not window.memory:
        return
    yield Heading("Memory of a step", 3)
    rows = [[each.device, memory(each.most), growth_text([each])] for each in window.memory]
    yield table("device|the most in it>|growth by its end>", rows)
    yield Paragraph(
        "Both are beyond what was allocated as the step began. On the CPU torch does not see that memory "
        "from before is freed, so that growth is at most this.",
        "dim",
    )


def _eager(window: ProfileWindow) -> Iterator[Block]:
    yield Heading("Operators outside of compiled graphs, costliest first", 3)
    if not window.eager:
        yield Paragraph("None.")
        return
    if window.lines_problem is not None:
        yield Paragraph(f"Their lines were not recorded: {window.lines_problem}.", "warning")
    has_kernels = window.kernels is not None
    rows = [
        [
            _NOT_RECORDED if operator.place is None else place(operator.place),
            operator.name,
            f"{operator.calls:,}",
            seconds(operator.seconds),
            *([seconds(operator.kernel_seconds)] if has_kernels else []),
        ]
        for operator in costliest_eager(window)[:_ROWS_SHOWN]
    ]
    yield table("line|operator|calls>|host time>" + ("|kernel time>" if has_kernels else ""), rows)
    yield from _rest(len(window.eager))


def _kernels(window: ProfileWindow) -> Iterator[Block]:
    yield Heading("Kernels, costliest first", 3)
    if window.kernels is None:
        yield Paragraph(
            "No device was in use as the window opened, and torch does not record the CPU's kernels."
        )
        return
    rows = [
        [
            kernel_name(kernel.name),
            _graph(kernel.graph),
            f"{kernel.calls:,}",
            seconds(kernel.seconds),
            _bandwidth(kernel),
            ", ".join(kernel.nodes) or _NOT_RECORDED,
            ", ".join(map(place, kernel.places)) or _NOT_RECORDED,
        ]
        for kernel in costliest_kernels(window)[:_ROWS_SHOWN]
    ]
    yield table("kernel|graph|calls>|time>|bandwidth>|FX nodes|lines", rows)
    yield from _rest(len(window.kernels))


def kernel_name(name: str) -> str:
    """A kernel of C++ by its template and what it is made for: no namespaces, return type and arguments."""
    if "<" not in name:
        return name
    kept, depth = [], 0
    for letter in _CPP_NAMESPACE.sub("", name.removeprefix("void ")):
        if letter == "(" and depth == 0:
            break  # its arguments
        depth -= letter == ">"
        if depth == 0 or (depth == 1 and letter not in "<>"):
            kept.append(letter)
        depth += letter == "<"
    short = "".join(kept).replace(" >", ">")
    return short if len(short) <= _LONGEST_KERNEL_NAME else f"{short[: _LONGEST_KERNEL_NAME - 1]}…"


def _operators(window: ProfileWindow) -> Iterator[Block]:
    inside = [operator for operator in window.operators if operator.graph is not None]
    if not inside:
        return
    yield Heading("Operators inside compiled graphs, costliest first", 3)
    rows = [
        [_graph(operator.graph), operator.name, *_figures(operator)]
        for operator in sorted(inside, key=lambda operator: -operator.self_seconds)[:_ROWS_SHOWN]
    ]
    yield table("graph|operator|calls>|own time>|with those it calls>", rows)
    yield from _rest(len(inside))


def _cuda_graphs(process: Process, window: ProfileWindow) -> Iterator[Block]:
    if window.kernels is None:
        return
    yield Heading("CUDA graphs", 3)
    launches = sum(part.cuda_graph_launches or 0 for part in window.parts)
    counters = process.profiling.cuda_graph_counters
    parts = [f"{number(launches, 'replay')} in the window"]
    if counters is None:
        parts.append(f"skips and re-records in the run: {_NOT_RECORDED}")
    else:
        parts += [
            f"{name.removeprefix('cudagraph_')} in the run: {count:,}" for name, count in counters.items()
        ]
    yield Bullets(parts)


def _graph(part: GraphPart | None) -> str:
    """`1`, `1 backward`: narrow enough for a column."""
    if part is None:
        return "outside"
    graph = "unknown" if part.number is None else str(part.number)
    return f"{graph} backward" if part.is_backward else graph


def _figures(operator: WindowOperator) -> list[str]:
    return [f"{operator.calls:,}", seconds(operator.self_seconds), seconds(operator.total_seconds)]


def _extra_bytes(part: WindowPart) -> str:
    if part.extra_bytes is None:
        return _NOT_RECORDED
    return ", ".join(f"{memory(count)} {device}" for device, count in part.extra_bytes.items()) or "none"


def _bandwidth(kernel: WindowKernel) -> str:
    value = kernel.bytes_per_second
    return _NOT_RECORDED if value is None else f"{value / 1e9:,.0f} GB/s"


def _rest(count: int) -> Iterator[Block]:
    if count > _ROWS_SHOWN:
        yield Paragraph(f"… and {count - _ROWS_SHOWN:,} more; the JSON document has them all.", "dim")


def costliest_eager(window: ProfileWindow) -> list[EagerOperator]:
    """The operators outside of graphs, by what they or their kernels took."""
    return sorted(window.eager, key=lambda operator: -max(operator.seconds, operator.kernel_seconds or 0.0))


def costliest_kernels(window: ProfileWindow) -> list[WindowKernel]:
    """The kernels, by what they took."""
    return sorted(window.kernels or (), key=lambda kernel: -kernel.seconds)


def _percent(share: float | None) -> str:
    return _NOT_RECORDED if share is None else f"{share:.1%}"


# The window of steady steps under torch.profiler, as the document of `dynamo profile` has it.


@dataclass(frozen=True)
class Coverage:
    """Shares, from 0 to 1, that ran inside compiled graphs. Null where there was nothing to share."""

    time: float | None
    operators: float | None
    kernel_time: float | None


@dataclass(frozen=True)
class KernelInWindow:
    """A kernel, or a copy, on a device."""

    name: str
    graph: Annotated[GraphPart | None, "which graph, or its backward; null outside of graphs"]
    device: str
    calls: int
    seconds: float
    bytes: Count | None
    bytes_per_second: float | None
    nodes: tuple[str, ...] | None
    places: tuple[Place, ...] | None


@dataclass(frozen=True)
class NoWindow:
    """A window that was asked for and could not be had."""

    problem: Annotated[str, "why there was no window"]


@dataclass(frozen=True)
class Window:
    """A window of steady steps under torch.profiler."""

    problem: Literal[None]
    anchor_graph: Annotated[int, At("anchor"), "the graph with whose call a step begins"]
    steps: int
    seconds: float
    compiles: Annotated[int, "that fell into it"]
    coverage: Coverage
    graphs: Annotated[tuple[WindowPart, ...], At("parts")]
    eager_operators: Annotated[list[EagerOperator], "outside of compiled graphs, the costliest first"]
    operators: list[WindowOperator]
    kernels: Annotated[list[KernelInWindow] | None, "null where no device was in use"]
    memory: Annotated[
        tuple[StepMemory, ...] | None, "of one step, by device; null where allocations were not recorded"
    ]
    cuda_graph_counters: Annotated[dict[str, int] | None, "what Inductor counted in the run"]
    lines_problem: Annotated[str | None, "why the lines of operators were not recorded"]
    damaged_events: int


def window_of(process: Process) -> Window | NoWindow | None:
    """The window of a process; None where the run was not asked for one."""
    window = process.profiling.window
    if window is None:
        return None if process.profiling.problem is None else NoWindow(process.profiling.problem)
    return from_fields(
        Window,
        window,
        problem=None,
        coverage=Coverage(**coverage(window)),
        eager_operators=costliest_eager(window),
        operators=sorted(window.operators, key=lambda operator: -operator.self_seconds),
        kernels=None if window.kernels is None else list(map(_kernel, costliest_kernels(window))),
        cuda_graph_counters=process.profiling.cuda_graph_counters,
    )


def _kernel(kernel: WindowKernel) -> KernelInWindow:
    return from_fields(KernelInWindow, kernel, nodes=kernel.nodes or None, places=kernel.places or None)
