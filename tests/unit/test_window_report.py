"""The section about the profiled window, as a page and as JSON."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.time.coverage import coverage
from dynamo_core.model import (
    EagerOperator,
    GraphPart,
    Place,
    Process,
    ProfileWindow,
    Recording,
    WindowKernel,
    WindowOperator,
    WindowPart,
)
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile.window import window_blocks
from dynamo_reporters.profile.window_document import window_of

FORWARD = GraphPart(1, False)
ON_CPU = ProfileWindow(
    anchor=1,
    steps=4,
    seconds=2.0,
    begin_ns=0,
    end_ns=1,
    compiles=0,
    parts=(WindowPart(FORWARD, 4, 0.6, 8, 0.4, 0, 0.0, 0, {"cpu": 2048}),),
    operators=(WindowOperator("aten::mm", FORWARD, 8, 0.4, 0.4),),
    eager=(
        EagerOperator("aten::add", None, 20, 0.05, 0.0),
        EagerOperator("aten::sort", Place("/train.py", 9), 4, 0.15, 0.0),
    ),
    kernels=None,
    damaged_events=0,
    lines_problem=None,
)
ON_GPU = replace(
    ON_CPU,
    parts=(WindowPart(FORWARD, 4, 0.6, 8, 0.4, 8, 0.3, 4, None),),
    kernels=(
        WindowKernel("copy", None, "cuda:0", 4, 0.1, None),
        WindowKernel("triton_0", FORWARD, "cuda:0", 8, 0.3, 600_000_000, ("relu",), (Place("/m.py", 3),)),
    ),
)


def _process(window: ProfileWindow | None, problem: str | None = None) -> Process:
    return Process(Path("stream.log"), window=window, window_problem=problem)


def _page(process: Process) -> str:
    return plain_text(window_blocks(Recording(Path("r"), None, [process], None, [])))


def test_nothing_where_no_window_was_asked_for() -> None:
    assert _page(_process(None)).strip() == ""
    assert window_of(_process(None)) is None


def test_why_there_is_none() -> None:
    process = _process(None, "nothing was compiled")
    assert "No window was profiled: nothing was compiled." in _page(process)
    assert json_value(window_of(process)) == {"problem": "nothing was compiled"}


def test_shares() -> None:
    shares = coverage(ON_CPU)
    assert shares["time"] is not None and round(shares["time"], 6) == 0.75
    assert shares["operators"] == 8 / 32
    assert shares["kernel_time"] is None
    assert coverage(ON_GPU)["kernel_time"] is not None
    assert coverage(replace(ON_CPU, parts=(), eager=())) == dict.fromkeys(shares)


def test_the_page() -> None:
    page = _page(_process(ON_CPU))
    assert "around 4 steps, 500 ms each" in page
    assert page.index("/train.py:9") < page.index("aten::add")  # costliest first
    assert "2.0 kB cpu" in page
    assert "No device was in use" in page
    assert "CUDA graphs" not in page


def test_the_page_of_a_gpu() -> None:
    process = _process(replace(ON_GPU, compiles=1, lines_problem="it ended"))
    page = _page(process)
    assert "1 compile fell into it" in page
    assert "Their lines were not recorded: it ended." in page
    assert page.index("triton_0 ") < page.index("copy ")
    assert "2 GB/s" in page and "relu" in page and "/m.py:3" in page
    assert "4 replays in the window" in page
    assert "skips and re-records in the run: not recorded" in page
    process.cuda_graph_counters = {"cudagraph_skips": 3}
    assert "skips in the run: 3" in _page(process)


def test_json_has_null_for_what_was_not_recorded() -> None:
    value = json_value(window_of(_process(ON_CPU)))
    assert value is not None and value["kernels"] is None and value["cuda_graph_counters"] is None
    assert value["graphs"][0]["kernel_seconds"] is None
    assert value["eager_operators"][1] == {
        "name": "aten::add",
        "place": None,
        "calls": 20,
        "seconds": 0.05,
        "kernel_seconds": None,
    }
    value = json_value(window_of(_process(ON_GPU)))
    assert value is not None
    assert [kernel["bytes_per_second"] for kernel in value["kernels"]] == [2e9, None]
    assert value["kernels"][1]["nodes"] is None
