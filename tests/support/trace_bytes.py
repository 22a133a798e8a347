"""Traces as torch writes them, made by hand, and the process that is read from one. No file is touched."""

import hashlib
import json
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from dynamo_core.model import Process
from dynamo_core.recording.build import ProcessBuilder
from dynamo_core.recording.read import drop_invalid_fields
from dynamo_core.recording.trace_format import RecordParser

FRAME = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
NO_FRAME: Mapping[str, int] = {}


def record(head: Mapping[str, Any] | str, payload: str | None = None) -> bytes:
    """A record as torch writes it; a head that is text is taken as it is."""
    text = head if isinstance(head, str) else json.dumps(head)
    if payload is not None:
        digest = hashlib.md5(payload.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
        text = text[:-1] + f', "has_payload": "{digest}"}}'
    lines = f"V1120 19:08:30.938000 2350 torch/_dynamo/x.py:10] {text}"
    if payload is not None:
        lines += "".join(f"\n\t{line}" for line in payload.split("\n"))
    return (lines + "\n").encode("utf-8", "replace")


def artifact(name: str, payload: Any, ids: Mapping[str, int] = FRAME) -> bytes:
    """A record of this name; its payload is text, or JSON with lists behind the first line, as in ours."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    if isinstance(payload, dict):
        lists = {key: value for key, value in payload.items() if isinstance(value, list)}
        rest = {key: value for key, value in payload.items() if key not in lists}
        if lists and rest:
            text = f"{json.dumps(rest)[:-1]},\n{json.dumps(lists)[1:]}"
    return record({"artifact": {"name": name, "encoding": "json"}, **ids}, text)


def process_of(*records: bytes, contents: Container[str] = (), process: Process | None = None) -> Process:
    """What the reader makes of a stream with these records, damage counted as it counts it."""
    process = process or Process(Path("trace.log"))
    builder, parser = ProcessBuilder(process, contents), RecordParser()
    for found in (*parser.feed(b"".join(records)), parser.finish()):
        if found is not None:
            builder.add(found)
    builder.finish()
    drop_invalid_fields(process)
    process.health.damaged_records += parser.damaged
    return process
