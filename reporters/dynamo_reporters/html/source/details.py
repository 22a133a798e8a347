"""All that is known of a line of source: breaks, recompiles, guards, ops, kernels, bytecode."""

from collections.abc import Iterable, Iterator, Sequence

from dynamo_core.analysis.break_costs import BreakCost
from dynamo_core.analysis.break_sentences import effect_and_cost
from dynamo_core.analysis.bytecode.instructions import instruction_text, is_noise
from dynamo_core.analysis.graphs.node_text import value_text
from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.guard_words import guard_words
from dynamo_core.analysis.recompile_causes import RecompileCause
from dynamo_core.analysis.words import (
    alternatives,
    compile_label,
    first_line,
    frame_name,
    graph_frame,
    number,
    seconds,
)
from dynamo_core.model import Node, Place, Process

from ...page.blocks import table as block_table
from ..blocks import table
from ..element import KNOWN_SITES, Child, h
from ..links import Links, link
from .lines import InGraph, Kept, Line

_MOST_ROWS = 40  # of each table: what there is more of is in the section of its own
_MOST_CALLERS = 12
_MOST_NAMED = 8  # graphs or compiles that have the same to show


def details(place: Place, line: Line, links: Links) -> Iterator[Child]:
    """What to show below the line."""
    for finding in line.findings:
        title = [link(f"finding/{finding.identity}", finding.title)]
        yield h("p", h("strong", "Finding: "), title)
        texts = alternatives(remedy.text for remedy in finding.remedies)
        yield h("ul", (h("li", links.text(text)) for text in texts), class_="remedies")
    for cost in line.breaks:
        yield from _break(cost, links)
    for _, frame in line.gave_up[:_MOST_ROWS]:
        what = "raised an error while it was compiled" if frame.outcome == "raised" else "runs eager"
        yield h(
            "p",
            h("strong", frame_name(frame.name, frame.method)),
            f" {what}: ",
            links.text(first_line(frame.reason)),
        )
    for cause in line.recompiles:
        yield from _recompiles(cause, links)
    yield from _ops(line.graphs, place, links)
    yield from _kernels(line, links)
    yield from _guards(line, links)
    yield from _bytecode(line.bytecode, links)


def _break(cost: BreakCost, links: Links) -> Iterator[Child]:
    distinct = cost.distinct
    first = distinct.first
    yield h("h4", f"Graph break: {first.kind}")
    yield h("p", effect_and_cost(cost) + ".")
    before = {graph.number for crossing in distinct.crossings for graph in crossing.before}
    after = {graph.number for crossing in distinct.crossings for graph in crossing.after}
    if before or after:
        parts = (
            [f"graph {each}" for each in sorted(before)[:6]],
            [f"graph {each}" for each in sorted(after)[:6]],
        )
        said = f"Between {' or '.join(parts[0]) or 'the begin'} and {' or '.join(parts[1]) or 'the end'}."
        yield h("p", links.text(said, distinct.process))
    explanation = first.explanation
    if explanation is not None:
        if explanation.explanation:
            said = " ".join(explanation.explanation.partition("\n\n")[0].split())
            yield h("p", links.text(said), class_="dim")
        if explanation.hints:
            yield h(
                "ul",
                (h("li", links.text(" ".join(hint.split()))) for hint in explanation.hints),
                class_="dim",
            )
        if explanation.link and explanation.link.startswith(KNOWN_SITES):
            yield h("p", h("a", explanation.link, href=explanation.link, rel="noreferrer"))
    stack = [*first.callers, *first.stack]
    if len(stack) > 1:
        rows = [
            [f"{each.place.file}:{each.place.line}", each.function, each.text.strip()]
            for each in stack[-_MOST_CALLERS:]
        ]
        yield table(block_table("called from|in|", rows), links, distinct.process)


def _recompiles(cause: RecompileCause, links: Links) -> Iterator[Child]:
    frame = cause.frame
    yield h("h4", f"{number(len(cause.compiles), 'recompile')} of {frame.shown_name}")
    rows = []
    for compile_, failure in cause.met[:_MOST_ROWS]:
        rows.append(
            [
                compile_label(compile_.compile_id),
                seconds(compile_.seconds),
                "" if failure is None else what_differed(failure),
                "" if failure is None else failure.expected or "",
                "" if failure is None else frame.actual(compile_, failure) or "",
            ]
        )
    yield table(block_table("compile|took>|what differed|compiled for|came", rows), links, frame.process)
    yield from _rest(len(cause.met), link("recompiles", "Recompiles"))


def _ops(graphs: Sequence[InGraph], at: Place, links: Links) -> Iterator[Child]:
    """Its ops, once for all graphs in which they are the same, and the line of the library that made each."""
    same: dict[tuple[tuple[str, str, str, str], ...], list[InGraph]] = {}
    for each in graphs:
        if each.ops is not None:
            key = tuple((op.name, op.target, value_text(op), _made_at(op, at)) for op in each.ops)
            same.setdefault(key, []).append(each)
    if not same:
        return
    yield h("h4", "Ops")
    for ops, holders in list(same.items())[:_MOST_ROWS]:
        held_by = links.graphs([(each.process, each.graph.number) for each in holders], _MOST_NAMED)
        origin = dict.fromkeys(graph_frame(each.graph) for each in holders)
        inlined = f" of {', '.join(list(origin)[:3])}"
        yield h("p", "in ", held_by, h("span", inlined, class_="dim"))
        width = 4 if any(made_at for *_, made_at in ops) else 3
        rows = [list(op[:width]) for op in ops[:_MOST_ROWS]]
        headings = "|".join(("node", "op", "value", "made at")[:width])
        yield table(block_table(headings, rows), links, holders[0].process)
        yield from _rest(len(ops), link("graphs", "Graphs"))
    yield from _rest(len(same), link("graphs", "Graphs"))


def _made_at(op: Node, at: Place) -> str:
    return "" if op.place is None or op.place == at else str(op.place)


def _kernels(line: Line, links: Links) -> Iterator[Child]:
    if not line.kernels:
        return
    yield h("h4", "Kernels that Inductor made of its ops")
    rows = [
        [kernel, f"graph {graph.number} {compile_label(graph.compile_id)}{links.of(process)}"]
        for process, graph, kernel in line.kernels
    ]
    yield table(
        block_table("kernel|of", rows[:_MOST_ROWS]), links, _only(process for process, _, _ in line.kernels)
    )
    yield from _rest(len(rows), link("graphs", "Graphs"))


def _guards(line: Line, links: Links) -> Iterator[Child]:
    if not line.guards:
        return
    yield h("h4", "Guards because of it")
    same: dict[tuple[str, str, str], list[int]] = {}
    for at, (_, _, guard) in enumerate(line.guards):
        said = guard_words(guard.type, guard.source, guard.code)
        same.setdefault((guard.type, guard.source, said), []).append(at)
    rows = []
    for (kind, source, said), found in list(same.items())[:_MOST_ROWS]:
        entries = (line.guards[at] for at in found)
        labels = dict.fromkeys(f"{compile_label(entry)}{links.of(process)}" for process, entry, _ in entries)
        more = f" and {len(labels) - 6:,} more" if len(labels) > 6 else ""
        rows.append([kind, source, said, ", ".join(list(labels)[:6]) + more])
    process = _only(process for process, _, _ in line.guards)
    yield table(block_table("guard|of|what is checked|cache entry", rows), links, process)
    yield from _rest(len(same), link("guards", "Guards"))


def _bytecode(kept: Sequence[Kept], links: Links) -> Iterator[Child]:
    """The line's own instructions in each compile: what is left for the interpreter, and what is gone."""
    told: dict[tuple[str, ...], list[Kept]] = {}
    for each in kept:
        rows = [(each.bytecode.original[at], is_kept) for at, is_kept in each.rows]
        text = tuple(
            f"{'kept   ' if k else 'removed'} {instruction_text(i, 26)}" for i, k in rows if not is_noise(i)
        )
        if text:
            told.setdefault(text, []).append(each)
    if told:
        yield h("h4", "Bytecode of the line")
    for text, same in list(told.items())[:4]:
        compiles = [(each.process, each.bytecode.compile_id) for each in same]
        yield h("p", "in ", links.compiles(compiles, _MOST_NAMED))
        yield h("pre", h("code", "\n".join(text[:_MOST_ROWS])))
        yield from _rest(len(text), link("bytecode", "Bytecode"))
    yield from _rest(len(told), link("bytecode", "Bytecode"), 4)


def _only(processes: Iterable[Process]) -> Process | None:
    """The process that all is of. The ids of several have no links: they would all lead to one of them."""
    distinct = {id(process): process for process in processes}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _rest(count: int, where: Child, shown: int = _MOST_ROWS) -> Iterator[Child]:
    if count > shown:
        yield h("p", f"… and {count - shown:,} more: ", where, class_="dim")
