"""ASCII that looks alike for what our pages are drawn with, where the encoding of the terminal lacks it."""

import codecs
import io
import os
from collections.abc import Mapping

_HANDLER = "dynamo_plain"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("█▉▊▋▌", "#"),
        **dict.fromkeys("▍▎▏─", "-"),
        "→": "->",
        "↑": "^",
        "❱": ">",
        "│": "|",
        "├": "|",
        "└": "`",
        "\u00d7": "x",
        "·": "*",
        "…": "...",
        "µ": "u",
        "≤": "<=",
        "≥": ">=",
        "—": "--",
        "\u2013": "-",
        "\u2019": "'",
    }
)
_C_LOCALES = ("C", "POSIX")


def use_what_it_has(stream: io.TextIOWrapper, environment: Mapping[str, str] = os.environ) -> None:
    """Write to a stream what its encoding has; paths and names may have characters that no other spells.

    Where the user's locale is C, Python writes UTF-8 all the same (PEP 538, PEP 540). A terminal of such a
    user gets ASCII; a file or a pipe loses nothing.
    """
    codecs.register_error(_HANDLER, _encode)
    is_guessed = stream.encoding.lower().replace("-", "") == "utf8" and _is_c_locale(environment)
    stream.reconfigure(
        encoding="ascii" if is_guessed and stream.isatty() else stream.encoding, errors=_HANDLER
    )


def _encode(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for characters that an encoding lacks; any that we do not draw with are spelled out."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = error.object[error.start : error.end].translate(_PLAIN)
    return plain.encode("ascii", "backslashreplace").decode("ascii"), error.end


def _is_c_locale(environment: Mapping[str, str]) -> bool:
    if "PYTHONUTF8" in environment or "PYTHONIOENCODING" in environment:
        return False
    if environment.get("LC_ALL"):
        return environment["LC_ALL"] in _C_LOCALES
    made_by_python = ("C.UTF-8", "C.utf8", "UTF-8")
    is_named = environment.get("LC_CTYPE") not in (None, "", *_C_LOCALES, *made_by_python)
    return not is_named and environment.get("LANG") in _C_LOCALES
