"""The JSON document of `dynamo bytecode`; `schemas/bytecode.schema.json` describes it."""

from collections.abc import Mapping
from typing import Any

from dynamo_core.analysis.bytecode.resume_chain import (
    Continuation,
    Links,
    Step,
    is_resume_function,
    own_lines,
)
from dynamo_core.analysis.bytecode.rewritten import read_rewritten
from dynamo_core.model import Bytecode, CompileId, Instruction, Recording

from ..report import id_value, place_value, process_value
from .annotated_source import annotated, inlined_places, rewritten_text
from .diff import align


def bytecode_body(recording: Recording) -> dict[str, Any]:
    """Every compile of every frame, whole."""
    frames: list[dict[str, Any]] = []
    for process in recording.processes:
        links = Links(process)
        chains = {chain.bytecode.compile_id: chain for chain in links.chains()}
        frames += [
            {"process": process_value(process), **_frame_value(bytecode, links, chains)}
            for bytecode in process.bytecodes
        ]
    return {"is_recorded": any(process.is_ours for process in recording.processes), "frames": frames}


def _frame_value(bytecode: Bytecode, links: Links, chains: Mapping[CompileId | None, Step]) -> dict[str, Any]:
    """One compile. What tells of its resume functions too is there where the story begins, else null."""
    chain = chains.get(bytecode.compile_id)
    rewritten = read_rewritten(bytecode.modified, links.graph_names)
    return {
        "compile_id": id_value(bytecode.compile_id),
        "name": bytecode.name,
        "qualified_name": bytecode.qualified_name,
        "place": place_value(bytecode.place),
        "is_resume_function": is_resume_function(bytecode),
        "original": [_instruction_value(instruction) for instruction in bytecode.original],
        "modified": [_instruction_value(instruction) for instruction in bytecode.modified],
        "changes": [
            {"kind": row.kind, "original": row.before, "modified": row.after}
            for row in align(bytecode, is_whole=True)
        ],
        "graphs": _graph_values(bytecode, links),
        "resume_functions": [
            {
                "name": function.name,
                "line": links.line(function),
                "compile_ids": [id_value(compiled.compile_id) for compiled in links.compiled(function)],
            }
            for function in links.made(bytecode)
        ],
        "python": rewritten_text(rewritten, bytecode),
        "is_python_whole": rewritten.stopped_at is None,
        "chain": None if chain is None else _step_value(chain),
        "source": None if chain is None else _source_value(chain),
    }


def _instruction_value(instruction: Instruction) -> dict[str, Any]:
    return {
        "offset": instruction.offset,
        "opcode": instruction.opcode,
        "argument": instruction.argument,
        "line": instruction.line,
        "jump": instruction.jump,
    }


def _graph_values(bytecode: Bytecode, links: Links) -> list[dict[str, Any]]:
    """The graphs of a compile, with the lines of the frame and of other functions that their ops are from."""
    called = {graph.number: name for name, graph in links.called_graphs(bytecode).items()}
    return [
        {
            "graph": graph.number,
            "called_as": called.get(graph.number),
            "ops": graph.ops,
            "lines": None if graph.nodes is None else own_lines(graph, bytecode),
            "inlined": None
            if graph.nodes is None
            else [
                {"file": file, "lines": sorted(set(lines)), "ops": len(lines)}
                for file, lines in inlined_places(graph, bytecode).items()
            ],
        }
        for graph in links.graphs(bytecode)
    ]


def _step_value(step: Step) -> dict[str, Any]:
    return {
        "compile_id": id_value(step.bytecode.compile_id),
        "is_repeated": step.is_repeated,
        "graphs": [graph.number for graph in step.graphs],
        "breaks": [
            {"place": place_value(graph_break.place), "kind": graph_break.kind} for graph_break in step.breaks
        ],
        "continuations": [_continuation_value(continuation) for continuation in step.continuations],
    }


def _continuation_value(continuation: Continuation) -> dict[str, Any]:
    return {
        "resume_function": continuation.function.name,
        "line": continuation.line,
        "compiles": [_step_value(step) for step in continuation.compiled],
    }


def _source_value(chain: Step) -> list[dict[str, Any]]:
    return [
        {
            "line": line.number,
            "text": line.text,
            "graphs": line.graphs,
            "is_eager": line.is_eager,
            "remarks": list(dict.fromkeys(line.remarks)),
        }
        for line in annotated(chain)
    ]
