"""How a process ended, from its return code; and which signals it is passed."""

import os
import signal
from typing import NamedTuple

import pytest

from dynamo_core.launch import process
from dynamo_core.launch.process import Ending

SI_USER, SI_KERNEL = 0, 0x80  # of linux/include/uapi/asm-generic/siginfo.h


class Arrived(NamedTuple):
    """What is read of a signal that was waited for."""

    si_signo: int
    si_code: int


@pytest.mark.parametrize(
    ("code", "ending"),
    [(0, Ending(0, None)), (3, Ending(3, None)), (-15, Ending(None, 15)), (-9, Ending(None, 9))],
)
def test_a_negative_return_code_is_a_signal(code: int, ending: Ending) -> None:
    assert Ending.of_return_code(code) == ending


@pytest.mark.parametrize(
    ("number", "code", "is_passed_on"),
    [
        (signal.SIGINT, SI_KERNEL, False),  # typed: the program's group has it from the terminal
        (signal.SIGINT, SI_USER, True),
        (signal.SIGTERM, SI_USER, True),
        (signal.SIGALRM, SI_KERNEL, True),  # an alarm is ours alone
    ],
)
def test_what_the_program_does_not_have_is_passed_on(
    number: signal.Signals, code: int, is_passed_on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arriving = iter([Arrived(number, code), Arrived(signal.SIGCHLD, SI_USER)])
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(signal, "sigwaitinfo", lambda waited_for: next(arriving))
    monkeypatch.setattr(os, "kill", lambda child, sent_number: sent.append((child, sent_number)))
    monkeypatch.setattr(os, "waitpid", lambda child, options: (child, 0))
    assert process._wait(7, set(), None) == Ending(0, None)
    assert sent == ([(7, number)] if is_passed_on else [])
