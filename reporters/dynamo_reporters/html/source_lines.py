"""What is known of each line of source: graphs that hold it, what runs eager, breaks, recompiles, guards."""

from collections.abc import Iterable, Iterator
from dataclasses import field

from dynamo_core.analysis.break_costs import BreakCost
from dynamo_core.analysis.bytecode.resume_chain import Links as Chain
from dynamo_core.analysis.bytecode.resume_chain import is_resume_function
from dynamo_core.analysis.bytecode.rewritten import prologue
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.graphs.nodes import user_lines
from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.source_lines import is_library
from dynamo_core.analysis.summary import failed_to_compile
from dynamo_core.findings import Finding
from dynamo_core.model import (
    Bytecode,
    Compile,
    CompileId,
    Frame,
    Graph,
    Guard,
    Node,
    Place,
    Process,
    StackFrame,
    function_of,
    resumed_function,
)
from dynamo_core.recording.kernels import KernelSources, Sources
from dynamo_core.shared.quick_dataclass import dataclass

from ..bytecode.diff import align

_MOST_LINES = 60_000  # of all files; more is no program that a person reads
_MOST_ALIGNED = 1_000_000  # instructions whose rewriting is looked at; aligning them takes seconds


@dataclass(frozen=True)
class InGraph:
    """A graph that holds a line, with the ops that come from it; None where its nodes were not recorded.

    What an installed package makes of a call is of the package's line, and of the program's that calls it.
    """

    process: Process
    graph: Graph
    ops: tuple[Node, ...] | None


@dataclass(frozen=True)
class Kept:
    """A compile in whose rewritten bytecode instructions of a line are left, which the interpreter runs."""

    process: Process
    bytecode: Bytecode
    rows: tuple[tuple[int, bool], ...]  # of the original instructions: index, and whether it was kept


@dataclass(frozen=True)
class Resumed:
    """A resume function that begins at a line: which compile's break made it, and what was compiled of it."""

    process: Process
    made_by: CompileId | None
    compiled: tuple[CompileId | None, ...]


@dataclass
class Line:
    """A line of source. `text` is None where it was not recorded; all else is what cites it."""

    text: str | None = None
    graphs: list[InGraph] = field(default_factory=list)
    bytecode: list[Kept] = field(default_factory=list)
    breaks: list[BreakCost] = field(default_factory=list)
    breaks_below: list[tuple[BreakCost, Place]] = field(default_factory=list)
    recompiles: list[RecompileCause] = field(default_factory=list)
    resumed: list[Resumed] = field(default_factory=list)
    failed_to_compile: list[tuple[Process, Frame]] = field(default_factory=list)
    began: list[tuple[Process, Compile]] = field(default_factory=list)
    guards: list[tuple[Process, CompileId | None, Guard]] = field(default_factory=list)
    kernels: list[tuple[Process, Graph, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def is_eager(self) -> bool:
        """Whether the interpreter runs the line, or a part of it, in a frame that was compiled."""
        return any(is_kept for kept in self.bytecode for _, is_kept in kept.rows)

    @property
    def is_notable(self) -> bool:
        """Whether something is in the way here."""
        return bool(self.breaks or self.recompiles or self.failed_to_compile or self.findings)

    @property
    def has_more(self) -> bool:
        """Whether there is more to say than the line itself shows."""
        return bool(self.is_notable or self.graphs or self.bytecode or self.breaks_below or self.guards)


@dataclass
class SourceFile:
    """A file of the program or of a library, as far as its lines were recorded."""

    path: str
    lines: dict[int, Line] = field(default_factory=dict)

    def line(self, number: int) -> Line:
        """A line, which is made where it is first cited."""
        if number not in self.lines:
            self.lines[number] = Line()
        return self.lines[number]


class Source:
    """The files that a recording cites, by path; `is_cut` where there were too many lines for a page.

    `not_aligned` counts the compiles of which it was not worked out what is left to the interpreter;
    `kernels` has those of each process, by its `id`.
    """

    def __init__(self, figures: Figures, findings: Iterable[Finding]) -> None:
        self.files: dict[str, SourceFile] = {}
        self.is_cut = False
        self.not_aligned = 0
        self.kernels: dict[int, list[tuple[Graph, str, Sources]]] = {}
        self._count = 0
        self._aligned: dict[object, tuple[tuple[int, bool], ...]] = {}
        self._instructions = 0
        recording = figures.recording
        for process in recording.processes:
            self._add_texts(process)
            self._add_graphs(process)
            self._add_bytecode(process)
            self._add_frames(process)
            self._add_guards(process)
            self._add_kernels(process)
        self._add_breaks(figures)
        self._add_recompiles(figures)
        for finding in findings:
            if (line := self._at(finding.place)) is not None:
                line.findings.append(finding)
                line.text = line.text or finding.source or None
        self.files = {path: file for path, file in self.files.items() if file.lines}

    def _at(self, place: Place | None) -> Line | None:
        if place is None or place.line < 1 or not place.file:
            return None
        file = self.files.setdefault(place.file, SourceFile(place.file))
        if place.line not in file.lines:
            if self._count >= _MOST_LINES:
                self.is_cut = True
                return None
            self._count += 1
        return file.line(place.line)

    def _add_text(self, place: Place | None, text: str) -> None:
        if (
            text
            and (line := self._at(place)) is not None
            and (line.text is None or len(text) > len(line.text))
        ):
            line.text = text  # of several, the one that still has its indent

    def _add_texts(self, process: Process) -> None:
        for bytecode in process.bytecodes:
            for number, text in bytecode.source.items():
                self._add_text(Place(bytecode.place.file, number), text.rstrip("\n"))
        for graph in process.graphs:
            for place, (_, text) in user_lines(graph.code).items():
                self._add_text(place, text)
        for frame in _stack_frames(process):
            self._add_text(frame.place, frame.text)
        for graph_break in process.breaks:
            if graph_break.place is not None:
                for number, text in graph_break.around.items():
                    self._add_text(Place(graph_break.place.file, number), text.rstrip("\n"))

    def _add_graphs(self, process: Process) -> None:
        for graph in process.compiled_graphs:
            if graph.nodes is None:
                for place in user_lines(graph.code):
                    if (line := self._at(place)) is not None:
                        line.graphs.append(InGraph(process, graph, None))
                continue
            ops: dict[Place, list[Node]] = {}
            for node in graph.nodes:
                if node.op.startswith("call_"):
                    for at in (node.place, node.called_from):
                        if at is not None:
                            ops.setdefault(at, []).append(node)
            for place, nodes in ops.items():
                if (line := self._at(place)) is not None:
                    line.graphs.append(InGraph(process, graph, tuple(nodes)))

    def _add_bytecode(self, process: Process) -> None:
        chain = Chain(process)
        for bytecode in process.bytecodes:
            by_line: dict[int, list[tuple[int, bool]]] = {}
            for index, is_kept in self._rows(bytecode):
                number = bytecode.original[index].line
                if number is not None:
                    by_line.setdefault(number, []).append((index, is_kept))
            for number, rows in by_line.items():
                if (line := self._at(Place(bytecode.place.file, number))) is not None:
                    line.bytecode.append(Kept(process, bytecode, tuple(rows)))
            for function in chain.made(bytecode):
                number = chain.line(function)
                if number is not None and (line := self._at(Place(bytecode.place.file, number))) is not None:
                    compiled = tuple(each.compile_id for each in chain.compiled(function))
                    line.resumed.append(Resumed(process, bytecode.compile_id, compiled))

    def _rows(self, bytecode: Bytecode) -> tuple[tuple[int, bool], ...]:
        """The program's own instructions by index, and whether Dynamo kept them."""
        shape = (
            bytecode.fingerprint,
            is_resume_function(bytecode),
            tuple((each.opcode, each.line, each.jump is None) for each in bytecode.modified),
        )
        if shape not in self._aligned:
            self._instructions += len(bytecode.original) + len(bytecode.modified)
            if self._instructions > _MOST_ALIGNED:
                self.not_aligned += 1
                return ()
            # What a resume function begins with jumps over what had run before: it is no line's own.
            gone = prologue(bytecode.original) if is_resume_function(bytecode) else range(0)
            self._aligned[shape] = tuple(
                (row.original, row.kind == "kept")
                for row in align(bytecode)
                if row.original is not None and row.original not in gone
            )
        return self._aligned[shape]

    def _add_frames(self, process: Process) -> None:
        for frame in process.frames:
            if failed_to_compile(frame) and (line := self._at(frame.place)) is not None:
                line.failed_to_compile.append((process, frame))
        for compile_ in process.compiles:
            # A resume function is said where it goes on.
            is_begin = compile_.is_forward and resumed_function(compile_.name) is None
            if is_begin and (line := self._at(compile_.place)) is not None:
                line.began.append((process, compile_))

    def _add_guards(self, process: Process) -> None:
        for guard_set in process.guard_sets:
            for guard in guard_set.guards or ():
                known = self.files.get(guard.place.file) if guard.place is not None else None
                if known is not None and guard.place is not None and guard.place.line in known.lines:
                    known.lines[guard.place.line].guards.append((process, guard_set.compile_id, guard))

    def _add_kernels(self, process: Process) -> None:
        self.kernels[id(process)] = list(KernelSources(process).kernels())
        for graph, kernel, (names, places) in self.kernels[id(process)]:
            callers = (node.called_from for node in graph.nodes or () if node.name in names)
            for place in dict.fromkeys((*places, *callers)):
                if (line := self._at(place)) is not None:
                    line.kernels.append((process, graph, kernel))

    def _add_breaks(self, figures: Figures) -> None:
        for cost in figures.breaks:
            first = cost.distinct.first
            if (line := self._at(first.place)) is not None:
                line.breaks.append(cost)
            if first.place is None:
                continue
            broken = (first.place.file, function_of(first.stack[-1].function))
            for place in sorted(
                {
                    each.place
                    for met in cost.distinct.occurrences
                    for each in (*met.callers, *met.stack)
                    # What goes on behind one break is called from it, and is the same function.
                    if (each.place.file, function_of(each.function)) != broken
                }
            ):
                if (line := self._at(place)) is not None:
                    line.breaks_below.append((cost, first.place))

    def _add_recompiles(self, figures: Figures) -> None:
        for frame in figures.recompiled:
            for cause in causes_of(frame):
                if (line := self._at(cause.place)) is not None:
                    line.recompiles.append(cause)


def _stack_frames(process: Process) -> Iterator[StackFrame]:
    for graph_break in process.breaks:
        yield from (*graph_break.stack, *graph_break.callers)
    for frames in process.callers.values():
        yield from frames
    for frame in process.frames:
        yield from (each for each in (frame.called_from, frame.compiled_by) if each is not None)


def source_files(source: Source) -> dict[str, SourceFile]:
    """The files as they are worth looking at: the user's own first, then those with most to say."""

    def order(file: SourceFile) -> tuple[bool, int, int, str]:
        notable = sum(line.is_notable for line in file.lines.values())
        held = sum(bool(line.graphs) for line in file.lines.values())
        return is_library(Place(file.path, 0)), -notable, -held, file.path

    return {file.path: file for file in sorted(source.files.values(), key=order)}
