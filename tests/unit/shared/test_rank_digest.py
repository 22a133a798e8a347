"""A rank's digest: equal for ranks that did the same, however it was made, and only for those."""

import functools
import json
from typing import Any

import pytest

from dynamo_core.shared import names
from dynamo_core.shared.rank_digest import RankDigest

Told = tuple[str, dict[str, Any], Any]  # a record's name, its first line, its payload

START: Told = (
    names.PROCESS_START,
    {},
    {"pid": 3, "rank": 1, "torch": "2.13.0", "environment": {"RANK": "1"}},
)
IDS = {"frame_id": 0, "frame_compile_id": 0}
BEGINS: Told = (
    "dynamo_start",
    {"dynamo_start": {"stack": [{"name": "step", "line": 4, "filename": 9}]}},
    None,
)
BEGUN: Told = (names.COMPILE_BEGUN, IDS, {})
TRIED: Told = (names.FRAME, IDS, {})
ENDS: Told = (names.PROCESS_END, {}, {})


def graph(order: str, *collectives: list[str]) -> Told:
    return names.FX_GRAPH, IDS, {"graph": 1, "order": [order, list(collectives)]}


def cache(*, held_graphs: bool, folder: str = "/cache") -> Told:
    return names.CACHES, {}, {"folder": folder, "held_graphs": held_graphs}


def recompiled(reason: str) -> Told:
    return (
        "compilation_metrics",
        {"compilation_metrics": {"recompile_reason": reason, "duration_us": 5}},
        None,
    )


def digest(*records: Told, into: RankDigest | None = None) -> RankDigest:
    made = into or RankDigest()
    for name, metadata, payload in records:
        text = None if payload is None else json.dumps(payload)
        if name == names.FX_GRAPH and text is not None:
            text = f'{text[:-1]},\n"nodes": [\n]}}'  # as the probe writes it
        made.add(name, metadata, functools.partial(str, text) if text is not None else _nothing)
    return made


def _nothing() -> None:
    """Of a record without a payload."""


ALL = (START, BEGINS, BEGUN, graph("a", ["0", "x"], ["1", "y"]), TRIED, recompiled("size 3"), ENDS)


@pytest.mark.parametrize("at", range(len(ALL)))
def test_what_was_kept_in_a_file_goes_on_as_if_it_had_not_been(at: int) -> None:
    kept = RankDigest.from_json(digest(*ALL[:at]).to_json())
    whole = digest(*ALL)
    assert digest(*ALL[at:], into=kept).to_json() == whole.to_json()
    assert (whole.ended, whole.compiling, whole.compile_seconds) == (True, [], 5e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([graph("a")], [graph("b")]),
        ([graph("a"), graph("b")], [graph("b"), graph("a")]),
        ([graph("a", ["0", "x"])], [graph("a", ["0", "y"])]),
        ([graph("a", ["0", "x"], ["0", "y"])], [graph("a", ["0", "y"], ["0", "x"])]),
        ([graph("a")], [graph("a"), graph("a")]),
        ([BEGUN], [BEGUN, TRIED]),
        ([cache(held_graphs=True)], [cache(held_graphs=False)]),
        ([], [ENDS]),
        ([("fx_graph_cache_hit", {}, None)], [("fx_graph_cache_miss", {}, None)]),
        ([recompiled("size mismatch")], [recompiled("stride mismatch")]),
        ([(names.PROCESS_START, {}, {"environment": {"TORCH_LOGS": "x"}})], [(names.PROCESS_START, {}, {})]),
    ],
)
def test_ranks_that_differ_have_other_digests(one: list[Told], other: list[Told]) -> None:
    assert digest(*one).key() != digest(*other).key()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([recompiled("tensor 'x' 3 at 0x7f1a")], [recompiled("tensor 'x' 12 at 0x7fb0")]),
        (
            [(names.PROCESS_START, {}, {"rank": 1, "environment": {"RANK": "1"}})],
            [(names.PROCESS_START, {}, {})],
        ),
        ([BEGUN, TRIED], []),
    ],
)
def test_what_is_a_ranks_own_is_not_in_it(one: list[Told], other: list[Told]) -> None:
    assert digest(*one).key() == digest(*other).key()


def test_only_the_last_entries_are_kept_so_that_it_stays_small() -> None:
    made = digest(START, *[graph(str(number), ["0", str(number)]) for number in range(5000)])
    assert len(made.to_json()) < 4096
    assert made.orders["graphs"].count == 5000


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "dynamo-digest", "version": 99}', "[" * 5000])
def test_what_is_no_digest_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError, RecursionError)):
        RankDigest.from_json(text)


def test_where_a_cache_is_is_a_ranks_own() -> None:
    one, other = (digest(cache(held_graphs=True, folder=folder)) for folder in ("/cache0", "/cache1"))
    assert one.key() == other.key()
