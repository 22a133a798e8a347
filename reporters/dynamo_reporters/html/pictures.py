"""Pictures above reports: how a frame goes on after its breaks, and how its cache entries differ."""

from collections.abc import Iterator, Sequence

from dynamo_core.analysis.bytecode.resume_chain import Links as Chains
from dynamo_core.analysis.bytecode.resume_chain import Step, graph_text, no_graph
from dynamo_core.analysis.drawing.graph_boxes import Box, Drawing
from dynamo_core.analysis.words import compile_label, frame_name, number
from dynamo_core.model import CompileId, GuardSet, Process, Recording

from ..guards.groups import differences
from ..page.blocks import table as block_table
from .blocks import table
from .drawing import drawn, shown
from .element import Child, h
from .links import Links

_MOST_CHAINS = 40
_MOST_BOXES = 120  # of a frame with more, the text in the section on bytecode says it
_FEW = 8
_LONGEST = 60  # characters of a line in a box
_MOST_ENTRIES = 400
_MOST_SOURCES = 8


def resume_pictures(recording: Recording) -> Iterator[Child]:
    """A drawing for each frame that breaks: its compiles, their graphs, and which goes on behind which."""
    chains = [(step, p) for p in recording.processes for step in Chains(p).chains() if step.continuations]
    for step, process in chains[:_MOST_CHAINS]:
        drawing = _chain(step, process)
        name = f"{frame_name(step.bytecode.name)} {compile_label(step.bytecode.compile_id)}"
        title = f"How {name} goes on after its breaks"
        if len(drawing.boxes) <= _MOST_BOXES:
            yield from shown(title, drawn(title, drawing), is_open=len(drawing.boxes) <= _FEW)


def _chain(root: Step, process: Process) -> Drawing:
    boxes: list[Box] = []
    arrows: list[tuple[int, int]] = []

    def add(step: Step, above: int | None) -> None:
        at = _place(boxes, arrows, _box(step, process), above)
        for continuation in () if step.is_repeated else step.continuations:
            for compiled in continuation.compiled:
                add(compiled, at)
            if not continuation.compiled:
                where = "" if continuation.line is None else f" from line {continuation.line}"
                count = continuation.shown_before
                lines = (
                    f"the rest{where}",
                    f"its {count:,} compiles: under Bytecode" if count else "never compiled",
                )
                _place(boxes, arrows, Box(continuation.function.name, "output", lines, " ".join(lines)), at)

    add(root, None)
    return Drawing(tuple(boxes), tuple(arrows))


def _place(boxes: list[Box], arrows: list[tuple[int, int]], box: Box, above: int | None) -> int:
    boxes.append(box)
    if above is not None:
        arrows.append((above, len(boxes) - 1))
    return len(boxes) - 1


def _box(step: Step, process: Process) -> Box:
    code = step.bytecode
    title = f"{compile_label(code.compile_id)} {frame_name(code.name)}"
    if step.is_repeated:
        return Box(title, "op", (title[:_LONGEST], "as drawn above"), title)
    graphs = [graph_text(graph, code) for graph in step.graphs] or [no_graph(process)]
    breaks = [f"breaks at line {each.place.line}: {each.kind}" for each in step.breaks if each.place]
    lines = tuple(line[:_LONGEST] for line in (title, *graphs[:3], *breaks[:2]))
    return Box(title, "op", lines, "\n".join((title, *graphs, *breaks)))


def entry_matrices(recording: Recording, links: Links) -> Iterator[Child]:
    """For each frame that was compiled again, its cache entries by what they demand differently."""
    for process in recording.processes:
        names = {
            compile_.compile_id: frame_name(compile_.name, compile_.method) for compile_ in process.compiles
        }
        frames: dict[object, list[GuardSet]] = {}
        for guard_set in process.guard_sets:
            if guard_set.compile_id is not None and guard_set.checks is not None:
                frames.setdefault(guard_set.compile_id._replace(compile=None), []).append(guard_set)
        for entries in frames.values():
            if 1 < len(entries) <= _MOST_ENTRIES:
                yield from _matrix(entries, names.get(entries[0].compile_id, "unknown frame"), process, links)


def _matrix(entries: Sequence[GuardSet], name: str, process: Process, links: Links) -> Iterator[Child]:
    found = differences(entries)
    if not found:
        return
    of_source: list[dict[CompileId | None, str]] = []
    for difference in found[:_MOST_SOURCES]:
        demands = difference.demands
        of_source.append({each: "\n".join(texts) for ids, texts in demands for each in ids})
    rows = [
        [compile_label(entry.compile_id), *(demand.get(entry.compile_id, "") for demand in of_source)]
        for entry in entries
    ]
    headings = "|".join(["entry", *(each.source.replace("|", "¦") for each in found[:_MOST_SOURCES])])
    yield h("h3", f"{name}: {number(len(entries), 'cache entry', 'cache entries')}, by how they differ")
    yield table(block_table(headings, rows), links, process)
    if len(found) > _MOST_SOURCES:
        yield h("p", f"… and {len(found) - _MOST_SOURCES:,} more sources, under Guards", class_="dim")
