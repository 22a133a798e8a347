"""What the handler of torch's structured trace lets through to the stream."""

import logging
from collections.abc import Mapping
from typing import Any, cast

import pytest

from dynamo_core.capture.probes.trace_handler import TraceHandler
from dynamo_core.capture.writing.stream import Stream
from dynamo_core.shared.records import CompileBegun, OurRecord

CONFIG = '{"accumulated_recompile_limit": 256, "assume_static_by_default": false, "cache_size_limit": 8}'
METRICS = {"co_name": "f", "inductor_config": "{}", "functorch_config": "{}", "dynamo_config": CONFIG}
BACKWARD = '{"name": "entire_backward_compile", "ph": "B"}'


class KeptStream:
    """Takes what is written, in place of a file."""

    def __init__(self) -> None:
        self.written: list[Mapping[str, Any]] = []
        self.ours: list[OurRecord] = []

    def write(self, metadata: Mapping[str, Any], *_: object) -> None:
        self.written.append(metadata)

    def record(self, record: OurRecord, _: object) -> None:
        self.ours.append(record)


def emitted(metadata: Mapping[str, Any], payload: str | None = None, *, brief: bool) -> KeptStream:
    """What the stream gets of one record of torch's."""
    stream = KeptStream()
    record = logging.makeLogRecord(
        {"metadata": metadata, "payload": payload, "pathname": "/x/torch/y.py", "lineno": 3}
    )
    TraceHandler(cast(Stream, stream), brief=brief).emit(record)
    return stream


@pytest.mark.parametrize(
    "kind",
    ["chromium_event", "describe_storage", "describe_tensor", "describe_source", "dynamo_output_graph"],
)
def test_a_brief_recording_lacks_what_nobody_reads_of_a_test(kind: str) -> None:
    assert emitted({kind: {}}, brief=True).written == []
    assert emitted({kind: {}}, brief=False).written == [{kind: {}}]


def test_a_brief_recording_lacks_bytecode_as_torch_prints_it() -> None:
    printed = {"artifact": {"name": "f_MODIFIED_BYTECODE", "encoding": "string"}}
    assert emitted(printed, "MODIFIED BYTECODE f", brief=True).written == []
    assert len(emitted(printed, "MODIFIED BYTECODE f", brief=False).written) == 1
    assert len(emitted({"artifact": {"name": "other", "encoding": "string"}}, "x", brief=True).written) == 1


@pytest.mark.parametrize("kind", ["compilation_metrics", "bwd_compilation_metrics"])
def test_a_brief_recordings_metrics_lack_settings(kind: str) -> None:
    metadata = {kind: METRICS, "frame_id": 0}
    kept = {"co_name": "f", "dynamo_config": '{"assume_static_by_default": false}'}
    assert emitted(metadata, brief=True).written == [{kind: kept, "frame_id": 0}]
    assert emitted(metadata, brief=False).written == [metadata]
    assert "inductor_config" in METRICS


@pytest.mark.parametrize("brief", [True, False])
def test_that_a_backward_begins_is_noted_however_brief(brief: bool) -> None:
    (begun,) = emitted({"chromium_event": {}}, BACKWARD, brief=brief).ours
    assert isinstance(begun, CompileBegun)
    assert begun.backward
