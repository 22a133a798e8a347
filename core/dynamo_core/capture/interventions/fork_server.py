"""A copy of the program's process, made by a fork, in which calls are tried that must change nothing.

The copy waits for requests, and answers each in a fork of its own: whatever is tried begins with the state
that the program had when the copy was made. It is refused what would reach out of it: writing files,
connections, processes.
"""

import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from ..errors import text_of
from ..forking import do_in_copy, exit_code, fork
from ..primitives import close

_GRACE = 2.0  # seconds that the server has, beyond the limit of what it runs, to say that it ended
_LOOKS_EVERY = 0.002
_CHUNK = 1 << 12
_DONE, _FAILED, _REFUSED, _TOO_LONG = b"d", b"f", b"r", b"t"
_REFUSED_CODE = 73
# Source: c10/core/impl/alloc_cpu.cpp (alloc_cpu), and strerror(ENOMEM), which mmap gives; read in 2.13.
_OUT_OF_MEMORY = ("not enough memory", "can't allocate memory", "Cannot allocate memory", "bad_alloc")
# Audit events of what reaches out of the process: https://docs.python.org/3/library/audit_events.html
_CHANGES = frozenset(
    f"os.{name}"
    for name in (
        *("remove", "rename", "mkdir", "rmdir", "link", "symlink", "truncate", "chmod", "chown", "kill"),
        *("killpg", "system", "exec", "posix_spawn", "spawn", "fork", "forkpty", "chdir"),
    )
) | {"subprocess.Popen"}
_CONNECTS = frozenset(["socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"])
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class CannotTry(BaseException):
    """Something cannot be tried in a copy, for this reason. No Exception: nothing may handle it."""


class TooLittleMemory(CannotTry):
    """What is tried needs more memory than the copy may have."""

    def __init__(self) -> None:
        super().__init__("there was too little memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory could not be had; torch raises a RuntimeError for it on the CPU."""
    torch = sys.modules["torch"]
    is_torchs = isinstance(error, RuntimeError) and any(each in str(error) for each in _OUT_OF_MEMORY)
    return is_torchs or isinstance(error, (MemoryError, torch.OutOfMemoryError))


class NoAnswer(Exception):
    """The copy gave no answer: it took too long, or crashed."""


class NoAnswerInTime(NoAnswer):
    """The copy took too long: a hang, or a collective, for which no other rank is there."""


def why_no_copy() -> str | None:
    """Why the process cannot be copied now; None if it can be."""
    import torch

    if torch.cuda.is_available() and torch.cuda.is_initialized():
        return "CUDA is in use, so that the process cannot be copied"
    return None if sys.platform == "linux" else "copies of the process are made on Linux only"


class ForkServer:
    """The copy as the program sees it.

    `work` gets a request's text and a file: it holds what was given with the request, and then the answer.
    """

    def __init__(self, work: Callable[[str, BinaryIO], None], prepare: Callable[[], None]) -> None:
        self._file = _anonymous_file()
        from_server, self._answers = os.pipe()
        self._requests, to_server = os.pipe()

        def serve() -> None:
            prepare()
            _serve(self._requests, self._answers, self._file, work)

        try:
            do_in_copy(serve, {self._requests, self._answers, self._file})
        except BaseException:
            close(from_server)
            close(to_server)
            self.end()
            raise
        close(self._answers)
        close(self._requests)
        self._answers, self._requests = from_server, to_server

    def ask(self, request: str, seconds: float, given: bytes = b"") -> bytes:
        """What `work` wrote for a request. Raises NoAnswer."""
        try:
            with self._opened() as file:
                file.truncate()
                file.write(given)
            os.write(self._requests, f"{seconds}\t{request}\n".encode())
        except OSError:
            raise NoAnswer("the copy of the process has ended") from None
        if not select.select([self._answers], [], [], seconds + _GRACE)[0]:
            raise NoAnswerInTime(_too_long(seconds))
        answer = os.read(self._answers, 1)
        if answer == _REFUSED:
            raise NoAnswer(f"in the copy of the process {self._written().decode()}")
        if answer == _TOO_LONG:
            raise NoAnswerInTime(_too_long(seconds))
        if answer != _DONE:
            raise NoAnswer("it crashed in the copy of the process")
        return self._written()

    def _written(self) -> bytes:
        with self._opened() as file:
            return file.read()

    def _opened(self) -> BinaryIO:
        return _from_the_start(self._file)

    def end(self) -> None:
        """Let the copy end."""
        for descriptor in (self._requests, self._answers, self._file):
            close(descriptor)


def _too_long(seconds: float) -> str:
    return f"it took longer than {seconds:.0f} s in the copy of the process"


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("dynamo")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _from_the_start(descriptor: int) -> BinaryIO:
    file = os.fdopen(os.dup(descriptor), "r+b")
    file.seek(0)
    return file


def _serve(requests: int, answers: int, file: int, work: Callable[[str, BinaryIO], None]) -> None:
    """Answer requests until the program closes its end."""
    received = b""
    while True:
        while b"\n" not in received:
            data = os.read(requests, _CHUNK)
            if not data:
                return
            received += data
        line, _, received = received.partition(b"\n")
        seconds, _, request = line.decode().partition("\t")
        child = fork()
        if child == 0:
            _work(request, file, work)
        os.write(answers, _ending_of(child, float(seconds)))


def _work(request: str, file: int, work: Callable[[str, BinaryIO], None]) -> None:
    """In a fork of the server, which ends here."""
    code = 1
    try:
        _limit_memory()
        with _from_the_start(file) as answer:
            try:
                work(request, answer)
                code = 0
            except (CannotTry, Exception) as error:
                answer.seek(0)
                answer.truncate()
                if is_out_of_memory(error):
                    error = TooLittleMemory()
                why = str(error) if isinstance(error, CannotTry) else f"{text_of(error)} was raised"
                answer.write(why.encode())
                code = _REFUSED_CODE
    finally:
        os._exit(code)


def _ending_of(child: int, seconds: float) -> bytes:
    until = time.monotonic() + seconds
    code = exit_code(child, lambda: time.monotonic() > until, _LOOKS_EVERY)
    if code == -signal.SIGKILL and time.monotonic() > until:
        return _TOO_LONG
    return {0: _DONE, _REFUSED_CODE: _REFUSED}.get(code, _FAILED)


def _limit_memory() -> None:
    """Leave at least half of the memory that is available to the program."""
    available = available_bytes()
    if available is None:
        return
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + available // 2, most))


def available_bytes() -> int | None:
    """The memory that is available on this machine, in bytes; None where the kernel does not tell."""
    try:
        with open("/proc/meminfo") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def refuse_to_reach_out(writable: tuple[str, ...] = ()) -> None:
    """From here on, what would change something outside of this process raises CannotTry.

    This cannot be taken back.
    """
    sys.addaudithook(refuser(writable))


def refuser(writable: tuple[str, ...] = ()) -> Callable[[str, tuple[Any, ...]], None]:
    """A hook for audit events that raises CannotTry where something outside of this process would change.

    With `writable` folders, files below them may be written and processes started: a compiler does both.
    """
    writable = (os.devnull, *writable)
    refused = _CONNECTS if writable[1:] else _CONNECTS | _CHANGES

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITES:
                name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
                if not name.startswith(writable):
                    raise CannotTry(f"it writes {name or 'a file'}")
        elif event in refused:
            raise CannotTry(f"it calls {event}")

    return audit
