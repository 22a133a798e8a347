"""`dynamo profile` for other programs' viewers: real recordings, through the real command."""

import json
from collections.abc import Callable
from pathlib import Path

from support.answering import Result
from support.cases import nightly

Runner = Callable[..., Result]


def export(run: Runner, recording: Path, file: Path, *options: str) -> Path:
    result = run("profile", recording, "-o", file, *options)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    return file


@nightly
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
