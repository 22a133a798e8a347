"""A guard that failed, as JSON values."""

from typing import Any

from dynamo_core.model import GuardFailure, Place

from ..report import id_value, place_value


def failure_value(failure: GuardFailure, actual: str | None, place: Place | None) -> dict[str, Any]:
    """The failure; `actual` and `place` are what is known of it, from torch or otherwise."""
    return {
        "entry": id_value(failure.entry),
        "check": failure.check,
        "kind": failure.kind,
        "source": failure.source,
        "dimension": failure.index,
        "expected": failure.expected,
        "actual": actual,
        "place": place_value(place),
        "user_code": failure.user_code,
        "hint": failure.hint,
    }
