"""The data of a page: JSON, packed with gzip and written in base64, where no markup can occur."""

import base64
import gzip
import json
from typing import Any

from .element import Element, h, to_json

_LEVEL = 6


def packed(content: Element | list[Any]) -> bytes:
    """The same bytes for the same content, whenever it is packed."""
    value = to_json(content) if isinstance(content, Element) else content
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a character that is two in UTF-16 is none of Unicode, and fits into no file.
    data = gzip.compress(text.encode("utf-8", "backslashreplace"), _LEVEL, mtime=0)
    return base64.b64encode(data)


def block(route: str, data: bytes) -> Element:
    """What is shown at a route, as the page's script finds it."""
    return h("script", data.decode("ascii"), type="application/gzip", data_route=route)
