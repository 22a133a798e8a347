"""`dynamo bytecode` as JSON: one declaration for the document and its schema."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from dynamo_core.analysis.bytecode import resume_chain
from dynamo_core.analysis.bytecode.resume_chain import Links, is_resume_function, own_lines
from dynamo_core.analysis.bytecode.rewritten import read_rewritten
from dynamo_core.model import Bytecode, CompileId, Instruction, Place, Process, Recording
from dynamo_core.shared.declared import Count
from dynamo_core.shared.quick_dataclass import dataclass

from .annotated_source import annotated, inlined_places, rewritten_text
from .diff import align


@dataclass(frozen=True)
class InstructionValue:
    """An instruction of a code object."""

    offset: Annotated[int, "in the code, in bytes"]
    opcode: Annotated[str, "its name in the Python that ran the program"]
    argument: Annotated[
        str, "what it stands for, as dis has it; a number where it is a count; empty where there is none"
    ]
    line: Annotated[
        int | None, "the source line it comes from; Dynamo gives its own code lines of the program too"
    ]
    jump: Annotated[int | None, "the offset that it jumps to"]


@dataclass(frozen=True)
class Change:
    """An instruction on both sides, or on one."""

    kind: Annotated[
        Literal["kept", "removed", "inserted"], "kept: same opcode, argument and line on both sides"
    ]
    original: Annotated[int | None, "index in original; null where it is inserted"]
    modified: Annotated[int | None, "index in modified; null where it is removed"]


@dataclass(frozen=True)
class Inlined:
    """Functions of a file that ops come from."""

    file: Annotated[str, "where the functions are"]
    lines: Annotated[list[int], "the lines that ops come from"]
    ops: Annotated[int, "how many ops"]


@dataclass(frozen=True)
class GraphOfFrame:
    """A graph of a compile, with the lines of the frame and of other functions that its ops are from."""

    graph: Annotated[int, "its number, from 1 in each process"]
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
    compiles: Annotated[list["Step"], "the compiles of it"]
    compiles_shown_before: Annotated[
        Count,
        "of a function compiled more than 16 times: how many, where an earlier chain or step shows them",
    ]


@dataclass(frozen=True)
class Step:
    """A compile, and how it goes on after its breaks."""

    in_common: ClassVar[str] = "step_of_frame"

    compile_id: CompileId | None
    is_repeated: Annotated[bool, "whether what follows is shown at an earlier step of this chain"]
    graphs: Annotated[list[int], "numbers of the graphs"]
    breaks: Annotated[list[BreakOfStep], "where it broke"]
    continuations: Annotated[
        list[Continuation], "the resume functions that take over; at a branch there are two"
    ]


@dataclass(frozen=True)
class SourceLine:
    """A line of the frame with what runs it."""

    line: Annotated[int, "its number"]
    text: Annotated[str, "as it is in the file"]
    graphs: Annotated[list[int], "the graphs with ops of it"]
    is_eager: Annotated[bool, "whether the interpreter runs it, or a part of it"]
    remarks: Annotated[list[str], "breaks at it, branches, and resume functions that take over there"]


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
    original: Annotated[list[InstructionValue], "as Python compiled it"]
    modified: Annotated[list[InstructionValue], "as Dynamo rewrote it"]
    changes: Annotated[list[Change], "both lists, aligned; each instruction is in one entry"]
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
        list[SourceLine] | None,
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
    return FrameBytecode(
        process=process,
        compile_id=bytecode.compile_id,
        name=bytecode.name,
        qualified_name=bytecode.qualified_name,
        place=bytecode.place,
        is_resume_function=is_resume_function(bytecode),
        original=list(map(_instruction, bytecode.original)),
        modified=list(map(_instruction, bytecode.modified)),
        changes=[Change(row.kind, row.before, row.after) for row in align(bytecode, is_whole=True)],
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
        source=None if chain is None else _source(chain),
    )


def _instruction(each: Instruction) -> InstructionValue:
    return InstructionValue(each.offset, each.opcode, each.argument, each.line, each.jump)


def _graphs(bytecode: Bytecode, links: Links) -> list[GraphOfFrame]:
    called = {graph.number: name for name, graph in links.called_graphs(bytecode).items()}
    return [
        GraphOfFrame(
            graph=graph.number,
            called_as=called.get(graph.number),
            ops=graph.ops,
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
    return Step(
        compile_id=step.bytecode.compile_id,
        is_repeated=step.is_repeated,
        graphs=[graph.number for graph in step.graphs],
        breaks=[BreakOfStep(graph_break.place, graph_break.kind) for graph_break in step.breaks],
        continuations=[
            Continuation(each.function.name, each.line, list(map(_step, each.compiled)), each.shown_before)
            for each in step.continuations
        ],
    )


def _source(chain: resume_chain.Step) -> list[SourceLine]:
    return [
        SourceLine(line.number, line.text, line.graphs, line.is_eager, list(dict.fromkeys(line.remarks)))
        for line in annotated(chain)
    ]
