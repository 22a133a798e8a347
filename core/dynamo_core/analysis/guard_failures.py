"""Failed guards: what differed, in a few words, and which checks on dynamic sizes the program caused.

Source: torch/fx/experimental/symbolic_shapes.py (produce_guards_verbose): the range of a dynamic size is one
check. The comment behind it gives the reasons, joined by "and". That a size is not 0 or 1 comes from no line
of the program, though torch names one. Bounds that Inductor adds have no line either. Read with 2.13.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..model import Compile, CompileId, GuardCheck, GuardFailure, Place
from ..recording.guards import parse_check, plain_source, split_comment
from ..shared.failed_guard import AT_BREAK, is_on_stack, source_words, without_stack_names
from .guard_text import TensorCheck, tensor_check
from .source_lines import changed_by

# The range of a size that torch only requires not to be 0 or 1, and perhaps not to be too large.
_RANGE = re.compile(r"2 <= [^\s<>=]{1,400}( <= \d{1,20})?")
_BETWEEN = re.compile(r"(?:(?P<least>\d{1,20}) <= )?[^\s<>=]{1,400}(?: <= (?P<most>\d{1,20}))?")
_OTHER_THAN = re.compile(r"[^\s<>=!]{1,400} != ([01])")
_ASKS = re.compile(r"[<>]|[=!]=|\b(?:if|while|assert|range)\b")
_NOT_0_OR_1 = "0/1 specialization"  # in torch's comment on such a check
_AND = ") and "
# What torch says of a recompile that finds an entry which fits, as one that another thread has made.
# Source: torch/_dynamo/guards.py (get_guard_fail_reason_helper), 2.13.
MADE_MEANWHILE = "Unexpected recompilation"
ANOTHER_BACKEND = "BACKEND_MATCH"  # of a cache entry of another torch.compile (torch/_dynamo/guards.py)
_GLOBAL = re.compile(r"G\['([^'\n]{1,200})'\]")
# An attribute of an argument that is followed again on what it gave: `tree.left.left`.
_WALK = re.compile(
    r"(?!self\b)[A-Za-z_]\w{0,99}\.(?:[\w\[\]'\"]{1,100}\.){0,9}?"
    r"(?P<step>[A-Za-z]\w{0,99})(?:\[[^\[\]]{1,100}\])?\.(?P=step)\b"
)
_STATIC_MARKS = re.compile(r"'_dynamo_static_indices', set\(\)\)\.issubset\(\{([\d, ]{1,400})\}\)")
_SUBSCRIPT = re.compile(r"\[[^\[\]]{1,200}\]")


def is_not_0_or_1(check: str) -> bool:
    """Whether a check rejects only sizes of 0 and 1."""
    found = _RANGE.fullmatch(check)
    return found is not None and found[1] is None


def rejects_0_and_1(check: str) -> bool:
    """Whether a check rejects sizes of 0 and 1, and perhaps large ones."""
    return _RANGE.fullmatch(check) is not None


def is_0_or_1_apart(failure: GuardFailure, actual: str | None) -> bool:
    """Whether a guard rejects 0 or 1, which torch compiles apart, and not for what the program's line asks.

    Of a number that is no size, torch may reject 0 alone.
    """
    least, _ = _bounds(failure.check)
    other_than = _OTHER_THAN.fullmatch(failure.check)
    if actual not in ("0", "1") or (least is None and other_than is None):
        return False
    is_rejected = other_than[1] == actual if other_than else int(actual) < int(least or 0) < 3
    return is_rejected and (least == "2" or _ASKS.search(failure.user_code or "") is None)


# torch checks relations last (torch/_dynamo/guards.py, "epilogue", 2.8 to 2.15): all else of the entry fits.
CHECKED_LAST = ("relation of sizes", "comparison")
# How near a cache entry is to a call, by the kind of guard that failed: calls that differ in a size or number
# are similar, calls that differ in how many arguments they have are not. Other kinds are in between.
_NEAREST = ("size", "value", "stride", "requires_grad", "dtype", "dispatch keys", "device")
_FARTHEST = ("global state", "attribute", "rank", "type", "length", "dictionary", "identity", "freed object")


def distance_of(failure: GuardFailure) -> int:
    """How far a cache entry is from a call that it failed for so: the less, the nearer."""
    if failure.kind in CHECKED_LAST:
        return -1
    if failure.kind in _NEAREST:
        return 0
    return 2 + _FARTHEST.index(failure.kind) if failure.kind in _FARTHEST else 1


def tensors_of(checks: Iterable[GuardCheck], source: str) -> Iterator[TensorCheck]:
    """What the checks on one source require of it as a tensor."""
    codes = (split_comment(check.code)[0] for check in checks if plain_source(check.source) == source)
    yield from filter(None, map(tensor_check, codes))


def differs_in_mode(failure: GuardFailure, before: Iterable[GuardCheck], now: Iterable[GuardCheck]) -> bool:
    """Whether only the dispatch keys of a tensor differ, as inside of `torch.inference_mode`.

    By the sizes that the entry was compiled for, and those of the next one.
    """
    if failure.kind != "dispatch keys" or failure.source is None:
        return False
    source = failure.source
    sizes, own = ([each.sizes for each in tensors_of(checks, source)] for checks in (before, now))
    return bool(sizes) and sizes == own


def is_in_range(check: str, number: int) -> bool | None:
    """Whether a number passes a check of the form `2 <= x <= 15`; None for a check of another form."""
    least, most = _bounds(check)
    return int(least or number) <= number <= int(most or number) if least or most else None


def range_words(check: str) -> str:
    """The range in such a check in words: `2 to 15`, `16 or more`; "" for a check of another form."""
    least, most = _bounds(check)
    if least and most:
        return f"{least} to {most}"
    return f"{least} or more" if least else f"up to {most}" if most else ""


def _bounds(check: str) -> tuple[str | None, str | None]:
    found = _BETWEEN.fullmatch(check)
    return (None, None) if found is None else (found["least"], found["most"])


def deciding_line(
    check: str, user_code: str | None, place: Place | None, remark: str | None
) -> tuple[str, Place] | None:
    """The user's line that made torch check more than it does for every dynamic size; None if none did."""
    if is_not_0_or_1(check):
        return None
    if remark is not None and _NOT_0_OR_1 in remark:
        # The line before the comment is only the first one that uses the size.
        rest = remark.partition(_NOT_0_OR_1)[2].partition(_AND)[2]
        behind = parse_check("", "", f"_  # {rest}")
        user_code, place = behind.user_code, behind.place
    return (user_code, place) if user_code and place is not None else None


def deciding_line_of(check: GuardCheck) -> tuple[str, Place] | None:
    """The user's line that made torch check more than it does for every dynamic size; None if none did."""
    code, remark = split_comment(check.code)
    return deciding_line(plain_source(code).strip(), check.user_code, check.place, remark)


def is_constraint(check: GuardCheck) -> bool:
    """Whether a check on a size requires more than torch does of every dynamic size."""
    code = plain_source(split_comment(check.code)[0]).strip()
    return not rejects_0_and_1(code) or deciding_line_of(check) is not None


def what_tells_apart(compile_: Compile, failure: GuardFailure | None) -> tuple[object, ...]:
    """The kind of a cause of recompiles, its source and dimension, and words where torch names none."""
    if failure is None or not failure.check:
        return ("not recorded", None, None, compile_.recompile_reason)
    if failure.check.startswith((ANOTHER_BACKEND, MADE_MEANWHILE)):
        return ("backend" if failure.check.startswith(ANOTHER_BACKEND) else "made meanwhile", None, None)
    if failure.kind in ("size", "relation of sizes") and failure.dimension is not None:
        return ("size", failure.source, failure.dimension)
    if failure.kind == "comparison":
        return ("value", failure.source, None)
    if failure.kind == "other" or failure.source is None:
        return (failure.kind, None, None, failure.check)
    return (failure.kind, failure.source, failure.dimension)


def what_differed(failure: GuardFailure) -> str:
    """What the guard found to differ: `size of x at dimension 0`, `dtype of x`, or torch's own words."""
    if failure.check.startswith(MADE_MEANWHILE):
        return "nothing: a version that fits had come"
    if failure.kind == "other" or failure.source is None:
        return without_stack_names(failure.check) or "torch does not say"
    source = source_words(failure.source).replace("`", "")
    if _is_0_or_1(failure):
        return f"size of {source} at dimension {failure.dimension}"
    at = f" at dimension {failure.dimension}" if failure.dimension is not None else ""
    if failure.kind == "value" and source == AT_BREAK:
        return "value made at the graph break"
    return f"{failure.kind} of {source}{at}"


def compiled_for(failure: GuardFailure) -> str | None:
    """The value that was compiled for, or the range of values; None where torch does not say."""
    if failure.expected is None and failure.kind == "relation of sizes":
        return range_words(failure.check) or without_stack_names(failure.check)
    return failure.expected


def actual_value(failure: GuardFailure, known: str | None) -> str | None:
    """The value that the guard rejected: `known`, or else what it must have been; None if unknown."""
    return "0 or 1" if known is None and _is_0_or_1(failure) else known


def _is_0_or_1(failure: GuardFailure) -> bool:
    """Whether the guard is on a dynamic size that may be anything except 0 and 1."""
    return (
        failure.kind == "relation of sizes" and failure.dimension is not None and is_not_0_or_1(failure.check)
    )


def is_on_stack_value(failure: GuardFailure) -> bool:
    """Whether the guard is on an unnamed value that was on Python's stack at a graph break."""
    return is_on_stack(failure.source)


def is_on_length(failure: GuardFailure) -> bool:
    """Whether the guard is on the length of a list or a dictionary."""
    return failure.kind in ("length", "dictionary")


def lengthened_by(line: str, failure: GuardFailure) -> str | None:
    """The program's name of the list or dictionary that the guard is on, if the line changes its length."""
    name = _GLOBAL.sub(r"\1", failure.source or "")
    # A method has another name for it, by `self`; and the line may name a key by a variable.
    changed = {_last_part(each) for each in changed_by(line)}
    return name if is_on_length(failure) and _last_part(name) in changed else None


# A name with its attributes and subscripts, as `self.keys[layer]`.
_NAMED = re.compile(r"[A-Za-z_][\w.]{0,200}(?:\[[^\[\]]{0,100}\]){0,3}")


def is_named_in(line: str, name: str) -> bool:
    """Whether a line has what the program calls so, perhaps by another object or with another subscript."""
    return _last_part(name) in map(_last_part, _NAMED.findall(line))


def _last_part(name: str) -> str:
    return _SUBSCRIPT.sub("[]", name).rpartition(".")[2]


def walk_in(source: str | None) -> str | None:
    """The part of a source that shows a walk through an argument, `tree.left.left`; None where none does."""
    found = _WALK.match(source or "")
    return None if found is None else found[0]


def sizes_of_parameters(
    checks: Mapping[CompileId | None, Sequence[GuardCheck]],
) -> dict[tuple[str, int], dict[CompileId | None, str]]:
    """The sizes of parameters that differ between versions: by source and index, the size in each version."""
    found: dict[tuple[str, int], dict[CompileId | None, str]] = {}
    for version, check in ((version, each) for version, of_version in checks.items() for each in of_version):
        tensor = tensor_check(split_comment(check.code)[0])
        if tensor is not None and tensor.class_ == "Parameter":
            for index, size in enumerate(tensor.sizes):
                found.setdefault((check.source, index), {})[version] = str(size)
    return {dimension: sizes for dimension, sizes in found.items() if len(set(sizes.values())) > 1}


def static_marks(check: str) -> set[int]:
    """The dimensions that were marked by `mark_static`, from the check on such marks; else none."""
    found = _STATIC_MARKS.search(check)
    return set() if found is None else {int(each) for each in found[1].split(",") if each.strip()}


_ONE_NUMBER = re.compile(r" == \d{1,20}$")
_CACHED = "/autograd_cache.py"  # torch/_functorch/_aot_autograd/, which adds the guards of cached code again
_NOT_NAMED = "one of its operations"


def lowering_of(
    failures: Iterable[GuardFailure], checks: Mapping[CompileId | None, Iterable[GuardCheck]]
) -> str | None:
    """The function of Inductor's for which an expression over sizes has to be one number; None for no such.

    `checks` are those of each entry. Of code out of a cache, torch does not say for which operation it was.
    Source: torch/fx/experimental/symbolic_shapes.py (ShapeEnv.produce_guards_verbose), read in 2.13.
    """
    for failure in failures:
        file = "" if failure.place is None else f"/{failure.place.file}"
        is_relation = failure.kind == "relation of sizes" and _ONE_NUMBER.search(failure.check) is not None
        if not is_relation or failure.user_code is not None:
            continue
        if file.endswith(_CACHED):
            return _NOT_NAMED
        if "/_inductor/" in file:
            of_entry = checks.get(failure.entry, ())
            same = (each for each in of_entry if plain_source(split_comment(each.code)[0]) == failure.check)
            found = next((each.function for each in same if each.place == failure.place), None)
            return (found or _NOT_NAMED).removesuffix("_lowering")
    return None
