"""A copy of the process answers requests, and nothing that is tried in it reaches out of it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from dynamo_core.capture.interventions.fork_server import ForkServer, NoAnswer, refuse_to_reach_out


@contextmanager
def server(work: Callable[[str, BinaryIO], None]) -> Iterator[ForkServer]:
    made = ForkServer(work, lambda: None)
    try:
        yield made
    finally:
        made.end()


def test_each_request_begins_with_the_state_of_the_fork() -> None:
    state = [0]

    def work(request: str, file: BinaryIO) -> None:
        state[0] += int(request)
        file.write(str(state[0]).encode())

    with server(work) as copy:
        state[0] = 100
        assert copy.ask("1", 10) == b"1"
        assert copy.ask("2", 10) == b"2"


def test_what_hangs_crashes_or_raises_gives_no_answer_and_the_next_request_does() -> None:
    def work(request: str, file: BinaryIO) -> None:
        if request == "hang":
            time.sleep(100)
        if request == "crash":
            os.abort()
        if request == "raise":
            raise ValueError("odd")
        if request == "memory":
            bytearray(1 << 50)
        file.write(b"done")

    with server(work) as copy:
        with pytest.raises(NoAnswer, match="it took longer than 0 s"):
            copy.ask("hang", 0.2)
        for request, why in (
            ("crash", "it crashed in the copy"),
            ("raise", "in the copy of the process ValueError: odd was raised"),
            ("memory", "in the copy of the process there was too little memory"),
        ):
            with pytest.raises(NoAnswer, match=why):
                copy.ask(request, 10)
        assert copy.ask("", 10) == b"done"


def test_files_of_the_program_and_of_the_machine_are_out_of_reach(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened = tmp_path / "opened.txt"
    other = tmp_path / "other.txt"
    file = opened.open("w")

    def work(request: str, answer: BinaryIO) -> None:
        refuse_to_reach_out()
        os.write(1, b"printed")
        file.write("written")
        file.flush()
        assert opened.read_text() == ""  # reading is allowed
        if request == "write":
            other.write_text("written")
        if request == "remove":
            opened.unlink()
        if request == "start":
            os.system("true")
        answer.write(b"done")

    with server(work) as copy:
        assert copy.ask("", 10) == b"done"
        reasons = {"write": "it writes .*other.txt", "remove": "it calls os.remove", "start": "os.system"}
        for request, why in reasons.items():
            with pytest.raises(NoAnswer, match=f"in the copy of the process .*{why}"):
                copy.ask(request, 10)
    file.close()
    assert opened.read_text() == ""
    assert not other.exists()
    assert capfd.readouterr().out == ""


def test_a_compiler_may_write_where_it_keeps_its_files(tmp_path: Path) -> None:
    allowed, other = tmp_path / "cache", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()

    def work(request: str, answer: BinaryIO) -> None:
        refuse_to_reach_out((str(allowed),))
        (tmp_path / request / "file").write_text("x")
        answer.write(b"done")

    with server(work) as copy:
        assert copy.ask("cache", 10) == b"done"
        with pytest.raises(NoAnswer):
            copy.ask("other", 10)


def test_a_copy_that_is_gone_is_said() -> None:
    with server(lambda request, file: None) as copy:
        os.close(os.dup(1))
        assert copy.ask("", 10) == b""
    made = ForkServer(lambda request, file: None, lambda: None)
    made.end()
    with pytest.raises((NoAnswer, OSError)):
        made.ask("", 1)
