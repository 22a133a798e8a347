"""What `dynamo graphs --save` writes: the name and the text of each file."""

import re
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.by_compile import by_compile
from dynamo_core.analysis.words import number, process_title
from dynamo_core.model import CompileId, Graph, Process, Recording, Symbol

from ..page.blocks import Block, Bullets, Heading
from ..page.console import plain_text
from .report import graph_section, graph_text, short_title, titled_drawing
from .stages import direction, stage_names, texts_by_compile
from .svg import svg_text


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
            prefix = of_process + _graph_prefix(graph)
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


def _graph_prefix(graph: Graph) -> str:
    return f"graph{graph.number}_{_id_in_name(graph.compile_id)}"


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
