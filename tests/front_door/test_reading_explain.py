"""`dynamo explain` on stored recordings: what happened, what to fix first, what could not be seen."""

import re

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


def test_the_toy() -> None:
    told = document("explain", stored("toy"))
    begin = ["next", "verdict", "actions", "excerpt", "context", "findings"]
    assert list(told)[5:11] == begin, "what to do comes first"
    summary = told["summary"]
    counts = ("frames", "graphs", "ops", "graph_calls", "graph_breaks", "recompiles", "guards")
    assert [summary[name] for name in counts] == [3, 3, 8, 200, 1, 0, 29]
    assert [graph["ops"] for graph in told["processes"][0]["graphs"]] == [5, 2, 1]
    assert [graph["calls"] for graph in told["processes"][0]["graphs"]] == [100, 52, 48]
    assert (summary["exit_code"], summary["signal"], told["is_partial"]) == (0, None, False)
    assert told["problems"] == []
    page = answer("explain", "--all", stored("toy")).stdout
    assert page.startswith("3 graphs, 8 ops, 1 graph break, 0 recompiles; compiling took 5.94 s.\n")
    assert "\nCounts\n" in page
    (row,) = [line.split() for line in page.splitlines() if line.startswith("  1 [0/0]")]
    assert row[3:8] == ["100", "1.9", "ms", "15.4", "µs"], "the mean of the calls after the first"
    first, rest = page.split("\nFindings\n", 1)[1].split("Counts", 1)
    assert "/home/user/project/toy_example.py:8" in first and "torch.where(b.sum() < 0, then, else)" in first
    assert rest.index("Where compile time went") < rest.index("Graphs") < rest.index("More")


def test_a_graph_that_was_called_once_has_no_later_call() -> None:
    page = answer("explain", "--all", stored("ranks_in_another_order")).stdout
    assert "  called once  eager    local" in page and "  running  eager    step" in page


def test_phases_add_up_to_the_compile_time() -> None:
    for name in ("toy", "recompiling", "training", "frozen"):
        told = document("explain", stored(name))
        phases = sum(phase["seconds"] for phase in told["compile_phases"])
        assert abs(phases - told["summary"]["compile_time_s"]) < 1e-6


def test_all_findings_are_there_in_full_where_they_are_asked_for() -> None:
    page = answer("explain", "--all", stored("twenty_breaks")).stdout
    assert "20 graph breaks" in page.splitlines()[0]
    titles = [each["title"] for each in document("explain", stored("twenty_breaks"))["findings"]]
    assert len(titles) == 21 and all(f"\n  {title}\n" in page for title in titles)


def test_a_frame_at_its_recompile_limit_fell_back() -> None:
    told = document("explain", stored("recompile_limit"))
    assert (told["summary"]["recompiles"], told["summary"]["frames_fell_back"]) == (8, 1)
    last = told["processes"][0]["frames"][-1]
    assert (last["outcome"], last["name"]) == ("failed", "tagged")
    assert "recompile limit exceeded" in last["reason"]
    assert "1 frame fell back to eager" in answer("explain", "--all", stored("recompile_limit")).stdout


def test_a_killed_run_says_what_it_was_inside_of() -> None:
    told = document("explain", stored("killed"))
    assert (told["is_partial"], told["summary"]["signal"], told["summary"]["exit_code"]) == (True, 15, None)
    page = answer("explain", "--all", stored("killed")).stdout
    unfinished = page.split("Not finished", 1)[1].splitlines()[1]
    assert "/home/user/project/transformer.py:48 [0/0]: graph 1, 50 ops" in unfinished
    assert "wrong_backend.py:off_by_a_little" in unfinished
    assert "was killed by SIGTERM" in page
    assert "What could not be seen" in page


def test_training_has_what_is_saved_and_the_optimizer() -> None:
    told = document("explain", stored("training"))
    (process,) = told["processes"]
    (pair,) = process["graphs"][0]["training"]
    assert (pair["forward_ops"], pair["backward_ops"], pair["saved_tensors"]) == (8, 24, 5)
    assert (pair["saved_bytes"], pair["activation_bytes"]) == (20864, 16384)
    page = answer("explain", "--all", stored("training")).stdout
    assert "AdamW" in page.split("Training", 1)[1]


def test_what_ran_eager_after_the_freeze() -> None:
    told = document("explain", stored("frozen"))
    ran_eager = {frame["name"]: frame["times"] for frame in told["freeze"]["not_compiled"]}
    assert ran_eager == {"serve": 5, "health": 1}
    page = answer("explain", "--all", stored("frozen")).stdout
    assert "6 calls of 2 frames matched no compiled version, and ran eager" in page


def test_a_wrong_graph_and_its_first_wrong_node() -> None:
    told = document("explain", stored("verified"))["verified"]
    assert (told["graphs"], told["agree"], told["disagree"], told["not_compared"]) == (1, 0, 1, 0)
    (call,) = told["calls"]
    assert (call["outcome"], call["worst"]["name"]) == ("disagrees", "output 0 (mean)")
    assert call["worst"]["error"] > call["worst"]["allowed"]
    assert call["node"]["target"] == "torch._C._nn.gelu"
    assert call["node"]["place"] == {"file": "/home/user/project/wrong_backends.py", "line": 64}
    page = answer("explain", "--all", stored("verified")).stdout
    assert "Graphs that computed what the captured graph computes: 0 of 1" in page


def test_processes_are_told_apart() -> None:
    told = document("explain", stored("forks"))
    parent, child = told["processes"]
    assert child["info"]["ppid"] == parent["info"]["pid"]
    assert (parent["graphs"][0]["calls"], child["inherited_graph_calls"]) == (1, 40)
    assert told["summary"]["graph_calls"] == 41


def test_what_a_plain_trace_lacks_is_not_recorded() -> None:
    told = document("explain", plain("recompiling"))
    ours = document("explain", stored("recompiling"))
    for name in ("graphs", "ops", "recompiles", "guards", "compile_time_s"):
        assert told["summary"][name] == ours["summary"][name], name
    assert (told["summary"]["frames"], told["summary"]["graph_calls"], told["run"]) == (None, None, None)
    page = answer("explain", "--all", plain("recompiling")).stdout
    counts = page.split("Counts", 1)[1].split("Where compile", 1)[0]
    for name in ("frames traced", "graph calls", "time in graphs (host)"):
        (line,) = [line for line in counts.splitlines() if line.strip().startswith(f"{name}  ")]
        assert line.endswith("not recorded")


def test_time_in_graphs_is_one_figure_with_its_backward() -> None:
    """The count, the finding beside it and the JSON document hold the forward and the backward calls."""
    page = answer("explain", "--all", stored("training")).stdout
    assert re.search(r"time in graphs \(host\) +7\.35 s\n +of it backward +5\.04 s\n", page)
    assert "the compiled graphs ran 7.35 s in all, forward and backward" in page
    assert re.search(r"calls +forward \(host\)", page)
    summary = document("explain", stored("training"))["summary"]
    assert round(summary["graph_host_seconds"], 2) == 7.35


def test_what_a_remedy_may_change_besides_stands_under_it() -> None:
    said = "it may also change: code for any value can be slower than for one; it holds for every"
    for options in ((), ("--all",)):
        assert said in " ".join(answer("explain", *options, stored("recompiling")).stdout.split())
