"""What of a text is the same in every run of a program, so that texts of two runs can be compared."""

import re

# Addresses, and the numbers that torch counts up in a process.
_PASSING = re.compile(
    r"0x[0-9a-fA-F]{1,16}|\b(?:__compiled_fn|__resume_at|___stack|_tmp)_?\d{1,9}(?:_\d{1,9})?"
)
_NUMBER = re.compile(r"\d{1,20}")
_LINE = re.compile(r"\bline \d{1,9}")
_BETWEEN_WORDS = re.compile(r"([\s'\"(),<>\[\]]+)")


def without_what_passes(text: str) -> str:
    """A reason of torch's without addresses, folders and line numbers, which differ from run to run."""
    words = _BETWEEN_WORDS.split(_LINE.sub("line", text))
    return " ".join(_PASSING.sub("…", "".join(map(_without_folder, words))).split())


def _without_folder(word: str) -> str:
    """`model.py` for `/home/me/model.py:12`; any word that is no path stays."""
    folder, slash, name = word.replace("\\", "/").rpartition("/")
    name, colon, line = name.partition(":")
    is_path = bool(slash) and ("." in name or folder.startswith(("/", "~", ".")))
    if not is_path:
        return word
    return name + (":" if line.endswith(":") else colon + line if not line.isdigit() else "")


def without_numbers(text: str) -> str:
    """The same without any number, for what counts or measures."""
    return _NUMBER.sub("#", without_what_passes(text))
