"""Schemas that are made of the dataclasses of their documents; `./dev schemas` writes them to `schemas/`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dynamo_core.analysis.ranks import Ranks

from .autotune_document import Autotuned
from .backends import BackendDocument, BackendsDocument, BackendValue
from .bench_document import BenchDocument
from .breaks import Breaks
from .bytecode.document import Bytecodes, Step
from .cache import CacheDocument, StoreDocument
from .check import CheckDocument
from .diff import DiffDocument, LockedDocument
from .documents import json_schema, object_schema
from .explain.document import Explained
from .export import ExportDocument
from .fix import FixDocument
from .graphs.document import Graphs, GraphsAndProgram
from .guards.document import Guards
from .ops import OpsBody
from .parts.after_freeze import FreezeDocument
from .parts.sections import Failure
from .parts.training_document import Pair, PairOperators, PairTotals
from .profile.compile_document import PhaseOfCompile
from .profile.document import PartOfWallTime, Profile
from .recompiles import Recompiles
from .suite import SuiteDocument

# By name: the title, and what a document is made of.
_DOCUMENTS: Mapping[str, tuple[str, type]] = {
    "backend": ("dynamo backends NAME --format json", BackendDocument),
    "backends": ("dynamo backends --format json", BackendsDocument),
    "bench": ("dynamo bench --format json", BenchDocument),
    "cache": ("dynamo cache --format json", CacheDocument),
    "cache-store": ("dynamo cache --store --format json", StoreDocument),
    "check": ("dynamo check --format json", CheckDocument),
    "diff": ("dynamo diff --format json", DiffDocument),
    "diff-locked": ("dynamo diff --format json of lock files", LockedDocument),
    "export": ("dynamo export --format json", ExportDocument),
    "fix": ("dynamo fix --format json", FixDocument),
    "suite": ("dynamo bench --suite --format json", SuiteDocument),
}
# The same for reports (`report.py`): their version, and what they have beside the fields of every report.
_REPORTS: Mapping[str, tuple[str, int, type]] = {
    "autotune": ("dynamo autotune --format json", 2, Autotuned),
    "breaks": ("dynamo breaks --format json", 1, Breaks),
    "explain": ("dynamo explain --format json", 3, Explained),
    "bytecode": ("dynamo bytecode --format json", 2, Bytecodes),
    "graphs": ("dynamo graphs --format json", 2, Graphs),
    "guards": ("dynamo guards --format json", 1, Guards),
    "ops": ("dynamo ops --format json", 1, OpsBody),
    "profile": ("dynamo profile --format json", 3, Profile),
    "recompiles": ("dynamo recompiles --format json", 2, Recompiles),
    "ranks": ("dynamo ranks --format json", 1, Ranks),
}
# What an option adds to a report: fields that are only there with it, after the report's own.
_WITH_OPTIONS: Mapping[str, type] = {"graphs": GraphsAndProgram}
_COMMON = "common"  # what several of them hold; the rest of that file is written by hand
_IN_COMMON = (
    BackendValue,
    Failure,
    FreezeDocument,
    Pair,
    PairOperators,
    PairTotals,
    PartOfWallTime,
    PhaseOfCompile,
    Step,
)
NAMES = (*_DOCUMENTS, *_REPORTS, _COMMON)
FOLDER = Path(__file__).with_name("schemas")


def text_of(name: str) -> str:
    """What `schemas/NAME.schema.json` holds."""
    if name == _COMMON:
        return _as_text(_common())
    if name in _DOCUMENTS:
        title, declared = _DOCUMENTS[name]
        content = json_schema(declared)
    else:
        title, version, declared = _REPORTS[name]
        content = _of_report(name, version, declared)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{name}.schema.json",
        "title": title,
    }
    return _as_text(head | content)


def _common() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / f"{_COMMON}.schema.json").read_text(encoding="utf-8"))
    content["$defs"] |= {declared.in_common: object_schema(declared) for declared in _IN_COMMON}
    return content


def _as_text(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _of_report(name: str, version: int, declared: type) -> dict[str, Any]:
    body = json_schema(declared)
    whole = json_schema(_WITH_OPTIONS.get(name, declared))
    return {
        "allOf": [{"$ref": "common.schema.json#/$defs/document"}],
        "type": "object",
        "description": body["description"],
        "required": ["schema", "version", *body["required"]],
        "properties": {
            "schema": {"const": f"dynamo-{name}"},
            "version": {"const": version},
            **whole["properties"],
        },
    }


if __name__ == "__main__":
    for name in NAMES:
        (FOLDER / f"{name}.schema.json").write_text(text_of(name), encoding="utf-8")
