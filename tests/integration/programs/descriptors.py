"""Programs that close descriptors which they did not open. The arguments name them."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import in_sequence
import torch

_ABOVE_ALL = 2000  # where the standard streams wait while a program has closed them


def _compute(number: int) -> None:
    """Compile something new, so that there is something to record."""
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: x + number, backend="eager")
    assert compiled(torch.zeros(1)).item() == number


def _compute_while_writing(files: int) -> str:
    """Open files, compute while they are open, and show what is in them."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, str(number)) for number in range(files)]
        opened = [os.open(name, os.O_CREAT | os.O_WRONLY) for name in names]
        for file in opened:
            os.write(file, b"before\n")
        _compute(len(names))
        for file in opened:
            os.write(file, b"after\n")
            os.close(file)
        contents = set()
        for name in names:
            with open(name) as reader:
                contents.add(reader.read())
        return f"{opened[0]} {opened[-1]} {contents}"


@contextmanager
def _keeping_standard_streams() -> Iterator[None]:
    keepers = [fcntl.fcntl(number, fcntl.F_DUPFD, _ABOVE_ALL) for number in range(3)]
    yield
    for number, keeper in enumerate(keepers):
        os.dup2(keeper, number)
        os.close(keeper)


def none_closed() -> None:
    _compute(1)
    print(_compute_while_writing(3))


def all_closed() -> None:
    _compute(1)
    sys.stdout.flush()
    with _keeping_standard_streams():
        os.closerange(0, 256)
        result = _compute_while_writing(3)
    print(result)


def all_but_standard_ones_closed() -> None:
    _compute(1)
    os.closerange(3, 65536)
    print(_compute_while_writing(3))


def all_closed_and_many_opened() -> None:
    _compute(1)
    os.closerange(3, 65536)
    print(_compute_while_writing(600))


def high_ones_replaced() -> None:
    _compute(1)
    with tempfile.TemporaryFile() as file:
        for number in range(490, 530):
            os.dup2(file.fileno(), number)
        _compute(2)
        file.seek(0)
        print(file.read())
        print([os.fstat(number).st_size for number in range(490, 530)])
    os.closerange(490, 530)


def child_inherits_replaced_ones() -> None:
    _compute(1)
    with tempfile.TemporaryFile() as file:
        for number in range(490, 530):
            os.dup2(file.fileno(), number)
        sys.stdout.flush()
        if os.fork() == 0:
            print([os.fstat(number).st_size for number in range(490, 530)])
            _compute(2)
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        file.seek(0)
        print(file.read())
    os.closerange(490, 530)


def child_writes_to_what_took_their_place() -> None:
    _compute(1)
    os.closerange(3, 65536)
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, str(number)) for number in range(600)]
        opened = [os.open(name, os.O_CREAT | os.O_WRONLY) for name in names]
        sys.stdout.flush()
        if os.fork() == 0:
            _compute(2)
            for file in opened:
                os.write(file, b"from the child")
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        for file in opened:
            os.close(file)
        print({os.path.getsize(name) for name in names})


def daemon() -> None:
    _compute(1)
    read_end, write_end = os.pipe()
    with tempfile.NamedTemporaryFile("r") as file:
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            os.dup2(write_end, 0)
            os.closerange(1, 65536)
            os.open(file.name, os.O_WRONLY)
            os.dup2(1, 2)
            _compute(2)
            print("from the daemon", os.open(os.devnull, os.O_RDONLY), flush=True)
            os._exit(0)
        os.close(write_end)
        os.wait()
        os.read(read_end, 1)
        print(file.read())


if __name__ == "__main__":
    in_sequence.run(sys.argv[1:], globals())
