"""A frame's own source, with what runs each line: graphs, the interpreter, a resume function from here on."""

from dataclasses import field

from dynamo_core.analysis.bytecode.instructions import short_name
from dynamo_core.analysis.bytecode.resume_chain import (
    Continuation,
    Links,
    Step,
    break_text,
    is_in,
    lines_text,
    ops,
)
from dynamo_core.analysis.bytecode.rewritten import Rewritten, read_rewritten, without_marks
from dynamo_core.analysis.words import compile_label, frame_name, number, place
from dynamo_core.model import Bytecode, Graph, Place
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Bullets, Code, Heading, Paragraph
from .diff import align, shortened

LEGEND = (
    "Beside each line: the graphs with ops of it, and eager where the interpreter runs it, or a part of it. "
    "A line with neither was done while tracing (what it calls may be inlined), was not reached, or is "
    "after a break in a resume function that was not compiled. "
    "The Python below is read from the modified bytecode, without marks for the profiler and handlers of "
    "exceptions."
)


@dataclass
class Line:
    """A line of a frame: the graphs with ops of it, whether the interpreter has a part, and remarks."""

    number: int
    text: str
    graphs: list[int] = field(default_factory=list)
    is_eager: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def runner(self) -> str:
        """Who runs it, in a word or two."""
        graphs = ["graph " + ", ".join(map(str, sorted(self.graphs)))] if self.graphs else []
        return " + ".join(graphs + ["eager"] * self.is_eager)


def annotated(chain: Step) -> list[Line]:
    """The lines of a frame, from all the compiles that its chain of resume functions holds."""
    frame = chain.bytecode
    lines = {line: Line(line, text) for line, text in frame.source.items()}
    for step in chain.all_steps():
        _add_graphs(lines, step, frame)
        _add_eager(lines, step)
        _add_breaks(lines, step)
        for continuation in step.continuations:
            if continuation.line in lines:
                lines[continuation.line].remarks.append(_taking_over(continuation))
    return [lines[line] for line in sorted(lines)]


def annotated_blocks(chain: Step) -> list[Block]:
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


def _taking_over(continuation: Continuation) -> str:
    name = short_name(continuation.function.name)
    if continuation.shown_before:
        return f"{name} takes over: its {continuation.shown_before:,} compiles are shown above"
    labels = ", ".join(compile_label(step.bytecode.compile_id) for step in continuation.compiled)
    return f"{name} takes over as {labels}" if labels else f"{name} takes over"


def _add_graphs(lines: dict[int, Line], step: Step, frame: Bytecode) -> None:
    for graph in step.graphs:
        for node in ops(graph):
            if node.place is not None and is_in(node.place, frame) and node.place.line in lines:
                graphs = lines[node.place.line].graphs
                if graph.number not in graphs:
                    graphs.append(graph.number)


def _add_eager(lines: dict[int, Line], step: Step) -> None:
    """What of the user's instructions is left in the modified bytecode runs as it always did."""
    bytecode = step.bytecode
    opcodes: dict[int, list[str]] = {}
    for row in align(bytecode):
        if row.kind == "kept" and row.before is not None:
            instruction = bytecode.original[row.before]
            if instruction.line in lines:
                opcodes.setdefault(instruction.line, []).append(instruction.opcode)
    for line, kept in opcodes.items():
        lines[line].is_eager = True
        if all("POP_JUMP" in opcode for opcode in kept):
            lines[line].remarks.append(_branch_remark(lines[line], step))


def _branch_remark(line: Line, step: Step) -> str:
    own = [f"graph {graph.number}" for graph in step.graphs if graph.number in line.graphs]
    condition = f"{own[0]} computes the condition, " if len(own) == 1 else ""
    return f"{condition}the interpreter branches"


def _add_breaks(lines: dict[int, Line], step: Step) -> None:
    for graph_break in step.breaks:
        outer = graph_break.stack[0].place if graph_break.stack else None
        if outer is not None and outer.line in lines:
            label = compile_label(step.bytecode.compile_id)
            lines[outer.line].remarks.append(f"break {label} at {break_text(graph_break)}")


def _listing(lines: list[Line]) -> str:
    width = max(len(line.runner) for line in lines)
    shown: list[str] = []
    for line in lines:
        shown.append(f"{line.runner:>{width}} │ {line.number:>4}  {line.text}".rstrip())
        indent = len(line.text) - len(line.text.lstrip())
        shown += [f"{'':>{width}} │       {'':>{indent}}↑ {remark}" for remark in dict.fromkeys(line.remarks)]
    return "\n".join(shown)


def _inlined(graph: Graph, chain: Step) -> list[str]:
    return [
        f"graph {graph.number} also has {number(len(lines), 'op')} of functions inlined into it, "
        f"from {_file(file)} {lines_text(lines)}"
        for file, lines in inlined_places(graph, chain.bytecode).items()
    ]


def rewritten_blocks(bytecode: Bytecode, links: Links, show_all: bool) -> list[Block]:
    """What the frame does now, as Python."""
    rewritten = read_rewritten(bytecode.modified, links.graph_names)
    text = rewritten_text(rewritten, bytecode, show_all)
    if text is None:
        return []
    title = f"{compile_label(bytecode.compile_id)} {frame_name(bytecode.name)}: what its bytecode does now"
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


def _file(file: str) -> str:
    """A file as `place` names it."""
    return place(Place(file, 0)).removesuffix(":0")
