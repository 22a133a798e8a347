"""Writes files without following symbolic links, which could redirect the content to another file."""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SYSTEM_FOLDERS = ("/dev/", "/proc/")  # links there are followed: /dev/stdout, /dev/fd/63


def open_private(path: Path) -> int:
    """Create a file that only its owner can access; FileExistsError if anything is there, also a link."""
    descriptor = os.open(path, _NEW, 0o600)
    with suppress(OSError):  # a file system without modes
        os.fchmod(descriptor, 0o600)
    return descriptor


def create_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner can read."""
    with open(open_private(path), "wb") as file:
        file.write(content)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in place of an older one; a link is replaced itself, not its target."""
    path.unlink(missing_ok=True)
    with open(os.open(path, _NEW, 0o666), "wb") as file:
        file.write(content)


def replace_in_one_step(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically: a reader sees all of the old content or all of the new content."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.unlink(missing_ok=True)
        create_private(unfinished, content)
        unfinished.chmod(mode)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def replace_together(files: Sequence[tuple[Path, bytes, int]]) -> None:
    """Replace several files, given with content and mode: all of them, or none if it raises."""
    unfinished = [path.with_name(f".{path.name}.{os.getpid()}.part") for path, _, _ in files]
    replaced: list[tuple[Path, bytes, int]] = []
    try:
        for part, (_, content, mode) in zip(unfinished, files, strict=True):
            part.unlink(missing_ok=True)
            create_private(part, content)
            part.chmod(mode)
        for part, (path, _, mode) in zip(unfinished, files, strict=True):
            before = path.read_bytes()
            part.replace(path)
            replaced.append((path, before, mode))
    except OSError:
        for path, before, mode in replaced:
            replace_in_one_step(path, before, mode)
        raise
    finally:
        for part in unfinished:
            part.unlink(missing_ok=True)


def overwrite(path: Path, content: bytes) -> None:
    """Write to a path from the user, also a device or a pipe; OSError for links outside /dev and /proc."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    if not os.path.abspath(path).startswith(_SYSTEM_FOLDERS):
        flags |= os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link: name what it leads to") from error
        raise
    with open(descriptor, "wb") as file:
        file.write(content)
