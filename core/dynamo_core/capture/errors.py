"""What is said of exceptions, and the one that we raise into the program."""

import re


class NotCompiled(RuntimeError):
    """Raised into the program by --on-recompile error.

    It stands here so that code which must let it pass need not import `interventions/freeze.py`.
    """


def text_of(error: BaseException) -> str:
    """The type and the message of an exception, without addresses; the type alone where it has no text."""
    try:
        return re.sub(r"0x[0-9a-f]{4,16}", "0x…", f"{type(error).__name__}: {error}")
    except Exception:  # exceptions can have any `__str__`
        return type(error).__name__


def first_line(text: str) -> str:
    """The first line of an exception's text, without torch's plea to improve it."""
    return text.partition("\n")[0].partition("  (Could this error message be improved?")[0]
