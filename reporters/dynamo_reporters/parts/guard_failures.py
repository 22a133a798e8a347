"""A guard that failed, as documents have it."""

from typing import Annotated, ClassVar, Literal, cast

from dynamo_core.model import CompileId, GuardFailure, Place
from dynamo_core.shared.quick_dataclass import dataclass

FailureKind = Literal[
    "size",
    "stride",
    "rank",
    "dtype",
    "requires_grad",
    "dispatch keys",
    "device",
    "length",
    "type",
    "identity",
    "freed object",
    "global state",
    "attribute",
    "dictionary",
    "relation of sizes",
    "comparison",
    "value",
    "other",
]


@dataclass(frozen=True)
class Failure:
    """A guard that failed, and on what."""

    in_common: ClassVar[str] = "failure"

    entry: Annotated[CompileId | None, "the cache entry that could not be used"]
    check: Annotated[str, "the guard that failed, in torch's words"]
    kind: Annotated[FailureKind, "what differed"]
    source: Annotated[str | None, "as torch spells it here: x for L['x']"]
    dimension: int | None
    expected: str | None
    actual: Annotated[str | None, "torch says it, or the entry then compiled is guarded on it"]
    place: Place | None
    user_code: str | None
    hint: Annotated[str | None, "torch's"]


def failure_of(failure: GuardFailure, actual: str | None, place: Place | None) -> Failure:
    """The failure; `actual` and `place` are what is known of it, from torch or otherwise."""
    return Failure(
        entry=failure.entry,
        check=failure.check,
        kind=cast(FailureKind, failure.kind),
        source=failure.source,
        dimension=failure.index,
        expected=failure.expected,
        actual=actual,
        place=place,
        user_code=failure.user_code,
        hint=failure.hint,
    )
