"""What `dynamo graphs --save` writes: the name and the text of each file."""

import re
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.nodes import checks_of_operators
from dynamo_core.analysis.graphs.program import CONTENTS, generated_program
from dynamo_core.analysis.summary import by_compile
from dynamo_core.analysis.words import number, process_title
from dynamo_core.case import Case
from dynamo_core.model import CompileId, Graph, Process, Recording, Stage, Symbol
from dynamo_core.shared.errors import NothingSelected

from ..page.blocks import Block, Bullets, Code, Heading
from ..page.console import plain_text
from ..report import Report
from .document import (
    GraphsAndProgram,
    Program,
    direction,
    graphs_of,
    stage_names,
    texts_by_compile,
    way_by_inputs,
)
from .drawing import svg_text
from .report import graph_section, graph_text, short_title, titled_drawing


def graph_files(recording: Recording, stages: Sequence[str], show_all: bool) -> dict[str, str]:
    """The text of each file by its name.

    A name says which rank or process, where there are several, which graph and compile, and which form or
    record: `rank1_graph2_0-1_table.txt`, `graph1_0-0_inductor_output_code_backward.py`.
    """
    files: dict[str, str] = {}
    for process in recording.processes:
        of_process = _process_prefix(process, recording)
        prefixes: dict[CompileId | None, str] = {}
        symbols = by_compile(process.symbols)
        for graph in process.graphs:
            prefix = f"{of_process}graph{graph.number}_{_id_in_name(graph.compile_id)}"
            prefixes.setdefault(graph.compile_id, prefix)
            title = short_title(graph) + process_title(process, recording)
            for ending, text in _forms(graph, process, symbols.get(graph.compile_id, ()), title, show_all):
                files[_unused(f"{prefix}_{ending}", files)] = text.rstrip("\n") + "\n"
        for compile_id, texts in texts_by_compile(process, [s for s in stage_names(stages) if s != "dynamo"]):
            prefix = prefixes.get(compile_id, f"{of_process}compile_{_id_in_name(compile_id)}")
            for stage in texts:
                way = direction(stage)
                suffix = "" if way is None or way in stage.name else f"_{way}"
                name = _unused(f"{prefix}_{_safe(stage.name)}{suffix}.py", files)
                files[name] = stage.text.strip("\n") + "\n"
    return files


def saved_blocks(folder: str, names: Sequence[str]) -> list[Block]:
    """What to say of files that were written."""
    return [Heading(f"{number(len(names), 'file')} in {folder}", 1), Bullets(names)]


def _forms(
    graph: Graph, process: Process, symbols: Sequence[Symbol], title: str, show_all: bool
) -> Iterator[tuple[str, str]]:
    blocks, _ = graph_section(graph, process, symbols, show_all)
    yield "table.txt", plain_text(blocks)
    if graph.code is not None:
        yield "code.py", graph_text(graph, "code", title)
    if graph.nodes is not None:
        yield "graph.dot", graph_text(graph, "dot", title)
        yield "graph.svg", svg_text([titled_drawing(graph, title)])


def _process_prefix(process: Process, recording: Recording) -> str:
    if len(recording.processes) < 2:
        return ""
    if process.rank is not None:
        return f"rank{process.rank}_"
    return f"process{_safe(str(process.info.pid or process.stream.stem))}_"


def _id_in_name(compile_id: CompileId | None) -> str:
    """`0-1`, and `a2-0-1` for `!2/0/1`."""
    return "none" if compile_id is None else str(compile_id).replace("!", "a").replace("/", "-")


def _safe(text: str) -> str:
    """Nothing of a recording may lead out of the folder."""
    return re.sub(r"[^\w-]", "_", text)


def _unused(name: str, taken: dict[str, str]) -> str:
    stem, _, ending = name.rpartition(".")
    count = 1
    while name in taken:
        count += 1
        name = f"{stem}_{count}.{ending}"
    return name


# A stand-alone program that runs one graph of a recording: torch's own where it is recorded, else ours.
#
# Only written, never run, by us: the code in it is the recording's.


_RECORD = "fx_graph_runnable"
# What torch writes down of the environment that says where and by whom the program was recorded.
_NOT_OF_THE_GRAPH = re.compile(
    r"^os\.environ\['(?:DYNAMO_\w+|TORCH_TRACE|TORCH_LOGS\w*|TORCHINDUCTOR_CACHE_DIR"
    r"|_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR)'\] = .*\n",
    re.MULTILINE,
)
_IMPORT_TORCH = re.compile(r"^import torch$", re.MULTILINE)


def report(number: int, backward: bool = False) -> Report[Case]:
    """The report of `dynamo graphs --runnable N`: nothing but the program."""

    def page(case: Case) -> list[Block]:
        return [Code(runnable(case.recording, number, backward).text)]

    def body(case: Case) -> GraphsAndProgram:
        program = runnable(case.recording, number, backward)
        return GraphsAndProgram(**vars(graphs_of(case.recording, ())), runnable=program)

    return Report("graphs", page, body, CONTENTS | {_RECORD})


def runnable(recording: Recording, number: int, backward: bool) -> Program:
    """The program for graph `number`, of the first process that has one.

    NothingSelected says why there is none.
    """
    found = ((p, g) for p in recording.processes for g in p.graphs if g.number == number)
    process, graph = next(found, (None, None))
    if process is None or graph is None:
        there = [str(g.number) for p in recording.processes for g in p.graphs]
        listed = ", ".join(dict.fromkeys(there)) or "none"
        raise NothingSelected(f"there is no graph {number} in {recording.path}; graphs: {listed}")
    title = short_title(graph) + process_title(process, recording)
    texts = [s for s in process.stages if s.name == _RECORD and s.compile_id == graph.compile_id]
    has_backward = any(way_by_inputs(text.text) == "backward" for text in texts)
    texts = [text for text in texts if (way_by_inputs(text.text) == "backward") == backward]
    if texts:
        text = _of_graph(texts, graph, process)
        way = way_by_inputs(text.text)
        sentence = _header_of_torchs(title, recording, way, has_backward and not backward)
        whole = sentence + _with_checks(text.text.strip(), graph) + "\n"
        return Program(number, graph.compile_id, "torch", way, whole)
    if backward:
        raise NothingSelected(
            f"no program is recorded for the backward of graph {number} in {recording.path}"
        )
    symbols = [symbol for symbol in process.symbols if symbol.compile_id == graph.compile_id]
    text_of_ours = generated_program(graph, symbols, _one_line(f"{title}, from {recording.path}"))
    return Program(number, graph.compile_id, "dynamo", None, text_of_ours)


def _of_graph(texts: Sequence[Stage], graph: Graph, process: Process) -> Stage:
    """The text that belongs to the graph: in a trace of several runs, they share a compile id."""
    alike = [other.number for other in process.graphs if other.compile_id == graph.compile_id]
    return texts[alike.index(graph.number)] if len(texts) == len(alike) else texts[0]


def _with_checks(text: str, graph: Graph) -> str:
    """torch's program, which behind its import of torch says what it lacks of the user's operators."""
    program = _NOT_OF_THE_GRAPH.sub("", text)
    checks = checks_of_operators(program, graph.custom_operators)
    return _IMPORT_TORCH.sub(lambda line: f"{line[0]}\n{checks}", program, count=1) if checks else program


def _header_of_torchs(title: str, recording: Recording, way: str | None, has_backward: bool) -> str:
    which = f"The {way} of {title}" if way else title[0].upper() + title[1:]
    lines = [
        f"# {_one_line(which)}, from {_one_line(str(recording.path))}.",
        "# torch's own program for it (fx_graph_runnable): compiles the graph with Inductor and runs it on",
        "# numbers made up for the recorded shapes. No error means that it ran; --help lists its options.",
    ]
    if has_backward:
        lines.append("# The backward is recorded too: dynamo graphs --runnable N --backward.")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
