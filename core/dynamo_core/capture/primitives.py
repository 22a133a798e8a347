"""System calls and clocks, bound before the program's first line, since programs replace them."""

from os import (
    O_APPEND,
    O_CLOEXEC,
    O_CREAT,
    O_EXCL,
    O_NOFOLLOW,
    O_RDONLY,
    O_RDWR,
    O_TRUNC,
    O_WRONLY,
    close,
    dup2,
    fchmod,
    fstat,
    getpid,
    getppid,
    read,
    unlink,
    write,
)
from os import open as open_descriptor
from os import stat as status_of
from sys import _getframe as caller_frame
from time import localtime, perf_counter_ns, process_time_ns, thread_time_ns, time_ns

_PRIVATE = 0o600


def create_private(path: str, flags: int, mode: int = _PRIVATE) -> int:
    """Create a file that no other user can read, whatever the umask is, and open it."""
    file = open_descriptor(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
    try:
        fchmod(file, mode)
    except OSError:  # a file system without modes
        pass
    return file


__all__ = [
    "O_APPEND",
    "O_CLOEXEC",
    "O_CREAT",
    "O_EXCL",
    "O_NOFOLLOW",
    "O_RDONLY",
    "O_RDWR",
    "O_TRUNC",
    "O_WRONLY",
    "caller_frame",
    "close",
    "create_private",
    "dup2",
    "fstat",
    "getpid",
    "getppid",
    "localtime",
    "open_descriptor",
    "perf_counter_ns",
    "process_time_ns",
    "read",
    "status_of",
    "thread_time_ns",
    "time_ns",
    "unlink",
    "write",
]
