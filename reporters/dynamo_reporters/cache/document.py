"""`dynamo cache` as JSON: one declaration for the document and its schema, `schemas/cache.schema.json`."""

from typing import Any, Literal

from dynamo_core.analysis.caches.explained import CacheReport
from dynamo_core.model import Recording
from dynamo_core.shared.quick_dataclass import dataclass

from ..documents import json_value


@dataclass(frozen=True)
class CacheDocument:
    """What the caches said in a recording, and why."""

    schema: Literal["dynamo-cache"]
    version: Literal[1]
    recording: str
    is_partial: bool
    caches: CacheReport


def cache_document(report: CacheReport, recording: Recording) -> dict[str, Any]:
    """The document."""
    document: dict[str, Any] = json_value(
        CacheDocument("dynamo-cache", 1, str(recording.path), recording.is_partial, report)
    )
    return document
