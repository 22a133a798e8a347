"""Opens the recording in a bundle (`dynamo bundle`), a zip file that may come from a stranger.

Only files with the names of a recording's are unpacked, to a temporary folder. The size of all of them, and
of the zip file's list of files, is bounded before anything is read.
"""

import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from ..shared.errors import DamagedRecording, NotARecording
from ..shared.safe_writing import open_private
from .plain_files import open_plain

FOLDER = "recording/"  # in the zip file
_NAME = re.compile(r"[\w.-]{1,200}\.(?:log|log\.gz|bin|json|txt|json\.gz)", re.ASCII)
_BEGIN, _END, _LARGE_END = b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x07"
_LENGTH_OF_END, _LONGEST_REMARK = 22, 1 << 16  # bytes
_LARGEST_LIST = 1 << 20  # bytes of the list of files: some 10,000 of them
_LARGEST = 4 << 30  # bytes that are unpacked in all
_MOST_GROWTH, _SMALL = 50, 256 << 20  # most bytes as a multiple of the bundle's size; always allowed
_CHUNK = 1 << 20


def is_bundle(path: Path) -> bool:
    """Whether a file has the name and the first bytes of a bundle; OSError where it cannot be read."""
    if path.suffix.lower() != ".zip" or not path.is_file():
        return False
    with open_plain(path.resolve()) as file:
        return file.read(len(_BEGIN)) == _BEGIN


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A folder with the recording of a bundle, until the context ends.

    NotARecording where there is none in it, DamagedRecording where it cannot be read or is larger than a
    recording ever is.
    """
    with TemporaryDirectory(prefix="dynamo_bundle_") as folder:
        try:
            with open_plain(path.resolve()) as file:
                _unpack(path, file, Path(folder))
        except (
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
            RuntimeError,
            EOFError,
            ValueError,
        ) as error:
            raise DamagedRecording(f"{path} is damaged, or no zip file of ours: {error}") from error
        except OSError as error:
            raise DamagedRecording(f"cannot read {path}: {error.strerror or error}") from error
        yield Path(folder)


def _unpack(path: Path, file: FileIO, folder: Path) -> None:
    size = os.fstat(file.fileno()).st_size
    _check_list(path, file, size)
    left = min(_LARGEST, max(_SMALL, _MOST_GROWTH * size))
    with zipfile.ZipFile(file) as archive:
        members = [member for member in archive.infolist() if member.filename.startswith(FOLDER)]
        names = [member.filename.removeprefix(FOLDER) for member in members]
        if not members:
            raise NotARecording(f"{path} is a zip file with no recording in it")
        wrong = next((name for name in names if not _NAME.fullmatch(name)), None)
        if wrong is not None or len({name.lower() for name in names}) < len(names):
            raise DamagedRecording(
                f"{path} holds files that no recording has: {(wrong or 'one name twice')[:100]!r}"
            )
        for name, member in zip(names, members, strict=True):
            with archive.open(member) as content:
                left = _copy(path, content, folder / name, left)


def _copy(path: Path, content: IO[bytes], target: Path, left: int) -> int:
    """Copy one file; returns how many bytes may still be unpacked."""
    with open(open_private(target), "wb") as file:
        while piece := content.read(_CHUNK):
            left -= len(piece)
            if left < 0:
                raise DamagedRecording(f"{path} unpacks to more than a recording ever is: it is not read")
            file.write(piece)
    return left


def _check_list(path: Path, file: FileIO, size: int) -> None:
    """Raise DamagedRecording if the list of files is too long: `zipfile` reads all of it into memory."""
    file.seek(max(0, size - _LENGTH_OF_END - _LONGEST_REMARK))
    end = file.read()
    at = end.rfind(_END)
    length = int.from_bytes(end[at + 12 : at + 16], "little") if at >= 0 else 0
    if length > _LARGEST_LIST or _LARGE_END in end[max(0, at - 20) : at]:
        raise DamagedRecording(f"{path} lists more files than a recording ever has: it is not read")
    file.seek(0)
