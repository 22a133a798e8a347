"""A compile: the frame that it is of, how it went, why it was made again, its guards, graphs and bytecode."""

from collections.abc import Iterator, Mapping

from dynamo_core.analysis.by_compile import by_compile
from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.words import compile_label, first_line, frame_name, number, seconds
from dynamo_core.model import CompileId, Place, Process, Recording

from ..page.blocks import Table
from ..page.blocks import table as block_table
from .blocks import table
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

    def name(self, compile_id: CompileId | None) -> tuple[str | None, Place | None]:
        """The frame that a compile is of."""
        for each in (*self.frames.get(compile_id, ()), *self.compiles.get(compile_id, ())):
            if each.name is not None:
                return each.name, each.place
        return None, None


def compiles_index(recording: Recording, facts_of: Mapping[int, CompileFacts], links: Links) -> Element:
    """Every compile in the order of torch's ids, with what it took; `facts_of` by the id of the process."""
    parts: list[Child] = []
    for process in recording.processes:
        facts = facts_of[id(process)]
        rows = list(_rows(facts))
        shown: list[Child] = [
            table(Table(block_table("compile|took>|guards>|ops>|of|", []).columns, rows), links, process)
        ]
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
            _count(forward.guards if forward else None),
            _count(forward.ops if forward else None),
            f"{frame_name(name)} {place if place else ''}",
            state,
        ]


def _count(value: int | None) -> str:
    return "not recorded" if value is None else f"{value:,}"


def compile_page(compile_id: CompileId, facts: CompileFacts, links: Links) -> Element:
    """What is known of one compile."""
    process = facts.process
    name, place = facts.name(compile_id)
    return h(
        "article",
        h("p", link("compiles", "all compiles")),
        h("h2", f"Compile {compile_label(compile_id)} of {frame_name(name)}"),
        h("p", links.text(str(place), process), class_="dim") if place else None,
        list(_outcome(compile_id, facts, links)),
        list(_took(compile_id, facts, links)),
        list(_graphs(compile_id, facts, links)),
        list(_breaks(compile_id, facts, links)),
        list(_why_again(compile_id, facts, links)),
        list(_guards(compile_id, facts, links)),
    )


def _outcome(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    for frame in facts.frames.get(compile_id, []):
        took = f" in {seconds(frame.seconds)}" if frame.seconds is not None else ""
        yield h("p", f"{frame.outcome}{took}")
        if frame.outcome != "compiled" and frame.reason:
            yield h("p", links.text(first_line(frame.reason)), class_="warning")
        if frame.called_from is not None:
            yield h(
                "p",
                "called from ",
                links.text(str(frame.called_from.place)),
                ": ",
                h("code", frame.called_from.text.strip()),
            )


def _took(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    for compile_ in facts.compiles.get(compile_id, []):
        which = "Compiling took" if compile_.is_forward else "Compiling its backward took"
        yield h("h3", f"{which} {seconds(compile_.seconds)}")
        rows = [
            [name, seconds(took)] for name, took in sorted(compile_.phases.items(), key=lambda each: -each[1])
        ]
        if rows:
            yield h("p", "Phases lie within one another, as torch counts them.", class_="dim")
            yield table(block_table("phase|time>", rows), links, facts.process)
        for reason in compile_.restart_reasons:
            yield h("p", "began again: ", first_line(reason), class_="dim")


def _graphs(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    graphs = facts.graphs.get(compile_id)
    if graphs:
        yield h("h3", "Graphs")
        named = [
            h("li", links.text(f"graph {g.number}: {number(g.ops, 'op')}", facts.process)) for g in graphs
        ]
        yield h("ul", named)


def _breaks(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    found = facts.breaks.get(compile_id)
    if found:
        yield h("h3", "It ends at a graph break")
        yield h(
            "ul",
            (
                h("li", each.kind, " at ", links.text(str(each.place or "an unknown place"), facts.process))
                for each in found
            ),
        )


def _why_again(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    for reasons in facts.recompile_reasons.get(compile_id, ()):
        if not reasons.failures:
            continue
        yield h("h3", "Compiled again, because each entry that there was failed")
        rows = [
            [
                compile_label(failure.entry),
                what_differed(failure),
                failure.expected or "",
                failure.actual or "",
            ]
            for failure in reasons.failures[:_MOST_ROWS]
        ]
        yield table(block_table("entry|what differed|compiled for|came", rows), links, facts.process)


def _guards(compile_id: CompileId, facts: CompileFacts, links: Links) -> Iterator[Element]:
    for guard_set in facts.guard_sets.get(compile_id, ()):
        guards = guard_set.guards or ()
        checks = guard_set.checks or ()
        yield h(
            "h3", f"{number(len(guards) or len(checks), 'guard' if guards else 'check')} of its cache entry"
        )
        items = [[each.type, each.source] for each in (guards or checks)[:_MOST_GUARDS]]
        yield table(block_table("guard|of", items), links, facts.process)
        if len(guards or checks) > _MOST_GUARDS:
            yield h("p", "… and more: ", link("guards", "Guards"), class_="dim")
