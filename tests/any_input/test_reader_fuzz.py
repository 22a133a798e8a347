"""Whatever the bytes of a trace are: nothing but Damaged comes out of the parser, nothing at all out of the
builder, and no text in the model that a terminal would obey."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dynamo_core.case import Case
from dynamo_core.compare import compare
from dynamo_core.model import Recording
from dynamo_core.recording.read import drop_invalid_fields
from dynamo_core.recording.trace_format import Damaged, Record
from dynamo_core.shared import names
from dynamo_reporters import breaks, ops, recompiles
from dynamo_reporters.bytecode import report as bytecode
from dynamo_reporters.diff import diff_blocks
from dynamo_reporters.diff import report as compared
from dynamo_reporters.explain import report as explain
from dynamo_reporters.graphs import report as graphs
from dynamo_reporters.guards import report as guards
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile import report as profile
from dynamo_reporters.report import document, page
from support.cases import ALL_CASES
from support.every_record import EVENTS, HEADS, PAYLOADS, TRACE, WANTED, build, event_record, parse
from support.schemas import validate
from support.trace_bytes import FRAME, artifact, record

_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def described(found: Record) -> list[Any]:
    """All that can be asked of a record, with "damaged" for what cannot be read."""

    def ask(question: Any) -> Any:
        try:
            return question()
        except Damaged as error:
            return f"damaged: {error}"

    answers = [found.kind, found.artifact_name, found.time, found.payload_first_line(), ask(found.payload)]
    return [*answers, ask(found.json_payload), ask(lambda: found.metadata)]


def texts(value: Any) -> Iterator[str]:
    """Every string in a piece of the model."""
    if isinstance(value, Enum | Path):
        return
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from texts(item)


def assert_sane(data: bytes) -> None:
    records, parser = parse([data])
    assert parser.records == len(records)
    for found in records:
        assert not any(_OBEYED.search(text) for text in texts(described(found)))
    for contents in (WANTED, frozenset[str]()):
        assert not any(_OBEYED.search(text) for text in texts(build(data, contents)))


# Damage ---------------------------------------------------------------------------------------------------

nasty_text = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\u202etxt.exe", "\u2066", "\r", "\x7f", "\x00"]
    ),
    st.sampled_from(
        ["\ud800", "\n\t", "\n", "\nV1120 19:08:30.938000 1 x:1] {", "[" * 300, "/x.py:7", "0/0"]
    ),
)
nasty_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(10**30), 2**63, -1, float("nan"), float("inf"), 1e308])
    | st.floats()
    | nasty_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(nasty_text, inner, max_size=3),
    max_leaves=8,
)
_fragments = [
    *(
        b"\n",
        b"\n\n",
        b"\n\t",
        b"\t",
        b"\r\n",
        b"\x1b[2J",
        b"\xff\xfe",
        b"\x00" * 40,
        b"V",
        b"\nV1120 ",
        b"{",
    ),
    *(b"V1120 19:08:30.938000 2350 torch/x.py:10] ", b'{"str": [', b'"has_payload": "', b"Killed\n"),
]
garbage = st.binary(max_size=60) | st.sampled_from(_fragments)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    if isinstance(value, dict):
        return {
            key: _replaced(item, path[1:], new) if key == path[0] else item for key, item in value.items()
        }
    return [_replaced(item, path[1:], new) if i == path[0] else item for i, item in enumerate(value)]


@st.composite
def with_wrong_values(draw: st.DrawFn) -> bytes:
    """A trace in which some values have become others; checksums are right, as a forger would make them."""
    pieces = []
    for kind, content in HEADS.items():
        changed = {kind: content, **FRAME}
        if draw(st.integers(0, 3)) == 0:
            path = draw(st.sampled_from(list(_leaves(changed))[1:]))
            changed = _replaced(changed, path, draw(nasty_values))
        pieces.append(record(changed))
    for name, payload in PAYLOADS.items():
        if draw(st.integers(0, 3)) == 0:
            path = draw(st.sampled_from(list(_leaves(payload))))
            payload = _replaced(payload, path, draw(nasty_values))
        pieces.append(artifact(name, payload))
    for in_compile, event in EVENTS:
        changed = event
        if draw(st.integers(0, 3)) == 0:
            changed = _replaced(event, draw(st.sampled_from(list(_leaves(event)))), draw(nasty_values))
        pieces.append(event_record(in_compile, changed))
    return b"".join(draw(st.permutations(pieces)) if draw(st.booleans()) else pieces)


@st.composite
def damaged_traces(draw: st.DrawFn) -> bytes:
    """A trace, cut, spliced, repeated, out of order, with flipped bytes."""
    pieces = draw(st.lists(st.sampled_from(TRACE) | garbage, max_size=8))
    data = bytearray(b"".join(pieces))
    for _ in range(draw(st.integers(0, 6))):
        if data:
            at = draw(st.integers(0, len(data) - 1))
            match draw(st.integers(0, 3)):
                case 0:
                    data[at] = draw(st.integers(0, 255))
                case 1:
                    data[at:at] = draw(garbage)
                case 2:
                    del data[at : at + draw(st.integers(1, 40))]
                case _:
                    del data[at:]
    return bytes(data)


REPORTS = (
    *(each.report() for each in (explain, graphs, breaks, bytecode, guards, recompiles)),
    *(profile.report(show_all=True), graphs.report(training=True), ops.report(aot=True)),
)


thorough = settings(
    max_examples=100 if ALL_CASES else 40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@thorough
@given(damaged_traces())
def test_a_damaged_trace_raises_nothing_and_leaves_no_control_characters(data: bytes) -> None:
    assert_sane(data)


@thorough
@given(st.binary(max_size=500))
@example(b"")
@example(b"\t")
@example(b"\n\tV1120")
def test_bytes_of_any_kind_raise_nothing(data: bytes) -> None:
    assert_sane(data)


@thorough
@given(with_wrong_values())
def test_wrong_values_raise_nothing_and_leave_no_control_characters(data: bytes) -> None:
    assert_sane(data)


@settings(thorough, max_examples=12 if ALL_CASES else 5, derandomize=True)  # each is drawn by all reports
@given(with_wrong_values())
def test_wrong_values_do_not_reach_the_reports(data: bytes) -> None:
    process = build(data, WANTED)
    drop_invalid_fields(process)
    case = Case(Recording(Path("rec"), None, [process], None, []))
    for report in REPORTS:
        text = plain_text(page(report, case))
        assert not _OBEYED.search(text)
        content = document(report, case)
        assert json.dumps(content, allow_nan=False)
        validate(content)


@settings(thorough, max_examples=20 if ALL_CASES else 8, derandomize=True)
@given(with_wrong_values())
def test_wrong_values_do_not_reach_the_comparison_of_two_runs(data: bytes) -> None:
    damaged, whole = (build(each, WANTED) for each in (data, b"".join(TRACE)))
    drop_invalid_fields(damaged)
    one, other = (Recording(Path("rec"), None, [process], None, []) for process in (damaged, whole))
    for before, after in ((one, one), (one, other), (other, one)):
        difference = compare(before, after)
        assert not _OBEYED.search(plain_text(diff_blocks(difference, before, after)))
        content = document(compared(before, after), difference)
        assert json.dumps(content, allow_nan=False)
        validate(content)
        if before is after:
            assert difference.verdict == "nothing differs"


@thorough
@given(damaged_traces(), st.data())
def test_however_the_bytes_are_parted_the_records_are_the_same(data: bytes, draw: st.DataObject) -> None:
    whole, parser = parse([data])
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=12)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    for parted in (pieces, [data[i : i + 1] for i in range(len(data))]):
        records, other = parse(parted)
        assert repr([described(found) for found in records]) == repr([described(found) for found in whole])
        assert (other.damaged, other.false_starts) == (parser.damaged, parser.false_starts)


@thorough
@given(st.lists(st.sampled_from(TRACE), max_size=6), st.integers(0, 5), garbage.filter(bytes.strip))
def test_what_lies_around_damage_is_kept(pieces: list[bytes], at: int, foreign: bytes) -> None:
    """Foreign bytes that stand on lines of their own cost nothing but themselves."""
    foreign = b"#" + foreign.replace(b"\n", b"?") + b"\n"
    records, _ = parse([b"".join([*pieces[:at], foreign, *pieces[at:]])])
    expected, _ = parse([b"".join(pieces)])
    assert repr([described(found) for found in records]) == repr([described(found) for found in expected])


@pytest.mark.parametrize("contents", [WANTED, frozenset[str]()])
def test_the_trace_that_is_damaged_here_is_itself_whole(contents: frozenset[str]) -> None:
    records, parser = parse(TRACE)
    assert (len(records), parser.damaged) == (len(TRACE), 0)
    assert all(found.is_whole() for found in records)
    process = build(b"".join(TRACE), contents)
    drop_invalid_fields(process)
    assert process.health.damaged_records == 0
    assert process.graphs and process.compiles and process.frames and process.breaks


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"str": ['])
def test_json_of_any_depth_is_damage(opening: str) -> None:
    deep = opening * 100_000
    closing = {"[": "]", '{"a":': "1" + "}" * 100_000, '{"str": [': ""}[opening]
    assert_sane(
        record('{"str": ' + deep + closing + "}")
        + record('{"chromium_event": ' + deep + "}")
        + b"".join(artifact(name, deep + closing) for name in PAYLOADS)
        + TRACE[0]
    )


@pytest.mark.parametrize("depth", range(100, 1100, 50))
def test_json_that_is_just_too_deep_is_damage_too(depth: int) -> None:
    deep = "[" * depth + '"\\u001b"' + "]" * depth
    assert_sane(record('{"str": ' + deep + "}") + b"".join(artifact(name, deep) for name in PAYLOADS))


def test_of_a_record_that_is_too_large_only_the_first_line_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from dynamo_core.recording import trace_format as module

    monkeypatch.setattr(module, "_LARGEST_RECORD", 10_000)
    large = record({"artifact": {"name": "large", "encoding": "string"}}, "x\n" * 4_000)
    data = TRACE[0] + large + TRACE[1] + b"#" * 30_000 + b"\n" + TRACE[2]
    for size in (1, 50, 9_999, 10_000, 10_001, len(data)):
        records, parser = parse([data[i : i + size] for i in range(0, len(data), size)])
        assert [found.artifact_name for found in records] == [
            names.PROCESS_START,
            "large",
            *list(PAYLOADS)[1:3],
        ]
        assert [found.is_whole() for found in records] == [True, False, True, True]
        assert (parser.damaged, parser.false_starts) == (1, 0)


def test_guards_of_a_frame_that_was_recompiled_may_have_a_compile_id_that_is_none() -> None:
    payload = "TREE_GUARD_MANAGER:\n+- RootGuardManager"
    head = {"dynamo_cpp_guards_str": {}, **FRAME, "frame_id": "0"}
    reasons = artifact("recompile_reasons", ["0/0: L['x'] == 1"])
    process = build(record(head, payload) + reasons, frozenset())
    assert process.recompile_reasons and process.health.damaged_records == 1
