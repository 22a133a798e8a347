"""What records mean together: compile ids that begin anew, graphs of foreign traces, frames of old ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.model import Process, ProcessEnd, ProcessInfo
from dynamo_core.recording.build import ProcessBuilder
from dynamo_core.recording.trace_format import RecordParser
from support.trace_bytes import process_of
from support.trace_bytes import record as in_bytes

METRICS = {"co_name": "f", "co_filename": "/x/train.py", "co_firstlineno": 7, "duration_us": 1500}


def record(kind: str, content: object, **more: object) -> str:
    envelope = {kind: content, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, **more}
    return f"V1120 19:08:30.938000 2350 torch/_dynamo/x.py:10] {json.dumps(envelope)}\n"


def start(name: str = "f", line: int = 7, **more: object) -> str:
    return record("dynamo_start", {"stack": [{"line": line, "name": name, "filename": 0}]}, **more)


def build(*records: str) -> Process:
    process = Process(Path("trace.log"))
    builder = ProcessBuilder(process)
    parser = RecordParser()
    for found in parser.feed("".join([record("str", ["/x/train.py", 0]), *records]).encode()):
        builder.add(found)
    last = parser.finish()
    if last is not None:
        builder.add(last)
    assert process.health.damaged_records == 0
    return process


def compiled(**metrics: Any) -> list[str]:
    return [
        start(),
        record("dynamo_output_graph", {"sizes": {}}),
        record("compilation_metrics", {**METRICS, "graph_op_count": 2, **metrics}),
    ]


def test_ids_that_begin_anew_after_a_reset_are_other_compiles() -> None:
    process = build(*compiled(), *compiled())
    first, second = (graph.compile_id for graph in process.graphs)
    assert first != second
    assert [str(compile_.compile_id) for compile_ in process.compiles] == ["0/0", "0/0"]
    assert [compile_.compile_id for compile_ in process.compiles] == [first, second]


def test_a_restarted_analysis_is_the_same_compile() -> None:
    process = build(
        start(),
        record("dynamo_output_graph", {"sizes": {}}),
        start(attempt=1),
        record("dynamo_output_graph", {"sizes": {}}, attempt=1),
        record("compilation_metrics", {**METRICS, "graph_op_count": 2}, attempt=1),
    )
    assert [(graph.number, graph.attempt, graph.ops) for graph in process.graphs] == [(1, 1, 2)]


def test_a_graph_that_the_backend_did_not_take_is_not_compiled() -> None:
    process = build(*compiled(fail_type="BackendCompilerFailed", fail_reason="no", graph_op_count=None))
    assert process.compiled_graphs == []
    assert process.compiles[0].fail_reason == "no"


def test_the_metrics_name_the_frame_where_the_stack_ends_with_its_caller() -> None:
    process = build(
        start("_fn", 410),
        record("dynamo_output_graph", {"sizes": {}}),
        record("compilation_metrics", METRICS),
    )
    assert (process.graphs[0].frame_name, str(process.graphs[0].frame_place)) == ("f", "/x/train.py:7")


def test_rank_comes_from_a_record_or_from_the_name_of_the_stream() -> None:
    assert build(start(rank=3)).rank == 3
    named = Process(Path("dedicated_log_torch_trace_rank_12_abc.log"))
    ProcessBuilder(named)
    assert named.rank == 12


def test_a_graph_of_compiled_autograd_is_named_so() -> None:
    stack = [{"line": 4, "name": "forward", "filename": 1}]
    process = build(
        record("str", ["<eval_with_key>.5", 1]),
        record("dynamo_start", {"stack": stack}, compiled_autograd_id=3),
        record("dynamo_output_graph", {"sizes": {}}, compiled_autograd_id=3),
        record(
            "compilation_metrics",
            {**METRICS, "co_name": "forward", "co_filename": "<eval_with_key>.5"},
            compiled_autograd_id=3,
        ),
    )
    [graph] = process.graphs
    assert (graph.frame_name, graph.frame_place) == ("compiled autograd", None)


def test_what_compiled_autograd_calls_of_the_program_keeps_its_name() -> None:
    process = build(
        start("hook", compiled_autograd_id=3),
        record("dynamo_output_graph", {"sizes": {}}, compiled_autograd_id=3),
    )
    assert process.graphs[0].frame_name == "hook"


def test_records_without_compiled_autograds_number_are_of_the_compile_that_began_with_it() -> None:
    process = build(
        start(compiled_autograd_id=3),
        record("dynamo_output_graph", {"sizes": {}}),
        start(frame_id=1),
        record("dynamo_output_graph", {"sizes": {}}, frame_id=1),
        start(),
        record("dynamo_output_graph", {"sizes": {}}),
    )
    assert [str(graph.compile_id) for graph in process.graphs] == ["!3/0/0", "1/0", "0/0"]


@pytest.mark.parametrize("settings", [json.dumps({"a": '"}", "', "b": [1, None]}), "{}", "no JSON", '"}'])
def test_what_stands_behind_inductors_settings_is_read(settings: str) -> None:
    metrics = {"inductor_config": settings, "fail_type": "behind", "co_name": "g"}
    process = build(start(), record("compilation_metrics", metrics, attempt=0))
    (compiled,) = process.compiles
    assert (compiled.name, compiled.fail_type) == ("g", "behind")


def test_hits_and_misses_of_all_caches_are_added_and_nothing_else_is() -> None:
    counts = {"inductor_fx_cache_hit_count": 2, "aotautograd_cache_hit_count": 1, "x_cache_miss_count": 4}
    (known,) = build(*compiled(**counts, y_cache_hit_count="many", code_gen_time_us=900)).compiles
    assert (known.cache_hits, known.cache_misses) == (3, 4)
    (unknown,) = build(*compiled()).compiles
    assert (unknown.cache_hits, unknown.cache_misses) == (None, None)


def test_what_metrics_tell_of_other_caches() -> None:
    metrics = {
        "inductor_fx_remote_cache_hit_count": 2,
        "inductor_fx_remote_cache_miss_count": 0,
        "remote_fx_graph_cache_get_time_us": 1_500_000,
        "remote_fx_graph_cache_put_time_us": 500_000,
        "aotautograd_remote_cache_hit_count": 0,
        "pgo_get_remote_code_state_time_us": 7_000,
        "num_triton_bundles": 3,
    }
    found = build(*compiled(**metrics)).caching.counts
    assert [(each.layer, each.hits, each.misses, each.took_seconds) for each in found] == [
        ("remote_fx_graph_cache", 2, 0, 2.0),
        ("remote_pgo", None, None, 0.007),
        ("triton_bundle", 3, None, None),
    ]


@pytest.mark.parametrize("odd", [0, -1, True, "3", 2.5, None])
def test_a_count_that_is_none_says_nothing_of_a_cache(odd: object) -> None:
    assert build(*compiled(num_triton_bundles=odd)).caching.counts == []


def described(name: str, content: object) -> Process:
    return process_of(in_bytes({"artifact": {"name": name, "encoding": "json"}}, json.dumps(content)))


def test_what_a_process_says_of_itself_is_kept_in_its_order() -> None:
    said = {"torch": "2.13.0", "unheard_of": [1], "pid": 7}
    process = described(ProcessInfo.NAME, said)
    assert (process.info.pid, process.torch_version, process.info.python) == (7, "2.13.0", None)
    assert list(vars(process.info).items()) == list(said.items())
    assert process.health.damaged_records == 0


@pytest.mark.parametrize("pid", ["7", True, 7.5, [7], 10**400])
def test_a_field_of_a_wrong_type_is_not_recorded(pid: object) -> None:
    process = described(ProcessInfo.NAME, {"torch": "2.13.0", "pid": pid, "forked": True})
    assert (process.info.pid, process.info.forked) == (None, True)
    assert process.health.first_damage == "pid: not what is recorded there"


@pytest.mark.parametrize(("size", "peak"), [(1, {"resident": 1}), ("much", None)])
def test_the_inside_of_a_field_is_looked_at(size: object, peak: object) -> None:
    end = described(ProcessEnd.NAME, {"torch_totals": {}, "peak_memory": {"resident": size}}).runtime.end
    assert end is not None and end.peak_memory == peak


@pytest.mark.parametrize("content", [{}, {"torch_totals": {"unique_graphs": "many"}}])
def test_an_end_without_torchs_totals_is_none(content: object) -> None:
    process = described(ProcessEnd.NAME, content)
    assert process.runtime.end is None and process.health.damaged_records
