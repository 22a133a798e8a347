"""Write a bundle: a zip file, byte for byte the same for the same content; on request without source."""

import gzip
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO

from ..recording.bundle_file import FOLDER
from ..recording.files import read_run_file
from ..recording.plain_files import is_plain_file, open_plain, read_plain
from ..shared.errors import DamagedRecording, os_errors_as
from ..shared.names import (
    CALLS_PREFIX,
    CALLS_SUFFIX,
    ENGINE_FAILURE_PREFIX,
    PROFILE_PREFIX,
    PYTHON_PROCESSES_FILE,
    RUN_FILE,
    STACK_PREFIX,
    STREAM_PREFIX,
    STREAM_SUFFIX,
)
from ..shared.quick_dataclass import dataclass
from ..shared.safe_writing import create_private, open_private
from .placeholders import Placeholders
from .records import Records
from .texts import Texts

_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time of a zip file
_OWNER_ONLY = 0o100600 << 16  # a regular file that only its owner can read and write
_CHUNK = 1 << 20


def write_archive(target: IO[bytes], pages: Mapping[str, bytes], recording: Iterable[Path]) -> None:
    """Write the pages, then the files of the recording. OSError where one cannot be read or written."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(pages.items()):
            _add(archive, name, BytesIO(content))
        for file in sorted(recording, key=lambda file: file.name):
            with open_plain(file.resolve()) as recorded:
                _add(archive, FOLDER + file.name, recorded)


def _add(archive: zipfile.ZipFile, name: str, content: BytesIO | FileIO) -> None:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, _OWNER_ONLY, 3
    with archive.open(info, "w", force_zip64=False) as member:
        while piece := content.read(_CHUNK):
            member.write(piece)


_LARGEST_UNPACKED = 4 << 30  # bytes of a packed stream
_SMALL = 64 << 20  # bytes; files other than streams are smaller
_LOGS = (".log", ".log.gz")
_NUMBERED_STREAM = re.compile(rf"{STREAM_PREFIX}(?:rank_\d+_)?\w{{1,40}}{re.escape(STREAM_SUFFIX)}", re.ASCII)
_COUNTERS = re.compile(rf"{CALLS_PREFIX}[\d_rank]+{re.escape(CALLS_SUFFIX)}")
# Keys of the run file that are not shared: how to run the program again.
_NOT_FOR_OTHERS = ("again",)


@dataclass(frozen=True)
class Replacements:
    """Originals of placeholders by kind (`{"file": {"file1": "train"}}`); counts of omitted records."""

    originals: Mapping[str, Mapping[str, str]]
    left_out: Mapping[str, int]


def files_of(recording: Path) -> list[Path]:
    """The regular files of a recording, sorted by name."""
    if not recording.is_dir():
        return [recording]
    found = sorted(recording.iterdir())
    ours = (
        RUN_FILE,
        PYTHON_PROCESSES_FILE,
        ENGINE_FAILURE_PREFIX,
        CALLS_PREFIX,
        STACK_PREFIX,
        PROFILE_PREFIX,
    )
    return [
        file
        for file in found
        if (file.name.endswith(_LOGS) or file.name.startswith(ours))
        and is_plain_file(file)
        and not file.name.endswith((".new", ".part"))
    ]


def write_without_source(recording: Path, folder: Path) -> Replacements:
    """Write the recording to `folder` with placeholders for what is the user's; return what was replaced.

    DamagedRecording where a file of it cannot be read.
    """
    placeholders = Placeholders()
    texts = Texts(placeholders)
    records = Records(texts)
    left_out: Counter[str] = Counter()
    for number, file in enumerate(files_of(recording), 1):
        with os_errors_as(DamagedRecording, f"cannot read {file}"):
            if file.name == RUN_FILE:
                _write_run_file(recording, folder, records)
            elif file.name.endswith(_LOGS) or file == recording:
                _write_stream(file, folder / _stream_name(file.name, number), records)
            elif not _copy(file, folder, texts):
                left_out[file.name] += 1
    counts = {name: count for name, count in (records.left_out + left_out).items() if count}
    return Replacements(placeholders.given(), counts)


def _stream_name(name: str, number: int) -> str:
    """The stream's new name; names that torch gave stay, as they have the rank."""
    plain = name.removesuffix(".gz")
    return plain if _NUMBERED_STREAM.fullmatch(plain) else f"{STREAM_PREFIX}{number}{STREAM_SUFFIX}"


def _write_stream(file: Path, target: Path, records: Records) -> None:
    with open(open_private(target), "wb") as written:
        for record in records.stream(_chunks(file)):
            written.write(record)


def _chunks(file: Path) -> Iterator[bytes]:
    left = _LARGEST_UNPACKED
    with open_plain(file.resolve()) as raw, gzip.open(raw) if file.suffix == ".gz" else raw as opened:
        try:
            while left > 0 and (data := opened.read(_CHUNK)):
                left -= len(data)
                yield data
        except EOFError:  # the file was cut off: what comes before is used
            return


def _write_run_file(recording: Path, folder: Path, records: Records) -> None:
    run = read_run_file(recording) or {}
    shared = {key: value for key, value in run.items() if key not in _NOT_FOR_OTHERS}
    content = {**records.our_content(RUN_FILE, shared), "format": run["format"], "version": run["version"]}
    create_private(folder / RUN_FILE, (json.dumps(content, indent=2) + "\n").encode())


def _copy(file: Path, folder: Path, texts: Texts) -> bool:
    """Copy a file of numbers, or the error of an engine that could not start; False for any other file."""
    content = read_plain(file, _SMALL)
    if file.name.startswith(ENGINE_FAILURE_PREFIX):
        content = texts.text(content.decode("utf-8", "replace")).encode()
    elif not (
        _COUNTERS.fullmatch(file.name)
        or (file.name == PYTHON_PROCESSES_FILE and not content.strip(b"0123456789 \n"))
    ):
        return False
    create_private(folder / file.name, content)
    return True
