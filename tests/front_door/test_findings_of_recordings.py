"""What the lists of analyses and of kinds say of one another, on stored recordings."""

import gzip
import json

import pytest

from dynamo_core.findings import ANALYSES_OF_THE_COMPILER, CONTENTS, OF_THE_COMPILER, find
from dynamo_core.recording.read import read
from support.stored import NAMES, stored


def test_analyses_of_the_compiler_give_the_kinds_of_the_compiler_and_only_those() -> None:
    recordings = [read(stored(name), CONTENTS) for name in NAMES]
    everything = {each.kind for recording in recordings for each in find(recording)}
    analyses = ANALYSES_OF_THE_COMPILER
    of_the_compiler = {each.kind for recording in recordings for each in find(recording, analyses=analyses)}
    assert of_the_compiler == everything & set(OF_THE_COMPILER)
    assert len(of_the_compiler) >= 4 and everything - of_the_compiler


def test_a_profiled_optimizer_has_the_time_of_its_steps_as_torch_marked_them() -> None:
    (trace,) = stored("profiled").glob("dynamo_profile_*_times_*")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    took = [each["dur"] for each in events if each["name"] == "Optimizer.step#AdamW.step"]
    recording = read(stored("profiled"), CONTENTS)
    (found,) = (each for each in find(recording) if each.kind == "eager optimizer")
    assert found.cost.per_step.known == "measured" and found.cost.per_step.seconds is not None
    # Five steps were profiled, behind one that warms the profiler up.
    assert found.cost.per_step.seconds == pytest.approx(sum(took[1:]) / 5 / 1e6)
    assert found.cost.saves_at_most.seconds == pytest.approx(5 * found.cost.per_step.seconds)
    assert found.title.startswith("the step of torch.optim.adamw.AdamW runs eager; 1.04 ms of each step")
    (window,) = (process.profiling.window for process in recording.processes)
    assert window is not None
    (span,) = window.spans
    assert (span.kind, span.name, span.calls, span.in_graphs_seconds) == ("optimizer step", "AdamW", 5, 0)
    assert [where.line for where in span.places] == [33]
