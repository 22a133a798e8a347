"""The source view: what runs each line, where it broke, what was compiled again and what that cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dynamo_core.analysis.break_costs import BreakCost, effect, effect_and_cost
from dynamo_core.analysis.bytecode.rewritten import instruction_text, is_noise
from dynamo_core.analysis.graphs.nodes import value_text
from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.guard_text import guard_words
from dynamo_core.analysis.recompile_causes import RecompileCause
from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.analysis.source_lines import is_library
from dynamo_core.analysis.words import (
    alternatives,
    compile_label,
    first_line,
    frame_name,
    graph_frame,
    number,
    seconds,
)
from dynamo_core.findings import Finding
from dynamo_core.model import Node, Place, Process

from ..page.blocks import table as block_table
from .blocks import coloured, table
from .element import Child, Element, h, is_safe_link, lazy
from .links import Links, link
from .source_lines import InGraph, Kept, Line, SourceFile

# All that is known of a line of source: breaks, recompiles, guards, ops, kernels, bytecode.


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
    for _, frame in line.failed_to_compile[:_MOST_ROWS]:
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
        text = f"Between {' or '.join(parts[0]) or 'the start'} and {' or '.join(parts[1]) or 'the end'}."
        yield h("p", links.text(text, distinct.process))
    explanation = first.explanation
    if explanation is not None:
        if explanation.explanation:
            text = " ".join(explanation.explanation.partition("\n\n")[0].split())
            yield h("p", links.text(text), class_="dim")
        if explanation.hints:
            yield h(
                "ul",
                (h("li", links.text(" ".join(hint.split()))) for hint in explanation.hints),
                class_="dim",
            )
        if explanation.link and is_safe_link(explanation.link):
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
    yield table(block_table("compile|took>|what differed|expected|got", rows), links, frame.process)
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
        text = guard_words(guard.type, guard.source, guard.code)
        same.setdefault((guard.type, guard.source, text), []).append(at)
    rows = []
    for (kind, source, text), found in list(same.items())[:_MOST_ROWS]:
        entries = (line.guards[at] for at in found)
        labels = dict.fromkeys(f"{compile_label(entry)}{links.of(process)}" for process, entry, _ in entries)
        more = f" and {len(labels) - 6:,} more" if len(labels) > 6 else ""
        rows.append([kind, source, text, ", ".join(list(labels)[:6]) + more])
    process = _only(process for process, _, _ in line.guards)
    yield table(block_table("guard|of|what is checked|cache entry", rows), links, process)
    yield from _rest(len(same), link("guards", "Guards"))


def _bytecode(kept: Sequence[Kept], links: Links) -> Iterator[Child]:
    """The line's own instructions in each compile: what is left for the interpreter, and what is gone."""
    parts: dict[tuple[str, ...], list[Kept]] = {}
    for each in kept:
        rows = [(each.bytecode.original[at], is_kept) for at, is_kept in each.rows]
        text = tuple(
            f"{'kept   ' if k else 'removed'} {instruction_text(i, 26)}" for i, k in rows if not is_noise(i)
        )
        if text:
            parts.setdefault(text, []).append(each)
    if parts:
        yield h("h4", "Bytecode of the line")
    for text, same in list(parts.items())[:4]:
        compiles = [(each.process, each.bytecode.compile_id) for each in same]
        yield h("p", "in ", links.compiles(compiles, _MOST_NAMED))
        yield h("pre", h("code", "\n".join(text[:_MOST_ROWS])))
        yield from _rest(len(text), link("bytecode", "Bytecode"))
    yield from _rest(len(parts), link("bytecode", "Bytecode"), 4)


def _only(processes: Iterable[Process]) -> Process | None:
    """The process that all is of. The ids of several have no links: they would all lead to one of them."""
    distinct = {id(process): process for process in processes}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _rest(count: int, where: Child, shown: int = _MOST_ROWS) -> Iterator[Child]:
    if count > shown:
        yield h("p", f"… and {count - shown:,} more: ", where, class_="dim")


_CHIPS = 6  # graphs that are named beside a line; the others are counted, and listed in its details
_COLOURS = 6
_COLUMNS = 4
_LONGEST_MARK = 160  # characters of a reason beside a line
LEGEND = (
    "Beside each line: the numbers of the graphs that hold ops of it, and “eager” where Python's interpreter "
    "runs it, or a part of it, in a frame that was compiled. A line with neither was done while tracing, was "
    "not reached, or is of a function that was not compiled. Choose a line's number for its break, guards, "
    "ops, kernels and bytecode."
)


def index(files: Mapping[str, SourceFile], links: Links, notes: Sequence[str]) -> Element:
    """The files, the user's own first, with what each holds; the program's only one is shown at once."""
    own = [file for file in files.values() if not is_library(Place(file.path, 0))]
    libraries = [file for file in files.values() if is_library(Place(file.path, 0))]
    parts: list[Child] = [h("p", note, class_="warning") for note in notes]
    if not files:
        nothing = "No line of source was recorded: nothing was compiled, or a plain trace has none."
        parts.append(h("p", nothing, class_="dim"))
    for title, some in (("The program", own), ("Libraries", libraries)):
        if some:
            parts += [h("h3", title), h("ul", [_entry(file, links) for file in some], class_="files")]
    if len(own) == 1:
        parts.append(h("div", data_include=links.file(own[0].path)))
    return h("div", parts)


def _entry(file: SourceFile, links: Links) -> Element:
    name = link(links.file(file.path), links.file_names[file.path])
    return h("li", name, " ", h("span", file_sentence(file), class_="dim"), data_filter=True)


def file_sentence(file: SourceFile) -> str:
    """`2 graphs hold lines of it; 1 graph break, 3 recompiles`."""
    lines = file.lines.values()
    graphs = {(id(each.process), each.graph.number) for line in lines for each in line.graphs}
    breaks = sum(len(line.breaks) for line in lines)
    recompiles = sum(len(cause.compiles) for line in lines for cause in line.recompiles)
    fell_back = sum(len(line.failed_to_compile) for line in lines)
    parts = (
        [f"{number(len(graphs), 'graph')} {'holds' if len(graphs) == 1 else 'hold'} lines of it"]
        if graphs
        else []
    )
    parts += [number(breaks, "graph break")] if breaks else []
    parts += [number(recompiles, "recompile")] if recompiles else []
    parts += [f"{number(fell_back, 'frame')} fell back to eager"] if fell_back else []
    return ", ".join(parts) or "cited by stacks and guards only"


def file_view(file: SourceFile, links: Links) -> Element:
    """The lines of a file that were recorded; gaps say that there are others."""
    numbers = sorted(file.lines)
    known = dict(_coloured_lines(file, numbers))
    rows: list[Element] = []
    previous: int | None = None
    for at in numbers:
        if previous is not None and at > previous + 1:
            between = number(at - previous - 1, "line")
            rows.append(
                h(
                    "tr",
                    h("td", f"{between} that no graph, break or guard is on: not recorded", colspan=_COLUMNS),
                    class_="gap",
                )
            )
        rows += _rows(file, at, known.get(at), links)
        previous = at
    headings = ("line", "runs in", "source", "what became of it")
    head = h("thead", h("tr", (h("th", heading, scope="col") for heading in headings)))
    title = h("h2", links.file_names[file.path])
    where = h("p", file.path, " · ", file_sentence(file), class_="dim")
    table = h("table", head, h("tbody", rows), class_="source")
    return h(
        "article", h("p", link("source", "all files")), title, where, h("p", LEGEND, class_="dim"), table
    )


def _coloured_lines(file: SourceFile, numbers: Sequence[int]) -> Iterator[tuple[int, list[Child]]]:
    run: list[int] = []
    for at in [*numbers, -1]:
        text = None if at < 0 else file.lines[at].text
        if run and (text is None or at != run[-1] + 1):
            yield from zip(run, coloured([file.lines[each].text or "" for each in run]), strict=True)
            run = []
        if text is not None:
            run.append(at)


def _rows(file: SourceFile, at: int, text: list[Child] | None, links: Links) -> Iterator[Element]:
    line = file.lines[at]
    classes = [
        name
        for name, applies in (
            ("broken", line.breaks or line.failed_to_compile or _others(line)),
            ("again", line.recompiles),
            ("eager", line.is_eager),
            ("notable", line.is_notable),
        )
        if applies
    ]
    number_: Child = str(at)
    if line.has_more:
        label = f"Line {at}: show what is known of it"
        number_ = h("button", str(at), type="button", class_="line", aria_expanded="false", aria_label=label)
    source = text if text is not None else [h("span", "not recorded", class_="dim")]
    yield h(
        "tr",
        h("td", number_, class_="no"),
        h("td", chips(line, links), class_="runs"),
        h("td", source, class_="code"),
        h("td", _marks(line, links), class_="says"),
        class_=" ".join(classes) or None,
        data_at=at,
    )
    if line.has_more:
        yield h(
            "tr",
            lazy("td", details(Place(file.path, at), line, links), colspan=_COLUMNS),
            class_="more",
            hidden=True,
        )


def chips(line: Line, links: Links) -> list[Child]:
    """The graphs that hold a line, by number, and whether the interpreter has a part in it."""
    shown: list[Child] = []
    for each in line.graphs[:_CHIPS]:
        graph = each.graph
        calls = f", called {number(graph.calls, 'time')}" if graph.calls is not None else ""
        route = links.graph(each.process, graph.number) or ""
        name = f"graph {graph.number} {compile_label(graph.compile_id)}{links.of(each.process)}"
        title = f"{name}, {number(graph.ops, 'op')}{calls}"
        class_ = f"chip g{graph.number % _COLOURS}"
        shown.append(
            h("a", str(graph.number), href=f"#/{route}", title=title, aria_label=title, class_=class_)
        )
    more = len(line.graphs) - len(shown)
    if more > 0:
        shown.append(h("span", f"+{more:,}", class_="chip g0", title=f"and {number(more, 'more graph')}"))
    if line.is_eager:
        shown.append(h("span", "eager", class_="chip eager"))
    return shown


def _marks(line: Line, links: Links) -> Iterator[Element]:
    """A line of words for each thing that happened at a line of source."""
    for cost in line.breaks:
        what = "runs eager" if cost.distinct.frames_fell_back else "break"
        took = "" if cost.seconds is None else f", {seconds(cost.seconds)} in all"
        text = f": {cost.distinct.first.kind}; {effect(cost.distinct)}{took}"
        yield h("span", h("b", f"✗ {what}"), text, class_="mark")
    for process, frame in line.failed_to_compile[:3]:
        if not line.breaks:
            raised = "raised an error" if frame.outcome == "raised" else "runs eager"
            reason = f": {frame_name(frame.name, frame.method)}, {first_line(frame.reason)[:_LONGEST_MARK]}"
            yield h("span", h("b", f"✗ {raised}"), links.text(reason, process), class_="mark")
    for finding in _others(line):
        yield h(
            "span",
            h("b", f"✗ {finding.kind}"),
            ": ",
            links.text(finding.cause or finding.title),
            class_="mark",
        )
    for cause in line.recompiles:
        spent = cause.frame.records.seconds_of(cause.compiles)
        again = links.text(f", {seconds(spent)}: {cause_sentence(cause)}", cause.frame.process)
        yield h("span", h("b", f"↻ {number(len(cause.compiles), 'recompile')}"), again, class_="mark again")
    for _, place in line.breaks_below[:3]:
        yield h("span", "↓ a break below, at ", links.place(place), class_="mark")
    # Several entries of a frame share the function that goes on behind them.
    compiled = {
        (id(each.process), compile_id): (each.process, compile_id)
        for each in line.resumed
        for compile_id in each.compiled
    }
    if compiled:
        yield h(
            "span", "↪ goes on here as ", links.compiles([*compiled.values()], _CHIPS), class_="mark resume"
        )
    elif line.resumed:
        yield h("span", "↪ goes on here; that part was never compiled", class_="mark resume")
    began = {(id(process), each.compile_id): (process, each.compile_id) for process, each in line.began}
    if began and not compiled:
        yield h("span", "compiled as ", links.compiles([*began.values()], _CHIPS), class_="mark resume")
    if line.kernels:
        names = list(dict.fromkeys(kernel for _, _, kernel in line.kernels))
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        yield h("span", f"in kernel {', '.join(names[:2])}{more}", class_="mark resume")


def _others(line: Line) -> list[Finding]:
    """The findings on a line that its breaks, recompiles and frames do not tell of."""
    return [] if line.breaks or line.recompiles or line.failed_to_compile else line.findings
