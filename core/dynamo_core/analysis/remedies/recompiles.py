"""What to do about recompiles, by what differed between the calls.

The remedies are those of torch's own pages (Dynamic Shapes; Programming Model: Recompilation) and hints,
checked with torch 2.13.
"""

import re
from collections.abc import Sequence

from ...model import GuardFailure, Symbol
from .advice import Advice

_LOCAL = re.compile(r"L\[\s*['\"]([^'\"\n]*)['\"]\s*\]")
_TYPE = re.compile(r"type=<class '([^']+)'>")
_FUNCTIONS = ("function", "method", "builtin_function_or_method", "functools.partial", "module", "type")
_LONGEST_CHECK = 120
_BY_KIND = {
    "stride": "{source} comes in different memory layouts: give it one with `.contiguous()` before the call.",
    "rank": "{source} comes with different numbers of dimensions: give it one with `unsqueeze` or `reshape` "
    "before the call, or compile a function for each.",
    "dtype": "{source} comes as different dtypes ({values}): convert it before the call.",
    "device": "tensors come from different devices ({values}): move them to one before the call.",
    "requires_grad": "{source} comes with and without requires_grad: detach it, or compile training "
    "and inference apart.",
    "dispatch keys": "{source} comes under different modes (inference mode, no_grad, autocast, functorch): "
    "call the compiled function under one of them.",
    "length": "{source} has different lengths: pass a tensor instead, or pad it to one length.",
    "type": "{source} is of different types: pass one type.",
    "identity": "{source} is another object each time, a lambda or a partial made anew perhaps: make it once "
    "and pass the same one.",
    "freed object": "{source} was freed, which discards what was compiled for it: keep a reference to it.",
    "global state": "global state differs between calls (grad mode, autocast, default dtype, threads, "
    "deterministic algorithms): set it once, or compile a function for each setting.",
    "attribute": "{source} comes with and without an attribute (compiled {expected}): set it always, or "
    "never.",
    "relation of sizes": "sizes that are equal, or ordered, in some calls only are compiled apart: give them "
    "one relation, or do not branch on it in the compiled code.",
    "dictionary": "{source} comes with and without a key (compiled {expected}): give it the same keys in "
    "every call.",
}


def recompile_advice(failures: Sequence[GuardFailure], symbols: Sequence[Symbol]) -> list[Advice]:
    """One remedy for each thing that differed, most frequent first.

    `failures` are those of all recompiles of a frame, `symbols` what its compiles made dynamic.
    """
    failures = [failure for failure in failures if failure.check]  # torch 2.8 can be silent
    by_cause: dict[tuple[str, str | None, int | None], list[GuardFailure]] = {}
    for failure in failures:
        by_cause.setdefault((failure.kind, failure.source, failure.index), []).append(failure)
    ordered = sorted(by_cause.values(), key=len, reverse=True)
    return list(dict.fromkeys(Advice(_remedy(same, symbols)) for same in ordered))


def _remedy(same: Sequence[GuardFailure], symbols: Sequence[Symbol]) -> str:
    failure = same[0]
    source = f"`{failure.source}`" if failure.source else "an input"
    if failure.source and failure.source.startswith("___"):
        return (
            f"a value made between two graphs varies ({failure.kind} {_values(same)}): resolve the graph "
            "break before it, or make it the same in every call."
        )
    if failure.kind == "identity" and (kind := _TYPE.search(failure.check)) and kind[1] not in _FUNCTIONS:
        return f"{source} is another `{kind[1]}` in some calls, and each is a compile of its own: pass few."
    if failure.kind == "size":
        return _size(failure, same, symbols)
    if failure.kind == "value":
        return _value(failure, symbols)
    text = _BY_KIND.get(failure.kind)
    if text is None:
        return (
            failure.hint
            or f"the check `{_short(failure.check)}` failed: make what it is about alike in every call."
        )
    return text.format(source=source, expected=failure.expected or "named", values=_values(same))


def _size(failure: GuardFailure, same: Sequence[GuardFailure], symbols: Sequence[Symbol]) -> str:
    source, dimension = failure.source, failure.index
    sizes = {value for each in same for value in (each.expected, each.actual)}
    varies = f"the size of `{source}` at dimension {dimension} varies ({_values(same)})"
    if sizes & {"0", "1"}:
        return (
            f"{varies}, and torch compiles sizes 0 and 1 apart: "
            f"`torch._dynamo.decorators.mark_unbacked({source}, {dimension})` before the first call makes "
            "one compile do for all, where no branch depends on the size."
        )
    mark = f"`torch._dynamo.mark_dynamic({source}, {dimension})` before the first call"
    if any(plain_source(symbol.source) == f"{source}.size()[{dimension}]" for symbol in symbols):
        return f"{varies}; torch made it dynamic after that. {mark} saves the recompile."
    return f"{varies} and was compiled anew each time: {mark}, or `torch.compile(..., dynamic=True)`."


def _value(failure: GuardFailure, symbols: Sequence[Symbol]) -> str:
    source, expected = failure.source or "", failure.expected or ""
    if any(plain_source(symbol.source) == source for symbol in symbols):
        return (
            f"`{source}` varies; torch made it dynamic after that. `torch.compile(..., dynamic=True)` makes "
            "it so from the start; one that is only calculated with can be a tensor."
        )
    if failure.hint:
        return f"`{source}` varies, and each value is a compile of its own. torch's hint: {failure.hint}"
    is_number = expected.lstrip("-").replace(".", "", 1).replace("e", "", 1).isdigit()
    if is_number and source.startswith("self."):
        return (
            f"`{source}` is a number on the module that changes, and each value is a compile of its own: "
            "keep it in a buffer (`register_buffer`), change it outside the compiled code, or set "
            "`torch._dynamo.config.allow_unspec_int_on_nn_module = True` if it is an int."
        )
    if is_number:
        return f"`{source}` varies, and each value is a compile of its own: pass it as a tensor."
    return (
        f"`{source}` varies, and each value is a compile of its own: choose outside the compiled code, or "
        "keep to few values."
    )


def _values(same: Sequence[GuardFailure]) -> str:
    known = dict.fromkeys(
        value for each in same for value in (each.expected, each.actual) if value is not None
    )
    shown = list(known)[:8]
    return ", ".join(shown) + (", …" if len(known) > len(shown) else "")


def plain_source(source: str) -> str:
    """A source as guard failures spell it: `x` for `L['x']`.

    Source: torch/_dynamo/guards.py (strip_local_scope), 2.8 to 2.15.
    """
    return _LOCAL.sub(r"\1", source)


def _short(check: str) -> str:
    return check if len(check) <= _LONGEST_CHECK else check[:_LONGEST_CHECK] + "…"
