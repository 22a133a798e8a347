"""`dynamo breaks` and `dynamo recompiles` on stored recordings: where, how often, which guard, what to do."""

from pathlib import Path

from support.answering import answer
from support.documents import document
from support.stored import edited, stored


def test_the_break_of_the_toy() -> None:
    found = document("breaks", stored("toy"))
    (only,) = found["breaks"]
    assert found["count"] == 1
    assert (only["place"]["line"], only["registry_id"], only["crossed"]) == (8, "GB0170", 100)
    assert only["between"][0]["before"] == [1]
    assert only["between"][0]["after"] == [2, 3]
    assert only["source"]["8"].strip() == "if b.sum() < 0:"


def test_twenty_breaks_are_each_crossed_once_a_call() -> None:
    told = document("breaks", stored("twenty_breaks"))
    assert len(told["breaks"]) == 20
    assert {each["crossed"] for each in told["breaks"]} == {4}
    assert {each["makes_frame_eager"] for each in told["breaks"]} == {False}
    page = answer("breaks", stored("twenty_breaks")).stdout
    assert page.startswith("20 graph breaks\n")
    assert page.count("out of the compiled code: print after the call of `chatty`") == 20


def test_no_breaks_are_no_breaks() -> None:
    assert answer("breaks", stored("training")).stdout == "0 graph breaks\n"
    assert answer("recompiles", stored("toy")).stdout == "No recompiles.\n"


def test_recompiles_name_guard_values_and_limit() -> None:
    told = document("recompiles", stored("recompiling"))
    frames = {frame["name"]: frame for frame in told["frames"]}
    assert {name: len(frame["recompiles"]) for name, frame in frames.items()} == {
        "scale": 3,
        "sum_of": 1,
        "forward": 8,
    }
    page = answer("recompiles", stored("recompiling")).stdout
    # Three guards failed in `scale`, and each is a finding of its own, worth less than the one of `sum_of`.
    assert [*frames] == ["forward", "sum_of", "scale"]
    in_order = [page.index(f"\n{name} (") for name in frames]
    assert in_order == sorted(in_order)
    scale = [recompile["failures"][0] for recompile in frames["scale"]["recompiles"]]
    found = [(f["kind"], f["source"], f["expected"], f["actual"]) for f in scale]
    assert found == [
        ("size", "x", "4", "5"),
        ("value", "factor", "2", "3.0"),
        ("dtype", "x", "Float", "Double"),
    ]
    assert frames["scale"]["limit_hit"] is None
    assert any(symbol["source"] == "L['x'].size()[0]" for symbol in frames["scale"]["dynamic"])
    assert frames["sum_of"]["recompiles"][0]["failures"][0]["kind"] == "length"
    counting = frames["forward"]
    assert counting["limit_hit"] is not None
    steps = [recompile["failures"][0] for recompile in counting["recompiles"]]
    assert [(step["expected"], step["actual"]) for step in steps[:2]] == [("0", "1"), ("1", "2")]
    assert "TORCH_COMPILE_DYNAMIC_SOURCES=\"L['self'].step\"" in counting["advice"][0]
    assert "allow_unspec_int_on_nn_module" in counting["advice"][1]


def test_a_row_has_what_came_how_often_and_the_programs_own_line(tmp_path: Path) -> None:
    page = answer("recompiles", stored("recompiling"), "--frame", "scale").stdout.splitlines()
    rows = [line.split() for line in page if line.startswith("  [0/")]
    assert [row[6] for row in rows] == ["2", "1", "1"], "the calls that each version has served"
    assert sum("recompiling.py:8 return x * factor + 1" in line for line in page) >= 1
    counting = answer("recompiles", stored("recompiling"), "--frame", "forward").stdout.splitlines()
    (refused,) = [line for line in counting if line.lstrip().startswith("[2/8]")]
    assert refused.split()[-3:] == ["7", "not", "recorded"], "torch does not say what came"
    mine, theirs = "tests/integration/programs/recompiling.py", "/usr/lib/python3.11/site-packages/lib.py"
    in_library = edited(
        "recompiling", tmp_path, lambda _, payload: payload.replace(f"{mine}:8 in", f"{theirs}:8 in")
    )
    shown = answer("recompiles", in_library, "--frame", "scale").stdout
    assert "/home/user/project/recompiling.py:8 return x * factor + 1" in shown and "lib.py" not in shown


def test_nothing_is_offered_against_the_programs_word_without_saying_so() -> None:
    page = answer("recompiles", stored("frozen")).stdout
    assert "pass `dynamic=True` in place of `dynamic=False` to " in page
    assert "dynamic=False" not in answer("recompiles", stored("recompiling")).stdout


def test_what_would_have_been_compiled_after_the_freeze() -> None:
    told = document("recompiles", stored("frozen"))
    assert [frame["name"] for frame in told["frames"]] == ["serve"]
    serve, health = told["freeze"]["not_compiled"]
    came = [failure["actual"] for reason in serve["reasons"] for failure in reason["failures"]]
    assert {"7", "48", "100"} == set(came)
    assert (serve["times"], health["times"], health["name"]) == (5, 1, "health")
    assert "7 (3 times), 48, 100\n" in answer("recompiles", stored("frozen")).stdout


def test_a_finding_is_where_its_guard_is_though_no_guards_were_asked_for() -> None:
    found = document("explain", stored("recompiling"))["findings"]
    told = document("recompiles", stored("recompiling"))["frames"]
    # By their lines: in stored recordings the names that torch cut short fit no file.
    places = {
        (frame["name"], failure["kind"]): failure["place"] and failure["place"]["line"]
        for frame in told
        for recompile in frame["recompiles"]
        for failure in recompile["failures"][:1]
    }
    assert all(places.values()), places
    sizes = [each for each in found if each["kind"] == "recompile" and "the size of `x`" in each["cause"]]
    assert [each["place"]["line"] for each in sizes] == [places["scale", "size"]]
    assert sizes[0]["source"] == "return x * factor + 1"
