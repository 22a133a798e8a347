"""Limits on tracing belong to the frame that is compiled, also while another one is compiled within it."""

import opcode
from typing import Any

from dynamo_core.capture.whole_program.limits import TracingLimits, _backward_jumps
from dynamo_core.shared.settings import Settings


def limits() -> TracingLimits:
    probes: Any = None  # nothing is installed
    return TracingLimits(Settings("/rec"), probes)


def test_no_frame_has_limits_but_the_one_that_is_compiled() -> None:
    tracing = limits()
    tracing.fall_back("--op-limit", "too large")
    assert not tracing.is_limited and tracing.limit_met() is None
    with tracing.limited() as frame:
        assert tracing.is_limited and tracing.limit_met() is None
        tracing.fall_back("--op-limit", "too large")
        assert tracing.limit_met() is frame.limit_met is not None
    assert not tracing.is_limited and tracing.limit_met() is None


def test_what_is_compiled_within_a_frame_leaves_the_frames_limits_as_they_were() -> None:
    tracing = limits()
    with tracing.limited() as outer:
        with tracing.limited() as inner:
            tracing.fall_back("--op-limit", "the inner one")
        assert tracing.is_limited and tracing.limit_met() is None
        tracing.fall_back("--trace-limit", "the outer one")
    assert inner.limit_met is not None and inner.limit_met.limit == "--op-limit"
    assert outer.limit_met is not None and outer.limit_met.limit == "--trace-limit"


def test_a_loop_begins_its_next_pass_by_jumps_backward() -> None:
    names = {opcode.opname[code] for code in _backward_jumps()}
    assert names and not any("FORWARD" in name or name.startswith("LOAD") for name in names)
    assert {"JUMP_BACKWARD", "JUMP_ABSOLUTE"} & names
