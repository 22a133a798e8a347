"""Programs that get a signal from outside. The arguments name one, and the signal."""

import os
import signal
import sys
import time
from types import FrameType

if os.environ.get("PROGRAM_IMPORTS_TORCH"):
    import torch  # noqa: F401

NUMBER = signal.Signals[sys.argv[2]]


def _ready() -> None:
    print("ready", flush=True)


def no_handler() -> None:
    _ready()
    time.sleep(30)


def cleanup() -> None:
    try:
        _ready()
        time.sleep(30)
    finally:
        print("cleaned up")


def handler_that_exits() -> None:
    def leave(number: int, frame: FrameType | None) -> None:
        print(signal.Signals(number).name)
        sys.exit(5)

    signal.signal(NUMBER, leave)
    _ready()
    time.sleep(30)


def handler_that_counts() -> None:
    arrived = []
    signal.signal(NUMBER, lambda number, frame: arrived.append(number))
    _ready()
    while not arrived:
        time.sleep(0.01)
    time.sleep(0.3)
    print("arrived", len(arrived))


def ignored() -> None:
    signal.signal(NUMBER, signal.SIG_IGN)
    _ready()
    time.sleep(0.3)
    print("still here")


def reset_in_handler() -> None:
    def die(number: int, frame: FrameType | None) -> None:
        print("once more, by default", flush=True)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(NUMBER, die)
    _ready()
    time.sleep(30)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
