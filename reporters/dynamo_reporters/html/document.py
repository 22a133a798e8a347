"""The whole file: the first screen as plain HTML, everything else packed, one script and one style sheet."""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from dynamo_core import __version__
from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.findings import find
from dynamo_core.analysis.summary import summarize
from dynamo_core.model import Recording

from ..report import Report
from .bounds import LeftOut, Part, sentence, within_bounds
from .contents import Contents
from .element import Element, h, to_html
from .first_screen import command, first_screen
from .links import link
from .packed import block
from .sections import Section, section_of, sections

LARGEST = 25_000_000  # bytes of a page: what mail and issue trackers take
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
_NO_SCRIPT = (
    "This is the first screen. Source, graphs, recompiles, guards, time, bytecode and ops are in this file "
    "too: a browser with JavaScript shows them, and so do the commands of dynamo."
)


def page(recording: Recording, opened: Report | None = None, largest: int = LARGEST) -> bytes:
    """The page of a recording, at most `largest` bytes but for what is never left out.

    The same bytes for the same recording. `opened` is the report at whose section it opens, and whose
    options that section has. What the recording was not read with of `CONTENTS`, the page lacks.
    """
    figures = Figures(recording)
    findings = find(recording, figures)
    contents = Contents(figures, findings, opened)
    summary, drawing = summarize(recording), contents.timeline.small()
    first = first_screen(recording, summary, findings, contents.links, drawing)
    name = (recording.run.program if recording.run is not None else None) or recording.path.name
    start = section_of(opened) if opened is not None else ""

    def file_of(parts: Sequence[Part], left_out: Sequence[LeftOut]) -> bytes:
        main = _main([*first, *_left_out(left_out, recording)])
        body = [_header(name, sections(recording, opened)), main, _footer(recording), *_dialogs()]
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
    made = h("p", f"Made by dynamo {__version__} of the recording {recording.path}. ")
    return h("footer", made, h("p", "The same in a terminal: ", command("explain", recording)))


def _left_out(left_out: Iterable[LeftOut], recording: Recording) -> Iterable[Element]:
    told = list(left_out)
    if told:
        items = (
            h(
                "li",
                f"{each.kind} ({each.count:,} parts, {each.size / 1e6:,.1f} MB): ",
                command(each.command, recording),
            )
            for each in told
        )
        yield h("h2", "Left out")
        yield h("p", sentence(told))
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
