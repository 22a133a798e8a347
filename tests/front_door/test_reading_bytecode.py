"""`dynamo bytecode` on stored frames that break: listings, comparison, annotated source and document."""

from support.answering import answer
from support.documents import document
from support.stored import plain, stored


def test_the_story_of_the_toy_example() -> None:
    recorded = stored("toy")
    listing = answer("bytecode", recorded).stdout
    assert "ORIGINAL BYTECODE" in listing
    assert "MODIFIED BYTECODE" in listing

    diff = answer("bytecode", "--diff", recorded).stdout
    assert "--- original bytecode\n" in diff
    assert "graph_out_0 = graph_1(a, b)  # " in diff
    assert "graph_1 is graph 1 (5 ops, lines 7-8), __compiled_fn_1" in diff
    assert "continues at line 9: b = b * -1" in diff
    assert "continues at line 10: return x * b" in diff
    assert "could not be read" not in diff

    source = answer("bytecode", "--source", recorded, "--frame", "toy_example").stdout
    assert "graph 1 │    7      x = a / (torch.abs(a) + 1)" in source
    assert "graph 1 + eager │    8      if b.sum() < 0:" in source
    assert "graph 1 computes the condition, the interpreter branches" in source
    assert "        if graph_out_0[0]:\n            return __resume_at_" in source

    markdown = answer("bytecode", "--diff", "--format", "markdown", recorded).stdout
    assert "```diff\n--- original bytecode\n" in markdown
    whole = answer("bytecode", "--diff", "--all", recorded).stdout
    assert len(whole.splitlines()) > len(diff.splitlines())


def test_the_document_follows_each_instruction() -> None:
    frame, *resumed = document("bytecode", stored("toy"))["frames"]
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


def test_a_chain_of_breaks_is_one_story() -> None:
    recorded = stored("twenty_breaks")
    frames = document("bytecode", recorded)["frames"]
    resumed = {function["name"] for frame in frames for function in frame["resume_functions"]}
    assert len(resumed) == 20
    source = answer("bytecode", "--source", recorded).stdout
    assert sum(f"{name} takes over as [" in source for name in resumed) == 20
    assert source.count("what its bytecode does now") == len(frames)


def test_a_plain_trace_has_no_bytecode_and_says_so() -> None:
    trace = plain("twenty_breaks")
    says = "this is a plain torch trace; `dynamo run` records it"
    assert says in answer("bytecode", "--diff", trace).stdout
    assert document("bytecode", trace)["is_recorded"] is False
