"""System calls and clocks, bound before the program's first line, since programs replace them."""

from os import (
    O_APPEND,
    O_CLOEXEC,
    O_CREAT,
    O_EXCL,
    O_RDONLY,
    O_RDWR,
    O_WRONLY,
    close,
    fstat,
    getpid,
    getppid,
    read,
    write,
)
from os import open as open_descriptor
from sys import _getframe as caller_frame
from time import localtime, perf_counter_ns, time_ns

__all__ = [
    "O_APPEND",
    "O_CLOEXEC",
    "O_CREAT",
    "O_EXCL",
    "O_RDONLY",
    "O_RDWR",
    "O_WRONLY",
    "caller_frame",
    "close",
    "fstat",
    "getpid",
    "getppid",
    "localtime",
    "open_descriptor",
    "perf_counter_ns",
    "read",
    "time_ns",
    "write",
]
