"""A record of --verify as a part of the model; what is wrong with it raises."""

from collections.abc import Mapping
from typing import Any

from ..model import ComparedValue, Place, VerifiedCall, WrongNode
from ..shared.records import CallVerified


def verified_call(verified: CallVerified) -> VerifiedCall:
    """What came of one call that was to be compared with eager."""
    return VerifiedCall(
        graph=verified.graph,
        call=verified.call,
        outcome=verified.outcome,
        why=verified.why,
        compared=verified.compared,
        against_float64=verified.against_float64,
        gradients=verified.gradients,
        worst=compared_value(verified.worst),
        first_wrong=compared_value(verified.first_wrong),
        node=_node(verified.node),
        node_unknown=verified.node_unknown,
        seconds=verified.ns / 1e9,
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
