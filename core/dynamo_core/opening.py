"""Opens the recording of a job with many ranks, and lists the recordings in a folder.

Ten thousand streams cannot be held in memory, and most are equivalent. So one stream of each group of ranks
with equal digests is read, and represents the group; only the compile time, and since when a call has been
running, are each rank's own.
"""

import os
from collections.abc import Callable, Container, Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .analysis.ranks.members import Launch, select_ranks
from .analysis.summary import Summary, summarize
from .analysis.words import number
from .model import EquivalentRank, Process, Recording, Run
from .recording import files
from .recording.calls import last_stack, running_calls
from .recording.files import is_in_use
from .recording.ranks import DigestOfStream, digests_of, flight_recorder_dumps
from .recording.read import read, run_of, streams_of
from .recording.remote import not_arrived, url_of
from .shared.errors import DynamoError
from .shared.names import CALLS_PREFIX, CALLS_SUFFIX, beside_stream
from .shared.quick_dataclass import dataclass

FEW = 16  # streams: up to so many, all are read
_MOST_OPENED = 256

Progress = Callable[[int, int], None]


def read_ranks(
    path: Path, contents: Container[str], progress: Progress | None = None, few: int = FEW
) -> Recording:
    """The recording at `path`; of many streams, with one process for each group of equivalent ranks."""
    streams = streams_of(path) if path.is_dir() else []
    if len(streams) <= few or any(stream.suffix == ".gz" for stream in streams):
        return read(path, contents, progress)
    digests = digests_of(streams, progress or (lambda done, total: None))
    readable = [digest for digest in digests if digest.digest is not None]
    chosen = select_ranks([_launch(digest) for digest in readable])
    groups: dict[Hashable, list[tuple[int, DigestOfStream, int | None]]] = {}
    for rank, position in chosen.ranks.items():
        key, since = _group_key(readable[position])
        groups.setdefault(key, []).append((rank, readable[position], since))
    if not groups:
        return read(path, contents, progress)
    opened = sorted(groups.values(), key=lambda members: -len(members))
    left_out = [*chosen.left_out]
    if len(opened) > _MOST_OPENED:
        ranks = sum(len(members) for members in opened[_MOST_OPENED:])
        left_out.append(f"{number(ranks, 'rank')} that differ in still other ways")
    processes = []
    unreadable = len(digests) - len(readable)
    for members in opened[:_MOST_OPENED]:
        process = _representative(members, contents)
        if process is None:
            unreadable += len(members)
        else:
            processes.append(process)
    if unreadable:
        left_out.append(f"{number(unreadable, 'stream')} in which no record can be read")
    called, unread = flight_recorder_dumps(path)
    return Recording(
        path=path,
        run=run_of(path),
        processes=processes,
        python_processes=None,
        engine_failures=[],
        left_out=(*left_out, *unread),
        not_arrived=tuple(not_arrived(path)),
        called=called,
        url=url_of(path),
        is_running=is_in_use(path),
    )


def _group_key(rank: DigestOfStream) -> tuple[Hashable, int | None]:
    """A key that is equal for equivalent ranks, and since when a call of this rank has been running."""
    digest = rank.digest
    if digest is None or digest.ended:
        return (None if digest is None else digest.key()), None
    running = running_calls(_calls_file(rank.stream))
    key = digest.key(), tuple(sorted(running)), last_stack(rank.stream)
    return key, max(running.values(), default=None)


def _representative(
    members: Sequence[tuple[int, DigestOfStream, int | None]], contents: Container[str]
) -> Process | None:
    """The process of the first rank that can be read, which represents all of the group."""
    for rank, own, _ in members:
        try:
            (process,) = read(own.stream, contents).processes
        except (DynamoError, ValueError):
            continue
        process.rank = rank
        others = [
            EquivalentRank(other, row.digest.compile_seconds if row.digest is not None else None, since)
            for other, row, since in members
            if other != rank
        ]
        return replace(process, alike=tuple(others))
    return None


def _launch(rank: DigestOfStream) -> Launch:
    known: dict[str, Any] = rank.digest.launch if rank.digest is not None else {}
    return Launch(
        known.get("job"),
        tuple(known.get("attempt") or ()),
        known.get("rank"),
        known.get("rank_unsure") or 0,
        known.get("host"),
        known.get("ppid"),
        known.get("started_ns") or 0,
        known.get("forked") is True,
    )


def _calls_file(stream: Path) -> Path:
    return stream.with_name(beside_stream(stream.name, CALLS_PREFIX, CALLS_SUFFIX))


_LARGEST = 64 << 20  # bytes; a larger recording has no summary in a list, which would take seconds


@dataclass(frozen=True)
class Listed:
    """A recording in a list. `size` is in bytes; None where it is not known.

    `summary` is None where the recording is large or cannot be read; `problem` says why it cannot.
    `is_newest` marks the recording that a report uses when none is named.
    """

    path: Path
    run: Run | None
    started_ns: int | None
    size: int | None
    summary: Summary | None
    is_running: bool
    is_newest: bool
    problem: str | None = None


def listed(recordings: Sequence[Path]) -> list[Listed]:
    """The recordings with size, summary and state; the last one that can be read is the newest."""
    found = [_listed(path) for path in recordings]
    newest = next((each.path for each in reversed(found) if each.problem is None), None)
    return [_marked(each, each.path == newest) for each in found]


def _listed(path: Path) -> Listed:
    size = _size(path)
    try:
        run = files.read_run_file(path) or {}
        started_ns = int(run["started_ns"])
        summary = summarize(read(path)) if size is not None and size <= _LARGEST else None
        return Listed(path, Run.of(run), started_ns, size, summary, is_in_use(path), False)
    except (DynamoError, OSError, KeyError, TypeError, ValueError) as error:
        return Listed(path, None, None, size, None, False, False, str(error))


def _marked(recording: Listed, is_newest: bool) -> Listed:
    return Listed(**{**vars(recording), "is_newest": is_newest})


def _size(folder: Path) -> int | None:
    """The bytes of the files in a folder, links not followed; None where they cannot be looked at."""
    try:
        with os.scandir(folder) as found:
            return sum(file.stat(follow_symlinks=False).st_size for file in found)
    except OSError:
        return None
