"""Make a write past the program's limit on file sizes (RLIMIT_FSIZE) raise an OSError, and send no signal.

Such a write sends SIGXFSZ. Python ignores it, but a program may have set it back to its default, which ends
the process: our records must not do that.
"""

from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit
from signal import SIG_BLOCK, SIG_SETMASK, SIGXFSZ, pthread_sigmask, sigtimedwait

_ALONE = (SIGXFSZ,)


class FileSizeSignalBlocked:
    """A context in which SIGXFSZ, which goes to the thread that writes, is blocked in this thread."""

    __slots__ = ("_mask_before",)

    def __enter__(self) -> None:
        is_limited = getrlimit(RLIMIT_FSIZE)[0] != RLIM_INFINITY
        self._mask_before = pthread_sigmask(SIG_BLOCK, _ALONE) if is_limited else None

    def __exit__(self, *raised: object) -> None:
        if self._mask_before is not None:
            sigtimedwait(_ALONE, 0)
            pthread_sigmask(SIG_SETMASK, self._mask_before)
