"""A record of --verify as a part of the model; what is wrong with it raises."""

from collections.abc import Mapping
from typing import Any

from ..model import VERIFY_OUTCOMES, ComparedValue, Place, VerifiedCall, WrongNode


def verified_call(content: Mapping[str, Any]) -> VerifiedCall:
    """What came of one call that was to be compared with eager."""
    if content["outcome"] not in VERIFY_OUTCOMES:
        raise ValueError(f"{content['outcome']!r} is no outcome")
    return VerifiedCall(
        graph=int(content["graph"]),
        call=int(content["call"]),
        outcome=content["outcome"],
        why=_text(content["why"]),
        compared=int(content["compared"]),
        against_float64=int(content["against_float64"]),
        gradients=_text(content["gradients"]),
        worst=compared_value(content["worst"]),
        first_wrong=compared_value(content["first_wrong"]),
        node=_node(content["node"]),
        node_unknown=_text(content["node_unknown"]),
        seconds=int(content["ns"]) / 1e9,
    )


def compared_value(content: Mapping[str, Any] | None) -> ComparedValue | None:
    """One value beside eager's."""
    if content is None:
        return None
    return ComparedValue(
        name=str(content["name"]),
        error=_number(content["error"]),
        allowed=_number(content["allowed"]),
        against=str(content["against"]),
        detail=_text(content["detail"]),
        size=_number(content.get("size")),  # not in recordings of earlier versions
    )


def _node(content: Mapping[str, Any] | None) -> WrongNode | None:
    if content is None:
        return None
    file, line = content["file"], content["line"]
    return WrongNode(
        name=str(content["name"]),
        target=str(content["target"]),
        place=None if file is None else Place(str(file), int(line)),
        value=compared_value(content["comparison"]),
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
