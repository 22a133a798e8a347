"""Read the text in which torch prints the guards of a cache entry: a tree of managers with checks as leaves.

Source: torch/_dynamo/guards.py (GuardManagerWrapper.__str__, construct_manager_string, get_manager_line;
get_verbose_code_part(s) for what follows a check), torch/utils/_traceback.py (format_frame) and
torch/_guards.py (SLoc.__str__). Read with 2.8, 2.13 and 2.15; traces of 2.6 to 2.15.

A leaf is `TYPE: <check>  # <user's line>  # <file>:<line> in <function> <note>`, of which all but the type
may be missing; the file's name is cut short at the front. A relational guard is printed once, and by its type
alone at every other source that it concerns.
"""

import re
from collections.abc import Callable

from ..model import GuardCheck, Place

_NODE = re.compile(r"([| ]*)\+- (.*)", re.DOTALL)
_LEAF = re.compile(r"([A-Z][A-Z_0-9]+)(?:: ?(.*))?", re.DOTALL)
_MANAGER = re.compile(r"(?:(?:Key|Value)Manager: )?\w*GuardManager: source=(.*)", re.DOTALL)
_LATENCY = re.compile(r"Guard latency = (\d+(?:\.\d+)?) us\s*")
# What stands between quotes is a text of Python's, and no mark; one that is never closed goes to the end, and
# sets a group. A search for these and the mark takes a tenth of the time of a match of all before the mark.
_QUOTED = (
    r"""'[^'\\]*(?:\\.[^'\\]*)*(?:'|(?P<single>\\?\Z))"""
    r"""|"[^"\\]*(?:\\.[^"\\]*)*(?:"|(?P<double>\\?\Z))"""
)
_END_OF_SOURCE = re.compile(rf"{_QUOTED}|, (?:accessed_by|type)=", re.DOTALL)
_MARK = "  # "  # of a comment
_END_OF_CODE = re.compile(rf"{_QUOTED}|{_MARK}", re.DOTALL)
_COMMENT = re.compile(r"(?:(.*?)  # )?((?:(?!  # ).)+?):(\d{1,9}) in (\S+)(?: (.*))?", re.DOTALL)
_HINT = "(HINT: "
_QUOTES = ("'", '"')


def parse_guard_tree(
    text: str, is_wanted: Callable[[str, str], bool] | None = None
) -> tuple[tuple[GuardCheck, ...], float | None]:
    """The checks in the order in which they are evaluated, and what one evaluation took, in µs.

    `is_wanted` is asked with the source and the text of each, of which there may be thousands.
    """
    checks: list[GuardCheck] = []
    latency: float | None = None
    managers: list[tuple[int, str]] = []  # that lead to the current line: how deep, and for which source
    leaf: tuple[str, str, list[str]] | None = None  # type, source, lines

    def finish_leaf() -> None:
        if leaf is not None:
            kind, source, lines = leaf
            if is_wanted is None or is_wanted(source, lines[0]):
                checks.append(parse_check(kind, source, "\n".join(lines).rstrip()))

    for line in text.split("\n"):
        node = _NODE.fullmatch(line)
        if node is None:
            measured = _LATENCY.fullmatch(line)
            if measured:
                latency = float(measured[1])
                finish_leaf()
                leaf = None
            elif leaf is not None:  # the check is a text of several lines
                leaf[2].append(line)
            continue
        finish_leaf()
        depth, content = len(node[1]), node[2]
        while managers and managers[-1][0] >= depth:
            managers.pop()
        source = managers[-1][1] if managers else ""
        found = _LEAF.fullmatch(content)
        if found:
            leaf = found[1], source, [found[2] or ""]
        else:
            leaf = None
            managers.append((depth, _source(content, source)))
    finish_leaf()
    return tuple(checks), latency


def _source(manager: str, parent: str) -> str:
    """What a manager's line says that it guards; a line that does not say is about what its parent guards."""
    found = _MANAGER.match(manager)
    if found is None:
        return parent
    end = _outside_quotes(_END_OF_SOURCE, found[1])
    return found[1].strip() if end is None or _is_open(end) else found[1][: end.start()]


def _outside_quotes(mark: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first mark, or else the first quote that is never closed, behind which all may be text."""
    for found in mark.finditer(text):
        if found[0][0] not in _QUOTES or _is_open(found):
            return found
    return None


def _is_open(found: re.Match[str]) -> bool:
    """Whether it is a quote that is never closed."""
    return found.lastgroup is not None


def parse_check(kind: str, source: str, text: str) -> GuardCheck:
    """One check: its text, and what torch says behind it."""
    code, comment = _without_comment(text)
    if comment.startswith("(") and comment.endswith(")") and not comment.startswith(_HINT):
        comment = comment[1:-1]  # a line of torch's own
    found = _COMMENT.fullmatch(comment)
    if found is None:
        return GuardCheck(kind, source, _with_note(code, comment), None, None, None)
    user_code, file, line, function, note = found.groups()
    return GuardCheck(kind, source, _with_note(code, note or ""), user_code, Place(file, int(line)), function)


def split_comment(text: str) -> tuple[str, str | None]:
    """A check, and what torch says behind it; None if that is nothing."""
    end = _outside_quotes(_END_OF_CODE, text) if _MARK in text else None
    if end is None:
        return text, None
    # A quote that is never closed, as in the repr of an object, hides no mark.
    at = text.index(_MARK) if _is_open(end) else end.start()
    return text[:at], text[at + len(_MARK) :]


def _without_comment(text: str) -> tuple[str, str]:
    code, comment = split_comment(text)
    if comment is None and _HINT in code:
        code, _, comment = code.partition(_HINT)
        comment = _HINT + comment
    return code.rstrip(), (comment or "").strip()


def _with_note(code: str, note: str) -> str:
    """A check with what torch says of it, as a comment, where that is neither a line nor unknown."""
    note = note.strip().replace(") " + _HINT, ", ")
    if note.startswith("(") and note.endswith(")"):
        note = note[1:-1].removeprefix(_HINT[1:])
    return f"{code}  # {note}" if note and note != "<unknown>" else code
