"""Stores a recording for the tests, with other paths than those of the machine that it was made on.

    python tests/data/store.py RECORDING NAME OLD=NEW…

writes tests/data/NAME.tar.xz, in which each path OLD is NEW, and prints the absolute paths that are left.
A record's checksum is made anew; nothing else is touched, so that it reads as it was written.
"""

import gzip
import hashlib
import io
import re
import sys
import tarfile
from pathlib import Path

_RECORD = re.compile(rb"^(?=[VDIWEC]\d{4} )", re.MULTILINE)
_CHECKSUM = re.compile(rb'("has_payload": ")\w{32}"')
Paths = list[tuple[bytes, bytes]]  # the old one, and the new one
_PATH = re.compile(rb"(?<![\w.:/])/(?:\w[\w.+-]*/){2,3}")


def _replaced(content: bytes, paths: Paths) -> bytes:
    for old, new in paths:
        content = content.replace(old, new)
    return content


def _record_replaced(record: bytes, paths: Paths) -> bytes:
    changed = _replaced(record, paths)
    if changed == record:
        return record
    head, _, rest = changed.partition(b"\n")
    payload = b"\n".join(line.removeprefix(b"\t") for line in rest.removesuffix(b"\n").split(b"\n"))
    digest = hashlib.md5(payload, usedforsecurity=False).hexdigest().encode()
    return b"\n".join([_CHECKSUM.sub(rb"\g<1>" + digest + b'"', head), rest])


def with_other_paths(file: Path, paths: Paths) -> bytes:
    """What is in this file of a recording, with other paths; nothing else is touched."""
    content = file.read_bytes()
    if file.suffix == ".log":
        return b"".join(_record_replaced(record, paths) for record in _RECORD.split(content))
    if file.suffix == ".gz":
        return gzip.compress(_replaced(gzip.decompress(content), paths), mtime=0)
    return _replaced(content, paths) if file.suffix in (".json", ".txt") else content


def store(recording: Path, name: str, *replacements: str) -> None:
    """Pack it, the files in the order of their names."""
    paths = []
    for replacement in replacements:
        old, _, new = replacement.partition("=")
        paths.append((old.encode(), new.encode()))
    left: set[bytes] = set()
    with tarfile.open(Path(__file__).with_name(f"{name}.tar.xz"), "w:xz", preset=9) as archive:
        for file in sorted(file for file in recording.rglob("*") if file.is_file()):
            content = with_other_paths(file, paths)
            left |= set(_PATH.findall(gzip.decompress(content) if file.suffix == ".gz" else content))
            member = tarfile.TarInfo(f"{name}/{file.relative_to(recording)}")
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))
    print(name, *sorted(path.decode() for path in left), sep="\n  ")


if __name__ == "__main__":
    store(Path(sys.argv[1]), *sys.argv[2:])
