"""Every report, in every form, on recordings of ours and on plain torch traces."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from recordings import Recordings
from schemas import validate

Runner = Callable[..., Result]
REPORTS = ("explain", "graphs", "bytecode", "guards", "breaks", "recompiles", "ops", "profile")
KINDS = [("ours", "toy"), ("ours", "twenty_breaks"), ("ours", "recompiling"), ("plain", "recompiling")]


def document(run: Runner, report: str, *arguments: str | Path) -> dict[str, Any]:
    result = run(report, *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    return told


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(("maker", "program"), KINDS, ids=["-".join(kind) for kind in KINDS])
def test_each_report_in_each_form(
    report: str, maker: str, program: str, run: Runner, recordings: Recordings
) -> None:
    path = getattr(recordings, maker)(program)
    told = document(run, report, path)
    assert told["schema"] == f"dynamo-{report}"
    validate(told)
    for form in ("text", "markdown"):
        result = run(report, path, "--format", form)
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        assert result.stdout.strip()
        assert "\x1b" not in result.stdout
        assert "None" not in result.stdout.splitlines()[0]


def test_the_toy_has_three_graphs_of_five_two_and_one_ops_and_a_break(
    run: Runner, recordings: Recordings
) -> None:
    toy = recordings.ours("toy")
    assert [graph["ops"] for graph in document(run, "explain", toy)["processes"][0]["graphs"]] == [5, 2, 1]
    assert [graph["op_count"] for graph in document(run, "ops", toy)["graphs"]] == [5, 2, 1]
    found = document(run, "breaks", toy)
    assert found["count"] == 1
    (only,) = found["breaks"]
    assert (only["place"]["line"], only["registry_id"], only["crossed"]) == (8, "GB0170", 100)
    assert only["between"][0]["before"] == [1]
    assert only["between"][0]["after"] == [2, 3]
    assert only["source"]["8"].strip() == "if b.sum() < 0:"


def test_ops_executed_are_nodes_times_calls(run: Runner, recordings: Recordings) -> None:
    told = document(run, "ops", recordings.ours("toy"))
    for graph in told["graphs"]:
        assert all(op["executed"] == op["count"] * graph["calls"] for op in graph["ops"])
    totals = {op["name"]: op["executed"] for op in told["total"]}
    assert (totals["torch.abs"], totals["Tensor.sum"], totals["operator.add"]) == (100, 100, 100)


def test_twenty_breaks_are_each_crossed_once_a_call(run: Runner, recordings: Recordings) -> None:
    path = recordings.ours("twenty_breaks")
    told = document(run, "breaks", path)
    assert len(told["breaks"]) == 20
    assert {each["crossed"] for each in told["breaks"]} == {4}
    assert {each["makes_frame_eager"] for each in told["breaks"]} == {False}
    page = run("breaks", path).stdout
    assert page.startswith("20 graph breaks\n")
    assert page.count("What to do: take the `print` out") == 20
    summary = run("explain", path).stdout
    assert "… and 15 more distinct breaks; `dynamo breaks` shows all" in summary


def test_recompiles_name_guard_values_and_limit(run: Runner, recordings: Recordings) -> None:
    frames = {
        frame["name"]: frame
        for frame in document(run, "recompiles", recordings.ours("recompiling"))["frames"]
    }
    scale = [recompile["failures"][0] for recompile in frames["scale"]["recompiles"]]
    told = [(f["kind"], f["source"], f["expected"], f["actual"]) for f in scale]
    assert told[0] == ("size", "x", "4", "5")
    assert ("value", "factor", "2", "3.0") in told
    assert ("dtype", "x", "Float", "Double") in told
    assert frames["scale"]["limit_hit"] is None
    assert any(symbol["source"] == "L['x'].size()[0]" for symbol in frames["scale"]["dynamic"])
    assert frames["sum_of"]["recompiles"][0]["failures"][0]["kind"] == "length"
    counting = frames["forward"]
    assert counting["limit_hit"] is not None
    steps = [recompile["failures"][0] for recompile in counting["recompiles"]]
    assert [(step["expected"], step["actual"]) for step in steps[:2]] == [("0", "1"), ("1", "2")]
    assert "allow_unspec_int_on_nn_module" in counting["advice"][0]


def records_of(trace: Path) -> list[tuple[str, dict[str, Any]]]:
    """An independent reading of a trace: each record's kind, or artifact name, and its metadata."""
    found = []
    for file in trace.iterdir():
        for line in file.read_text().splitlines():
            header = re.match(r"V\d{4} [^\]]*\] (\{.*)$", line)
            if header:
                metadata = json.loads(header[1])
                kind = next(iter(metadata))
                found.append((metadata["artifact"]["name"] if kind == "artifact" else kind, metadata))
    return found


@pytest.mark.parametrize("program", ["recompiling", "twenty_breaks"])
def test_counts_of_a_plain_trace_are_what_its_records_say(
    program: str, run: Runner, recordings: Recordings
) -> None:
    trace = recordings.plain(program)
    records = records_of(trace)
    metrics = [metadata["compilation_metrics"] for kind, metadata in records if kind == "compilation_metrics"]
    told = document(run, "explain", trace)
    summary = told["summary"]
    kinds = [kind for kind, _ in records]
    assert summary["graphs"] == kinds.count("dynamo_output_graph")
    assert summary["ops"] == sum(each["graph_op_count"] or 0 for each in metrics)
    assert summary["guards"] == sum(each["guard_count"] or 0 for each in metrics)
    assert summary["recompiles"] == sum(each["recompile_reason"] is not None for each in metrics)
    assert summary["graph_breaks"] == kinds.count("dynamo_graph_break_reason")
    assert summary["failed_compiles"] == sum(each["fail_type"] is not None for each in metrics)
    assert summary["compile_time_s"] == pytest.approx(sum(each["duration_us"] for each in metrics) / 1e6)
    assert sum(phase["seconds"] for phase in told["compile_phases"]) == pytest.approx(
        summary["compile_time_s"]
    )
    process = told["processes"][0]
    assert process["records"] == {kind: kinds.count(kind) for kind in set(kinds)}
    hits = sum(lookup["outcome"] == "hit" for lookup in process["cache_lookups"])
    assert hits == kinds.count("fx_graph_cache_hit") + kinds.count("aotautograd_cache_hit")
    assert (summary["frames"], summary["graph_calls"]) == (None, None)


def test_ours_and_the_plain_trace_of_one_program_agree(run: Runner, recordings: Recordings) -> None:
    ours = document(run, "explain", recordings.ours("recompiling"))["summary"]
    plain = document(run, "explain", recordings.plain("recompiling"))["summary"]
    for name in ("graphs", "ops", "recompiles", "guards", "graph_breaks"):
        assert ours[name] == plain[name], name


def test_ranks_are_told_apart(run: Runner, recordings: Recordings, tmp_path: Path) -> None:
    for rank, program in enumerate(("twenty_breaks", "recompiling")):
        (stream,) = recordings.plain(program).iterdir()
        shutil.copy(stream, tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log")
    told = document(run, "explain", tmp_path)
    assert [process["rank"] for process in told["processes"]] == [0, 1]
    assert "The ranks differ in: " in run("explain", tmp_path).stdout
    one = document(run, "explain", tmp_path, "--rank", "1")
    assert one["summary"] == document(run, "explain", recordings.plain("recompiling"))["summary"]


def test_selectors(run: Runner, recordings: Recordings) -> None:
    path = recordings.ours("recompiling")
    scale = document(run, "explain", path, "--frame", "scale")
    assert {graph["frame"] for graph in scale["processes"][0]["graphs"]} == {"scale"}
    first = document(run, "ops", "--compile-id", "0/0", path)
    assert [graph["compile_id"] for graph in first["graphs"]] == ["0/0"]
    second = document(run, "graphs", path, "--graph", "2")
    assert [graph["number"] for graph in second["graphs"]] == [2]
    result = run("guards", path, "--frame", "nope")
    assert result.exit_code == 119
    assert result.stderr.startswith("dynamo: nothing in the recording fits --frame nope; frames: scale")


def test_a_report_goes_to_a_file_in_the_form_that_its_name_says(
    run: Runner, recordings: Recordings, tmp_path: Path
) -> None:
    path = recordings.ours("toy")
    for name in ("report.md", "report.json", "report.txt"):
        result = run("breaks", path, "-o", tmp_path / name)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "report.md").read_text().startswith("# 1 graph break\n")
    assert json.loads((tmp_path / "report.json").read_text())["count"] == 1
    assert (tmp_path / "report.txt").read_text().startswith("1 graph break\n")
    result = run("breaks", path, "-o", tmp_path / "missing" / "report.md")
    assert result.exit_code == 120
    assert result.stderr.count("\n") == 1


def test_colour_only_where_it_is_asked_for(run: Runner, recordings: Recordings) -> None:
    path = recordings.ours("toy")
    assert "\x1b" not in run("explain", path, env={"NO_COLOR": "1"}).stdout
    coloured = run("explain", path, env={"NO_COLOR": "", "FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in coloured
    assert max(len(line) for line in coloured.splitlines()) < 1000


def test_a_program_can_be_the_target_of_a_report(run: Runner) -> None:
    program = (
        "import torch; torch.compile(lambda x: x.sin() + 1, backend='eager')(torch.ones(2)); print('mine')"
    )
    result = run("ops", "--format", "json", "-c", program)
    assert result.exit_code == 0, result.stderr
    assert [op["name"] for op in json.loads(result.stdout)["total"]] == ["Tensor.sin", "operator.add"]
    assert "mine" in result.stderr
