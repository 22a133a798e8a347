"""What a program writes, in a file that does not grow without end: the beginning, and the last of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from threading import Event, Thread

from ..shared.safe_writing import open_private

LONGEST_END = 1 << 16  # bytes that are kept of the end, where the middle is left out
_PIECE = 1 << 16
_LOOK_AGAIN = 0.05  # seconds; how soon it is noticed that the program has ended
_LARGEST_PIPE = 1 << 20  # bytes; what may still be in it then


@contextmanager
def bounded_output(path: Path, most: int) -> Iterator[int]:
    """What a program may write to: the first `most` bytes of what comes, and the end, are in `path`.

    When this ends, what has come until then is written; processes that the program has left write to nobody.
    """
    with open(open_private(path), "wb") as file:
        reading, writing = os.pipe()
        has_ended = Event()
        copier = Thread(target=_copy, args=(reading, file.fileno(), most, has_ended), daemon=True)
        copier.start()
        try:
            yield writing
        finally:
            os.close(writing)
            has_ended.set()
            copier.join()
            os.close(reading)


def _copy(reading: int, file: int, most: int, has_ended: Event) -> None:
    left, end, cut = most, b"", 0
    for piece in _pieces(reading, has_ended):
        first, rest = piece[:left], piece[left:]
        left -= len(first)
        _write(file, first)
        end += rest
        cut += max(0, len(end) - LONGEST_END)
        end = end[-LONGEST_END:]
    note = f"\n[dynamo: {cut:,} bytes are left out here]\n".encode() if cut else b""
    _write(file, note + end)


def _pieces(reading: int, has_ended: Event) -> Iterator[bytes]:
    """What comes until the program has ended, and what is in the pipe then, however much others write."""
    last = 0
    while last < _LARGEST_PIPE:
        is_over = has_ended.is_set()
        if select([reading], [], [], 0 if is_over else _LOOK_AGAIN)[0]:
            piece = os.read(reading, _PIECE)
            if not piece:  # nobody has the other end any more
                return
            last += len(piece) if is_over else 0
            yield piece
        elif is_over:
            return


def _write(file: int, content: bytes) -> None:
    """On a full disk, the program goes on without its log."""
    while content:
        try:
            content = content[os.write(file, content) :]
        except OSError:
            return
