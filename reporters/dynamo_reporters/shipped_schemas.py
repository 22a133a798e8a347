"""The schemas of JSON documents, as files of the package."""

import json
from pathlib import Path

from .registry import REPORTS

COMMON = "common"  # what several of them hold
NAMES = (*REPORTS, COMMON)
FOLDER = Path(__file__).with_name("schemas")


def self_contained(name: str) -> str:
    """The schema of a document, with that of what it shares with others among its `$defs`.

    It is embedded under its own `$id`, so that a validator needs no other file.
    """
    schema = _parsed(name)
    if name != COMMON:
        common = _parsed(COMMON)
        schema = {**schema, "$defs": {common["$id"]: common}}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def file_of(name: str) -> Path:
    """Where a schema lies."""
    return FOLDER / f"{name}.schema.json"


def _parsed(name: str) -> dict[str, object]:
    content: dict[str, object] = json.loads(file_of(name).read_text(encoding="utf-8"))
    return content
