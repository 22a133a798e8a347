"""Recordings at a URL: download one to read it, and say what was not uploaded.

The file systems are fsspec's, which is installed with torch; s3:// and gs:// need s3fs and gcsfs.
"""

import atexit
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from ..shared.errors import CannotRecord, DamagedRecording, NoRecording
from ..shared.launchers import JOB_IN_PATH
from ..shared.names import RUN_FILE, STREAM_PREFIX, UPLOAD_LIST_PREFIX
from ..shared.text import printable
from .plain_files import size_of

_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
_HINT = "pip install 'dynamo-cli[remote]', and s3fs for s3://, gcsfs for gs://"
_AT_ONCE = 64  # files in one request
_PLAIN_NAME = re.compile(r"[\w.-]{1,255}")

Progress = Callable[[int, int], None]

_URLS: dict[Path, str] = {}  # by the copies that were made of them


def is_url(text: str) -> bool:
    """Whether a text is a URL, and not a path."""
    return _URL.match(text) is not None


def check_url(url: str) -> None:
    """Raise CannotRecord if there is no file system for the URL; whether it is writable is not tried."""
    try:
        _file_system(url.replace(JOB_IN_PATH, "job"))
    except NoRecording as error:
        raise CannotRecord(str(error).replace("cannot read", "cannot record to", 1)) from error


def fetched(url: str, progress: Progress | None = None) -> Path:
    """Download the recording at a URL, of several jobs the newest; the copy is removed at exit."""
    files, target = _file_system(url)
    try:
        names = _names(files, target)
        if names is not None and not any(map(_is_part, names)):
            target, names = _newest_job(files, url, target)
            url = f"{url.rstrip('/')}/{PurePosixPath(target).name}"
        if names is None:
            raise NoRecording(f"no such recording: {url}")
        folder = Path(tempfile.mkdtemp(prefix="dynamo-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        wanted = [name for name in names if _PLAIN_NAME.fullmatch(name)]
        copy = folder / (PurePosixPath(target).name or "recording")
        copy.mkdir()
        for begin in range(0, len(wanted), _AT_ONCE):
            part = wanted[begin : begin + _AT_ONCE]
            files.get([f"{target}/{name}" for name in part], [str(copy / name) for name in part])
            if progress is not None:
                progress(begin + len(part), len(wanted))
    except (NoRecording, DamagedRecording):
        raise
    except Exception as error:  # whatever a file system's library raises
        raise DamagedRecording(f"cannot read {url}: {_words(error)}") from error
    _URLS[copy] = url
    return copy


def url_of(copy: Path) -> str | None:
    """The URL of the recording that this is a copy of; None for any other path."""
    return _URLS.get(copy)


def not_arrived(folder: Path) -> list[str]:
    """A sentence for each file that is missing or incomplete in the folder, by the lists of its uploads."""
    return [sentence for each in sorted(folder.glob(f"{UPLOAD_LIST_PREFIX}*")) for sentence in _missing(each)]


def _missing(file: Path) -> Iterable[str]:
    try:
        content = json.loads(file.read_bytes()[: 64 << 20])
        rows = [(str(name), dict(row)) for name, row in content["files"].items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield f"{printable(file.name)}, which says what was carried, is damaged"
        return
    for name, row in rows:
        size = size_of(file.parent / name) if _PLAIN_NAME.fullmatch(name) else 0
        wanted = row.get("size")
        if name == RUN_FILE:  # another host's may have been uploaded first
            wanted = min(size, 1)
        if row.get("error") is not None or (isinstance(wanted, int) and size < wanted):
            why = f": {row['error']}" if row.get("error") else ""
            yield printable(f"{name} did not arrive whole ({size:,} of {wanted} bytes{why})")
    if content.get("finished") is not True:
        yield printable(f"{file.name} is not finished: its host still carries, or was ended")


def _file_system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise NoRecording(f"cannot read {url}: fsspec is not installed ({_HINT})") from error
    try:
        files, target = url_to_fs(url)
    except ImportError as error:
        raise NoRecording(f"cannot read {url}: {_words(error)} ({_HINT})") from error
    except Exception as error:
        raise NoRecording(f"cannot read {url}: {_words(error)}") from error
    return files, str(target).rstrip("/")


def _names(files: Any, target: str) -> list[str] | None:
    """The names of the files in a folder; None where there is no such folder."""
    files.invalidate_cache()
    try:
        found = files.ls(target, detail=True)
    except FileNotFoundError:
        return None
    return [PurePosixPath(entry["name"]).name for entry in found if entry["type"] == "file"]


def _is_part(name: str) -> bool:
    return name == RUN_FILE or name.startswith(STREAM_PREFIX)


def _newest_job(files: Any, url: str, target: str) -> tuple[str, list[str] | None]:
    jobs = _jobs(files, target)
    if not jobs:
        raise NoRecording(f"no recording at {url}")
    return jobs[-1], _names(files, jobs[-1])


def _jobs(files: Any, target: str) -> list[str]:
    folders = [str(row["name"]) for row in files.ls(target, detail=True) if row["type"] == "directory"]
    started = {}
    for folder in folders:
        try:
            started[folder] = int(json.loads(files.cat_file(f"{folder}/{RUN_FILE}"))["started_ns"])
        except (FileNotFoundError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            continue
    return sorted(started, key=lambda folder: (started[folder], folder))


def _words(error: Exception) -> str:
    return " ".join(printable(f"{type(error).__name__}: {error}").split())[:300]
