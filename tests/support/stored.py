"""The stored recordings of tests/data/ (see store.py there), unpacked when they are first asked for."""

import functools
import hashlib
import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from dynamo_core.shared import names

FAILURE = "AttributeError: torch has it no more"
DATA = Path(__file__).resolve().parents[1] / "data"
NAMES = sorted(file.name.removesuffix(".tar.xz") for file in DATA.glob("*.tar.xz"))
_RECORD = re.compile(r"^(?=V\d{4} )", re.MULTILINE)
_CHECKSUM = re.compile(r'(?<="has_payload": ")\w{32}')


@functools.cache
def stored(name: str) -> Path:
    """The folder that `dynamo run` wrote. Nothing may be changed in it: many tests read it."""
    folder = _folder() / name
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            file = folder / Path(member.name).relative_to(name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.read())
    return folder


@functools.cache
def plain(name: str) -> Path:
    """The same as a plain TORCH_TRACE folder: torch's own records, and nothing of ours."""
    folder = _folder() / f"plain_{name}"
    folder.mkdir()
    for stream in stored(name).glob("*.log"):
        records = _RECORD.split(stream.read_text(encoding="utf-8"))
        torchs = "".join(record for record in records if " dynamo_core/capture:" not in record)
        (folder / stream.name).write_text(torchs, encoding="utf-8")
    return folder


def edited(name: str, folder: Path, edit: Callable[[str, str], str]) -> Path:
    """A copy of a stored recording; each record has the payload that `edit` makes of its head and payload.

    An empty payload takes the record out. Checksums are made anew, so that it reads as if it was written so.
    """
    copy = folder / name
    shutil.copytree(stored(name), copy)
    for stream in copy.glob("*.log"):
        records = _RECORD.split(stream.read_text(encoding="utf-8"))
        stream.write_text("".join(_edited(record, edit) for record in records), encoding="utf-8")
    return copy


def with_failed_probe(name: str, probe: str, records: tuple[str, ...], folder: Path) -> Path:
    """A copy of a stored recording as a probe leaves it that has failed: without what it would have written.

    `records` are the names of those.
    """
    copy = folder / name
    shutil.copytree(stored(name), copy)
    for stream in copy.glob("*.log"):
        first, *others = _RECORD.split(stream.read_text(encoding="utf-8"))[1:]
        failed = first.partition("\n")[0].replace(names.PROCESS_START, names.PROBE_FAILED)
        told = json.dumps({"probe": probe, "error": FAILURE, "at": None, "version": 1})
        lost = [f'"name": "{each}"' for each in records]
        kept = [record for record in others if not any(each in record.partition("\n")[0] for each in lost)]
        said = f"{_CHECKSUM.sub(_digest(told), failed)}\n\t{told}\n"
        stream.write_text("".join([first, said, *kept]), encoding="utf-8")
    return copy


def _digest(payload: str) -> str:
    return hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()


def _edited(record: str, edit: Callable[[str, str], str]) -> str:
    head, _, rest = record.partition("\n")
    payload = "\n".join(line.removeprefix("\t") for line in rest.removesuffix("\n").split("\n"))
    changed = edit(head, payload)
    if changed == payload:
        return record
    if not changed:
        return ""
    indented = "".join(f"\t{line}\n" for line in changed.split("\n"))
    return f"{_CHECKSUM.sub(_digest(changed), head)}\n{indented}"


@functools.cache
def _folder() -> Path:
    own = tempfile.TemporaryDirectory(prefix="dynamo_stored_")
    _kept.append(own)
    return Path(own.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []  # each goes with the process
