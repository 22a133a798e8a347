"""A compile: the frame that it is of, how it went, why it was made again, its guards, graphs and bytecode."""

from collections.abc import Iterator, Mapping, Sequence

from dynamo_core.analysis.bytecode.resume_chain import Links as Chains
from dynamo_core.analysis.bytecode.resume_chain import Step, graph_text, no_graph
from dynamo_core.analysis.graphs.drawing import Box, Drawing
from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.summary import by_compile
from dynamo_core.analysis.words import compile_label, count_text, first_line, frame_name, number, seconds
from dynamo_core.model import Compile, CompileId, Frame, GuardSet, Place, Process, Recording

from ..guards.groups import differences
from ..page.blocks import Block, Bullets, Heading, Paragraph
from ..page.blocks import table as block_table
from .blocks import elements, table
from .element import Child, Element, h
from .graphs import drawn, shown
from .links import Links, compiles_of, link
from .sections import of_process

_MOST_ROWS = 150
_MOST_GUARDS = 40  # the section on guards has all of them
_MOST_COMPILES = 5_000


class CompileFacts:
    """What a process recorded of each compile, found once."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.compiles = by_compile(process.compiles)
        self.frames = by_compile(process.frames)
        self.graphs = by_compile(process.graphs)
        self.breaks = by_compile(process.breaks)
        self.recompile_reasons = by_compile(process.recompile_reasons)
        self.guard_sets = by_compile(process.guard_sets)

    def name(self, compile_id: CompileId | None) -> tuple[str, Place | None]:
        """The frame that a compile is of."""
        for each in (*self.frames.get(compile_id, ()), *self.compiles.get(compile_id, ())):
            if each.name is not None:
                return frame_name(each.name, each.method), each.place
        return frame_name(None), None


def compiles_index(recording: Recording, facts_of: Mapping[int, CompileFacts], links: Links) -> Element:
    """Every compile in the order of torch's ids, with what it took; `facts_of` by the id of the process."""
    parts: list[Child] = []
    for process in recording.processes:
        facts = facts_of[id(process)]
        rows = list(_rows(facts))
        shown: list[Child] = [table(block_table("compile|took>|guards>|ops>|of|", rows), links, process)]
        parts += [of_process(process, shown)] if len(recording.processes) > 1 else shown
    return h("div", h("div", h("h2", "Compiles"), class_="head"), parts)


def _rows(facts: CompileFacts) -> Iterator[list[str]]:
    for compile_id in compiles_of(facts.process)[:_MOST_COMPILES]:
        name, place = facts.name(compile_id)
        compiles = facts.compiles.get(compile_id, [])
        forward = next((each for each in compiles if each.is_forward), None)
        frames = facts.frames.get(compile_id, [])
        state = "recompile" if forward is not None and forward.recompile_reason else ""
        state = "; ".join(filter(None, [state, *(f.outcome for f in frames if f.outcome != "compiled")]))
        yield [
            compile_label(compile_id),
            seconds(sum(each.seconds or 0.0 for each in compiles)) if compiles else "not recorded",
            count_text(forward.guards if forward else None),
            count_text(forward.ops if forward else None),
            f"{name} {place if place else ''}",
            state,
        ]


def compile_page(compile_id: CompileId, facts: CompileFacts, links: Links) -> Element:
    """What is known of one compile."""
    process = facts.process
    name, place = facts.name(compile_id)
    return h(
        "article",
        h("p", link("compiles", "all compiles")),
        h("h2", f"Compile {compile_label(compile_id)} of {name}"),
        h("p", links.text(str(place), process), class_="dim") if place else None,
        elements(_blocks(compile_id, facts), links, process),
    )


def _blocks(compile_id: CompileId, facts: CompileFacts) -> Iterator[Block]:
    for frame in facts.frames.get(compile_id, []):
        yield from _outcome(frame)
    for compile_ in facts.compiles.get(compile_id, []):
        yield from _took(compile_)
    graphs, breaks = facts.graphs.get(compile_id), facts.breaks.get(compile_id)
    if graphs:
        yield Heading("Graphs", 1)
        yield Bullets([f"graph {graph.number}: {number(graph.ops, 'op')}" for graph in graphs])
    if breaks:
        yield Heading("It ends at a graph break", 1)
        yield Bullets([f"{each.kind} at {each.place or 'an unknown place'}" for each in breaks])
    for reasons in facts.recompile_reasons.get(compile_id, ()):
        if reasons.failures:
            yield Heading("Compiled again, because each entry that there was failed", 1)
            rows = [
                [compile_label(each.entry), what_differed(each), each.expected or "", each.actual or ""]
                for each in reasons.failures[:_MOST_ROWS]
            ]
            yield block_table("entry|what differed|expected|got", rows)
    for guard_set in facts.guard_sets.get(compile_id, ()):
        yield from _guards(guard_set)


def _outcome(frame: Frame) -> Iterator[Block]:
    took = f" in {seconds(frame.seconds)}" if frame.seconds is not None else ""
    yield Paragraph(f"{frame.outcome}{took}")
    if frame.outcome != "compiled" and frame.reason:
        yield Paragraph(first_line(frame.reason), "warning")
    if frame.called_from is not None:
        yield Paragraph(f"called from {frame.called_from.place}: `{frame.called_from.text.strip()}`")


def _took(compile_: Compile) -> Iterator[Block]:
    which = "Compiling took" if compile_.is_forward else "Compiling its backward took"
    yield Heading(f"{which} {seconds(compile_.seconds)}", 1)
    phases = sorted(compile_.phases.items(), key=lambda each: -each[1])
    if phases:
        yield Paragraph("Phases lie within one another, as torch counts them.", "dim")
        yield block_table("phase|time>", [[name, seconds(took)] for name, took in phases])
    for reason in compile_.restart_reasons:
        yield Paragraph(f"tracing restarted: {first_line(reason)}", "dim")


def _guards(guard_set: GuardSet) -> Iterator[Block]:
    guards = guard_set.guards or guard_set.checks or ()
    kind = "guard" if guard_set.guards else "check"
    yield Heading(f"{number(len(guards), kind)} of its cache entry", 1)
    yield block_table("guard|of", [[each.type, each.source] for each in guards[:_MOST_GUARDS]])
    if len(guards) > _MOST_GUARDS:
        yield Paragraph("… and more, under Guards", "dim")


# Pictures beside reports: how a frame goes on after its breaks, and how its cache entries differ.


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
        code = step.bytecode
        name = f"{frame_name(code.name, code.method)} {compile_label(code.compile_id)}"
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
    title = f"{compile_label(code.compile_id)} {frame_name(code.name, code.method)}"
    if step.is_repeated:
        return Box(title, "op", (title[:_LONGEST], "as drawn above"), title)
    graphs = [graph_text(graph, code) for graph in step.graphs] or [no_graph(process)]
    breaks = [f"breaks at line {each.place.line}: {each.kind}" for each in step.breaks if each.place]
    lines = tuple(line[:_LONGEST] for line in (title, *graphs[:3], *breaks[:2]))
    return Box(title, "op", lines, "\n".join((title, *graphs, *breaks)))


def entry_matrices(recording: Recording, links: Links) -> Iterator[Element]:
    """For each frame that was compiled again, its cache entries by what they demand differently."""
    for process in recording.processes:
        names = {each.compile_id: frame_name(each.name, each.method) for each in process.compiles}
        frames: dict[object, list[GuardSet]] = {}
        for guard_set in process.guard_sets:
            if guard_set.compile_id is not None and guard_set.checks is not None:
                frames.setdefault(guard_set.compile_id._replace(compile=None), []).append(guard_set)
        for entries in frames.values():
            if 1 < len(entries) <= _MOST_ENTRIES:
                name = names.get(entries[0].compile_id, "unknown frame")
                yield from elements(_matrix(entries, name), links, process)


def _matrix(entries: Sequence[GuardSet], name: str) -> Iterator[Block]:
    found = differences(entries)
    if not found:
        return
    shown = found[:_MOST_SOURCES]
    of_source = [
        {each: "\n".join(texts) for ids, texts in difference.entries for each in ids} for difference in shown
    ]
    rows = [
        [compile_label(entry.compile_id), *(demand.get(entry.compile_id, "") for demand in of_source)]
        for entry in entries
    ]
    headings = "|".join(["entry", *(each.source.replace("|", "¦") for each in shown)])
    title = f"{name}: {number(len(entries), 'cache entry', 'cache entries')}, by how they differ"
    yield Heading(title, 1)
    yield block_table(headings, rows)
    if len(found) > _MOST_SOURCES:
        yield Paragraph(f"… and {len(found) - _MOST_SOURCES:,} more sources, under Guards", "dim")
