"""Torch's timed spans: put together from events, and told apart by what they do."""

import json
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.selection import Selection, select
from dynamo_core.analysis.time.phases import (
    AOT_AUTOGRAD,
    AUTOTUNING,
    COMPILED_AUTOGRAD,
    GUARDS,
    KERNELS,
    POST_GRAD,
    TRACING,
    category_of,
    phase_tree,
    spans,
    split,
)
from dynamo_core.case import Case
from dynamo_core.model import Compile, CompileId, Phase, Process, Recording
from dynamo_reporters.documents import json_text
from dynamo_reporters.profile.report import report
from dynamo_reporters.report import document
from support.schemas import validate
from support.trace_bytes import process_of, record

ID = CompileId(0, 0)
EPOCH_US = 1_795_256_869_115_212.0
MS = 1_000_000


def event(kind: str, name: str, at_ms: float, of: str | None = "0/0", **arguments: Any) -> bytes:
    """An event of a compile; of a thread that has none, where `of` is None."""
    content = {"name": name, "ph": kind, "ts": EPOCH_US + at_ms * 1000, "args": arguments, "pid": 0, "tid": 0}
    frame, _, compile_ = (of or "").partition("/")
    ids = {"frame_id": int(frame), "frame_compile_id": int(compile_), "attempt": 0} if frame else {}
    return record({"chromium_event": {}, **ids}, json.dumps(content))


def build(*records: bytes) -> Process:
    """What the reader makes of these records."""
    return process_of(*records, contents={"chromium_event"})


def phase(name: str, begin: int, end: int | None, *children: Phase, **more: Any) -> Phase:
    return Phase(
        name, begin * MS, None if end is None else end * MS, **{"compile_id": ID, **more}, children=children
    )


def names(phases: Any) -> list[Any]:
    """Names, those of children in a list behind them."""
    found: list[Any] = []
    for each in phases:
        found.append(each.name)
        if each.children:
            found.append(names(each.children))
    return found


# Reading --------------------------------------------------------------------------------------------------


def test_events_become_a_tree_with_times_and_arguments() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "inductor_compile", 1, fn_name="compile_fx_inner"),
        event("i", "fx_graph_cache_miss", 1),
        event("E", "inductor_compile", 3.5, is_backward=False, cache_state="miss"),
        event("E", "dynamo", 4, remark='"ph": "i"'),
    )
    (tree,) = process.phases
    (child,) = tree.children
    assert (tree.name, tree.compile_id, tree.begin_ns) == ("dynamo", ID, int(EPOCH_US) * 1000)
    assert (tree.end_ns or 0) - tree.begin_ns == 4 * MS
    assert (child.end_ns or 0) - child.begin_ns == 2_500_000
    assert (child.function, child.is_backward, child.cache_state) == ("compile_fx_inner", False, "miss")
    assert process.health.damaged_records == 0


def as_torch_writes(kind: str, name: str, at_ms: float, **arguments: Any) -> dict[str, Any]:
    """The same event with torch's keys in torch's order."""
    shown = {
        "name": name,
        "ts": EPOCH_US + at_ms * 1000,
        "args": {**arguments, "compile_id": "0/0"},
        "ph": kind,
    }
    return shown | {"cat": "dynamo_timed", "tid": 0, "pid": 0}


def spelled(events: list[dict[str, Any]], indent: int | None) -> Process:
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    return build(*(record({"chromium_event": {}, **ids}, json.dumps(each, indent=indent)) for each in events))


def test_events_are_the_same_however_they_are_spelled() -> None:
    """Those that torch writes most are not read as JSON, and of others no more than is wanted."""
    events = [
        as_torch_writes("B", "dynamo", 0.25),
        as_torch_writes("B", 'a "quoted" name', 1),
        as_torch_writes("B", "inductor_compile", 1.5, fn_name="compile_fx_inner"),
        as_torch_writes(
            "E", "inductor_compile", 2, components=["[abc] x: 1", '],\n"fn_name": 7'], cache_state="miss"
        ),
        as_torch_writes("E", 'a "quoted" name', 3.125),
        as_torch_writes("E", "dynamo", 4),
    ]
    usual, other = spelled(events, indent=0), spelled(events, indent=None)
    assert usual.phases == other.phases and names(usual.phases) == [
        "dynamo",
        ['a "quoted" name', ["inductor_compile"]],
    ]
    assert (usual.health.damaged_records, other.health.damaged_records) == (0, 0)
    inner = usual.phases[0].children[0].children[0]
    assert (inner.function, inner.cache_state) == ("compile_fx_inner", "miss")


def test_an_event_that_is_not_what_its_checksum_says_is_damage() -> None:
    whole = record({"chromium_event": {}}, json.dumps(as_torch_writes("B", "dynamo", 0), indent=0))
    broken, other = whole.replace(b'"tid": 0,', b'"tid": 0,,'), whole.replace(b'"pid": 0', b'"pid": 7')
    process = build(broken, other, event("i", "fx_graph_cache_miss", 1))
    assert (process.phases, process.health.damaged_records) == ([], 2)


@pytest.mark.parametrize(
    "arguments",
    [
        {"cache_state": "hit", "components": ["x"], "others": ["y"]},
        {"components": [["a", "b"], ["c"]], "cache_state": "hit"},
        {"components": ["x"], "cache_state": "hit", "inner": {"components": ["x"], "more": 1}},
    ],
)
def test_lists_that_end_elsewhere_are_no_damage(arguments: dict[str, Any]) -> None:
    events = [as_torch_writes("B", "dynamo", 0), as_torch_writes("E", "dynamo", 1, **arguments)]
    process = spelled(events, indent=0)
    assert process.phases == spelled(events, indent=None).phases
    assert (process.phases[0].cache_state, process.health.damaged_records) == ("hit", 0)


def test_an_event_that_was_cut_is_not_put_together_with_the_next() -> None:
    first, second = (
        record(
            {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0},
            json.dumps(as_torch_writes("E", name, at, components=["a", "b"], cache_state=state), indent=0),
        )
        for name, at, state in (("inner", 1, "miss"), ("dynamo", 2, "hit"))
    )
    cut = first[: first.index(b'\t"b"')]
    begun = [event("B", "dynamo", 0), event("B", "inner", 0.5)]
    process = build(*begun, cut, second, event("i", "fx_graph_cache_miss", 3))
    (tree,) = process.phases
    assert process.health.damaged_records == 1 and (
        tree.children[0].end_ns,
        tree.children[0].cache_state,
    ) == (
        None,
        None,
    )


def test_of_a_list_that_is_passed_over_it_matters_only_that_all_of_it_is_there() -> None:
    head = {"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    end = as_torch_writes("E", "dynamo", 1, components=["first", "second"], cache_state="hit")
    whole = record(head, json.dumps(end, indent=0))
    other, hole = whole.replace(b"second", b"broken"), whole.replace(b"second", b"\0" * 6)
    assert whole not in (other, hole)
    begin = event("B", "dynamo", 0)
    outcomes = [build(begin, each, event("i", "fx_graph_cache_miss", 3)) for each in (whole, other, hole)]
    assert [process.phases[0].cache_state for process in outcomes] == ["hit", "hit", None]
    assert [process.health.damaged_records for process in outcomes] == [0, 0, 1]


def test_lines_behind_a_record_without_a_payload_are_no_event_with_a_list_in_it_either() -> None:
    told = as_torch_writes("B", "dynamo", 0, components=["a", "b"], cache_state="hit")
    head, _, lines = record({"chromium_event": {}}, json.dumps(told, indent=0)).partition(b"\n")
    process = build(head[: head.index(b", ")] + b"}\n" + lines, event("i", "fx_graph_cache_miss", 3))
    assert process.phases == [] and process.health.damaged_records


def test_lines_behind_a_record_without_a_payload_are_no_event() -> None:
    whole = record({"chromium_event": {}}, json.dumps(as_torch_writes("B", "dynamo", 0), indent=0))
    head, _, lines = whole.partition(b"\n")
    process = build(head[: head.index(b", ")] + b"}\n" + lines, event("i", "fx_graph_cache_miss", 3))
    assert process.phases == [] and process.health.damaged_records


def test_a_first_line_is_read_whole_though_one_before_began_as_it_does() -> None:
    good = record({"chromium_event": {}, "frame_id": 0}, json.dumps(as_torch_writes("B", "dynamo", 0)))
    bad = good.replace(b'"}\n\t', b'", "frame_id": nothing}\n\t')
    assert bad != good
    assert build(good, bad, event("i", "fx_graph_cache_miss", 3)).health.damaged_records == 1


def test_a_compile_that_has_begun_anew_has_its_events() -> None:
    """After torch._dynamo.reset(), with the same numbers."""
    start = {"dynamo_start": {"stack": [{"line": 1, "name": "f", "filename": 0}]}}
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    one = [record({**start, **ids}, ""), event("B", "dynamo", 0), event("E", "dynamo", 1)]
    again = [record({**start, **ids}, ""), event("B", "dynamo", 2), event("E", "dynamo", 3)]
    process = build(*one, *again)
    assert [each.compile_id for each in process.phases] == [ID, ID._replace(generation=1)]


def test_nothing_is_read_unless_asked_for() -> None:
    assert process_of(event("B", "dynamo", 0), event("E", "dynamo", 1)).phases == []


def test_worker_threads_are_beside_the_compile_and_not_in_its_tree() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "async_compile.wait", 1),
        event("B", "compile_file", 2, None, compile_id="None"),
        event("B", "compile_file", 3, None, compile_id="None"),
        event("E", "async_compile.wait", 5),
        event("E", "dynamo", 6),
        event("E", "compile_file", 7, None, compile_id="None"),
        event("E", "compile_file", 8, None, compile_id="None"),
    )
    assert names(process.phases) == ["dynamo", ["async_compile.wait"]]
    assert [(each.name, each.compile_id) for each in process.parallel_phases] == [("compile_file", ID)] * 2
    told = split(process)
    assert told is not None
    assert (told.parallel_threads, round(told.parallel_seconds, 9)) == (2, 0.01)
    assert round(told.total_seconds, 9) == 0.006


def test_a_worker_of_a_compile_that_another_began_and_ended_in_is_beside_it() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "dynamo", 1, "1/0"),
        event("E", "dynamo", 2, "1/0"),
        event("B", "compile_file", 3, None),
        event("E", "compile_file", 4, None),
        event("E", "dynamo", 5),
    )
    assert [each.compile_id for each in process.parallel_phases] == [ID]


def test_what_other_threads_have_open_does_not_end_with_one_of_them() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "compile_file", 1, None),
        event("B", "other", 2, None),
        event("E", "compile_file", 3, None),
        event("E", "other", 4, None),
        event("E", "dynamo", 5),
    )
    took = {each.name: (each.end_ns or 0) - each.begin_ns for each in process.parallel_phases}
    assert took == {"compile_file": 2 * MS, "other": 2 * MS}
    assert process.health.damaged_records == 0


def test_spans_of_no_compile_are_trees_where_none_goes_on() -> None:
    process = build(event("B", "compile_file", 0, None), event("E", "compile_file", 1, None))
    assert [(each.name, each.compile_id) for each in process.phases] == [("compile_file", None)]
    assert process.parallel_phases == []


def test_an_event_may_name_its_compile_itself() -> None:
    arguments = {"compile_id": "!2/3/1"}
    process = build(event("B", "tune", 0, None, **arguments), event("E", "tune", 1, None, **arguments))
    assert process.phases[0].compile_id == CompileId(3, 1, 2)


def test_what_is_cut_off_has_no_end() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "bytecode_tracing", 1),
        event("B", "gc", 2),
        event("E", "gc", 3),
    )
    (tree,) = process.phases
    assert names(process.phases) == ["dynamo", ["bytecode_tracing", ["gc"]]]
    assert (tree.end_ns, tree.last_ns - tree.begin_ns) == (None, 3 * MS)


def test_an_inner_span_that_never_ended_ends_with_the_outer_one() -> None:
    process = build(event("B", "dynamo", 0), event("B", "backend_compile", 1), event("E", "dynamo", 2))
    (tree,) = process.phases
    assert tree.end_ns is not None
    assert [child.end_ns for child in tree.children] == [None]


def test_a_compile_that_was_left_open_does_not_swallow_the_next() -> None:
    process = build(event("B", "dynamo", 0), event("B", "dynamo", 5), event("E", "dynamo", 6))
    assert [each.end_ns is None for each in process.phases] == [True, False]


def test_an_end_without_a_begin_is_damage() -> None:
    process = build(event("E", "dynamo", 0), event("B", "dynamo", 1), event("E", "dynamo", 2))
    assert (len(process.phases), process.health.damaged_records) == (1, 1)


def test_spans_nested_without_end_are_damage_below_a_depth() -> None:
    process = build(*(event("B", "code_gen", n) for n in range(3000)))
    assert process.health.damaged_records == 3000 - 64
    assert split(process) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"ts": 1e30},
        {"ts": float("nan")},
        {"ts": 10**400},
        {"ts": True},
        {"ts": "7" * 50},
        {"name": ["dynamo"]},
        {"args": [1]},
        {"args": {"cache_state": 7}},
        {"args": {"is_backward": "yes"}},
        {"args": {"fn_name": {}}},
    ],
)
def test_an_event_that_torch_would_not_write_is_damage(wrong: dict[str, Any]) -> None:
    content = {"name": "dynamo", "ph": "B", "ts": EPOCH_US, "args": {}} | wrong
    process = build(record({"chromium_event": {}, "frame_id": 0, "frame_compile_id": 0}, json.dumps(content)))
    assert (process.phases, process.health.damaged_records) == ([], 1)


def test_a_selected_compile_has_its_phases_and_what_ran_beside_it() -> None:
    process = build(
        event("B", "dynamo", 0),
        event("B", "compile_file", 1, None),
        event("E", "compile_file", 2, None),
        event("E", "dynamo", 3),
        event("B", "dynamo", 4, "1/0"),
        event("E", "dynamo", 5, "1/0"),
    )
    process.compiles = [
        Compile(CompileId(n, 0), "f", None, None, True, None, None, None, None, None, {}, None, None)
        for n in (0, 1)
    ]
    recording = Recording(Path("rec"), None, [process], None, [])
    (part,) = select(recording, Selection(compile_id="0/0")).processes
    assert [each.compile_id for each in part.phases] == [ID]
    assert len(part.parallel_phases) == 1
    (part,) = select(recording, Selection(compile_id="1/0")).processes
    assert (len(part.phases), part.parallel_phases) == (1, [])


# Telling apart --------------------------------------------------------------------------------------------


def told(*trees: Phase) -> Any:
    process = Process(Path("trace.log"), phases=list(trees))
    return split(process)


def test_each_moment_belongs_to_the_innermost_phase() -> None:
    whole = told(
        phase(
            "dynamo",
            0,
            100,
            phase("bytecode_tracing", 10, 30),
            phase("backend_compile", 30, 80, phase("create_aot_dispatcher_function", 35, 75)),
            phase("build_guards", 80, 95),
        )
    )
    assert whole.of(TRACING) == pytest.approx(0.035)
    assert whole.of(AOT_AUTOGRAD) == pytest.approx(0.040)
    assert whole.of(GUARDS) == pytest.approx(0.015)
    assert sum(whole.kinds.values()) == pytest.approx(whole.total_seconds) == pytest.approx(0.1)


def test_a_backward_compile_is_apart_whatever_is_in_it() -> None:
    forward = phase("dynamo", 0, 10, phase("async_compile.wait", 2, 8))
    backward = phase(
        "entire_backward_compile",
        20,
        30,
        phase("inductor_compile", 21, 29, phase("async_compile.wait", 22, 28)),
    )
    whole = told(forward, backward)
    assert (whole.of(KERNELS, False), whole.of(KERNELS, True)) == (pytest.approx(0.006), pytest.approx(0.006))


def test_compiles_that_overlap_count_once() -> None:
    inside = phase("dynamo", 20, 40, compile_id=CompileId(1, 0))
    whole = told(phase("dynamo", 0, 100), inside, phase("entire_backward_compile", 90, 120))
    assert whole.total_seconds == pytest.approx(0.120)
    assert whole.overlap_seconds == pytest.approx(0.030)
    assert sum(whole.kinds.values()) == pytest.approx(0.120)


def test_how_long_compiles_overlapped_is_not_known_where_the_clock_was_set_back() -> None:
    unfinished = phase("dynamo", 100, None, phase("build_guards", 5, 12))
    whole = told(unfinished, phase("dynamo", 200, 210))
    assert whole.overlap_seconds is None
    assert told(phase("dynamo", 200, 210)).overlap_seconds == 0
    recording = Recording(Path("r"), None, [Process(Path("t"), phases=[unfinished])], None, [])
    body = document(report(), Case(recording))
    assert body["processes"][0]["compile_time"]["overlap_seconds"] is None
    validate(json.loads(json_text(body)))


def test_a_clock_that_was_set_back_makes_no_time() -> None:
    whole = told(phase("dynamo", 10, 20, phase("build_guards", 5, 12), phase("gc", 18, 90)))
    assert whole.total_seconds == pytest.approx(0.010)
    assert all(seconds > 0 for seconds in whole.kinds.values())


def test_an_unknown_phase_belongs_with_the_one_around_it_and_keeps_its_name() -> None:
    trees = spans([phase("build_guards", 0, 10, phase("newly_timed", 2, 8)), phase("never_seen", 20, 30)])
    inner = trees[0].children[0]
    assert (inner.kind.category, inner.phase.name) == (GUARDS, "newly_timed")
    assert trees[1].kind.category == "other: never_seen"


def test_each_pass_is_named() -> None:
    inside = phase("pass.post_grad_passes.stable_sort", 1, 3)
    whole = told(phase("dynamo", 0, 10, phase("_recursive_post_grad_passes", 0, 5, inside)))
    assert whole.passes == {"post_grad_passes.stable_sort": pytest.approx(0.002)}
    assert whole.of(POST_GRAD) == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("compile_attempt_12", TRACING),
        ("mm_template_precompiling", AUTOTUNING),
        ("mm_template_autotuning", AUTOTUNING),
        ("CachingAutotuner.benchmark_all_configs", AUTOTUNING),
        ("pass.post_grad_passes.x", POST_GRAD),
        ("nothing of torch's", None),
    ],
)
def test_names_are_torchs(name: str, category: str | None) -> None:
    assert category_of(name) == category


def test_small_phases_are_summed_unless_all_are_shown() -> None:
    trees = spans(
        [phase("dynamo", 0, 1000, phase("gc", 1, 5), phase("a", 10, 12), phase("backend_compile", 20, 900))]
    )
    (root,) = phase_tree(trees, show_all=False)
    assert [(node.name, node.count, node.total_ns) for node in root.children] == [
        ("backend_compile", 1, 880 * MS),
        (None, 2, 6 * MS),
    ]
    (root,) = phase_tree(trees, show_all=True)
    assert [node.name for node in root.children] == ["backend_compile", "gc", "a"]


def test_phases_of_one_name_are_one_node() -> None:
    trees = spans([phase("dynamo", 0, 100, phase("compile_file", 0, 20), phase("compile_file", 30, 60))])
    (node,) = phase_tree(trees, show_all=True)[0].children
    assert (node.count, node.total_ns) == (2, 50 * MS)


def test_compiled_autograd_is_a_category_of_its_own() -> None:
    found = split(Process(Path("s.log"), phases=[phase("compiled_autograd", 0, 5), phase("dynamo", 5, 7)]))
    assert found is not None
    assert found.categories == [COMPILED_AUTOGRAD, TRACING]
    assert found.of(COMPILED_AUTOGRAD) == pytest.approx(0.005)
