"""When things happened in the life of this process, in nanoseconds since the epoch."""

import os

from ..primitives import O_CLOEXEC, O_RDONLY, close, open_descriptor, read, time_ns


def process_began_ns() -> int | None:
    """When the kernel made this process; in hundredths of a second, which is how it keeps that.

    Source: proc(5), /proc/self/stat (starttime, field 22) and /proc/uptime. None where there is no /proc.
    """
    try:
        ticks = int(_content("/proc/self/stat").rpartition(b")")[2].split()[19])
        up_s = float(_content("/proc/uptime").split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return time_ns() - int((up_s - ticks / os.sysconf("SC_CLK_TCK")) * 1e9)


def _content(path: str) -> bytes:
    file = open_descriptor(path, O_RDONLY | O_CLOEXEC)
    try:
        return read(file, 4096)
    finally:
        close(file)
