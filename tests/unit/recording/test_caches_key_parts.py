"""What torch's records say of look-ups, and the parts of keys, which may be a stranger's."""

import json
from itertools import chain
from typing import Any

import pytest

from dynamo_core.model import CacheLookup
from dynamo_core.recording.caches import CACHE_KEYS
from support.trace_bytes import artifact, process_of


def lookups(*payloads: Any, contents: frozenset[str] = frozenset({CACHE_KEYS})) -> list[CacheLookup]:
    missed = (artifact("fx_graph_cache_miss", each) for each in payloads)
    return process_of(*missed, contents=contents).caching.lookups


def payload(*parts: Any, **more: Any) -> str:
    return json.dumps({"key": "k", "components": list(parts), "cache_state": "miss", **more})


@pytest.mark.parametrize(
    "part",
    ["[a] gm: x", '[a] gm: "x"], "y"', "[a] gm: x\\", "[a] gm:\n\tx", '[a] gm: "', "[a] b: żółw"],
)
def test_the_parts_of_a_key_are_as_they_were(part: str) -> None:
    (found,) = lookups(payload(part, "[b] other: 1"))
    assert (found.key, found.parts) == ("k", (part, "[b] other: 1"))
    (found,) = lookups(payload(part, "[b] other: 1"), contents=frozenset())
    assert (found.key, found.parts) == ("k", None)


def test_no_part_of_a_key_reaches_a_terminal_as_a_control_character() -> None:
    hostile = payload("[a] b: \x1b[31m\x9b\u202e")
    first, second = lookups(hostile, hostile)
    assert first.parts == second.parts == ("[a] b: \\x1b[31m\\x9b\\x202e",)


def test_settings_are_of_the_look_up_that_came_last_before_them() -> None:
    process = process_of(
        *chain.from_iterable(
            (
                artifact("aotautograd_cache_miss", payload(f"[a] gm: {value}")),
                artifact("torch._functorch.config", json.dumps({"s": value})),
            )
            for value in ("1", "2")
        ),
        contents={CACHE_KEYS},
    )
    parts = [[part.partition("] ")[2] for part in each.parts or ()] for each in process.caching.lookups]
    assert parts == [["gm: 1", "autograd_config[s]: 1"], ["gm: 2", "autograd_config[s]: 2"]]


@pytest.mark.parametrize("part", [1, None, ["[a] b: c"], {}])
def test_a_key_with_a_part_that_is_no_text_is_damage(part: Any) -> None:
    assert lookups(payload("[a] b: c", part, "[d] e: f")) == []


@pytest.mark.parametrize("before", [(), ("[1] settings: a",)])
def test_in_what_a_graph_that_was_compiled_before_differs_from_then(before: tuple[str, ...]) -> None:
    keys = [(*before, "[2] gm: the graph", f"[{size}] example_inputs[0]: {size}") for size in (8, 9)]
    other = (*before, "[3] gm: another graph", "[8] example_inputs[0]: 8")
    found = lookups(*(payload(*key) for key in (keys[0], other, keys[1])), contents=frozenset())
    changed = ("[8] example_inputs[0]: 8", "[9] example_inputs[0]: 9")
    assert [each.differing_parts for each in found] == [(), (), (changed,)]


KEY_OF_8, KEY_OF_9 = (
    artifact("fx_graph_cache_miss", payload("[2] gm: the graph", f"[{size}] example_inputs[0]: {size}"))
    for size in (8, 9)
)


def test_of_a_key_that_is_not_what_was_written_nothing_is_compared() -> None:
    other_9 = KEY_OF_9.replace(b"]: 9", b"]: 7")
    for records in ((KEY_OF_8, other_9, KEY_OF_9), (other_9, KEY_OF_8, KEY_OF_9)):
        process = process_of(*records)
        assert [bool(lookup.differing_parts) for lookup in process.caching.lookups] == [False, True]
        assert process.health.damaged_records == 1


def test_two_look_ups_that_are_joined_by_a_lost_block_are_none() -> None:
    joined = KEY_OF_8[: KEY_OF_8.index(b"the graph")] + KEY_OF_9[KEY_OF_9.index(b"the graph") :]
    process = process_of(joined, KEY_OF_8)
    assert (len(process.caching.lookups), process.health.damaged_records) == (1, 1)


def test_a_record_that_begins_within_the_key_of_one_that_was_cut_is_read() -> None:
    cut = KEY_OF_8[: KEY_OF_8.index(b"example_inputs")]
    process = process_of(cut, KEY_OF_9, KEY_OF_8)
    assert [lookup.differing_parts != () for lookup in process.caching.lookups] == [False, True]
    assert process.health.damaged_records == 1
