"""Opens the files of a recording, which may come from a stranger: plain files only, links are not followed.

A link could lead to a private key, which would then be printed; a named pipe would block its reader; a device
may do anything. Paths from the command line are resolved before they are passed to these functions.

Functions of `os` are imported by name: a test that is recorded may have replaced them since.
"""

import stat
from io import FileIO
from os import O_CLOEXEC, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, fstat, lstat
from os import open as open_descriptor
from os import stat as status_of
from pathlib import Path

# O_NONBLOCK: opening does not block even if a pipe replaces the file after its kind was checked.
_FLAGS = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
_OTHER_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
)


class NoPlainFile(OSError):
    """A path is no plain file, or a file too large; `strerror` says what it is."""

    def __init__(self, what: str) -> None:
        super().__init__(0, what)


def other_kind(path: Path) -> str | None:
    """What `path` is if it is no plain file, else None; OSError where that cannot be known."""
    mode = lstat(path).st_mode
    return _link(path) if stat.S_ISLNK(mode) else _other_kind(mode)


def is_plain_file(path: Path) -> bool:
    """Whether there is a plain file; False where that cannot be known."""
    try:
        return other_kind(path) is None
    except OSError:
        return False


def open_plain(path: Path) -> FileIO:
    """Open a plain file for reading, unbuffered; NoPlainFile, or another OSError."""
    kind = other_kind(path)
    if kind is not None:
        raise NoPlainFile(f"it is {kind}")
    file = FileIO(open_descriptor(path, _FLAGS))
    kind = _other_kind(fstat(file.fileno()).st_mode)
    if kind is not None:
        file.close()
        raise NoPlainFile(f"it is {kind}")
    return file


def read_plain(path: Path, largest: int) -> bytes:
    """All of a plain file of at most `largest` bytes; NoPlainFile where it is more, or another OSError."""
    with open_plain(path) as file:
        if fstat(file.fileno()).st_size > largest:
            raise NoPlainFile(f"it is larger than such a file ever is ({largest >> 10} kB)")
        pieces: list[bytes] = []
        left = largest
        while left > 0 and (piece := file.read(left)):
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 where that cannot be read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _link(path: Path) -> str:
    try:
        kind = _other_kind(status_of(path).st_mode)
    except OSError:
        kind = "nothing"
    return f"a symbolic link{f' to {kind}' if kind else ''}, which is not followed"


def _other_kind(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    return next((what for is_such, what in _OTHER_KINDS if is_such(mode)), "no plain file")
