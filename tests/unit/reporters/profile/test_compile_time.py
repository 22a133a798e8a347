"""What a page and a document tell of compile time, and what they say where nothing was recorded."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.time.compiles import compile_costs
from dynamo_core.case import Case
from dynamo_core.model import (
    CacheLookup,
    Caching,
    Compile,
    CompileId,
    Frame,
    Graph,
    Health,
    Phase,
    Place,
    Process,
    ProcessInfo,
    Recording,
    TracedFunction,
)
from dynamo_core.shared.names import TRACING_TIME
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.profile.compile_document import CompileTime, compile_time_of
from dynamo_reporters.profile.compile_time import compile_time_blocks

MS = 1_000_000
FIRST, AGAIN, BAD = CompileId(0, 0), CompileId(0, 1), CompileId(1, 0)
PLACE = Place("/x/train.py", 7)


def phase(
    name: str, begin: int, end: int | None, *children: Phase, of: CompileId = FIRST, **more: Any
) -> Phase:
    return Phase(name, begin * MS, None if end is None else end * MS, of, children=children, **more)


def metrics(of: CompileId, **more: Any) -> Compile:
    plain = Compile(of, "f", PLACE, 0.1, True, None, None, None, None, None, {}, None, None)
    return replace(plain, **more)


def forward(of: CompileId, begin: int, cache: str | None) -> Phase:
    """A compile of 100 ms: an attempt that was thrown away, then one that reached Inductor."""
    inductor = phase("inductor_compile", begin + 40, begin + 80, of=of, cache_state=cache)
    return phase(
        "dynamo",
        begin,
        begin + 100,
        phase("compile_attempt_0", begin, begin + 20, of=of),
        phase("compile_attempt_1", begin + 20, begin + 90, inductor, of=of),
        of=of,
    )


def process() -> Process:
    traced = [
        TracedFunction(FIRST, 0, "f", PLACE, 1, 0.010, 0.015),
        TracedFunction(FIRST, 0, "inner", Place("/x/layers.py", 3), 4, 0.005, 0.005),
        TracedFunction(FIRST, 1, "f", PLACE, 1, 0.010, 0.015),
        TracedFunction(FIRST, 1, None, None, 9, 0.001, None, 5),
    ]
    return Process(
        Path("stream.log"),
        info=ProcessInfo(pid=1),
        frames=[Frame("bad", PLACE, "failed", "Unsupported: no way", False, False, BAD)],
        compiles=[
            metrics(FIRST, restart_reasons=("graph break\nmore",), seconds_before_restart=0.019),
            metrics(FIRST, is_forward=False, seconds=0.05),
            metrics(AGAIN, recompile_reason="0/0: size of x"),
            metrics(BAD, name="bad", seconds=0.03),
        ],
        phases=[
            forward(FIRST, 0, "miss"),
            phase("entire_backward_compile", 200, 250, is_backward=True),
            forward(AGAIN, 300, "hit"),
            phase("dynamo", 500, 530, of=BAD),
        ],
        parallel_phases=[phase("compile_file", 45, 75)],
        tracing=traced,
        health=Health(record_counts={TRACING_TIME: 2}),
    )


def recording(*processes: Process) -> Recording:
    return Recording(Path("rec"), None, list(processes), None, [])


def as_document(process: Process) -> CompileTime:
    return compile_time_of(process, Case(recording(process)))


def page(*processes: Process, show_all: bool = False) -> str:
    return plain_text(compile_time_blocks(Case(recording(*processes)), show_all))


def test_the_page_has_the_split_the_trees_the_losses_and_the_functions() -> None:
    text = page(process(), show_all=True)
    assert text.startswith("Compile time: 280 ms")
    for wanted in (
        "Beside the compile: 30 ms in 1 worker thread",
        "cold (FX graph cache: miss)",
        "cached (FX graph cache: hit)",
        "compile_attempt_1",
        "On attempts before tracing restarted: 40 ms (2)",
        "On frames that fell back to eager: 30 ms (1)",
        "Unsupported: no way",
        "On recompiles: 100 ms (1)",
        "/x/train.py:7",
        "Dynamo traced these functions: 26 ms",
        "9 calls of others, 1 ms",
    ):
        assert wanted in text
    assert to_markdown(compile_time_blocks(Case(recording(process())), True))


def test_the_tree_is_indented_and_its_shares_are_of_the_compile() -> None:
    lines = page(process(), show_all=True).splitlines()
    rows = [line.split() for line in lines if "compile_attempt_1" in line]
    assert rows[0] == ["compile_attempt_1", "70", "ms", "30", "ms", "70.0%"]
    dynamo = next(line for line in lines if line.strip().startswith("dynamo "))
    attempt = next(line for line in lines if "compile_attempt_1" in line)
    assert len(attempt) - len(attempt.lstrip()) > len(dynamo) - len(dynamo.lstrip())


def test_what_was_not_recorded_is_said_and_is_null() -> None:
    bare = Process(Path("trace.log"), compiles=[metrics(FIRST), metrics(AGAIN, seconds=None)])
    text = page(bare)
    assert "The phases of these compiles were not recorded." in text
    assert "not recorded" in text
    assert "Which functions Dynamo traced was not recorded." in text
    value = json_value(as_document(bare))
    assert (value["seconds"], value["categories"], value["parallel"], value["tracing"]) == (None,) * 4
    assert [compile_["seconds"] for compile_ in value["compiles"]] == [0.1, None]
    assert value["thrown_away"]["restarts"] == {"seconds": None, "compiles": []}
    assert "nothing was compiled, or it was not recorded" in page(Process(Path("trace.log")))


def test_the_document_adds_up_and_is_json() -> None:
    value = json.loads(json.dumps(json_value(as_document(process())), allow_nan=False))
    parts = [part["forward_seconds"] + part["backward_seconds"] for part in value["categories"]]
    assert sum(parts) == pytest.approx(value["seconds"]) == pytest.approx(0.28)
    assert [(c["compile_id"], c["graph"]) for c in value["compiles"]] == [
        ("0/0", "forward"),
        ("0/1", "forward"),
        ("0/0", "backward"),
        ("1/0", "forward"),
    ]
    (root,) = value["compiles"][0]["phases"]
    assert (root["name"], root["seconds"], root["own_seconds"]) == ("dynamo", 0.1, 0.01)
    lost = value["thrown_away"]
    assert [loss["seconds"] for loss in lost["restarts"]["compiles"]] == [0.02, 0.02]
    assert lost["gave_up"]["compiles"][0]["place"] == {"file": "/x/train.py", "line": 7}
    f, inner = value["tracing"]["functions"]
    assert (f["name"], f["calls"], f["attempts"], f["inclusive_seconds"]) == ("f", 2, 2, 0.03)
    assert inner["exclusive_seconds"] == 0.005
    assert value["tracing"]["others"] == {"calls": 9, "exclusive_seconds": 0.001}


def test_torchs_own_time_before_a_restart_is_told_where_attempts_were_not_timed() -> None:
    one = Process(Path("t"), compiles=[metrics(FIRST, restart_reasons=("x",), seconds_before_restart=0.019)])
    (loss,) = json_value(as_document(one))["thrown_away"]["restarts"]["compiles"]
    assert (loss["seconds"], loss["reason"]) == (0.019, "x")
    untimed = Process(Path("t"), compiles=[metrics(FIRST, restart_reasons=("x",))])
    (loss,) = json_value(as_document(untimed))["thrown_away"]["restarts"]["compiles"]
    assert loss["seconds"] is None


def test_look_ups_are_those_recorded_where_no_phase_has_them() -> None:
    lookups = [CacheLookup("fx_graph_cache", "hit", FIRST), CacheLookup("aotautograd_cache", "miss", FIRST)]
    (cost,) = compile_costs(Process(Path("t"), compiles=[metrics(FIRST)], caching=Caching(lookups=lookups)))
    assert cost.temperature == "partly cached"
    (cost,) = compile_costs(Process(Path("t"), compiles=[metrics(FIRST)]))
    assert (cost.lookups, cost.temperature) == (None, None)


def test_a_compile_that_was_cut_off_says_so() -> None:
    cut = Process(Path("t"), phases=[phase("dynamo", 0, None, phase("gc", 5, 8))])
    assert "8 ms (cut off)" in page(cut)
    assert json_value(as_document(cut))["compiles"][0]["is_cut_off"] is True


def test_many_compiles_are_folded_unless_all_are_shown() -> None:
    ids = [CompileId(n, 0) for n in range(30)]
    many = Process(Path("t"), phases=[phase("dynamo", 10 * n, 10 * n + 5, of=of) for n, of in enumerate(ids)])
    assert "25 more compiles: --all shows all." in page(many)
    assert "--all has the phases of each compile" in page(many)
    assert "more" not in page(many, show_all=True)


def test_torchs_own_figure_of_a_compile_is_the_one_that_every_report_has() -> None:
    timed = Process(Path("t"), phases=[phase("dynamo", 0, 101)], compiles=[metrics(FIRST)])
    assert compile_costs(timed)[0].seconds == 0.1
    assert page(timed).startswith("Compile time: 100 ms")


def test_reasons_are_short_unless_all_is_shown() -> None:
    reason = "2/0: self.step == 0  # self.step += 1  # x.py:17 in forward (HINT: torch.compile considers)"
    made = Process(Path("t"), compiles=[metrics(FIRST), metrics(AGAIN, recompile_reason=reason)])
    assert "2/0: self.step == 0\n" in page(made)
    assert "HINT" in page(made, show_all=True)


def test_a_compile_of_compiled_autograd_is_named_so() -> None:
    captured, compiled = CompileId(None, None, 0), CompileId(1, 0, 0)
    graph = Graph(1, compiled, 0, None, None, 1, frame_name="compiled autograd")
    made = Process(
        Path("s.log"),
        phases=[phase("compiled_autograd", 0, 10, of=captured), phase("dynamo", 20, 25, of=compiled)],
        compiles=[metrics(compiled, seconds=0.005, name="forward", place=Place("<eval_with_key>.5", 4))],
        graphs=[graph],
    )
    costs = [(cost.compile_id, cost.name, cost.place) for cost in compile_costs(made)]
    assert costs == [(captured, "compiled autograd", None), (compiled, "compiled autograd", None)]
