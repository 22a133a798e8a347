"""What every builder needs: what comes of a record, and payloads that several kinds of records share."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..model import Bytecode, Compile, Frame, Graph, GraphBreak, GuardSet, Place, StackFrame, TensorInfo
from .records import Record

Item = Graph | GraphBreak | Compile | GuardSet | Bytecode | Frame
Handler = Callable[[Record], Item | None]

MOST_VALUES = 2_000_000  # in a graph, a frame's bytecode or its guards; a node has some forty


def place_of(content: Mapping[str, Any]) -> Place | None:
    """The line that a payload names, if it does."""
    return Place(content["file"], content["line"]) if "file" in content else None


def stack_of(frames: Iterable[Mapping[str, Any]]) -> tuple[StackFrame, ...]:
    """A stack in a payload of ours."""
    return tuple(
        StackFrame(Place(each["file"], each["line"]), each["name"], each["text"] or "") for each in frames
    )


def stack_frame(frame: Mapping[str, Any] | None) -> StackFrame | None:
    """One line of a stack, if it is known."""
    return None if frame is None else stack_of([frame])[0]


def around_of(lines: Mapping[str, Any] | None) -> dict[int, str]:
    """Lines of source by their number, in a payload of ours; none of a version that did not write them."""
    return {int(line): str(text) for line, text in (lines or {}).items()}


def tensors_of(content: Mapping[str, Any]) -> tuple[TensorInfo, ...]:
    """The tensors that a value is, or is made of."""
    if "shape" in content:
        stride = content.get("stride")
        return (
            TensorInfo(
                shape=tuple(content["shape"]),
                stride=None if stride is None else tuple(stride),
                dtype=content["dtype"],
                device=content["device"],
                requires_grad=content.get("requires_grad", False),
            ),
        )
    return tuple(tensor for value in content.get("values", ()) for tensor in tensors_of(value))
