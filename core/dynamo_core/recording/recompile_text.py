"""Read the text in which torch says why a cache entry could not be used again.

Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper, strip_local_scope: `L['x']` is written `x`) and
torch/csrc/dynamo/guards.cpp (TensorCheck::check_verbose). What is not recognised keeps torch's own words.
Read with 2.6 to 2.15.
"""

import re
from collections.abc import Mapping

from ..model import CompileId, GuardFailure
from .break_text import LONGEST_TEXT, parse_user_stack
from .guard_text import parse_check

_LOCAL = re.compile(r"L\[\s*['\"]([^'\"\n]*)['\"]\s*\]")
# One size of a dynamic dimension, and which.
_SIZE = re.compile(
    r"(?P<source>[A-Za-z_](?:[\w.]|\[[^][\n]{0,200}\]){0,200}?)\.size\(\)\[(?P<index>\d{1,9})\]"
)
_ENTRY = re.compile(r"^(?:!(\d+)/)?(\d+)/(\d+): ")
_HINT = "(HINT: "


def _until(name: str, mark: str) -> str:
    """A pattern for the part `name`, which ends where `mark` begins: so nothing is tried twice."""
    return f"(?P<{name}>(?:(?!{mark}).)+){mark}"


def _mismatch(what: str, and_then: str) -> re.Pattern[str]:
    """A pattern for what TensorCheck says of a tensor."""
    until_mark = _until("source", f"' {what} mismatch")
    return re.compile(f"tensor '{until_mark}{and_then}")


_AT_INDEX = r" at index (?P<index>\d{1,9})"
_VALUES = rf"\. expected {_until('expected', ', actual ')}(?P<actual>.+)"
# Behind what is counted a hint may follow, as on parameters.
_NUMBERS = r"\. expected (?P<expected>-?\d{1,20}), actual (?P<actual>-?\d{1,20})(?:\. (?P<hint>.+))?"
# A number in a check on another one, and the name of that.
_LITERAL = r"-?\d{1,40}(?:\.\d{0,40})?(?:e[-+]?\d{1,4})?"
_NAME = r"(?P<source>[A-Za-z_][\w.\[\]'\"]{0,400})"
# What differs, by the words that torch has for it, and the parts that those words name.
_KINDS: Mapping[str, re.Pattern[str]] = {
    "size": _mismatch("size", _AT_INDEX + _NUMBERS),
    "stride": _mismatch("stride", _AT_INDEX + _NUMBERS),
    "rank": _mismatch("rank", _NUMBERS),
    "dtype": _mismatch("dtype", _VALUES),
    "requires_grad": _mismatch(
        "requires_grad",
        r"\. expected requires_grad=(?P<expected>\w+)(?:, actual (?:requires_grad=)?(?P<actual>\w+))?",
    ),
    "dispatch keys": _mismatch("dispatch key set", _VALUES),
    "device": re.compile(
        r"Tensor device index mismatch\. Expected device index to be "
        rf"{_until('expected', ', got ')}(?P<actual>.+)"
    ),
    "type of a tensor": re.compile(
        r"expected type of '(?P<source>.+)' to be a tensor type, ' but found <class '(?P<actual>[^']+)'>"
    ),
    "length": re.compile(r"len\((?P<source>.+)\) (?P<not>!=|==) (?P<expected>\d{1,20})"),
    "empty": re.compile(r"not (?P<source>\w[\w.\[\]'\"]*)"),
    "relation of sizes": re.compile(r"(?!len\().*\.size\(\)\[\d{1,9}\].*", re.DOTALL),
    "type": re.compile(r"___check_type_id\((?P<source>.+), \d+\)(?:, type=<class '(?P<expected>[^']+)'>)?"),
    "identity": re.compile(r"___check_obj_id\((?P<source>.+), \d+\)(?:, type=(?s:.*))?"),
    "freed object": re.compile(r"Cache line invalidated because (?P<source>.+) got deallocated"),
    "global state": re.compile(
        r"(?:___check_global_state\(\)|GLOBAL_STATE changed|___check_torch_function_mode_stack\(\)"
        r"|utils_device\.CURRENT_DEVICE == ).*"
    ),
    "attribute": re.compile(
        r"(?P<not>not )?hasattr\((?P<source>.+), '(?P<expected>[^']+)'\)(?: == (?P<is>True|False))?"
    ),
    "dictionary": re.compile(r"(?P<not>not )?___dict_contains\((?=.*\)\Z)(?P<expected>.+), (?P<source>.+)\)"),
    "none or bool": re.compile(r"(?P<source>.+) is (?P<expected>None|True|False)"),
    "comparison": re.compile(
        rf"(?:{_LITERAL} <=? )?{_NAME} (?:<=?|>=?|!=) {_LITERAL}"
        rf"|{_LITERAL} <=? {_NAME.replace('source', 'other')}"
    ),
    "value": re.compile(r"(?P<source>[^<>=!]+?) == (?P<expected>.+)"),
}


def parse_guard_failure(text: str) -> GuardFailure:
    """The parts of one reason, which begins with the id of the cache entry (`0/1: …`)."""
    first, _, rest = text[:LONGEST_TEXT].partition("\nUser stack trace:\n")
    entry = _ENTRY.match(first)
    compile_id = None
    if entry:
        autograd, frame, compile_ = entry.groups()
        compile_id = CompileId(int(frame), int(compile_), int(autograd) if autograd else None)
        first = first[entry.end() :]
    first, has_hint, hint = first.partition(_HINT)
    found = parse_check("", "", first.rstrip() if has_hint else first)
    check, _, remark = found.code.partition("  # ")
    user_code, place = found.user_code, found.place
    if place is not None and place.file.startswith("<"):
        place = None  # of code made at run time: nobody can go there
    stack = parse_user_stack(f"User code traceback:\n{rest}")
    if stack:
        user_code, place = stack[-1].text or user_code, stack[-1].place
    check = check.strip()
    kind, parts = _kind(check)
    index = parts.get("index")
    return GuardFailure(
        entry=compile_id,
        check=check,
        kind=kind,
        source=parts.get("source"),
        index=int(index) if index is not None else None,
        expected=parts.get("expected"),
        actual=parts.get("actual"),
        user_code=user_code,
        place=place,
        hint=hint.removesuffix("\n").removesuffix(")") if has_hint else parts.get("hint"),
        remark=remark.strip() or None,
    )


def plain_source(source: str) -> str:
    """A source as guard failures spell it: `x` for `L['x']`.

    Source: torch/_dynamo/guards.py (strip_local_scope), 2.8 to 2.15.
    """
    return _LOCAL.sub(r"\1", source)


def sizes_in(check: str) -> list[tuple[str, int]]:
    """The sizes that a check relates: of which source, and at which dimension."""
    return list(dict.fromkeys((found["source"], int(found["index"])) for found in _SIZE.finditer(check)))


def _kind(check: str) -> tuple[str, Mapping[str, str | None]]:
    for kind, pattern in _KINDS.items():
        found = pattern.fullmatch(check)
        if found:
            parts = found.groupdict()
            if kind in ("attribute", "dictionary"):
                is_absent = (parts["not"] is not None) != (parts.get("is") == "False")
                parts["expected"] = f"{'without' if is_absent else 'with'} {parts['expected']}"
            if kind == "type of a tensor":
                return "type", {**parts, "expected": "a tensor"}
            if kind == "comparison":
                return kind, {"source": parts["source"] or parts["other"]}
            if kind == "empty":
                return "length", {**parts, "expected": "0"}
            if kind == "relation of sizes" and len(sizes := sizes_in(check)) == 1:
                return kind, {"source": sizes[0][0], "index": str(sizes[0][1])}
            return ("value" if kind == "none or bool" else kind), parts
    return "other", {}
