"""Reads a page that `dynamo report` wrote, without a browser: its elements, its packed blocks, its text."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "input", "br", "col", "hr", "link"}


@dataclass
class Tag:
    """An element of the file, as it stands there."""

    name: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """The elements in order; an element's text is that of all that is in it."""

    source: str
    tags: list[Tag] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[Tag] = []
        self.feed(self.source)
        self.close()
        assert self._open == [], "an element is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(Tag(tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append(self.tags[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().name == tag

    def handle_data(self, data: str) -> None:
        for tag in self._open:
            tag.text += data

    def all(self, name: str, **attributes: str) -> list[Tag]:
        """Elements of this name with these attributes."""
        wanted = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
        return [tag for tag in self.tags if tag.name == name and wanted.items() <= tag.attributes.items()]

    def blocks(self) -> dict[str, Any]:
        """What is packed, by route."""
        return {
            tag.attributes["data-route"]: json.loads(gzip.decompress(base64.b64decode(tag.text)))
            for tag in self.tags
            if "data-route" in tag.attributes
        }


def elements_of(tree: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Every element of a packed block: its tag and its attributes."""
    if isinstance(tree, list):
        tag, attributes, *children = tree
        assert isinstance(tag, str)
        yield tag.removesuffix("*"), attributes or {}
        for child in children:
            yield from elements_of(child)
    else:
        assert isinstance(tree, str)


def text_of(tree: Any) -> str:
    """All text of a packed block."""
    return "".join(map(text_of, tree[2:])) if isinstance(tree, list) else tree


def links_of(page: Page) -> set[str]:
    """The routes that anything on the page links to."""
    inside = (
        attributes
        for route, tree in page.blocks().items()
        if route != "index"
        for _, attributes in elements_of(tree)
    )
    targets = {tag.attributes["href"] for tag in page.tags if "href" in tag.attributes}
    targets |= {attributes["href"] for attributes in inside if "href" in attributes}
    return {re.sub("^#/", "", target) for target in targets if target.startswith("#/")}
