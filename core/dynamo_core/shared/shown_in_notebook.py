"""HTML for the output of a notebook's cell: paragraphs and lists, with all text escaped."""

import re
from collections.abc import Iterable

_CODE = re.compile(r"`([^`\n]+)`")


def _escaped(text: str) -> str:
    from html import escape  # with a table of entities, which only a notebook needs

    return escape(text)


def paragraph(text: str) -> str:
    """A paragraph of the text, with `code` as code; "" of none."""
    return f"<p>{_inline(text)}</p>" if text else ""


def code(text: str) -> str:
    """Lines of source; "" of none."""
    return f"<pre>{_escaped(text)}</pre>" if text else ""


def title(text: str) -> str:
    """A line that stands out."""
    return f"<p><strong>{_inline(text)}</strong></p>"


def bullets(texts: Iterable[str]) -> str:
    """A list of texts; "" where there are none."""
    items = "".join(f"<li>{_inline(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def numbered(items: Iterable[str]) -> str:
    """A list in order, of items that are HTML; "" where there are none."""
    texts = "".join(f"<li>{item}</li>" for item in items)
    return f"<ol>{texts}</ol>" if texts else ""


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", _escaped(text).replace("\n", "<br>"))
