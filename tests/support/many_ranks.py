"""Makes jobs of many ranks of the records of a stored recording of two, which differ in one collective.

One rank of all has the second one's records. Beside them lie a broken stream, an empty one and a foreign one.
"""

import os
import re
import tarfile
from hashlib import md5
from pathlib import Path

from dynamo_core.recording.ranks import digest_by_reading
from dynamo_core.shared.names import CALLS_PREFIX, DIGEST_PREFIX, STREAM_PREFIX

_STORED = Path(__file__).resolve().parents[1] / "data" / "ranks_in_another_order.tar.xz"
OTHER = 7  # the rank that differs
_RANK = re.compile(rb'^([VDIWEC]\d{4} [^\n]*"rank": )\d+', re.MULTILINE)


def recorded(folder: Path) -> list[tuple[bytes, bytes]]:
    """Stream and counters of each of the two ranks."""
    with tarfile.open(_STORED) as archive:
        archive.extractall(folder, filter="data")
    (made,) = folder.iterdir()
    return streams_of(made)


def streams_of(recording: Path) -> list[tuple[bytes, bytes]]:
    """The same of any recording of two ranks."""
    streams = sorted(recording.glob(f"{STREAM_PREFIX}rank_*"))
    return [(each.read_bytes(), _calls_of(each).read_bytes()) for each in streams]


def _as_rank(content: bytes, rank: int, calls_file: str) -> bytes:
    """The stream with another rank, and its first record, which names the counters, with its checksum."""
    begin = content.index(b"\n\t") + 2
    end = content.index(b"\nV", begin)
    payload = re.sub(
        rb'"calls_file": "[^"]*"', b'"calls_file": "%s"' % calls_file.encode(), content[begin:end]
    )
    checksum = md5(payload.replace(b"\n\t", b"\n"), usedforsecurity=False).hexdigest().encode()
    first = re.sub(rb'("has_payload": ")\w+', rb"\g<1>" + checksum, content[:begin])
    return first + payload + _RANK.sub(rb"\g<1>%d" % rank, content[end:])


def _calls_of(stream: Path) -> Path:
    return stream.with_name(stream.name.replace(STREAM_PREFIX, CALLS_PREFIX).replace(".log", ".bin"))


def make_job(folder: Path, ranks: int, two: list[tuple[bytes, bytes]], *, with_digests: bool) -> Path:
    """A folder of so many ranks. With digests the streams that nobody needs to open are one file, linked."""
    folder.mkdir()
    kinds: dict[int, tuple[Path, str]] = {}
    for rank in range(ranks):
        kind = int(rank == OTHER)
        stream = folder / f"{STREAM_PREFIX}rank_{rank}_1_{rank}_0.log"
        content, calls = two[kind]
        if with_digests and kind in kinds:
            first, digest = kinds[kind]
            os.link(first, stream)
            os.link(_calls_of(first), _calls_of(stream))
        else:
            stream.write_bytes(_as_rank(content, rank, _calls_of(stream).name))
            _calls_of(stream).write_bytes(calls)
            made = digest_by_reading(stream).digest if with_digests else None
            digest = "" if made is None else made.to_json()
            kinds[kind] = stream, digest
        if with_digests:
            own = re.sub(r'"rank": \d+', f'"rank": {rank}', digest)
            (folder / stream.name.replace(STREAM_PREFIX, DIGEST_PREFIX).replace(".log", ".json")).write_text(
                own
            )
    (folder / f"{STREAM_PREFIX}broken.log").write_bytes(os.urandom(1 << 16))
    (folder / f"{STREAM_PREFIX}empty.log").touch()
    (folder / f"{STREAM_PREFIX}foreign.log").write_text("a log of something else\n" * 1000)
    return folder
