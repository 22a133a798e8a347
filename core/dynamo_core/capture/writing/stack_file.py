"""Write the program's Python stack when Ctrl-C or a `kill` comes, also while it hangs in C code.

Python's faulthandler writes it in its own signal handler, without waiting for the interpreter, and then calls
the handler that was there before. It is registered only where the program handles a signal as Python does by
default; a handler that the program sets later replaces it.
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
from .stream import Identity, Stream, identity_of, is_same_file, move_to_high_descriptor

_DEFAULTS = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}


class StackFile:
    """A file beside the stream of this process that faulthandler writes to; removed at the end if empty."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._path = ""
        self._descriptor = -1
        self._identity: Identity | None = None

    def begin(self) -> None:
        """Have the stack written at SIGTERM and SIGINT, unless the program handles them itself."""
        wanted = [number for number, default in _DEFAULTS.items() if signal.getsignal(number) is default]
        if not wanted:
            return
        folder, _, name = self._stream.opened().rpartition("/")
        self._path = f"{folder}/{beside_stream(name, STACK_PREFIX, STACK_SUFFIX)}"
        file = create_private(self._path, O_WRONLY | O_APPEND | O_EXCL)
        self._descriptor = move_to_high_descriptor(file)
        self._identity = identity_of(self._descriptor)
        os.register_at_fork(after_in_child=self._detach_in_child)
        for number in wanted:
            faulthandler.register(number, file=self._descriptor, all_threads=False, chain=True)

    def finish(self) -> None:
        """Remove the file if it is empty: the process ends by itself."""
        if self._descriptor >= 0 and self._is_ours() and not fstat(self._descriptor).st_size:
            unlink(self._path)

    def _detach_in_child(self) -> None:
        """Let a forked child's handlers write nowhere: the file is the parent's.

        The handlers are left registered, since the program may have replaced them.
        """
        try:
            if self._descriptor >= 0 and self._is_ours():
                null = open_descriptor(os.devnull, O_WRONLY | O_CLOEXEC)
                dup2(null, self._descriptor, inheritable=False)
                close(null)
        except OSError:  # no descriptor is left: this child's stack then stands in its parent's file
            pass
        self._descriptor = -1

    def _is_ours(self) -> bool:
        return is_same_file(self._descriptor, self._identity)
