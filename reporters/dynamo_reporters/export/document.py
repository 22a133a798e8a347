"""`dynamo export` as JSON: one declaration for the document and its schema, `schemas/export.schema.json`."""

from typing import Any, Literal

from dynamo_core.exports.in_trace import ExportInTrace
from dynamo_core.exports.modules import Exports, ModuleExport
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class ExportDocument:
    """The modules that a program called, in the order of their first calls, and what exporting them gave.

    `left_out` modules were not tried, and `why_left_out` says why; null where that was not recorded.
    `problem` is an error of dynamo's own, for which calls were not looked at. Of a trace that torch wrote
    there are no modules: `traced` has its calls of torch.export.
    """

    schema: Literal["dynamo-export"]
    version: Literal[2]
    recording: str
    modules: tuple[ModuleExport, ...]
    left_out: int | None
    why_left_out: str | None
    problem: str | None
    traced: tuple[ExportInTrace, ...]


def export_document(exports: Exports, recording: str) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json_value(
        ExportDocument(
            "dynamo-export",
            2,
            recording,
            exports.modules,
            exports.left_out,
            exports.why_left_out,
            exports.problem,
            exports.traced,
        )
    )
    return document
