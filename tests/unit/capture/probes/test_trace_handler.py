"""What the handler of torch's structured trace lets through to the stream."""

import logging
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import pytest

from dynamo_core.capture.probes.trace_handler import TraceHandler
from dynamo_core.capture.writing.stream import Stream
from dynamo_core.shared.early_records import CompileBegun
from dynamo_core.shared.our_record import OurRecord

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


def test_what_is_being_compiled_is_noted_but_for_a_test_which_is_read_when_it_ends() -> None:
    (begun,) = emitted({"chromium_event": {}}, BACKWARD, brief=False).ours
    assert isinstance(begun, CompileBegun) and begun.backward
    assert emitted({"dynamo_start": {"stack": [{"filename": 1}]}}, brief=False).ours
    assert emitted({"dynamo_start": {"stack": [{"filename": 1}]}}, brief=True).ours == []


def test_a_compile_that_has_begun_knows_the_line_of_the_def_below_its_decorators() -> None:
    stream = KeptStream()
    handler = TraceHandler(cast(Stream, stream), brief=False)
    first = decorated.__wrapped__.__code__.co_firstlineno
    frame = {"filename": 7, "line": first, "name": "decorated"}
    for metadata in ({"str": [__file__, 7]}, {"dynamo_start": {"stack": [frame]}}):
        record = {"metadata": metadata, "payload": None, "pathname": "/x/torch/y.py", "lineno": 3}
        handler.emit(logging.makeLogRecord(record))
    (begun,) = stream.ours
    assert isinstance(begun, CompileBegun) and begun.def_line == first + 1


@cache
def decorated() -> None: ...


def test_a_brief_recordings_stacks_lack_the_frames_of_pytest() -> None:
    stream = KeptStream()
    handler = TraceHandler(cast(Stream, stream), brief=True)
    frames = [{"filename": number, "line": 3, "name": "f"} for number in (1, 2, 3, 1)]
    told: list[Mapping[str, Any]] = [
        {"str": ["/v/lib/python3.11/site-packages/_pytest/runner.py", 1]},
        {"str": ["/v/lib/python3.11/site-packages/pluggy/_hooks.py", 2]},
        {"str": ["/home/me/test_pytest.py", 3]},
        {"dynamo_start": {"stack": frames}},
    ]
    for metadata in told:
        record = {"metadata": metadata, "payload": None, "pathname": "/x/torch/y.py", "lineno": 3}
        handler.emit(logging.makeLogRecord(record))
    # The last one is the frame that is compiled, wherever it is.
    assert [each["filename"] for each in stream.written[-1]["dynamo_start"]["stack"]] == [3, 1]
