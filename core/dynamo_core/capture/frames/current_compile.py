"""Which compile is in progress, and its id as trace records spell it."""

from collections.abc import Mapping


def current_compile_id() -> dict[str, int]:
    """The compile in progress, as trace records spell it; empty outside one.

    Source: torch/_guards.py (CompileContext.current_trace_id). 2.8 to 2.15.
    """
    from torch._guards import CompileContext

    trace_id = CompileContext.current_trace_id()
    if trace_id is None:
        return {}
    frame_id, frame_compile_id = trace_id.compile_id.frame_id, trace_id.compile_id.frame_compile_id
    if frame_id is None:
        return {}
    return {
        "frame_id": frame_id,
        "frame_compile_id": frame_compile_id,
        "attempt": trace_id.attempt,
    }


def compile_id_text(envelope: Mapping[str, int]) -> str:
    """`0/1`, of the part of a trace record that says which compile it belongs to."""
    return "{}/{}".format(envelope.get("frame_id", "-"), envelope.get("frame_compile_id", "-"))
