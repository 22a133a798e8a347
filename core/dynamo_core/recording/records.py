"""Part a structured trace into its records, whoever wrote it.

A record is a line `V1120 19:08:30.938000 2350 torch/_dynamo/x.py:303] {JSON}` and its payload, lines that
begin with a tab. Source: torch/_logging/_internal.py (TorchLogsFormatter.format, trace_structured).
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..untrusted import printable, printable_values

_PREFIX = re.compile(rb"[VDIWEC](\d{4} \d\d:\d\d:\d\d\.\d+) +(\d+) +(?:[^\n\]]*?):(\d+)\] (?=\{)", re.ASCII)
_RECORD_START = re.compile(rb"^[VDIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ ", re.ASCII | re.MULTILINE)
_KIND = re.compile(rb'\{"(\w+)"', re.ASCII)


@dataclass(slots=True)
class Record:
    """One record. `payload` is the text without its indentation, or None; it is checked when asked for."""

    kind: str
    metadata: dict[str, Any]
    time: str
    raw_payload: bytes | None

    @property
    def artifact_name(self) -> str | None:
        """The name of an `artifact` record."""
        content = self.metadata.get("artifact")
        return content.get("name") if isinstance(content, dict) else None

    def payload(self) -> str | None:
        """The payload; Damaged if it is not what was written."""
        if self.raw_payload is None:
            return None
        text = self.raw_payload.removeprefix(b"\t").removesuffix(b"\n").replace(b"\n\t", b"\n")
        if hashlib.md5(text, usedforsecurity=False).hexdigest() != self.metadata["has_payload"]:
            raise Damaged("payload differs from its checksum")
        return printable(text.decode("utf-8", "replace"))

    def json_payload(self) -> Any:
        """The payload as JSON; Damaged if it is none."""
        try:
            return printable_values(json.loads(self.payload() or "null"))
        except (ValueError, RecursionError) as error:
            raise Damaged(f"payload is not JSON: {error}") from error


class Damaged(Exception):
    """A record, or a stretch of bytes where one should be, cannot be read."""


class RecordParser:
    """Takes the bytes of a stream as they come and gives the records that are complete.

    `damaged` counts the stretches that are no record, `starts` the places where a record seems to begin.
    """

    def __init__(self) -> None:
        self._rest = b""
        self.damaged = 0
        self.bytes_read = 0
        self.starts = 0
        self.records = 0

    def feed(self, data: bytes) -> Iterator[Record]:
        """The records that `data` completes. The last one waits for what follows, unless it is whole."""
        self.bytes_read += len(data)
        data = self._rest + data
        starts = [match.start() for match in _RECORD_START.finditer(data)]
        self.starts += len(starts)
        self._rest = b""
        if not starts:
            if data and not data.endswith(b"\n"):
                self._rest = data
            elif data.strip():
                self.damaged += 1
            return
        if starts[0] and data[: starts[0]].strip():
            self.damaged += 1
        for start, end in pairwise(starts):
            yield from self._record(data[start:end])
        last = data[starts[-1] :]
        if _is_whole(last):
            yield from self._record(last)
        else:
            self._rest = last

    def finish(self) -> Iterator[Record]:
        """What is left when the stream has ended: a last record that was cut is damage."""
        rest, self._rest = self._rest, b""
        if not rest:
            return
        if rest.endswith(b"\n") or _is_whole(rest + b"\n"):
            yield from self._record(rest)
        else:
            self.damaged += 1

    def _record(self, data: bytes) -> Iterator[Record]:
        first_line, _, payload = data.partition(b"\n")
        prefix = _PREFIX.match(first_line)
        kind = _KIND.match(first_line, prefix.end()) if prefix else None
        if prefix is None or kind is None:
            self.damaged += 1
            return
        try:
            metadata = printable_values(json.loads(first_line[prefix.end() :]))
        except (ValueError, RecursionError):
            self.damaged += 1
            return
        has_payload = "has_payload" in metadata
        if payload and not has_payload:
            self.damaged += 1  # the record itself is whole; something foreign follows it
        self.records += 1
        yield Record(
            kind[1].decode("ascii"), metadata, prefix[1].decode("ascii"), payload if has_payload else None
        )


def _is_whole(data: bytes) -> bool:
    """Whether the last record in sight needs nothing more to come."""
    if not data.endswith(b"\n"):
        return False
    first_line, _, payload = data.partition(b"\n")
    if b'"has_payload": "' not in first_line:
        return True
    digest = first_line.rpartition(b'"has_payload": "')[2][:32]
    text = payload.removeprefix(b"\t").removesuffix(b"\n").replace(b"\n\t", b"\n")
    return hashlib.md5(text, usedforsecurity=False).hexdigest().encode() == digest
