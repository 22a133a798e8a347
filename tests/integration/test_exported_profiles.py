"""`dynamo profile` for other programs' viewers: real recordings, through the real command."""

import csv
import json
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from recordings import Recordings

Runner = Callable[..., Result]
KINDS = [("ours", "toy"), ("ours", "recompiling"), ("plain", "recompiling")]


def export(run: Runner, recording: Path, file: Path, *options: str) -> Path:
    result = run("profile", recording, "-o", file, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    return file


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


@pytest.mark.parametrize(("maker", "program"), KINDS, ids=["-".join(kind) for kind in KINDS])
def test_the_formats_agree_with_the_document(
    maker: str, program: str, run: Runner, recordings: Recordings, tmp_path: Path
) -> None:
    path = getattr(recordings, maker)(program)
    told = json.loads(run("explain", path, "--format", "json").stdout)
    trace = json.loads(export(run, path, tmp_path / "x.trace.json").read_text())
    speedscope = json.loads(export(run, path, tmp_path / "x.speedscope.json").read_text())
    stats: Any = pstats.Stats(str(export(run, path, tmp_path / "x.prof")))
    rows = rows_of(export(run, path, tmp_path / "x.csv"))

    compiles = [event for event in trace["traceEvents"] if event["name"].startswith("compile [")]
    names = {event["name"] for event in compiles}
    assert {name for _, _, name in stats.stats if name.startswith("compile [")} == names
    assert {frame["name"] for frame in speedscope["shared"]["frames"]} >= names
    # torch's own figure leaves out a little before and after what it times.
    seconds = sum(event["dur"] for event in compiles) / 1e6
    assert seconds == pytest.approx(told["summary"]["compile_time_s"], rel=0.1)
    of_rows = [float(row["seconds"]) for row in rows if row["kind"] == "compile"]
    assert sum(of_rows) == pytest.approx(seconds)

    graphs = told["processes"][0]["graphs"]
    counted = [(row["calls"], row["file"]) for row in rows if row["kind"] == "graph"]
    assert len(counted) == len(graphs)
    for graph, (calls, _) in zip(graphs, counted, strict=True):
        assert calls == ("" if graph["calls"] is None else str(graph["calls"]))
        if graph["calls"]:
            name = f"graph {graph['number']} [{graph['compile_id']}]"
            assert [each[1] for (_, _, of), each in stats.stats.items() if of == name] == [graph["calls"]]


def test_own_times_are_the_wall_time_of_the_run(run: Runner, recordings: Recordings, tmp_path: Path) -> None:
    path = recordings.ours("toy")
    described = json.loads((path / "dynamo_run.json").read_text())
    wall = (described["ended_ns"] - described["started_ns"]) / 1e9
    stats: Any = pstats.Stats(str(export(run, path, tmp_path / "x.pstats")))
    assert stats.total_tt == pytest.approx(wall, rel=0.02)


def test_format_may_be_given_and_a_file_may_have_any_name(
    run: Runner, recordings: Recordings, tmp_path: Path
) -> None:
    path = recordings.ours("toy")
    for form in ("chrome", "speedscope", "csv"):
        file = export(run, path, tmp_path / f"{form}.out", "--format", form)
        assert run("profile", path, "--format", form).stdout == file.read_text()
    assert json.loads(export(run, path, tmp_path / "x.json").read_text())["schema"] == "dynamo-profile"
    pstats.Stats(str(export(run, path, tmp_path / "any", "--format", "pstats")))
    result = run("profile", path, "-o", tmp_path / "missing" / "x.prof")
    assert result.exit_code == 120
    assert result.stderr.count("\n") == 1


def test_other_reports_have_no_such_formats(run: Runner, recordings: Recordings) -> None:
    result = run("breaks", recordings.ours("toy"), "--format", "chrome")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


def test_the_profiled_window_is_on_the_clock_of_everything_else(run: Runner, tmp_path: Path) -> None:
    program = (
        "import torch; f = torch.compile(lambda x: x.sin() + 1)\n"
        "for _ in range(20): f(torch.ones(9)); torch.ones(3)"
    )
    result = run("run", "--profile", "--profile-steps", "4", "-o", tmp_path / "rec", "-c", program)
    assert result.exit_code == 0, result.stderr
    trace = json.loads(export(run, tmp_path / "rec", tmp_path / "x.trace.json").read_text())
    spans = {event["name"]: [] for event in trace["traceEvents"]}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            spans[event["name"]].append((event["ts"], event["ts"] + event["dur"]))
    profiled = spans["dynamo graph 1 [0/0]"]
    assert len(profiled) == 5, "the warm-up and four steps"
    calls = sorted(span for name, of in spans.items() if name.startswith("graph 1 [0/0] call") for span in of)
    clock_us = 50  # how well the profiler's clock, the processor's counter, follows the wall's
    for begin, end in profiled:
        assert any(one - clock_us <= begin and end <= other + clock_us for one, other in calls)
    assert spans["aten::ones"]
