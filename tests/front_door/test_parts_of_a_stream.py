"""Parts of a stream, as each test of `pytest --dynamo` has one: together they say what all of it says."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from dynamo_core.analysis.findings import CONTENTS, find
from dynamo_core.analysis.summary import Summary, summarize
from dynamo_core.lock.facts import facts_of
from dynamo_core.recording.parts import StreamParts
from dynamo_core.recording.read import read
from stored import stored

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
    assert facts_of(part)[0] == facts_of(whole)[0]
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
    assert facts_of(part)[0].is_empty
