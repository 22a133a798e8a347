"""SIGTERM ends a command that has much to run as Ctrl-C does: with what is done until then.

A CI job's end, or `timeout`, sends it: what took minutes to measure is not lost by that.
"""

import signal
from types import FrameType

from dynamo_core.shared.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

_code = EXIT_INTERRUPTED


def end_early_on_sigterm() -> None:
    """From now on SIGTERM raises KeyboardInterrupt, once.

    `timeout` of the GNU coreutils sends it twice, to the command and to its process group (timeout.c,
    cleanup): the second one must not cut the report short that the first one asked for.
    """
    signal.signal(signal.SIGTERM, _end_early)


def exit_code() -> int:
    """How a command ends that was interrupted: by Ctrl-C, or by SIGTERM if that has come."""
    return _code


def _end_early(number: int, frame: FrameType | None) -> None:
    global _code
    _code = EXIT_TERMINATED
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
