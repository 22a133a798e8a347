"""Write a bundle: a zip file that is the same, byte for byte, for the same content."""

import zipfile
from collections.abc import Iterable, Mapping
from io import BytesIO, FileIO
from pathlib import Path
from typing import IO

from ..recording.bundle_file import FOLDER
from ..recording.plain_files import open_plain

_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can tell
_ONLY_OURS = 0o100600 << 16
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
    info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, _ONLY_OURS, 3
    with archive.open(info, "w", force_zip64=False) as member:
        while piece := content.read(_CHUNK):
            member.write(piece)
