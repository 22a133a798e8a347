"""The section about the profiled window, as a page and as JSON."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.time.wall import coverage
from dynamo_core.model import (
    EagerOperator,
    GraphPart,
    Place,
    Process,
    ProfileWindow,
    Profiling,
    Recording,
    WindowKernel,
    WindowOperator,
    WindowPart,
)
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile.window import kernel_name, window_blocks, window_of

FORWARD = GraphPart(1, False)
ON_CPU = ProfileWindow(
    anchor=1,
    steps=4,
    seconds=2.0,
    begin_ns=0,
    end_ns=1,
    compiles=0,
    parts=(WindowPart(FORWARD, 4, 0.6, 8, 0.4, None, None, None, {"cpu": 2048}),),
    operators=(WindowOperator("aten::mm", FORWARD, 8, 0.4, 0.4),),
    eager=(
        EagerOperator("aten::add", None, 20, 0.05, None),
        EagerOperator("aten::sort", Place("/train.py", 9), 4, 0.15, None),
    ),
    kernels=None,
    damaged_events=0,
    lines_problem=None,
)
ON_GPU = replace(
    ON_CPU,
    parts=(WindowPart(FORWARD, 4, 0.6, 8, 0.4, 8, 0.3, 4, None),),
    eager=tuple(replace(each, kernel_seconds=0.0) for each in ON_CPU.eager),
    kernels=(
        WindowKernel("copy", None, "cuda:0", 4, 0.1, None),
        WindowKernel("triton_0", FORWARD, "cuda:0", 8, 0.3, 600_000_000, ("relu",), (Place("/m.py", 3),)),
    ),
)


def _process(window: ProfileWindow | None, problem: str | None = None) -> Process:
    return Process(
        Path("stream.log"),
        profiling=Profiling(window=window, problem=problem),
    )


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
    process.profiling.cuda_graph_counters = {"cudagraph_skips": 3}
    assert "skips in the run: 3" in _page(process)


def rows(process: Process, title: str) -> list[str]:
    """The rows below a heading and the table's own headings."""
    lines = [" ".join(line.split()) for line in _page(process).splitlines()]
    begin = lines.index(title) + 2
    return lines[begin : lines.index("", begin) if "" in lines[begin:] else len(lines)]


def test_the_time_of_a_graph_that_is_in_no_operator_is_the_rest() -> None:
    more = WindowPart(GraphPart(None, True), 1200, 0.9, 2000, 1.0, 0, 0.0, 0, {})
    found = rows(_process(replace(ON_CPU, parts=(*ON_CPU.parts, more))), "By graph")
    assert found[:2] == [
        "unknown backward 1,200 900 ms 1.00 s in 2,000 0 µs none",
        "1 4 600 ms 400 ms in 8 200 ms 2.0 kB cpu",
    ]
    assert rows(_process(ON_GPU), "By graph")[0] == "1 4 600 ms 400 ms in 8 200 ms 300 ms in 8 not recorded"


def test_what_was_inside_of_graphs_is_a_share_of_all() -> None:
    lines = [line.strip() for line in _page(_process(ON_GPU)).splitlines()]
    assert (
        "- 75.0% of the host's time in graphs and operators was inside compiled graphs (600 ms; operators "
        "outside: 200 ms)."
    ) in lines
    assert any(line.startswith("- 25.0% of the operator calls") and "(8 of 32;" in line for line in lines)
    assert "- 75.0% of 400 ms of kernel time was launched inside them." in lines
    none = _page(_process(replace(ON_CPU, parts=(), eager=())))
    assert "not recorded of the host's time" in none and "By graph" not in none and "None." in none


def test_operators_and_kernels_are_listed_the_costliest_first() -> None:
    many = tuple(replace(ON_CPU.eager[0], name=f"op{number}", seconds=number / 10) for number in range(17))
    found = rows(
        _process(replace(ON_CPU, eager=many)), "Operators outside of compiled graphs, costliest first"
    )
    assert found[0] == "not recorded op16 20 1.60 s" and found[14] == "not recorded op2 20 200 ms"
    assert found[15:] == ["… and 2 more; the JSON document has them all."]
    inside = (
        *ON_CPU.operators,
        replace(ON_CPU.operators[0], name="add", self_seconds=0.9, total_seconds=1.5),
    )
    outside = replace(ON_CPU.operators[0], name="no", graph=None)
    listed = rows(
        _process(replace(ON_CPU, operators=(*inside, outside))),
        "Operators inside compiled graphs, costliest first",
    )
    assert listed == ["1 add 8 900 ms 1.50 s", "1 aten::mm 8 400 ms 400 ms"]
    assert rows(_process(ON_GPU), "Kernels, costliest first") == [
        "triton_0 1 8 300 ms 2 GB/s relu /m.py:3",
        "copy outside 4 100 ms not recorded not recorded not recorded",
    ]


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
    assert value["kernels"][1]["nodes"] is None and value["kernels"][1]["places"] is None
    assert value["kernels"][0]["nodes"] == ["relu"]
    assert value["kernels"][0]["places"] == [{"file": "/m.py", "line": 3}]
    assert (value["kernels"][0]["graph"], value["kernels"][1]["graph"]) == (
        {"number": 1, "is_backward": False},
        None,
    )
    assert (value["graphs"][0]["kernels"], value["graphs"][0]["cuda_graph_launches"]) == (8, 4)
    assert value["graphs"][0]["kernel_seconds"] == 0.3


@pytest.mark.parametrize(
    ("torchs", "short"),
    [
        ("triton_poi_fused_relu_0", "triton_poi_fused_relu_0"),
        (
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
            "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::BinaryOpScalarFunctor"
            "<float, 1, 1, 0>, std::multiplies<float> >(at::native::TensorListMetadata<1>, float)",
            "multi_tensor_apply_kernel<TensorListMetadata, BinaryOpScalarFunctor, multiplies>",
        ),
        ("void cutlass::Kernel2<cutlass_80_simt>(cutlass_80_simt::Params)", "Kernel2<cutlass_80_simt>"),
        (f"void kernel<{'int, ' * 40}int>(int*)", f"kernel<{'int, ' * 16}in…"),
    ],
)
def test_a_kernel_of_c_plus_plus_is_named_by_its_template(torchs: str, short: str) -> None:
    assert kernel_name(torchs) == short
