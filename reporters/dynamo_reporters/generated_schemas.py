"""Schemas that are made of the dataclasses of their documents; `./dev schemas` writes them to `schemas/`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .cache.document import cache_schema
from .cache.store import store_schema
from .check.document import check_schema
from .diff.document import diff_schema
from .diff.locked import locked_schema
from .fix.document import fix_schema
from .parts.findings import finding_schema
from .ranks.report import ranks_schema

GENERATED: Mapping[str, Callable[[], dict[str, Any]]] = {
    "cache": cache_schema,
    "cache-store": store_schema,
    "check": check_schema,
    "diff": diff_schema,
    "diff-locked": locked_schema,
    "finding": finding_schema,
    "fix": fix_schema,
    "ranks": ranks_schema,
}
FOLDER = Path(__file__).with_name("schemas")


def text_of(name: str) -> str:
    """What `schemas/NAME.schema.json` holds."""
    return json.dumps(GENERATED[name](), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in GENERATED:
        (FOLDER / f"{name}.schema.json").write_text(text_of(name), encoding="utf-8")
