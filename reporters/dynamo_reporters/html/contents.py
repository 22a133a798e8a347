"""Everything behind the first screen: sections, a part for each file, compile and graph, and the search."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

from dynamo_core.analysis.by_compile import by_compile
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings import CONTENTS as FINDINGS
from dynamo_core.analysis.findings import Finding
from dynamo_core.analysis.graphs.generated_program import CONTENTS as GRAPHS
from dynamo_core.analysis.library import is_library
from dynamo_core.analysis.words import compile_label, frame_name, graph_frame, number
from dynamo_core.model import Place, Process, Stage
from dynamo_core.recording.aot_text import AOT_PAIRS_FROM_OUR_TEXT
from dynamo_core.recording.kernel_sources import PROVENANCE

from ..graphs.stages import STAGES, direction, records_of
from ..report import Report
from .bounds import Part
from .compiles import CompileFacts, compile_page, compiles_index
from .element import Child, h
from .graphs import Kernel, StageText, graph_page, graphs_index, stage_page, stages_by_compile
from .links import Links, compiles_of
from .packed import packed
from .pictures import entry_matrices, resume_pictures
from .run import run_facts
from .sections import Section, every_section, head, report_section, sections
from .source.lines import Source, source_files
from .source.view import file_view, index
from .timeline import Timeline

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

    def __init__(self, figures: Figures, findings: Sequence[Finding], opened: Report | None) -> None:
        self._recording = figures.recording
        self._findings = findings
        self._sections = sections(self._recording, opened)
        self._source = Source(figures, findings)
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
        content = packed(report_section(section, self._recording, self.links, self._above(section.route)))
        return Part(section.route, content, _KINDS.get(section.route, ""))

    def _above(self, route: str) -> list[Child]:
        """What only a page shows, above the report of a section."""
        if route == "time":
            drawing = self.timeline.whole()
            return [] if drawing is None else [drawing]
        if route == "breaks":
            return list(resume_pictures(self._recording))
        if route == "recompiles":
            return list(entry_matrices(self._recording, self.links))
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
                said = f"{compile_label(compile_id)} {frame_name(name)}{self.links.of(process)}"
                yield [said[:_LONGEST_FOUND], "compile", self.links.compile(process, compile_id) or ""]
            for graph in process.graphs[:_MOST_PAGES]:
                label = compile_label(graph.compile_id)
                said = f"graph {graph.number} {label} {graph_frame(graph)}{self.links.of(process)}"
                yield [said[:_LONGEST_FOUND], "graph", self.links.graph(process, graph.number) or ""]
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
