"""Meet the program's limit on the size of files (RLIMIT_FSIZE) as an OSError, never as a signal.

Whoever writes past that limit gets SIGXFSZ. Python ignores it, but a program may have set it to its default,
which ends the process: our records are not to do that.
"""

from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit
from signal import SIG_BLOCK, SIG_SETMASK, SIGXFSZ, pthread_sigmask, sigtimedwait

_ALONE = (SIGXFSZ,)


class SparedOfFileSizeSignal:
    """A context in which this thread, which is the one to get the signal, does not get it."""

    __slots__ = ("_mask_before",)

    def __enter__(self) -> None:
        is_limited = getrlimit(RLIMIT_FSIZE)[0] != RLIM_INFINITY
        self._mask_before = pthread_sigmask(SIG_BLOCK, _ALONE) if is_limited else None

    def __exit__(self, *raised: object) -> None:
        if self._mask_before is not None:
            sigtimedwait(_ALONE, 0)
            pthread_sigmask(SIG_SETMASK, self._mask_before)
