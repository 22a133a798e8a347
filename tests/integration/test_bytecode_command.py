"""`dynamo bytecode` on a frame that breaks: listings, comparison, annotated source and document."""

import json

from conftest import Runner
from recordings import Recordings
from schemas import validate


def test_the_story_of_the_toy_example(run: Runner, recordings: Recordings) -> None:
    recorded = recordings.ours("toy")
    listing = run("bytecode", recorded).stdout
    assert "ORIGINAL BYTECODE" in listing
    assert "MODIFIED BYTECODE" in listing

    diff = run("bytecode", "--diff", recorded).stdout
    assert "--- original bytecode\n" in diff
    assert "graph_out_0 = graph_1(a, b)  # " in diff
    assert "graph_1 is graph 1 (5 ops, lines 7-8), __compiled_fn_1" in diff
    assert "continues at line 9: b = b * -1" in diff
    assert "continues at line 10: return x * b" in diff
    assert "could not be read" not in diff

    source = run("bytecode", "--source", recorded, "--frame", "toy_example").stdout
    assert "graph 1 │    7      x = a / (torch.abs(a) + 1)" in source
    assert "graph 1 + eager │    8      if b.sum() < 0:" in source
    assert "graph 1 computes the condition, the interpreter branches" in source
    assert "        if graph_out_0[0]:\n            return __resume_at_" in source

    markdown = run("bytecode", "--diff", "--format", "markdown", recorded).stdout
    assert "```diff\n--- original bytecode\n" in markdown
    whole = run("bytecode", "--diff", "--all", recorded).stdout
    assert len(whole.splitlines()) > len(diff.splitlines())

    both = run("bytecode", "--diff", "--source", recorded)
    assert (both.exit_code, both.stdout) == (2, "")


def test_the_document_fits_its_schema(run: Runner, recordings: Recordings) -> None:
    document = json.loads(run("bytecode", "--format", "json", recordings.ours("toy")).stdout)
    validate(document)

    frame, *resumed = document["frames"]
    assert [(part["is_resume_function"], part["is_python_whole"]) for part in resumed] == [(True, True)] * 2
    assert [graph["lines"] for graph in frame["graphs"]] == [[7, 8]]
    assert [function["line"] for function in frame["resume_functions"]] == [9, 10]
    assert [len(step["compiles"]) for step in frame["chain"]["continuations"]] == [1, 1]
    for side in ("original", "modified"):
        indices = [change[side] for change in frame["changes"] if change[side] is not None]
        assert indices == list(range(len(frame[side])))
    kept = [change for change in frame["changes"] if change["kind"] == "kept"]
    opcodes = [frame["original"][change["original"]]["opcode"] for change in kept]
    assert [opcode for opcode in opcodes if opcode not in ("RESUME", "TO_BOOL")] == [opcodes[-1]]
    assert "POP_JUMP" in opcodes[-1]


def test_a_chain_of_breaks_is_one_story(run: Runner, recordings: Recordings) -> None:
    recorded = recordings.ours("twenty_breaks")
    document = json.loads(run("bytecode", "--format", "json", recorded).stdout)
    validate(document)
    frames = document["frames"]
    resumed = {function["name"] for frame in frames for function in frame["resume_functions"]}
    assert len(resumed) == 20
    source = run("bytecode", "--source", recorded).stdout
    assert sum(f"{name} takes over as [" in source for name in resumed) == 20
    assert source.count("what its bytecode does now") == len(frames)


def test_a_plain_trace_has_no_bytecode_and_says_so(run: Runner, recordings: Recordings) -> None:
    plain = recordings.plain("twenty_breaks")
    assert "this is a plain torch trace; `dynamo run` records it" in run("bytecode", "--diff", plain).stdout
    document = json.loads(run("bytecode", "--format", "json", plain).stdout)
    validate(document)
    assert document["is_recorded"] is False
