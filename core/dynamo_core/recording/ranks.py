"""Digests of a job's streams, to find equivalent ranks, and the dumps of torch's flight recorder.

A digest is the one that the rank wrote, brought up to date, or is made by reading the stream. Several
processes read many streams. A stream that cannot be read has no digest; the others are not affected.
"""

import json
import os
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from ..model import CalledCollective, Place
from ..shared.names import DIGEST_PREFIX, DIGEST_SUFFIX, beside_stream
from ..shared.quick_dataclass import dataclass
from ..shared.rank_digest import LARGEST, RankDigest
from ..shared.text import printable
from .plain_files import open_plain, read_plain, size_of
from .trace_format import Damaged, Record, RecordParser

_CHUNK = 1 << 20  # bytes
_IN_ONE_PROCESS = 32  # streams: so many are read without a process pool
_AT_A_TIME = 16  # streams in a task of the pool


@dataclass(frozen=True)
class DigestOfStream:
    """A stream's digest, or the `problem` why there is none; `from_records` bytes were read for it."""

    stream: Path
    digest: RankDigest | None
    from_records: int
    problem: str | None = None


def digests_of(streams: Sequence[Path], progress: Callable[[int, int], None]) -> list[DigestOfStream]:
    """The digest of each stream; `progress` is called with the number of streams done, and of all."""
    found: list[DigestOfStream] = []
    behind: list[Path] = []
    for stream in streams:
        stored = _stored(stream)
        if stored is not None and stored.bytes == size_of(stream):
            found.append(DigestOfStream(stream, stored, 0))
            progress(len(found), len(streams))
        else:
            behind.append(stream)
    for digest in _read_all(behind):
        found.append(digest)
        progress(len(found), len(streams))
    return sorted(found, key=lambda each: each.stream.name)


def _read_all(streams: Sequence[Path]) -> Iterator[DigestOfStream]:
    """The digest of each stream, as soon as the stream is read."""
    if len(streams) <= _IN_ONE_PROCESS:
        yield from map(digest_by_reading, streams)
        return
    from concurrent.futures import ProcessPoolExecutor  # 30 ms, which few recordings need
    from multiprocessing import get_context

    workers = max(1, min(len(os.sched_getaffinity(0)), 16))
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        rows = pool.map(_as_text, streams, chunksize=_AT_A_TIME)
        for stream, (text, size, problem) in zip(streams, rows, strict=True):
            yield DigestOfStream(stream, None if text is None else RankDigest.from_json(text), size, problem)


def _as_text(stream: Path) -> tuple[str | None, int, str | None]:
    read = digest_by_reading(stream)
    return None if read.digest is None else read.digest.to_json(), read.from_records, read.problem


def digest_by_reading(stream: Path) -> DigestOfStream:
    """The digest stored beside the stream, completed with the records after it; else of the whole stream."""
    stored = _stored(stream)
    if stored is not None and stored.bytes > size_of(stream):  # of another stream, or of one that was cut
        stored = None
    digest = stored or RankDigest()
    parser = RecordParser()
    at = begun_at = digest.bytes
    try:
        with open_plain(stream) as file:
            file.seek(at)
            while data := file.read(_CHUNK):
                at += len(data)
                for record in parser.feed(data):
                    _add(digest, record)
        last = parser.finish()
        if last is not None:
            _add(digest, last)
    except OSError as error:
        return DigestOfStream(stream, None, at - begun_at, error.strerror or str(error))
    if not parser.records and stored is None:
        why = "it has no record of a torch trace in it" if at else "it is empty"
        return DigestOfStream(stream, None, at, why)
    digest.bytes = at
    return DigestOfStream(stream, digest, at - begun_at)


def _add(digest: RankDigest, record: Record) -> None:
    name = record.artifact_name or record.kind
    if not digest.is_wanted(name):
        return
    try:
        digest.add(name, record.metadata, record.payload)
    except (Damaged, KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        pass  # a reader of the stream counts it as damage


def _stored(stream: Path) -> RankDigest | None:
    try:
        text = read_plain(stream.with_name(beside_stream(stream.name, DIGEST_PREFIX, DIGEST_SUFFIX)), LARGEST)
        return RankDigest.from_json(text.decode("utf-8"))
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


# The dumps of torch's flight recorder in a recording's folder, one for each rank.
#
# Source: torch/distributed/flight_recorder/components (loader.py: a prefix and the rank make a file's name;
# types.py: the keys), 2.13; run with the dumps that Gloo's recorder gives there (`_dump_fr_trace`). A dump is
# a pickle of plain values: a pickle with anything else, which may come from a stranger, is not read.
FLIGHT_RECORDER = "flight recorder"  # in `contents`: its dumps are wanted
_NAME = re.compile(r"(?!dynamo_)[\w-]{1,100}_(\d{1,7})(?:\.json)?", re.ASCII)
_LARGEST = 64 << 20  # bytes
_MOST_SIZES = 16  # of a tensor, and tensors of a call
# Torch's own frames, the innermost ones of every stack.
_TORCH_FRAME = re.compile(r"/torch/(?:distributed|_dynamo|_ops|utils|nn)\b")


class _PlainValues(pickle.Unpickler):
    """Unpickles lists, dictionaries, texts and numbers; imports nothing and calls nothing."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def flight_recorder_dumps(folder: Path) -> tuple[dict[int, tuple[CalledCollective, ...]], list[str]]:
    """The calls of each rank that has a dump, and a sentence for each dump that cannot be read."""
    found: dict[int, tuple[CalledCollective, ...]] = {}
    problems = []
    for file in sorted(folder.iterdir()):
        named = _NAME.fullmatch(file.name)
        if named is None:
            continue
        try:
            found[int(named[1])] = tuple(_calls(_content(file)))
        except Exception as error:  # a pickle may fail in any way
            problems.append(printable(f"{file.name}, a flight recorder's dump, cannot be read: {error}"))
    return found, problems


def _content(file: Path) -> Mapping[str, Any]:
    data = read_plain(file, _LARGEST)
    content = json.loads(data) if data[:1] in b"{[" else _PlainValues(BytesIO(data)).load()
    if not isinstance(content, dict) or not isinstance(content.get("entries"), list):
        raise ValueError("it has no entries")
    return content


def _calls(content: Mapping[str, Any]) -> Iterator[CalledCollective]:
    for entry in content["entries"]:
        number = entry["collective_seq_id"]
        if entry.get("is_p2p") or not isinstance(number, int):
            continue
        group = entry["process_group"]
        yield CalledCollective(
            group=printable(str(group[0])),
            number=number,
            name=printable(str(entry["profiling_name"]).rpartition(":")[2]),
            value=_value(entry.get("input_dtypes") or (), entry.get("input_sizes") or ()),
            place=_place(entry.get("frames") or ()),
            is_done=entry.get("retired") is True or entry.get("state") == "completed",
        )


def _value(dtypes: Any, sizes: Any) -> str:
    tensors = [
        f"{printable(str(dtype)).lower()}[{', '.join(str(int(size)) for size in shape[:_MOST_SIZES])}]"
        for dtype, shape in zip(dtypes[:_MOST_SIZES], sizes[:_MOST_SIZES], strict=False)
    ]
    return ", ".join(tensors)


def _place(frames: Any) -> Place | None:
    for frame in frames[:100]:
        file, line = str(frame["filename"]), frame["line"]
        if isinstance(line, int) and file.startswith("/") and not _TORCH_FRAME.search(file):
            return Place(printable(file), line)
    return None
