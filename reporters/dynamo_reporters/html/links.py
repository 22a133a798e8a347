"""What has a place of its own on the page, by what it is and not where it stands: routes, links to them."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import PurePath
from urllib.parse import quote

from dynamo_core.analysis.words import compile_label
from dynamo_core.model import CompileId, Place, Process
from dynamo_core.shared.shown_paths import shown_path

from ..profile.exports.tracks import process_name
from .element import LONGEST_TEXT, Child, cut, h

_LONGEST_NAME = 120  # characters of a file's name
# A compile id, a graph's number, our own `code`, a line of a file.
_NAMED = re.compile(
    r"\[(?P<compile>!?\d{1,9}(?:/\d{1,9}){0,2})\]"
    r"|\b[Gg]raph (?P<graph>\d{1,9})\b"
    r"|(?<!`)`(?P<code>[^`\n]{1,2000})`(?!`)"
    r"|(?<![^\s`'\"()\[\],:])(?P<file>[^\s`'\"()\[\],:]{1,1000}):(?P<line>\d{1,9})\b"
)

_MAY_NAME = re.compile(r"[`\[:]|raph ")  # what each of them has: most texts have none


class Links:
    """The routes of a recording's processes: for each compile, graph and line of source."""

    def __init__(self, processes: Sequence[Process], files: Mapping[str, Container[int]]) -> None:
        self._lines = files
        self._prefixes = dict(_prefixes(processes))
        self._compiles = {id(p): {str(i) for i in compiles_of(p)} for p in processes}
        self._graphs = {id(p): {graph.number for graph in p.graphs} for p in processes}
        self.file_names = short_names(files)
        # As reports write it, and as torch does.
        self._files = {name: file for file in self.file_names for name in (file, shown_path(file))}

    def prefix(self, process: Process) -> str:
        """What tells the routes of a process apart: nothing where there is but one."""
        return self._prefixes[id(process)]

    def of(self, process: Process) -> str:
        """` of rank 0`, which tells its graphs from those of others; nothing where it is the only process."""
        return f" of {process_name(process)}" if len(self._prefixes) > 1 else ""

    def compile(self, process: Process, compile_id: CompileId | None) -> str | None:
        """The route of a compile; None where the page has nothing on it."""
        if compile_id is None or str(compile_id) not in self._compiles.get(id(process), ()):
            return None
        return f"compile/{self.prefix(process)}{str(compile_id).replace('/', '-')}"

    def graph(self, process: Process, number: int | None, stage: str = "") -> str | None:
        """The route of a graph, or of its text at a stage; None where the page has nothing on it."""
        if number not in self._graphs.get(id(process), ()):
            return None
        return f"graph/{self.prefix(process)}{number}" + (f"/{stage}" if stage else "")

    def compiles(self, named: Sequence[tuple[Process, CompileId | None]], shown: int) -> Iterator[Child]:
        """The first compiles by their ids, each a link, and how many more there are."""
        routes = ((self.compile(*each), f"{compile_label(each[1])}{self.of(each[0])}") for each in named)
        return _listed(routes, len(named), shown)

    def graphs(self, named: Sequence[tuple[Process, int]], shown: int) -> Iterator[Child]:
        """Links to graphs, by their numbers."""
        routes = ((self.graph(*each), f"graph {each[1]}{self.of(each[0])}") for each in named)
        return _listed(routes, len(named), shown)

    def file(self, path: str) -> str:
        """The route of a file of source that the page has."""
        return f"source/{quote(self.file_names[path])}"

    def source(self, place: Place | None) -> str | None:
        """The route of a line of source, or of its file; None where the page does not have that."""
        if place is None or place.file not in self.file_names:
            return None
        route = self.file(place.file)
        return f"{route}/{place.line}" if place.line in self._lines[place.file] else route

    def place(self, place: Place | None) -> Child:
        """A line, by the short name of its file; a link to it where the page has the file."""
        if place is None:
            return "unknown place"
        route = self.source(place)
        if route is None:
            return str(place)
        return h("a", f"{self.file_names[place.file]}:{place.line}", href=f"#/{route}", title=str(place))

    def text(self, text: str, process: Process | None = None) -> Iterator[Child]:
        """A text with links to the compiles, graphs and lines that it names, and with `code` as code.

        Without a process, a compile or graph has a link only in a recording of one.
        """
        text = cut(text, LONGEST_TEXT)
        if process is None and len(self._prefixes) == 1:
            ((only, _),) = self._prefixes.items()
        else:
            only = id(process)
        if not _MAY_NAME.search(text):
            yield text
            return
        position = 0
        for found in _NAMED.finditer(text):
            child = self._linked(found, only)
            if child is not None:
                yield text[position : found.start()]
                yield child
                position = found.end()
        yield text[position:]

    def _linked(self, found: "re.Match[str]", process: int) -> Child | None:
        if found["code"] is not None:
            return h("code", found["code"])
        route = self._route(found, process)
        if route is None:
            return None
        if found["file"] is None:
            return link(route, found[0])
        return self.place(Place(self._files[found["file"]], int(found["line"])))

    def _route(self, found: "re.Match[str]", process: int) -> str | None:
        prefix = self._prefixes.get(process, "")
        if found["compile"] is not None:
            is_known = found["compile"] in self._compiles.get(process, ())
            return f"compile/{prefix}{found['compile'].replace('/', '-')}" if is_known else None
        if found["graph"] is not None:
            is_known = int(found["graph"]) in self._graphs.get(process, ())
            return f"graph/{prefix}{int(found['graph'])}" if is_known else None
        file = self._files.get(found["file"])
        return None if file is None else self.source(Place(file, int(found["line"])))


def link(route: str, *children: Child, class_: str | None = None) -> Child:
    """A link to a place on the page."""
    return h("a", *children, href=f"#/{route}", class_=class_)


def _listed(routes: Iterator[tuple[str | None, str]], count: int, shown: int) -> Iterator[Child]:
    for at, (route, label) in enumerate(islice(routes, shown)):
        yield ", " if at else ""
        yield label if route is None else link(route, label)
    if count > shown:
        yield f" and {count - shown:,} more"


def compiles_of(process: Process) -> list[CompileId]:
    """Every compile that a process recorded anything of, in the order of their ids."""
    found = {
        item.compile_id for items in (process.compiles, process.frames, process.graphs) for item in items
    }
    found |= {bytecode.compile_id for bytecode in process.bytecodes}
    return sorted((each for each in found if each is not None), key=_order)


def _order(compile_id: CompileId) -> tuple[int, ...]:
    numbers = (compile_id.generation, compile_id.autograd, compile_id.frame, compile_id.compile)
    return tuple(-1 if number is None else number for number in numbers)


def _prefixes(processes: Iterable[Process]) -> Iterator[tuple[int, str]]:
    several = list(processes)
    if len(several) == 1:
        yield id(several[0]), ""
        return
    used: set[str] = set()
    for number, process in enumerate(several, 1):
        name = f"rank-{process.rank}" if process.rank is not None else f"process-{process.info.pid}"
        if name in used or name == "process-None":
            name = f"stream-{number}"
        used.add(name)
        yield id(process), f"{name}/"


def short_names(files: Iterable[str]) -> Mapping[str, str]:
    """For each path the shortest end of it that no other has: it stays when the program is moved."""
    distinct = sorted(set(files))
    ends: dict[str, int] = {}
    parts = {file: PurePath(file).parts for file in distinct}
    for file in distinct:
        for count in range(1, len(parts[file]) + 1):
            end = "/".join(parts[file][-count:])
            ends[end] = ends.get(end, 0) + 1
    names = {}
    for file in distinct:
        ending = ("/".join(parts[file][-count:]) for count in range(1, len(parts[file]) + 1))
        name = next((end for end in ending if ends[end] == 1), file)
        names[file] = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…{_digest(file)}"
    return names


def _digest(file: str) -> str:
    return sha256(file.encode("utf-8", "backslashreplace")).hexdigest()[:12]
