"""Reads the events of a profiler's trace (Chrome's JSON format) one at a time: a large one fits in memory.

Source: kineto's libkineto/src/output_json.cpp writes them; but the file may come from a stranger.
"""

import codecs
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .plain_files import open_plain
from .trace_format import Damaged

_CHUNK = 1 << 20  # bytes
_LARGEST_EVENT = 4 << 20  # characters
_LARGEST_TRACE = 1 << 30  # bytes, unpacked; a small .gz, made to do harm, could unpack to any size
_LONGEST_HEAD = 16 << 20  # characters before the events; the devices and the program's own metadata
_BEGIN = re.compile(r'"traceEvents"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


def trace_events(path: Path) -> Iterator[dict[str, Any]]:
    """The events as JSON objects; Damaged where the file stops being a trace, OSError if it is unreadable."""
    texts = _text(path)
    text = ""
    while (found := _BEGIN.search(text)) is None:
        more = next(texts, None)
        if more is None or len(text) > _LONGEST_HEAD:
            raise Damaged("no trace events in it")
        text += more
    decode = json.JSONDecoder(strict=False).raw_decode
    position = found.end()
    while True:
        between = _BETWEEN.match(text, position)
        assert between is not None  # it matches nothing, too
        start = between.end()
        if text.startswith("]", start):
            return
        try:
            event, position = decode(text, start)
        except ValueError as error:
            more = next(texts, None)
            if more is None or len(text) - start > _LARGEST_EVENT:
                raise Damaged("it ends or breaks within its events") from error
            text, position = text[start:] + more, 0
            continue
        except RecursionError as error:
            raise Damaged("an event is nested too deeply") from error
        if isinstance(event, dict):
            yield event


def _text(path: Path) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return (decoder.decode(piece) for piece in _bytes(path))


def _bytes(path: Path) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS + 16) if path.suffix == ".gz" else None
    size = 0
    with open_plain(path) as file:
        while packed := file.read(_CHUNK):
            while packed:
                try:
                    data = packed if unpacker is None else unpacker.decompress(packed, _CHUNK)
                except zlib.error as error:
                    raise Damaged(f"it is not what gzip wrote: {error}") from error
                packed = b"" if unpacker is None else unpacker.unconsumed_tail
                size += len(data)
                if size > _LARGEST_TRACE:
                    raise Damaged(f"it holds more than {_LARGEST_TRACE >> 30} GB")
                yield data
