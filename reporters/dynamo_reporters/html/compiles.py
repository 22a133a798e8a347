"""A compile: the frame that it is of, how it went, why it was made again, its guards, graphs and bytecode."""

from collections.abc import Iterator, Mapping

from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.summary import by_compile
from dynamo_core.analysis.words import compile_label, count_text, first_line, frame_name, number, seconds
from dynamo_core.model import Compile, CompileId, Frame, GuardSet, Place, Process, Recording

from ..page.blocks import Block, Bullets, Heading, Paragraph, section
from ..page.blocks import table as block_table
from .blocks import elements, table
from .element import Child, Element, h
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
    graphs = [f"graph {each.number}: {number(each.ops, 'op')}" for each in facts.graphs.get(compile_id, ())]
    yield from section("Graphs", Bullets(graphs), 1)
    breaks = [
        f"{each.kind} at {each.place or 'an unknown place'}" for each in facts.breaks.get(compile_id, ())
    ]
    yield from section("It ends at a graph break", Bullets(breaks), 1)
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
