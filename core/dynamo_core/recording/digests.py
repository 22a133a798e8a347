"""The digests of a folder's streams: those that ranks have left, brought up to date, or made by reading.

Reading many streams is parted among processes. A stream that cannot be read has none, and no other suffers.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from ..shared.names import DIGEST_PREFIX, DIGEST_SUFFIX, beside_stream
from ..shared.quick_dataclass import dataclass
from ..shared.rank_digest import LARGEST, RankDigest
from .plain_files import open_plain, read_plain
from .records import Damaged, Record, RecordParser

_CHUNK = 1 << 20  # bytes
_IN_ONE_PROCESS = 32  # streams to be read that are not worth a process
_AT_A_TIME = 16  # streams given to a process


@dataclass(frozen=True)
class DigestOfStream:
    """`from_records` bytes of the stream were read for it; `problem` says why there is none."""

    stream: Path
    digest: RankDigest | None
    from_records: int
    problem: str | None = None


def digests_of(streams: Sequence[Path], progress: Callable[[int, int], None]) -> list[DigestOfStream]:
    """One for each; `progress` is called with the number of streams done, and of all."""
    found: list[DigestOfStream] = []
    behind: list[Path] = []
    for stream in streams:
        kept = _kept(stream)
        if kept is not None and kept.bytes == _size(stream):
            found.append(DigestOfStream(stream, kept, 0))
            progress(len(found), len(streams))
        else:
            behind.append(stream)
    for each in _read_all(behind):
        found.append(each)
        progress(len(found), len(streams))
    return sorted(found, key=lambda each: each.stream.name)


def _read_all(streams: Sequence[Path]) -> Iterator[DigestOfStream]:
    """The digest of each stream, as soon as the stream is read."""
    if len(streams) <= _IN_ONE_PROCESS:
        yield from map(digest_by_reading, streams)
        return
    workers = max(1, min(len(os.sched_getaffinity(0)), 16))
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        rows = pool.map(_as_text, streams, chunksize=_AT_A_TIME)
        for stream, (text, size, problem) in zip(streams, rows, strict=True):
            yield DigestOfStream(stream, None if text is None else RankDigest.from_json(text), size, problem)


def _as_text(stream: Path) -> tuple[str | None, int, str | None]:
    read = digest_by_reading(stream)
    return None if read.digest is None else read.digest.to_json(), read.from_records, read.problem


def digest_by_reading(stream: Path) -> DigestOfStream:
    """The digest that lies beside the stream, with what the stream has behind it; or that of all of it."""
    kept = _kept(stream)
    if kept is not None and kept.bytes > _size(stream):  # another stream, or one that was cut
        kept = None
    digest = kept or RankDigest()
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
    if not parser.records and kept is None:
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


def _kept(stream: Path) -> RankDigest | None:
    try:
        text = read_plain(stream.with_name(beside_stream(stream.name, DIGEST_PREFIX, DIGEST_SUFFIX)), LARGEST)
        return RankDigest.from_json(text.decode("utf-8"))
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
