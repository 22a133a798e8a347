"""Parts of a stream, as each test of `pytest --dynamo` has one: together they say what all of it says."""

import gc
import re
import weakref
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

from dynamo_core.analysis.summary import Summary, summarize
from dynamo_core.compare.lock_file import facts_and_findings, facts_of
from dynamo_core.findings import CONTENTS, find
from dynamo_core.recording.parts import StreamParts
from dynamo_core.recording.read import read
from support.stored import stored

_COUNTS = ("frames", "graphs", "graph_breaks", "recompiles", "graph_calls")


def stream_of(name: str) -> tuple[Path, bytes]:
    """The only stream of a stored recording."""
    (stream,) = stored(name).glob("*.log")
    return stream, stream.read_bytes()


def counts(summary: Summary) -> list[int]:
    """Those that add up."""
    return [getattr(summary, name) for name in _COUNTS]


@pytest.mark.parametrize("name", ["toy", "recompiling", "training"])
def test_a_part_that_is_all_of_it_says_the_same(name: str) -> None:
    stream, content = stream_of(name)
    part = StreamParts(stream).recording(0, len(content), CONTENTS)
    whole = read(stored(name), CONTENTS)
    assert counts(summarize(part)) == counts(summarize(whole))
    assert facts_of(part) == facts_of(whole)
    assert [graph.times for graph in part.processes[0].graphs] == [
        graph.times for graph in whole.processes[0].graphs
    ]


@pytest.mark.parametrize("name", ["toy", "recompiling", "twenty_breaks"])
def test_the_counts_of_the_parts_add_up(name: str) -> None:
    stream, content = stream_of(name)
    frames = [match.start() for match in re.finditer(rb"^V.*\"dynamo_start\"", content, re.MULTILINE)]
    places = [0, *frames, len(content)]
    parts = StreamParts(stream)
    each = [counts(summarize(parts.recording(*part, CONTENTS))) for part in pairwise(places)]
    assert len(each) > 2
    assert [sum(column) for column in zip(*each, strict=True)] == counts(
        summarize(read(stored(name), CONTENTS))
    )


def test_a_part_knows_its_process_and_the_names_of_files() -> None:
    stream, content = stream_of("toy")
    parts = StreamParts(stream)
    first = content.index(b'"dynamo_start"')
    begin = content.index(b"\nV", content.index(b'"dynamo_start"', first + 1) - 400) + 1
    second = parts.recording(begin, len(content))
    assert second.problems == []
    assert second.processes[0].torch_version == read(stored("toy")).processes[0].torch_version
    assert not any(finding.place and finding.place.file == "<unknown>" for finding in find(second))
    again = parts.recording(begin, len(content))
    assert counts(summarize(again))[:4] == counts(summarize(second))[:4]


def test_a_part_without_records_has_nothing() -> None:
    stream, content = stream_of("toy")
    part = StreamParts(stream).recording(len(content), len(content))
    assert facts_of(part).is_empty


@pytest.mark.parametrize("name", ["recompiling", "twenty_breaks"])
def test_facts_alone_are_the_same_and_ask_for_no_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = read(stored(name))
    facts, findings = facts_and_findings(recording)
    assert findings
    assert all(finding.cause and finding.remedies for finding in findings.values())
    for module, words in (
        ("breaks", "break_cause"),
        ("breaks", "break_remedies"),
        ("recompiles", "cause_sentence"),
    ):
        asked = import_module(f"dynamo_core.findings.{module}")
        monkeypatch.setattr(asked, words, _not_to_be_asked)
    assert facts_of(recording) == facts


def _not_to_be_asked(*_: object) -> str:
    raise AssertionError("nobody shows it")


def test_what_was_read_goes_without_the_garbage_collector() -> None:
    stream, content = stream_of("toy")
    recording = StreamParts(stream).recording(0, len(content))
    process = weakref.ref(recording.processes[0])
    gc.disable()
    try:
        assert facts_of(recording).number
        del recording
        assert process() is None
    finally:
        gc.enable()
