"""What a page is made of: elements, written as HTML or as the JSON that the page's script builds them from.

Text and attributes are escaped where they are written, and nowhere else, so that nobody can forget it.
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.shared.text import printable

LONGEST_TEXT = 20_000  # characters of a text that is no code
_LONGEST_HINT = 1_000  # of what is said when somebody points at an element
_WHOLE = frozenset({"code", "pre", "script", "style"})
_VOID = frozenset({"meta", "input", "br", "col", "hr", "link"})
# What takes no room or joins letters: two names that look alike may differ in it. `printable` has the rest.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2064\u206a-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
# Of links to other sites, the page has only those to torch's own pages on graph breaks and to its source.
_KNOWN_SITES = (
    "https://meta-pytorch.github.io/compile-graph-break-site/",
    "https://docs.pytorch.org/",
    "https://pytorch.org/",
)

Child = Union["Element", str]
Value = str | float | bool | None


@dataclass(frozen=True)
class Element:
    """An element of HTML or SVG. The children of one that is `lazy` are built when it is first opened."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[Child, ...]
    is_later: bool = False


def h(tag: str, *children: Child | Iterable[Child] | None, **attributes: Value) -> Element:
    """An element; `class_` is its class, `data_at` its `data-at`. What is None or False is left out."""
    return Element(tag, dict(_written(attributes)), tuple(_flat(children, tag in _WHOLE)))


def lazy(tag: str, *children: Child | Iterable[Child] | None, **attributes: Value) -> Element:
    """An element whose children are built when it is first opened: the script knows it by its class."""
    return replace(h(tag, *children, **({"class_": "later"} | attributes)), is_later=True)


def _written(attributes: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for name, value in attributes.items():
        if value is not None and value is not False:
            text = "" if value is True else str(value)
            is_hint = name in ("title", "aria_label")
            yield name.rstrip("_").replace("_", "-"), cut(text, _LONGEST_HINT) if is_hint else text


def _flat(children: Iterable[Child | Iterable[Child] | None], is_whole: bool) -> Iterator[Child]:
    for child in children:
        if isinstance(child, str):
            if child:
                yield child if is_whole or len(child) <= LONGEST_TEXT else cut(child, LONGEST_TEXT)
        elif isinstance(child, Element):
            yield child
        elif child is not None:
            yield from _flat(child, is_whole)


def cut(text: str, longest: int) -> str:
    """The begin of a text that is too long for a person, and its length: names may be a megabyte long."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


def safe(text: str) -> str:
    """Text with everything that cannot be seen, or that turns the direction of text, as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", printable(text))


def is_safe_link(target: str) -> bool:
    """Whether a link leads to a place on the page, or to a site that we know."""
    return target.startswith(("#", *_KNOWN_SITES))


def to_html(child: Child) -> str:
    """The markup."""
    return "".join(_html(child))


def _html(child: Child) -> Iterator[str]:
    if isinstance(child, str):
        yield html.escape(safe(child), quote=False)
        return
    yield f"<{child.tag}"
    for name, value in child.attributes.items():
        yield f' {name}="{html.escape(safe(value))}"' if value else f" {name}"
    yield ">"
    if child.tag in _VOID:
        return
    for inner in child.children:
        yield from _html(inner)
    yield f"</{child.tag}>"


def to_json(child: Child) -> Any:
    """`[tag, attributes, child, …]` with attributes 0 where there are none; a text is itself."""
    if isinstance(child, str):
        return safe(child)
    attributes: dict[str, str] | int = {name: safe(value) for name, value in child.attributes.items()} or 0
    tag = f"{child.tag}*" if child.is_later else child.tag
    return [tag, attributes, *map(to_json, child.children)]


# The data of a page: JSON, packed with gzip and written in base64, where no markup can occur.


_LEVEL = 6


def packed(content: Element | list[Any]) -> bytes:
    """The content as compressed JSON; the same bytes whenever it is packed."""
    value = to_json(content) if isinstance(content, Element) else content
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a character that is two in UTF-16 is none of Unicode, and fits into no file.
    data = gzip.compress(text.encode("utf-8", "backslashreplace"), _LEVEL, mtime=0)
    return base64.b64encode(data)


def block(route: str, data: bytes) -> Element:
    """What is shown at a route, as the page's script finds it."""
    return h("script", data.decode("ascii"), type="application/gzip", data_route=route)


# What a page leaves out where it would get too large to send: in a fixed order, and told on the page.


# What is left out first stands first; what is not here is never left out. The command shows it in a terminal.
ORDER = {
    "output code": "graphs --stage output-code,runnable",
    "texts of graphs at their stages": "graphs --stage all",
    "guards by cache entry": "guards",
    "bytecode": "bytecode --diff",
    "source of libraries": "bytecode --source",
    "nodes of graphs": "graphs",
}
_OVERHEAD = 80  # bytes of markup around a part


@dataclass(frozen=True)
class Part:
    """What is shown at a route, packed, and which kind of it may be left out."""

    route: str
    data: bytes
    kind: str = ""

    @property
    def size(self) -> int:
        """Its bytes in the file."""
        return len(self.data) + len(self.route) + _OVERHEAD


@dataclass(frozen=True)
class LeftOut:
    """Parts that do not fit: of which kind, how many, how large, and the command that shows them."""

    kind: str
    count: int
    size: int
    command: str


def within_bounds(parts: Iterable[Part], largest: int) -> tuple[list[Part], list[LeftOut]]:
    """The parts that fit, in their order, and what was left out: whole kinds, until the others fit."""
    kept = list(parts)
    left_out: list[LeftOut] = []
    for kind, command in ORDER.items():
        if sum(part.size for part in kept) <= largest:
            break
        of_kind = [part for part in kept if part.kind == kind]
        if of_kind:
            left_out.append(LeftOut(kind, len(of_kind), sum(part.size for part in of_kind), command))
            kept = [part for part in kept if part.kind != kind]
    return kept, left_out


def sentence(left_out: Sequence[LeftOut]) -> str:
    """What is said above what was left out."""
    size = sum(each.size for each in left_out) / 1e6
    return f"{size:,.1f} MB did not fit into the page; in a terminal:"
