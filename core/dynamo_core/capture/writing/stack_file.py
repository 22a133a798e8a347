"""Where the program is when Ctrl-C or a `kill` comes: its Python stack, also while it hangs in C.

Python's faulthandler writes it from its own handler, without waiting for the interpreter, and then does what
the signal does without it. It is set only where the program's own answer to a signal is Python's default; a
handler that the program sets later takes its place.
"""

import faulthandler
import os
import signal

from ...shared.names import STACK_PREFIX, STACK_SUFFIX, beside_stream
from ..primitives import (
    O_APPEND,
    O_CLOEXEC,
    O_EXCL,
    O_WRONLY,
    close,
    create_private,
    dup2,
    fstat,
    open_descriptor,
    unlink,
)
from .stream import Identity, Stream, identity_of, is_still, moved_up

_DEFAULTS = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}


class StackFile:
    """A file beside the stream of this process, which faulthandler writes to; it goes at the end if empty."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._path = ""
        self._descriptor = -1
        self._identity: Identity | None = None

    def begin(self) -> None:
        """Have the stack written at these signals, where nobody else answers them."""
        wanted = [number for number, default in _DEFAULTS.items() if signal.getsignal(number) is default]
        if not wanted:
            return
        folder, _, name = self._stream.opened().rpartition("/")
        self._path = f"{folder}/{beside_stream(name, STACK_PREFIX, STACK_SUFFIX)}"
        file = create_private(self._path, O_WRONLY | O_APPEND | O_EXCL)
        self._descriptor = moved_up(file)
        self._identity = identity_of(self._descriptor)
        os.register_at_fork(after_in_child=self._leave)
        for number in wanted:
            faulthandler.register(number, file=self._descriptor, all_threads=False, chain=True)

    def finish(self) -> None:
        """The process ends by itself."""
        if self._descriptor >= 0 and self._is_ours() and not fstat(self._descriptor).st_size:
            unlink(self._path)

    def _leave(self) -> None:
        """In a forked child: the file is the parent's. The handlers stay: another's may be in their place."""
        try:
            if self._descriptor >= 0 and self._is_ours():
                nowhere = open_descriptor(os.devnull, O_WRONLY | O_CLOEXEC)
                dup2(nowhere, self._descriptor, inheritable=False)
                close(nowhere)
        except OSError:  # none is left: what this child writes then stands in its parent's file
            pass
        self._descriptor = -1

    def _is_ours(self) -> bool:
        return is_still(self._descriptor, self._identity)
