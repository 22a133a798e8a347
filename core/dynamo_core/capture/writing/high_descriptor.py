"""Descriptors of ours, where programs do not look for them, and whether they still are ours."""

import fcntl

from ..primitives import close, fstat

# Above the range that programs sweep when they close "all" descriptors, and above those that they count on.
_LOWEST = 500

Identity = tuple[int, int]


def moved_up(file: int) -> int:
    """The open file under a high descriptor; under its own where there is a low limit on them."""
    try:
        descriptor = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
    except OSError:
        return file
    close(file)
    return descriptor


def identity_of(descriptor: int) -> Identity:
    """Which file it is."""
    status = fstat(descriptor)
    return status.st_dev, status.st_ino


def is_still(descriptor: int, identity: Identity | None) -> bool:
    """Whether it is this file: programs close what they did not open."""
    try:
        return identity_of(descriptor) == identity
    except OSError:
        return False
