"""Parses torch's text of a guard that failed into its parts, and puts the parts into words.

Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper, strip_local_scope: `L['x']` is written `x`) and
torch/csrc/dynamo/guards.cpp (TensorCheck::check_verbose). What is not recognised keeps torch's own words.
Read with 2.6 to 2.15.
"""

import re
from collections.abc import Mapping

from .quick_dataclass import dataclass

# The size of a dynamic dimension.
_SIZE = re.compile(
    r"(?P<source>\b[A-Za-z_](?:[\w.]|\[[^][\n]{0,200}\]){0,200}?)\.size\(\)\[(?P<index>\d{1,9})\]"
)


def _until(name: str, mark: str) -> str:
    """A pattern for the part `name`, which ends where `mark` begins: matching takes linear time."""
    return f"(?P<{name}>(?:(?!{mark}).)+){mark}"


def _mismatch(what: str, and_then: str) -> re.Pattern[str]:
    """A pattern for TensorCheck's text on a tensor."""
    until_mark = _until("source", f"' {what} mismatch")
    return re.compile(f"tensor '{until_mark}{and_then}")


_AT_INDEX = r" at index (?P<index>\d{1,9})"
_HINT = "Guard failed on a parameter"  # begins what torch adds to each mismatch of one (guards.cpp)
_OF_A_PARAMETER = rf"(?:\. (?P<hint>{_HINT}.+))?"
_VALUES = rf"\. expected {_until('expected', ', actual ')}(?P<actual>(?:(?!\. {_HINT}).)+){_OF_A_PARAMETER}"
# A hint may follow numbers, as for parameters.
_NUMBERS = r"\. expected (?P<expected>-?\d{1,20}), actual (?P<actual>-?\d{1,20})(?:\. (?P<hint>.+))?"
# A number that a variable is compared with, and the variable's name.
_LITERAL = r"-?\d{1,40}(?:\.\d{0,40})?(?:e[-+]?\d{1,4})?"
_NAME = r"(?P<source>[A-Za-z_][\w.\[\]'\"]{0,400})"
_TRUTH = {"0": "False", "1": "True"}
_OTHER = {"False": "True", "True": "False"}
# The kind of difference, and the pattern of torch's text for it, with groups for the parts.
_KINDS: Mapping[str, re.Pattern[str]] = {
    "size": _mismatch("size", _AT_INDEX + _NUMBERS),
    "stride": _mismatch("stride", _AT_INDEX + _NUMBERS),
    "rank": _mismatch("rank", _NUMBERS),
    "dtype": _mismatch("dtype", _VALUES),
    "requires_grad": _mismatch(
        "requires_grad",
        r"\. expected requires_grad=(?P<expected>\w+)(?:, actual (?:requires_grad=)?(?P<actual>\w+))?"
        + _OF_A_PARAMETER,
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
    "set": re.compile(rf"(?P<not>not )?set\.__contains__\({_NAME}, (?P<expected>.+)\)"),
    "none or bool": re.compile(r"(?P<source>.+) is (?P<expected>(?:not )?None|True|False)"),
    "comparison": re.compile(
        rf"(?:{_LITERAL} <=? )?{_NAME} (?:<=?|>=?|!=) {_LITERAL}"
        rf"|{_LITERAL} <=? {_NAME.replace('source', 'other')}"
    ),
    "value": re.compile(r"(?P<source>[^<>=!]+?) == (?P<expected>.+)"),
}


@dataclass(frozen=True)
class FailedGuard:
    """The parts of a failed check: the kind of difference, source, dimension, and both values."""

    kind: str
    source: str | None = None
    index: int | None = None
    expected: str | None = None
    actual: str | None = None
    hint: str | None = None


def failed_guard(check: str) -> FailedGuard:
    """The parts of a check, parsed from torch's text; the kind is `other` where it is not recognised."""
    kind, parts = _kind(check)
    index = parts.get("index")
    return FailedGuard(
        kind,
        parts.get("source"),
        int(index) if index is not None else None,
        parts.get("expected"),
        parts.get("actual"),
        parts.get("hint"),
    )


# torch's name for what stood on Python's stack at a break (torch/_dynamo/resume_execution.py, 2.8 to 2.15).
_ON_STACK = re.compile(r"(?:L\['___stack(\d{1,9})'\]|\b___stack(\d{1,9})\b)")
AT_BREAK = "a value made at the graph break"


def is_on_stack(source: str | None) -> bool:
    """Whether it is an unnamed value that was on Python's stack at a graph break."""
    return _ON_STACK.match(source or "") is not None


# A global variable (torch/_dynamo/source.py: GlobalSource), and what a function refers to from outside of it.
_GLOBAL = re.compile(r"^G\['([^'\n]{1,200})'\]")
_CLOSED_OVER = ".__closure__["
# `._modules['a']`; in a module class that Dynamo does not know, `.__dict__['_modules']['a']`.
_MEMBER = re.compile(
    r"\.(?:__dict__\['_(?:modules|parameters|buffers)'\]|_(?:modules|parameters|buffers))\['([^']+)'\]"
)


# What a source ends in: a key of a dictionary, or the name of an attribute.
_LAST_MEMBER = re.compile(
    r"(?:\.(?P<attribute>\w{1,200})|\[(?P<mark>['\"]?)(?P<key>[^][\n'\"]{1,200})(?P=mark)\])\Z"
)
_LONGEST_MEMBER = 210
_WORD = re.compile(r"\w+")


def without_member(source: str, line: str) -> str | None:
    """`kw` for `kw['a']` or `kw.a` where a line finds the member without naming it, as in `kw[name]`.

    Which of such members is the first may go by the order of a set, another one in each process.
    """
    found = _LAST_MEMBER.search(source, max(0, len(source) - _LONGEST_MEMBER))
    if found is None or not line:
        return None
    member = found["attribute"] or found["key"]
    is_named = {*_WORD.findall(member)} <= {*_WORD.findall(line)}
    return None if is_named else source[: found.start()]


def source_words(source: str) -> str:
    """`` `x` ``, or words for what has no name in the program, as `a value made at the graph break`."""
    found = _ON_STACK.match(source)
    if found is None:
        function, closed_over, _ = _GLOBAL.sub(r"\1", source).partition(_CLOSED_OVER)
        words = f"what `{function}` keeps" if closed_over else f"`{with_member_names(function)}`"
        return without_stack_names(words)
    inside = source[found.end() :].lstrip(".")
    return f"`{inside}` of {AT_BREAK}" if inside else AT_BREAK


def with_member_names(source: str) -> str:
    """A source with `self.fc.weight` for `self._modules['fc']._parameters['weight']`."""
    return _MEMBER.sub(r".\1", source)


def without_stack_names(text: str) -> str:
    """A text of torch's with `value_at_break_0` for what it calls `___stack0`, or `L['___stack0']`."""
    return _ON_STACK.sub(lambda found: f"value_at_break_{found[1] or found[2]}", text)


def guarded(kind: str, source: str | None, index: int | None) -> str:
    """What is guarded, in words: the size of `x` at dimension 0, or `k` alone for its value."""
    at = f" at dimension {index}" if index is not None else ""
    what = {"value": "", "rank": "the number of dimensions of "}.get(kind, f"the {kind} of ")
    return f"{what}{source_words(source or '')}{at}"


def describe_change(what: str, expected: str, actual: str) -> str:
    """A sentence: what is guarded had one value when it was compiled, and then another."""
    return f"{what} was {expected} when it was compiled, and then {actual}"


def sizes_in(check: str) -> list[tuple[str, int]]:
    """The sizes in a check: source and dimension of each."""
    return list(dict.fromkeys((found["source"], int(found["index"])) for found in _SIZE.finditer(check)))


def _kind(check: str) -> tuple[str, Mapping[str, str | None]]:
    for kind, pattern in _KINDS.items():
        found = pattern.fullmatch(check)
        if found:
            parts = found.groupdict()
            if kind in ("attribute", "dictionary", "set"):
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
            if kind == "requires_grad":
                expected = _TRUTH.get(parts["expected"] or "", parts["expected"])
                actual = _TRUTH.get(parts["actual"] or "", parts["actual"]) or _OTHER.get(expected or "")
                return kind, parts | {"expected": expected, "actual": actual}
            if kind == "none or bool":
                return "value", parts | ({"actual": "None"} if parts["expected"] == "not None" else {})
            return kind, parts
    return "other", {}
