"""`dynamo profile` on stored recordings: the split of the wall time, and what other programs open."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


def path_of(recording: str) -> Path:
    return plain(recording.removeprefix("plain ")) if recording.startswith("plain ") else stored(recording)


def export(recording: Path, file: Path, *options: str) -> Path:
    result = answer("profile", recording, "-o", file, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    return file


def parts_of(process: dict[str, Any]) -> dict[str, float | None]:
    return {part["name"]: part["seconds"] for part in process["wall_time"]["parts"]}


@pytest.mark.parametrize("recording", ["toy", "recompiling", "training", "frozen", "profiled", "killed"])
def test_the_parts_are_the_wall_time(recording: str) -> None:
    described = json.loads((stored(recording) / "dynamo_run.json").read_text())
    (process,) = document("profile", stored(recording))["processes"]
    wall = process["wall_time"]["seconds"]
    assert wall == pytest.approx((described["ended_ns"] - described["started_ns"]) / 1e9, rel=0.01)
    assert sum(filter(None, parts_of(process).values())) == pytest.approx(wall)


@pytest.mark.parametrize("recording", ["toy", "training"])
def test_what_stands_below_a_part_adds_up_to_it(recording: str) -> None:
    page = answer("profile", stored(recording)).stdout.partition("Steady state")[0]
    rows = re.findall(r"^  ( *)(?:· )?\w[^\n]*?  +([\d.]+) (s|ms|µs) +[\d.]+%", page, re.MULTILINE)
    known = [
        (len(indent) // 2, float(value) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit])
        for indent, value, unit in rows
    ]
    parents = 0
    for at, (depth, whole) in enumerate(known):
        levels = [level for level, _ in known[at + 1 :]]
        below = next((count for count, level in enumerate(levels) if level <= depth), len(levels))
        children = [value for level, value in known[at + 1 : at + 1 + below] if level == depth + 1]
        if children:
            parents += 1
            assert sum(children) == pytest.approx(whole, rel=0.01), f"row {at}"
    assert parents >= (1 if recording == "toy" else 4)


def test_what_compiled_within_the_first_step_is_told() -> None:
    page = " ".join(answer("profile", stored("training")).stdout.split())
    (process,) = document("profile", stored("training"))["processes"]
    first = process["steady_state"]["first_seconds"][0]
    told = re.search(
        r"The first one took ([\d.]+) s, ([\d.]+) s of it compiling; before it, compiling the graph took",
        page,
    )
    assert told is not None and float(told[1]) == pytest.approx(first, abs=0.01)
    backward = [each for each in process["compile_time"]["compiles"] if each["graph"] == "backward"]
    assert float(told[2]) == pytest.approx(backward[0]["seconds"], abs=0.02)


def test_one_rank_alone_says_what_all_of_them_do() -> None:
    waits = "All ranks beside each other: rank 0 and rank 1 wait for each other: the 1st collective"
    for report in ("profile", "explain"):
        assert waits in answer(report, stored("ranks_in_another_order"), "--rank", "0").stdout
        assert waits not in answer(report, stored("ranks_in_another_order")).stdout
    recompile = "All ranks beside each other: the 1st recompile is not the same on all ranks."
    assert recompile in answer("profile", stored("ranks_that_recompile"), "--rank", "1").stdout


def test_what_to_do_about_time_is_on_the_page_about_time() -> None:
    page = answer("profile", stored("toy")).stdout.partition("Wall time")[0]
    assert "compiling took 5.94 s" in page and "→ compile less: the part that is called most" in page
    assert "torch.where" not in page, "of a graph break, `dynamo breaks` says what to do"


def test_two_figures_of_compile_time_are_told_apart() -> None:
    page = answer("profile", stored("toy")).stdout
    assert "Compile time: 5.94 s, as torch counts it; 5.95 s with what Dynamo does around it" in page


def test_a_forked_child_has_its_own_time() -> None:
    main, child = document("profile", stored("forks"))["processes"]
    assert (main["wall_time"]["is_main"], child["wall_time"]["is_main"]) == (True, False)
    assert child["wall_time"]["saw_end"] is False  # it left by os._exit
    in_graphs = parts_of(child)["inside compiled graphs"]
    assert in_graphs is not None
    assert 40 * 0.005 <= in_graphs <= child["wall_time"]["seconds"]
    assert child["inherited"] == {"calls": 40, "seconds": pytest.approx(in_graphs)}


def test_forward_and_backward_are_counted_each() -> None:
    (process,) = document("profile", stored("training"))["processes"]
    (graph,) = process["graphs"]
    assert graph["forward"]["calls"] == graph["backward"]["calls"] == 20
    for times in (graph["forward"], graph["backward"]):
        assert sum(bucket["calls"] for bucket in times["histogram"]) == 20
        assert times["p50_seconds"] <= times["p99_seconds"] <= times["seconds"]
    assert "overhead-bound" not in answer("profile", stored("training")).stdout  # from a hundred calls on


def test_marks_of_breaks_lie_in_their_compiles() -> None:
    trace = json.loads(answer("profile", stored("twenty_breaks"), "--format", "chrome").stdout)["traceEvents"]
    compiles = {
        event["args"]["compile_id"]: (event["ts"], event["ts"] + event["dur"])
        for event in trace
        if event["name"].startswith("compile [")
    }
    marks = [event for event in trace if event["ph"] == "i"]
    assert len(marks) == 20
    for mark in marks:
        begin, end = compiles[mark["args"]["compile"].strip("[]")]
        assert begin <= mark["ts"] <= end
    (frozen,) = (
        event["ts"]
        for event in json.loads(answer("profile", stored("frozen"), "--format", "chrome").stdout)[
            "traceEvents"
        ]
        if event["name"].startswith("freeze")
    )
    assert frozen > 0


def test_peak_memory_and_its_growth_stand_where_they_were_recorded() -> None:
    explained = answer("explain", "--all", stored("profiled")).stdout
    profiled = answer("profile", stored("profiled")).stdout
    assert "peak memory                     385.3 MB resident\n" in explained
    assert "memory growth in a step         at most 256 B cpu\n" in explained
    assert "Peak memory: 385.3 MB resident." in profiled
    assert "cpu            32.6 kB  at most 256 B cpu\n" in profiled
    assert "memory growth" not in answer("explain", "--all", stored("toy")).stdout
    for report in ("explain", "profile"):
        assert "peak memory" not in answer(report, plain("toy")).stdout.lower()
        assert document(report, plain("toy"))["processes"][0]["peak_memory"] is None


def test_a_window_of_steady_steps() -> None:
    (process,) = document("profile", stored("profiled"))["processes"]
    window = process["window"]
    assert (window["problem"], window["steps"], window["anchor_graph"]) == (None, 5, 1)
    assert window["memory"] == [{"device": "cpu", "most": 33416, "growth": 256}]
    assert process["peak_memory"] == {"resident": 403980288}
    assert [(graph["graph"]["is_backward"], graph["calls"]) for graph in window["graphs"]] == [
        (False, 5),
        (True, 5),
    ]
    outside = {(op["name"], op["place"] and op["place"]["line"]) for op in window["eager_operators"]}
    assert ("aten::mse_loss", 31) in outside
    assert 0.99 < window["coverage"]["time"] < 1
    trace = json.loads(answer("profile", stored("profiled"), "--format", "chrome").stdout)
    names = [event["name"] for event in trace["traceEvents"]]
    assert names.count("dynamo graph 1 [0/0]") == 6  # the warm-up and five steps
    assert "aten::mse_loss" in names


def test_a_plain_trace_says_what_it_lacks() -> None:
    (process,) = document("profile", plain("recompiling"))["processes"]
    assert process["wall_time"] is None
    assert all(graph["forward"] is None for graph in process["graphs"])
    assert process["compile_time"]["seconds"] > 0
    text = answer("profile", plain("recompiling")).stdout
    assert "Wall time: not recorded" in text
    assert "Run time of the graphs: not recorded" in text


@pytest.mark.parametrize("recording", ["toy", "recompiling", "training", "plain recompiling"])
def test_the_exports_agree_with_the_document(recording: str, tmp_path: Path) -> None:
    path = path_of(recording)
    told = document("explain", path)
    trace = json.loads(export(path, tmp_path / "x.trace.json").read_text())
    speedscope = json.loads(export(path, tmp_path / "x.speedscope.json").read_text())
    compiles = [event for event in trace["traceEvents"] if event["name"].startswith("compile [")]
    names = {event["name"] for event in compiles}
    assert names
    assert {frame["name"] for frame in speedscope["shared"]["frames"]} >= names
    # torch's own figure leaves out a little before and after what it times.
    seconds = sum(event["dur"] for event in compiles) / 1e6
    assert seconds == pytest.approx(told["summary"]["compile_time_s"], rel=0.1)


def test_format_may_be_given_and_a_file_may_have_any_name(tmp_path: Path) -> None:
    toy = stored("toy")
    for form in ("chrome", "speedscope"):
        file = export(toy, tmp_path / f"{form}.out", "--format", form)
        assert answer("profile", toy, "--format", form).stdout.splitlines() == file.read_text().splitlines()
    assert json.loads(export(toy, tmp_path / "x.json").read_text())["schema"] == "dynamo-profile"


@pytest.mark.parametrize("recording", ["toy", "training"])
def test_the_page_fits_two_screens_and_all_is_behind_an_option(recording: str) -> None:
    env = {"FORCE_COLOR": "1", "COLUMNS": "100"}
    page = answer("profile", stored(recording), env=env).stdout
    assert len(page.splitlines()) <= 80
    everything = answer("profile", stored(recording), "--all", env=env).stdout
    assert "entire_frame_compile" in everything and "entire_frame_compile" not in page
    first = page.index("Do first" if recording == "toy" else "Also")
    assert first < page.index("Wall time") < page.index("Compile time")


@pytest.mark.parametrize("recording", ["toy", "recompiling", "training"])
def test_compile_time_is_the_same_in_every_report(recording: str) -> None:
    counts = answer("explain", "--all", stored(recording)).stdout
    took = re.search(r"compile time +([\d.,]+ m?s)", counts)
    assert took is not None
    page = answer("profile", stored(recording)).stdout
    assert f"Compile time: {took[1]}, as torch counts it" in page


@pytest.mark.parametrize("report", ["explain", "profile", "breaks", "recompiles", "guards"])
@pytest.mark.parametrize("recording", ["toy", "recompiling", "training"])
def test_no_sentence_stands_twice_on_a_page(report: str, recording: str) -> None:
    lines = [line.strip() for line in answer(report, stored(recording)).stdout.splitlines()]
    sentences = [line for line in lines if len(line) > 80 and line.endswith((".", "`")) and "  " not in line]
    assert [line for line in set(sentences) if sentences.count(line) > 1] == []
