"""Schemas that are made of the dataclasses of JSON documents; `./dev schemas` writes them to `schemas/`."""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dynamo_core.launch.backend_list import Backend
from dynamo_core.model import GuardFailure

from .bytecode.document import Step
from .documents import json_schema, object_schema
from .parts.after_freeze import FreezeDocument
from .parts.training_document import Pair, PairOperators, PairTotals
from .profile.compile_document import PhaseOfCompile
from .profile.document import PartOfWallTime
from .registry import REPORTS
from .shipped_schemas import COMMON, NAMES, file_of

_IN_COMMON = (
    Backend,
    GuardFailure,
    FreezeDocument,
    Pair,
    PairOperators,
    PairTotals,
    PartOfWallTime,
    PhaseOfCompile,
    Step,
)


def text_of(name: str) -> str:
    """What `schemas/NAME.schema.json` holds."""
    if name == COMMON:
        return _as_text(_common())
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        "title": f"dynamo {REPORTS[name].command or name} --format json",
    }
    return _as_text(head | _content(name))


def _common() -> dict[str, Any]:
    """What the file has, which is written by hand, and the definitions that are made."""
    content: dict[str, Any] = json.loads(file_of(COMMON).read_text(encoding="utf-8"))
    content["$defs"] |= {declared.in_common: object_schema(declared) for declared in _IN_COMMON}
    return content


def _as_text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _content(name: str) -> dict[str, Any]:
    """The schema of a report's document: what all have, then the fields of its body."""
    report = REPORTS[name]
    body = json_schema(_class(report.document))
    whole = body if report.with_option is None else json_schema(_class(report.with_option))
    content = {
        "type": "object",
        "description": body["description"],
        "required": ["schema", "version", *body["required"]],
        "properties": {
            "schema": {"const": f"dynamo-{name}"},
            "version": {"const": report.version},
            **whole["properties"],
        },
    }
    if report.of_recordings:  # whose further fields are in the common part
        return {"allOf": [{"$ref": "common.schema.json#/$defs/document"}], **content}
    for each in ("next", "omitted"):
        content["properties"][each] = {"$ref": f"common.schema.json#/$defs/{each}"}
    return {**content, "additionalProperties": False}


def _class(named: str) -> type:
    module, _, name = named.partition(":")
    found: type = getattr(import_module(f"{__package__}.{module}"), name)
    return found


if __name__ == "__main__":
    for name in NAMES:
        file_of(name).write_text(text_of(name), encoding="utf-8")
