"""The whole file: the first screen as plain HTML, everything else packed, one script and one style sheet."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

from dynamo_core import __version__
from dynamo_core.analysis.graphs.program import CONTENTS as GRAPHS
from dynamo_core.analysis.source_lines import is_library
from dynamo_core.analysis.summary import by_compile
from dynamo_core.analysis.words import compile_label, graph_frame, number
from dynamo_core.case import Case
from dynamo_core.findings import CONTENTS as FINDINGS
from dynamo_core.model import Place, Process, Recording, Stage
from dynamo_core.recording.kernels import PROVENANCE
from dynamo_core.recording.training import AOT_PAIRS_FROM_OUR_TEXT

from ..graphs.document import STAGES, direction, records_of
from ..page.blocks import Block, Heading
from ..report import Report
from .blocks import elements
from .compiles import CompileFacts, compile_page, compiles_index
from .element import Child, Element, LeftOut, Part, block, h, packed, sentence, to_html, within_bounds
from .first_screen import command, first_screen
from .graphs import Kernel, StageText, graph_page, graphs_index, stage_page, stages_by_compile
from .links import Links, compiles_of, link
from .sections import Section, every_section, head, report_section, run_facts, section_of, sections
from .source_lines import Source, source_files
from .source_view import file_view, index
from .timeline import Timeline

# Everything behind the first screen: sections, a part for each file, compile and graph, and the search.


# What the reader must load of a recording for a page.
CONTENTS = (
    FINDINGS
    | GRAPHS
    | {AOT_PAIRS_FROM_OUR_TEXT}
    | records_of(STAGES)
    | {PROVENANCE}
    | frozenset(name for section in every_section() if section.report for name in section.report.contents)
)
_KINDS = {"guards": "guards by cache entry", "bytecode": "bytecode"}
_GENERATED = ("output-code", "runnable")
_MOST_PAGES = 5_000  # of compiles, and of graphs, in each process
_LONGEST_FOUND = 200  # characters of a text in the search


class Contents:
    """The parts of a page, each packed as it is made, so that no two are in memory unpacked."""

    def __init__(self, case: Case, opened: Report[Case] | None) -> None:
        self._case = case
        self._recording = case.recording
        self._findings = case.findings
        self._sections = sections(case, opened)
        self._source = Source(case.figures, case.findings)
        self._files = source_files(self._source)
        self.links = Links(
            self._recording.processes, {path: file.lines for path, file in self._files.items()}
        )
        self.timeline = Timeline(self._recording)
        self._directions: dict[str, str | None] = {}
        self._written: set[str] = set()
        self._facts = {id(process): CompileFacts(process) for process in self._recording.processes}

    def parts(self) -> Iterator[Part]:
        """In the order in which they stand in the file."""
        for section in self._sections:
            yield self._section(section)
        for path, file in self._files.items():
            kind = "source of libraries" if is_library(Place(path, 0)) else ""
            yield Part(self.links.file(path), packed(file_view(file, self.links)), kind)
        yield Part("compiles", packed(compiles_index(self._recording, self._facts, self.links)))
        for process in self._recording.processes:
            yield from self._compiles(process)
            yield from self._graphs(process)
        yield Part("index", packed(list(self._search())))

    def _section(self, section: Section) -> Part:
        if section.route == "source":
            listing = index(self._files, self.links, self._notes())
            return Part("source", packed(h("div", head(section, self._recording), listing)))
        if section.route == "graphs" and section.report is None:
            return Part(
                "graphs", packed(graphs_index(self._recording, self.links, head(section, self._recording)))
            )
        content = packed(report_section(section, self._case, self.links, self._above(section.route)))
        return Part(section.route, content, _KINDS.get(section.route, ""))

    def _above(self, route: str) -> list[Child]:
        """What only a page shows, above the report of a section."""
        if route == "time":
            drawing = self.timeline.whole()
            return [] if drawing is None else [drawing]
        return list(run_facts(self._recording, self.links)) if route == "run" else []

    def _notes(self) -> list[str]:
        notes = []
        if self._source.is_cut:
            notes.append("The recording cites more lines than a page can show: the first ones are here.")
        if self._source.not_aligned:
            frames = number(self._source.not_aligned, "compile")
            notes.append(
                f"What of its lines runs eager was not worked out for {frames}: there is too much bytecode."
            )
        return notes

    def _compiles(self, process: Process) -> Iterator[Part]:
        facts = self._facts[id(process)]
        for compile_id in compiles_of(process)[:_MOST_PAGES]:
            route = self.links.compile(process, compile_id)
            if route is not None:
                yield Part(route, packed(compile_page(compile_id, facts, self.links)))

    def _graphs(self, process: Process) -> Iterator[Part]:
        stages, symbols = stages_by_compile(process), by_compile(process.symbols)
        kernels: dict[int, list[Kernel]] = {}
        for graph, kernel, sources in self._source.kernels[id(process)]:
            kernels.setdefault(graph.number, []).append((kernel, sources))
        for graph in process.graphs[:_MOST_PAGES]:
            own = stages.get(graph.compile_id, {})
            texts = [text for of_stage in own.values() for text in of_stage]
            route = self.links.graph(process, graph.number)
            assert route is not None
            opened, made = symbols.get(graph.compile_id, ()), kernels.get(graph.number, [])
            content = graph_page(graph, process, opened, texts, made, self.links)
            yield Part(route, packed(content), "nodes of graphs")
            for name, of_stage in own.items():
                kind = "output code" if name in _GENERATED else "texts of graphs at their stages"
                shown = [self._text(text) for text in of_stage]
                yield Part(
                    f"{route}/{name}", packed(stage_page(graph, process, name, shown, self.links)), kind
                )
                for text in shown:
                    if text.route not in self._written:
                        self._written.add(text.route)
                        code = h("pre", h("code", text.stage.text.strip("\n")), tabindex="0")
                        yield Part(text.route, packed(code), kind)

    def _text(self, stage: Stage) -> StageText:
        """Where a text is on the page: graphs that compute the same share their texts."""
        route = f"text/{_digest(stage.text)}"
        if route not in self._directions:
            self._directions[route] = direction(stage)
        return StageText(stage, self._directions[route], route)

    def _search(self) -> Iterator[list[str]]:
        """What can be found: the text that is looked at, what it is, and where it is shown."""
        for finding in self._findings:
            yield [finding.title[:_LONGEST_FOUND], "finding", f"finding/{finding.identity}"]
        for section in self._sections:
            yield [section.title, "section", section.route]
        for path in self._files:
            yield [path[-_LONGEST_FOUND:], "file", self.links.file(path)]
        for process in self._recording.processes:
            facts = self._facts[id(process)]
            for compile_id in compiles_of(process)[:_MOST_PAGES]:
                name, _ = facts.name(compile_id)
                text = f"{compile_label(compile_id)} {name}{self.links.of(process)}"
                yield [text[:_LONGEST_FOUND], "compile", self.links.compile(process, compile_id) or ""]
            for graph in process.graphs[:_MOST_PAGES]:
                label = compile_label(graph.compile_id)
                text = f"graph {graph.number} {label} {graph_frame(graph)}{self.links.of(process)}"
                yield [text[:_LONGEST_FOUND], "graph", self.links.graph(process, graph.number) or ""]
        yield from self._ops()
        for path, file in self._files.items():
            if not is_library(Place(path, 0)):
                for at, line in sorted(file.lines.items()):
                    if line.text and line.text.strip():
                        yield [line.text.strip()[:_LONGEST_FOUND], "source", f"{self.links.file(path)}/{at}"]

    def _ops(self) -> Iterator[list[str]]:
        """Each kind of op once, where it is first met."""
        met: set[str] = set()
        for process in self._recording.processes:
            for graph in process.graphs:
                for node in graph.nodes or ():
                    if node.op.startswith("call_") and node.target not in met:
                        met.add(node.target)
                        route = self.links.graph(process, graph.number) or ""
                        yield [node.target[:_LONGEST_FOUND], "op", route]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


LARGEST = 25_000_000  # bytes of a page: what mail and issue trackers take
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_NO_SCRIPT = (
    "This is the first screen. Source, graphs, recompiles, guards, time, bytecode and ops are in this file "
    "too: a browser with JavaScript shows them, and so do the commands of dynamo."
)


def page(case: Case, opened: Report[Case] | None = None, largest: int = LARGEST) -> bytes:
    """The page of a recording, at most `largest` bytes but for what is never left out.

    The same bytes for the same recording. `opened` is the report at whose section it opens, and whose
    options that section has. What the recording was not read with of `CONTENTS`, the page lacks.
    """
    recording = case.recording
    contents = Contents(case, opened)
    first = first_screen(case, contents.links, contents.timeline.small())
    name = (recording.run.program if recording.run is not None else None) or recording.path.name
    start = section_of(opened) if opened is not None else ""

    def file_of(parts: Sequence[Part], left_out: Sequence[LeftOut]) -> bytes:
        main = _main([*first, *_left_out(left_out, recording)])
        body = [_header(name, sections(case, opened)), main, _footer(recording), *_dialogs()]
        return whole_file(f"dynamo: {name}", body, [block(part.route, part.data) for part in parts], start)

    room = largest - len(file_of([], [])) - len(asset("page.mjs"))
    return file_of(*within_bounds(contents.parts(), room))


def whole_file(title: str, body: Iterable[Element], blocks: Iterable[Element], start: str) -> bytes:
    """The bytes of the file; its script and its style are the only ones that a browser may run."""
    script, style = asset("page.mjs"), asset("page.css")
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", http_equiv="Content-Security-Policy", content=policy),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="referrer", content="no-referrer"),
        h("meta", name="generator", content=f"dynamo-cli {__version__}"),
        h("title", title),
    )
    opened = f' data-opened="{start}"' if start else ""
    # Our own script and style hold nothing that was recorded, and stand as they are.
    head_text = to_html(head).removesuffix("</head>") + f"<style>{style}</style></head>"
    data = "\n".join(map(to_html, blocks))
    content = "\n".join(map(to_html, body))
    run = f'<script type="module">{script}</script>' if data else ""
    top = f'<!DOCTYPE html>\n<html lang="en"{opened}>{head_text}'
    text = f"{top}\n<body>\n{content}\n{data}\n{run}\n</body></html>\n"
    return text.encode("utf-8", "backslashreplace")


@cache
def asset(name: str) -> str:
    """A file of the package, as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _header(name: str, behind: Iterable[Section]) -> Element:
    listed = [("", "Overview"), *((each.route, each.title) for each in behind)]
    tabs = [h("li", link(route, title)) for route, title in listed]
    tools = h(
        "div",
        h(
            "input",
            id="filter",
            type="search",
            placeholder="filter rows",
            aria_label="Show only rows with these words",
        ),
        h("span", id="filtered", class_="dim", role="status"),
        h("select", id="process", aria_label="Process", hidden=True),
        h("button", "search /", id="open-search", type="button"),
        h("button", "?", id="open-help", type="button", aria_label="Keys"),
        h("button", "dark", id="theme", type="button"),
        class_="tools",
    )
    brand = h("div", "dynamo", h("span", name), class_="brand")
    skip = h("a", "to the content", href="#content", class_="skip")
    return h("header", skip, brand, h("nav", h("ul", tabs), aria_label="Sections"), tools)


def _main(first: Iterable[Element]) -> Element:
    note = h("noscript", h("p", _NO_SCRIPT, class_="warning"))
    return h(
        "main",
        note,
        h("div", first, id="overview"),
        h("div", id="view", hidden=True),
        id="content",
        tabindex="-1",
    )


def _footer(recording: Recording) -> Element:
    made = h("p", f"Made by dynamo {__version__} of the recording {recording.address}. ")
    return h("footer", made, h("p", "The same in a terminal: ", command("explain", recording)))


def _left_out(left_out: Iterable[LeftOut], recording: Recording) -> Iterable[Element]:
    parts = list(left_out)
    if parts:
        items = (
            h(
                "li",
                f"{each.kind} ({each.count:,} parts, {each.size / 1e6:,.1f} MB): ",
                command(each.command, recording),
            )
            for each in parts
        )
        yield h("h2", "Left out")
        yield h("p", sentence(parts))
        yield h("ul", items)


_KEYS = (
    ("/", "search"),
    ("j  k", "next and previous finding, or line that has one"),
    ("1 … 9", "a section"),
    ("f", "filter the rows of a section"),
    ("Enter", "open the line that has the focus"),
    ("Esc", "close"),
    ("?", "these keys"),
)


def _dialogs() -> Iterable[Element]:
    yield h(
        "dialog",
        h("input", id="query", type="search", aria_label="Search", placeholder="search"),
        h("p", id="found", class_="dim", role="status"),
        h("ul", id="results"),
        id="search",
        aria_label="Search",
    )
    rows = (h("tr", h("td", h("kbd", key)), h("td", what)) for key, what in _KEYS)
    close = h("form", h("button", "close"), method="dialog")
    yield h("dialog", h("h2", "Keys"), h("table", h("tbody", rows)), close, id="help", aria_label="Keys")


# A report that is of no one recording as an HTML file: its blocks, and no sections.


def fragment(blocks: Iterable[Block]) -> str:
    """Blocks as HTML that stands in another page, as a notebook's output does: no script, no style."""
    return "\n".join(map(to_html, elements(blocks, Links([], {}))))


def page_of_blocks(blocks: Sequence[Block]) -> bytes:
    """The file. Its first heading, where it begins with one, is its title."""
    first = blocks[0] if blocks else None
    title = first.text if isinstance(first, Heading) else "Report"
    rest = blocks[1:] if isinstance(first, Heading) else blocks
    body = [h("h1", title), *elements(rest, Links([], {}))]
    header = h("header", h("div", "dynamo", class_="brand"))
    return whole_file(f"dynamo: {title}", [header, h("main", body)], [], "")
