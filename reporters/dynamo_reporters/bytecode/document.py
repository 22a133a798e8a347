"""`dynamo bytecode` as JSON: one declaration for the document and its schema."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, ClassVar

from dynamo_core.analysis.bytecode import resume_chain
from dynamo_core.analysis.bytecode.resume_chain import (
    Continuation as ChainContinuation,
)
from dynamo_core.analysis.bytecode.resume_chain import (
    Links,
    break_text,
    is_in,
    is_resume_function,
    lines_text,
    ops,
    own_lines,
)
from dynamo_core.analysis.bytecode.resume_chain import (
    Step as ChainStep,
)
from dynamo_core.analysis.bytecode.rewritten import Rewritten, read_rewritten, short_name, without_marks
from dynamo_core.analysis.source_lines import indentation
from dynamo_core.analysis.words import compile_label, frame_name, number
from dynamo_core.model import Bytecode, CompileId, Graph, Instruction, Place, Process, Recording
from dynamo_core.shared.conversion import from_fields
from dynamo_core.shared.declared import At, Count
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.shown_paths import shown_path

from ..page.blocks import Block, Bullets, Code, Heading, Paragraph
from .diff import Aligned, align, shortened

# A frame's own source, with what runs each line: graphs, the interpreter, a resume function from here on.


LEGEND = (
    "Beside each line: the graphs with ops of it, and eager where the interpreter runs it, or a part of it. "
    "A line with neither was done while tracing (what it calls may be inlined), was not reached, or is "
    "after a break in a resume function that was not compiled. "
    "The Python below is read from the modified bytecode, without marks for the profiler and handlers of "
    "exceptions."
)


@dataclass
class Line:
    """A line of the frame with what runs it."""

    line: Annotated[int, "its number"]
    text: Annotated[str, "as it is in the file"]
    graphs: Annotated[list[int], "the graphs with ops of it"] = field(default_factory=list)
    is_eager: Annotated[bool, "whether the interpreter runs it, or a part of it"] = False
    remarks: Annotated[
        list[str], "breaks at it, branches, and resume functions that take over there, each once"
    ] = field(default_factory=list)

    def remark(self, text: str) -> None:
        """Add a remark, unless it is there."""
        if text not in self.remarks:
            self.remarks.append(text)

    @property
    def runner(self) -> str:
        """Who runs it, in a word or two."""
        graphs = ["graph " + ", ".join(map(str, sorted(self.graphs)))] if self.graphs else []
        return " + ".join(graphs + ["eager"] * self.is_eager)


def annotated(chain: ChainStep) -> list[Line]:
    """The lines of a frame, from all the compiles that its chain of resume functions holds."""
    frame = chain.bytecode
    lines = {line: Line(line, text) for line, text in frame.source.items()}
    for step in chain.all_steps():
        _add_graphs(lines, step, frame)
        _add_eager(lines, step)
        _add_breaks(lines, step)
        for continuation in step.continuations:
            if continuation.line in lines:
                lines[continuation.line].remark(_taking_over(continuation))
    return [lines[line] for line in sorted(lines)]


def annotated_blocks(chain: ChainStep) -> list[Block]:
    """The annotated source, and what was inlined into its graphs."""
    blocks: list[Block] = []
    lines = annotated(chain)
    if lines:
        blocks.append(Code(_listing(lines), "text"))
    else:
        blocks.append(Paragraph("the source lines of this frame were not recorded", "dim"))
    inlined = [text for step in chain.all_steps() for graph in step.graphs for text in _inlined(graph, chain)]
    if inlined:
        blocks.append(Bullets(inlined))
    return blocks


def inlined_places(graph: Graph, frame: Bytecode) -> dict[str, list[int]]:
    """The lines of other functions whose ops are in a graph, by file; a line for each op."""
    found: dict[str, list[int]] = {}
    for node in ops(graph):
        if node.place is not None and not is_in(node.place, frame):
            found.setdefault(node.place.file, []).append(node.place.line)
    return found


def _taking_over(continuation: ChainContinuation) -> str:
    name = short_name(continuation.function.name)
    if continuation.shown_before:
        return f"{name} takes over: its {continuation.shown_before:,} compiles are shown above"
    labels = ", ".join(compile_label(step.bytecode.compile_id) for step in continuation.compiled)
    return f"{name} takes over as {labels}" if labels else f"{name} takes over"


def _add_graphs(lines: dict[int, Line], step: ChainStep, frame: Bytecode) -> None:
    for graph in step.graphs:
        for node in ops(graph):
            if node.place is not None and is_in(node.place, frame) and node.place.line in lines:
                graphs = lines[node.place.line].graphs
                if graph.number not in graphs:
                    graphs.append(graph.number)


def _add_eager(lines: dict[int, Line], step: ChainStep) -> None:
    """What of the user's instructions is left in the modified bytecode runs as it always did."""
    bytecode = step.bytecode
    opcodes: dict[int, list[str]] = {}
    for row in align(bytecode):
        if row.kind == "kept" and row.original is not None:
            instruction = bytecode.original[row.original]
            if instruction.line in lines:
                opcodes.setdefault(instruction.line, []).append(instruction.opcode)
    for line, kept in opcodes.items():
        lines[line].is_eager = True
        if all("POP_JUMP" in opcode for opcode in kept):
            lines[line].remark(_branch_remark(lines[line], step))


def _branch_remark(line: Line, step: ChainStep) -> str:
    own = [f"graph {graph.number}" for graph in step.graphs if graph.number in line.graphs]
    condition = f"{own[0]} computes the condition, " if len(own) == 1 else ""
    return f"{condition}the interpreter branches"


def _add_breaks(lines: dict[int, Line], step: ChainStep) -> None:
    for graph_break in step.breaks:
        outer = graph_break.stack[0].place if graph_break.stack else None
        if outer is not None and outer.line in lines:
            label = compile_label(step.bytecode.compile_id)
            lines[outer.line].remark(f"break {label} at {break_text(graph_break)}")


def _listing(lines: list[Line]) -> str:
    width = max(len(line.runner) for line in lines)
    shown: list[str] = []
    for line in lines:
        shown.append(f"{line.runner:>{width}} │ {line.line:>4}  {line.text}".rstrip())
        indent = indentation(line.text)
        shown += [f"{'':>{width}} │       {'':>{indent}}↑ {remark}" for remark in line.remarks]
    return "\n".join(shown)


def _inlined(graph: Graph, chain: ChainStep) -> list[str]:
    return [
        f"graph {graph.number} also has {number(len(lines), 'op')} of functions inlined into it, "
        f"from {shown_path(file)} {lines_text(lines)}"
        for file, lines in inlined_places(graph, chain.bytecode).items()
    ]


def rewritten_blocks(bytecode: Bytecode, links: Links, show_all: bool) -> list[Block]:
    """What the frame does now, as Python."""
    rewritten = read_rewritten(bytecode.modified, links.graph_names)
    text = rewritten_text(rewritten, bytecode, show_all)
    if text is None:
        return []
    name = frame_name(bytecode.name, bytecode.method)
    title = f"{compile_label(bytecode.compile_id)} {name}: what its bytecode does now"
    return [Heading(title, 3), Code(text)]


def rewritten_text(rewritten: Rewritten, bytecode: Bytecode, show_all: bool = True) -> str | None:
    """The statements of a rewritten frame, up to where they could be read; None if nothing could."""
    statements = without_marks(rewritten)
    if not statements:
        return None
    lines = [f"def {bytecode.name}(…):"]
    for statement in statements:
        text = statement.text if show_all else shortened(statement.text)
        lines.append(f"{'    ' * (statement.depth + 1)}{text}")
    if rewritten.stopped_at is not None:
        rest = len(bytecode.modified) - rewritten.stopped_at
        lines.append(f"    …  # {number(rest, 'instruction')} from here on: see dynamo bytecode --diff --all")
    return "\n".join(lines)


@dataclass(frozen=True)
class Inlined:
    """Functions of a file that ops come from."""

    file: Annotated[str, "where the functions are"]
    lines: Annotated[list[int], "the lines that ops come from"]
    ops: Annotated[int, "how many ops"]


@dataclass(frozen=True)
class GraphOfFrame:
    """A graph of a compile, with the lines of the frame and of other functions that its ops are from."""

    graph: Annotated[int, At("number"), "its number, from 1 in each process"]
    called_as: Annotated[str | None, "the global through which the modified bytecode calls it"]
    ops: int | None
    lines: Annotated[
        list[int] | None, "lines of the frame that ops come from; null where nodes were not recorded"
    ]
    inlined: Annotated[list[Inlined] | None, "other functions that ops come from; null as lines is"]


@dataclass(frozen=True)
class ResumeFunction:
    """The rest of a frame that broke."""

    name: Annotated[str, "the global __resume_at_<offset>_<n>"]
    line: Annotated[int | None, "where it goes on; null where that is in a function that was inlined"]
    compile_ids: Annotated[
        list[CompileId | None], "the compiles of it; empty if it was never compiled, or is not selected"
    ]


@dataclass(frozen=True)
class BreakOfStep:
    """Where a compile broke."""

    place: Place | None
    kind: Annotated[str, "torch's name for it"]


@dataclass(frozen=True)
class Continuation:
    """A resume function that takes over."""

    resume_function: Annotated[str, "its name"]
    line: Annotated[int | None, "where it goes on"]
    compiles: Annotated["list[Step]", "the compiles of it"]
    compiles_shown_before: Annotated[
        Count,
        "of a function compiled more than 16 times: how many, where an earlier chain or step shows them",
    ]


@dataclass(frozen=True)
class Step:
    """A compile, and how it goes on after its breaks."""

    in_common: ClassVar[str] = "step_of_frame"

    compile_id: Annotated[CompileId | None, At("bytecode.compile_id")]
    is_repeated: Annotated[bool, "whether what follows is shown at an earlier step of this chain"]
    graphs: Annotated[list[int], "numbers of the graphs"]
    breaks: Annotated[list[BreakOfStep], "where it broke"]
    continuations: Annotated[
        list[Continuation], "the resume functions that take over; at a branch there are two"
    ]


@dataclass(frozen=True)
class FrameBytecode:
    """One compile of a frame or of a resume function.

    What is said of its resume functions too stands where the story begins, else it is null.
    """

    process: Process
    compile_id: CompileId | None
    name: Annotated[str, "of the code object; a resume function's begins with torch_dynamo_resume_in_"]
    qualified_name: Annotated[str, "with the class; Python 3.10 does not tell it, then the name"]
    place: Annotated[Place, "where the code begins"]
    is_resume_function: Annotated[bool, "whether it is the rest of a frame that broke"]
    original: Annotated[tuple[Instruction, ...], "as Python compiled it"]
    modified: Annotated[tuple[Instruction, ...], "as Dynamo rewrote it"]
    changes: Annotated[list[Aligned], "both lists, aligned; each instruction is in one entry"]
    graphs: Annotated[list[GraphOfFrame], "the graphs of this compile"]
    resume_functions: Annotated[list[ResumeFunction], "those that this compile's break made"]
    python: Annotated[
        str | None,
        "what the modified bytecode does, as Python: calls of graphs (graph_N), branches, resume functions; "
        "without marks for a profiler; null if none of it could be read",
    ]
    is_python_whole: Annotated[bool, "false where the end could not be read: python then stops with …"]
    chain: Annotated[
        Step | None,
        "how this compile goes on after its breaks; null where the chain of the frame that broke shows it",
    ]
    source: Annotated[
        list[Line] | None,
        "the lines of the frame with what runs each, in the whole chain; null as chain is",
    ]


@dataclass(frozen=True)
class Bytecodes:
    """Each frame's bytecode before and after Dynamo."""

    is_recorded: Annotated[
        bool, "false for a plain torch trace, which has no bytecode: then frames says nothing"
    ]
    frames: Annotated[
        list[FrameBytecode],
        "in the order of the compiles; the same whatever --diff, --source and --all say",
    ]


def bytecodes_of(recording: Recording) -> Bytecodes:
    """Every compile of every frame, whole."""
    frames: list[FrameBytecode] = []
    for process in recording.processes:
        links = Links(process)
        chains = {chain.bytecode.compile_id: chain for chain in links.chains()}
        frames += [_frame(process, bytecode, links, chains) for bytecode in process.bytecodes]
    return Bytecodes(any(process.is_ours for process in recording.processes), frames)


def _frame(
    process: Process,
    bytecode: Bytecode,
    links: Links,
    chains: Mapping[CompileId | None, resume_chain.Step],
) -> FrameBytecode:
    chain = chains.get(bytecode.compile_id)
    rewritten = read_rewritten(bytecode.modified, links.graph_names)
    return from_fields(
        FrameBytecode,
        bytecode,
        process=process,
        is_resume_function=is_resume_function(bytecode),
        changes=align(bytecode, is_whole=True),
        graphs=_graphs(bytecode, links),
        resume_functions=[
            ResumeFunction(
                name=function.name,
                line=links.line(function),
                compile_ids=[compiled.compile_id for compiled in links.compiled(function)],
            )
            for function in links.made(bytecode)
        ],
        python=rewritten_text(rewritten, bytecode),
        is_python_whole=rewritten.stopped_at is None,
        chain=None if chain is None else _step(chain),
        source=None if chain is None else annotated(chain),
    )


def _graphs(bytecode: Bytecode, links: Links) -> list[GraphOfFrame]:
    called = {graph.number: name for name, graph in links.called_graphs(bytecode).items()}
    return [
        from_fields(
            GraphOfFrame,
            graph,
            called_as=called.get(graph.number),
            lines=None if graph.nodes is None else own_lines(graph, bytecode),
            inlined=None
            if graph.nodes is None
            else [
                Inlined(file, sorted(set(lines)), len(lines))
                for file, lines in inlined_places(graph, bytecode).items()
            ],
        )
        for graph in links.graphs(bytecode)
    ]


def _step(step: resume_chain.Step) -> Step:
    return from_fields(
        Step,
        step,
        graphs=[graph.number for graph in step.graphs],
        breaks=[from_fields(BreakOfStep, each) for each in step.breaks],
        continuations=[
            Continuation(each.function.name, each.line, list(map(_step, each.compiled)), each.shown_before)
            for each in step.continuations
        ],
    )
