"""What is said of graphs without CUDA graphs, and of those of which many are recorded."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.graphs.cuda_graphs import cuda_graphs_of
from dynamo_core.findings import Finding, find
from dynamo_core.model import CudaGraphNoted, Graph, Place, StackFrame
from support.made import FIRST, of_one_process

STEP = Graph(
    1, FIRST, 0, None, "inductor", 3, frame_name="step", frame_place=Place("train.py", 10), is_compiled=True
)
LINE = StackFrame(Place("train.py", 12), "", "x.add_(1)")


def skipped(reason: str, line: StackFrame | None = None) -> CudaGraphNoted:
    return CudaGraphNoted(FIRST, "skipped", reason=reason, line=line)


def recorded(function: int = 0, part: int = 1, **known: Any) -> CudaGraphNoted:
    return CudaGraphNoted(FIRST, "recorded", part=part, function=function, seconds=0.5, **known)


def found(*noted: CudaGraphNoted) -> list[Finding]:
    return find(of_one_process(graphs=[STEP], cuda_graphs=list(noted)))


def test_a_skip_stands_at_the_line_that_torch_names() -> None:
    words = "skipping cudagraphs due to skipping cudagraphs due to mutated inputs (1 instances)"
    (skip,) = found(skipped(words, LINE), skipped(words, LINE))
    assert skip.title == "CUDA graphs skipped for graph 1 [0/0] at train.py:12: mutated inputs (1 instances)"
    assert (skip.place, skip.source) == (LINE.place, LINE.text)
    assert "copy it there outside" in skip.remedies[0].text
    assert "mark_static_address" in skip.remedies[1].text


@pytest.mark.parametrize(
    ("reason", "settings"),
    [
        ("disabling cudagraphs due to incompatible op aten.foo", 1),
        ("skipping cudagraphs due to cpu device (primals_2)", 1),
        ("skipping cudagraphs due to multiple devices: cuda:0, cuda:1", 0),
        ("outputs of an earlier step still require backward", 0),
    ],
)
def test_every_reason_that_has_a_remedy(reason: str, settings: int) -> None:
    (skip,) = found(skipped(reason))
    assert skip.remedies and skip.place == STEP.frame_place
    assert sum(each.kind == "setting" for each in skip.remedies) == settings


def test_what_inductor_alone_can_do_is_not_advised_for_another_backend() -> None:
    other = replace(STEP, backend="cudagraphs")
    (skip,) = find(of_one_process(graphs=[other], cuda_graphs=[skipped("due to mutated inputs")]))
    assert [each for each in skip.remedies if "mark_static_address" in each.text] == []


def test_what_is_held_from_call_to_call_is_in_the_way_until_it_is_recorded() -> None:
    words = "outputs of an earlier call are alive at each call"
    held = CudaGraphNoted(FIRST, "skipped", part=1, function=0, reason=words)
    (skip,) = found(held)
    assert skip.title == f"CUDA graphs skipped for graph 1 [0/0]: {words}"
    assert "cudagraph_mark_step_begin" in skip.remedies[0].text
    assert found(held, recorded(function=0)) == []
    assert len(found(held, recorded(function=1))) == 1


@pytest.mark.parametrize(("version", "is_warned"), [("2.11.0+cu130", True), ("2.13.0", False), (None, False)])
def test_a_torch_whose_caches_do_not_see_a_mark_is_named(version: str | None, is_warned: bool) -> None:
    recording = of_one_process(graphs=[STEP], cuda_graphs=[skipped("due to mutated inputs")])
    recording.processes[0].torch_version = version
    (skip,) = find(recording)
    assert ("TORCHINDUCTOR_CACHE_DIR" in skip.remedies[1].text) is is_warned


def test_words_without_a_remedy_have_none() -> None:
    (skip,) = found(skipped("skipping cudagraphs due to cpp-wrapper does not support graph partition yet"))
    assert skip.remedies == ()


@pytest.mark.parametrize(
    "asked", ["override_cudagraphs annotation", "config.triton.cudagraph_skip_dynamic_graphs=True"]
)
def test_what_the_program_has_asked_for_is_nothing_in_the_way(asked: str) -> None:
    assert found(skipped(f"disabling cudagraphs due to {asked}")) == []


def test_a_recording_for_each_size_is_counted_by_part() -> None:
    sizes = [recorded(function, part) for part in (1, 2) for function in range(10 * part, 10 * part + 9)]
    (often,) = found(*sizes)
    assert often.title == "graph 1 [0/0]: 9 sizes, each with a CUDA graph of its own"
    assert "18 were recorded, in 9.00 s" in str(often.cause)
    assert often.cost.lost.seconds == 9.0
    assert [each.kind for each in often.remedies] == ["edit", "setting"]
    assert found(*sizes[:8], *sizes[9:17]) == []


def test_sizes_that_never_come_again_are_warmed_up_and_not_recorded() -> None:
    (often,) = found(*(CudaGraphNoted(FIRST, "warmed up", part=1, function=each) for each in range(9)))
    assert "9 sizes" in often.title and "0 were recorded" in str(often.cause)


def test_what_is_recorded_again_and_again_has_its_reason() -> None:
    moved = [recorded(again="an input at another address", line=LINE) for _ in range(9)]
    (often,) = found(recorded(), *moved)
    assert often.title.endswith("recorded as a CUDA graph 9 times more, for an input at another address")
    assert "copy_" in often.remedies[0].text
    (other,) = found(recorded(), *(replace(each, again="another order") for each in moved))
    assert other.remedies == () and other.identity != often.identity


def test_a_graph_in_short() -> None:
    def in_short(*noted: CudaGraphNoted) -> str:
        (process,) = of_one_process(cuda_graphs=list(noted)).processes
        return cuda_graphs_of(process)[FIRST].in_short

    assert in_short(CudaGraphNoted(FIRST, "warmed up", part=1, function=0)) == "warmed up"
    assert in_short(recorded(), recorded(1), skipped("why")) == "2 recorded, skipped"
    assert in_short(skipped("why")) == "skipped"


def test_a_skip_of_no_known_graph_is_said_all_the_same() -> None:
    (skip,) = find(of_one_process(cuda_graphs=[CudaGraphNoted(None, "skipped", reason="why")]))
    assert skip.title == "CUDA graphs skipped for a graph: why"
