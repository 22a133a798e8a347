"""`dynamo diff` on stored recordings: nothing where nothing changed, and each seeded change alone."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.recording import read
from support.answering import answer
from support.cases import one_in
from support.schemas import validate
from support.stored import NAMES, edited, plain, stored

Edit = Callable[[str, str], str]


def difference(before: Path, after: Path) -> dict[str, Any]:
    """What differs, from the document, which is held against its schema."""
    result = answer("diff", before, after, "--format", "json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    validate(document)
    found: dict[str, Any] = document["difference"]
    return found


def in_record(name: str, *replacements: tuple[str, str]) -> Edit:
    """Replaces in the payloads of these records that hold all the old texts."""

    def edit(head: str, payload: str) -> str:
        is_meant = f'"{name}"' in head and all(old in payload for old, _ in replacements)
        for old, new in replacements if is_meant else ():
            payload = payload.replace(old, new)
        return payload

    return edit


def parts(found: dict[str, Any]) -> dict[str, int]:
    """How many differences there are of each sort, those that do not count left out."""
    names = ("came", "went", "changed", "graphs", "counts")
    return {name: len(found[name]) for name in names if found[name]}


@pytest.mark.parametrize("name", one_in(2, NAMES))
def test_a_recording_differs_in_nothing_from_itself(name: str) -> None:
    result = answer("diff", stored(name), stored(name), "--exit-code")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Nothing differs (")
    found = difference(stored(name), stored(name))
    assert (found["verdict"], parts(found), found["conditions"]) == ("nothing differs", {}, [])


def test_another_folder_other_lines_and_other_ids_are_no_difference(tmp_path: Path) -> None:
    def moved(head: str, payload: str) -> str:
        elsewhere = payload.replace("/home/user/project/", "/srv/elsewhere/")
        return re.sub(
            r'("line": |", line |elsewhere/\w+\.py:)(\d+)', lambda at: f"{at[1]}{int(at[2]) + 30}", elsewhere
        )

    for name in ("toy", "twenty_breaks"):
        found = difference(stored(name), edited(name, tmp_path, moved))
        assert (found["verdict"], parts(found)) == ("nothing differs", {})


MUL = '"target": "operator.mul", "args": "(l_x_, b)"'
COS = (
    '{"op": "call_function", "name": "cos", "target": "torch.cos", "args": "(mul_1,)", "kwargs": "{}", '
    '"inputs": ["mul_1"], "shape": [10], "dtype": "float32", "device": "cpu", "stride": [1], '
    '"file": "/home/user/project/toy_example.py", "line": 10},\n{"op": "output"'
)
SECOND = ('"key": "fc9729c04a0215c00e9cd76f"', '"key": "another"')
GRAPH = "dynamo_fx_graph"
SEEDED: list[tuple[str, str, Edit, dict[str, int], str]] = [
    (
        "an op",
        "toy",
        in_record(GRAPH, SECOND, ('"ops": 2', '"ops": 3'), ('{"op": "output"', COS)),
        {"graphs": 1, "counts": 1},
        "graph 2 of toy_example (2 → 3 ops) changed - added: torch.cos at "
        "/home/user/project/toy_example.py:10 `return x * b`",
    ),
    (
        "a dtype",
        "toy",
        in_record(GRAPH, SECOND, ('"dtype": "float32"', '"dtype": "float64"')),
        {"graphs": 1},
        "graph 2 of toy_example (2 ops) changed - dtype float32 → float64, first of l_b_ at",
    ),
    (
        "a size",
        "toy",
        in_record(GRAPH, SECOND, ('"shape": [10]', '"shape": [11]')),
        {"graphs": 1},
        "graph 2 of toy_example (2 ops) changed - shape [10] → [11], first of l_b_ at",
    ),
    (
        "a constant",
        "toy",
        in_record(GRAPH, SECOND, ("(l_b_, -1)", "(l_b_, -2)")),
        {"graphs": 1},
        "operator.mul at /home/user/project/toy_example.py:9 `b = b * -1` of (l_b_, -1) → (l_b_, -2)",
    ),
    (
        "a backend",
        "toy",
        in_record(GRAPH, ('"graph": 3', '"graph": 3'), ('"backend": "inductor"', '"backend": "eager"')),
        {"graphs": 1},
        "graph 3 of toy_example at /home/user/project/toy_example.py:8 (1 op) changed - "
        "backend inductor → eager",
    ),
    (
        "a lost fusion",
        "toy",
        in_record(
            "inductor_output_code",
            (
                "cpp_fused_abs_add_div_lt_sum_0 =",
                "cpp_fused_abs_0 = async_compile.cpp_pybinding()\ncpp_fused_add_1 =",
            ),
            ("cpp_fused_abs_add_div_lt_sum_0(", "cpp_fused_abs_0() ; cpp_fused_add_1("),
        ),
        {"graphs": 1},
        "graph 1 of toy_example at /home/user/project/toy_example.py:6 (5 ops) changed - "
        "kernels that Inductor generated: 1 → 2; cpp_fused_abs_add_div_lt_sum → cpp_fused_abs, cpp_fused_add",
    ),
    (
        "a break fewer",
        "toy",
        lambda head, payload: "" if '"dynamo_graph_break"' in head else payload,
        {"went": 1, "counts": 2},
        "graph break at /home/user/project/toy_example.py:8 Data-dependent branching",
    ),
    (
        "a frame that runs eager",
        "toy",
        in_record("dynamo_frame", ('"name": "toy_example"', '"name": "toy_example"'), ("compiled", "failed")),
        {"came": 1, "went": 1, "counts": 1},
        "toy_example runs eager: graph break at /home/user/project/toy_example.py:8",
    ),
]


SEEDED_BY_NAME = {seed[0]: seed[2] for seed in SEEDED}


@pytest.mark.parametrize(
    ("name", "edit", "expected", "line"),
    [seed[1:] for seed in SEEDED],
    ids=[seed[0] for seed in SEEDED],
)
def test_a_seeded_change_is_found_and_nothing_else(
    name: str, edit: Edit, expected: dict[str, int], line: str, tmp_path: Path
) -> None:
    after = edited(name, tmp_path, edit)
    found = difference(stored(name), after)
    assert parts(found) == expected
    assert found["not_compared"] == []
    page = " ".join(answer("diff", stored(name), after).stdout.split())
    assert line in page
    assert answer("diff", stored(name), after, "--exit-code").exit_code == 1


def test_details_too_large_to_be_kept_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after = edited("toy", tmp_path, SEEDED_BY_NAME["an op"])
    found = difference(stored("toy"), after)
    assert found["graphs"][0]["ops"]
    monkeypatch.setattr(read, "_MOST_KEPT", 0)
    assert difference(stored("toy"), after) == found


def metrics(record_id: str, field: str, value: str) -> Callable[[str], str]:
    """Gives a field of a compile's metrics, which stand in the first line of a record, another value."""

    def edit(text: str) -> str:
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if f'"compilation_metrics": {{"compile_id": "{record_id}"' in line:
                lines[number] = re.sub(rf'("{field}": )("[^"]*"|[^,}}]+)', rf"\g<1>{value}", line)
        return "\n".join(lines)

    return edit


def with_metrics(name: str, folder: Path, edit: Callable[[str], str]) -> Path:
    copy = folder / name
    shutil.copytree(stored(name), copy)
    (stream,) = copy.glob("*.log")
    stream.write_text(edit(stream.read_text(encoding="utf-8")), encoding="utf-8")
    return copy


def test_guards_more_are_told_of_their_function(tmp_path: Path) -> None:
    after = with_metrics("toy", tmp_path, metrics("0/0", "guard_count", "14"))
    found = difference(stored("toy"), after)
    assert parts(found) == {"counts": 2}
    assert [(c["name"], c["function"], c["before"], c["after"]) for c in found["counts"]] == [
        ("guards", None, 29, 32),
        ("guards", "toy_example", 29, 32),
    ]
    assert found["sentence"] == "Different: the number of guards"


def test_a_guard_more_is_named_with_its_line(tmp_path: Path) -> None:
    guard = (
        '{"guards": [{"type": "CONSTANT_MATCH", "source": "G[\'FAST\']", "scope": "global", '
        '"code": ["G[\'FAST\'] == True"], "file": "/home/user/project/toy_example.py", "line": 8}, '
    )

    def in_first_compile(head: str, payload: str) -> str:
        is_meant = '"dynamo_guards_structure"' in head and '"frame_id": 0' in head
        return payload.replace('{"guards": [', guard, 1) if is_meant else payload

    after = edited("toy", tmp_path, in_first_compile)
    (stream,) = after.glob("*.log")
    counted = metrics("0/0", "guard_count", "12")
    stream.write_text(counted(stream.read_text(encoding="utf-8")), encoding="utf-8")
    found = difference(stored("toy"), after)
    assert [
        (each["function"], each["source"], each["demands"], each["count"]) for each in found["guards"]
    ] == [("toy_example", "G['FAST']", "is True", 1)]
    page = answer("diff", stored("toy"), after).stdout
    assert (
        "added: CONSTANT_MATCH G['FAST']: is True at /home/user/project/toy_example.py:8 `if b.sum() < 0:`"
        in page
    )


def test_a_recompile_is_told_with_the_graph_that_it_made(tmp_path: Path) -> None:
    before = with_metrics("recompiling", tmp_path, metrics("0/3", "recompile_reason", "null"))
    found = difference(before, stored("recompiling"))
    (came,) = found["came"]
    assert (came["kind"], came["function"], parts(found)) == ("recompile", "scale", {"came": 1, "counts": 1})
    assert found["sentence"] == "Worse: 1 recompile more"


def test_another_ending_and_other_settings(tmp_path: Path) -> None:
    copy = edited("toy", tmp_path, lambda head, payload: payload)
    run = copy / "dynamo_run.json"
    told = json.loads(run.read_text())
    run.write_text(json.dumps({**told, "exit_code": 1, "settings": {**told["settings"], "dynamic": True}}))
    found = difference(stored("toy"), copy)
    assert found["sentence"] == "Worse: it ended with exit code 1, not 0"
    assert found["conditions"] == [{"name": "dynamo run: dynamic", "before": "none", "after": "True"}]


def test_another_torch_is_told_and_is_no_difference(tmp_path: Path) -> None:
    after = edited("toy", tmp_path, in_record("dynamo_process_start", ("2.13.0+cpu", "2.14.0")))
    found = difference(stored("toy"), after)
    assert found["verdict"] == "nothing differs"
    assert found["conditions"] == [{"name": "torch", "before": "2.13.0+cpu", "after": "2.14.0"}]


def test_a_plain_trace_beside_ours_says_what_cannot_be_compared() -> None:
    found = difference(plain("toy"), stored("toy"))
    assert found["graphs"] == []
    assert any("what the graphs compute" in text for text in found["not_compared"])
    assert any(text.startswith("not recorded before: frames") for text in found["not_compared"])
    assert difference(plain("toy"), plain("toy"))["verdict"] == "nothing differs"


def test_unlike_programs_are_compared_without_a_fault() -> None:
    for before in ("toy", "recompiling", "killed"):
        for after in ("training", "twenty_breaks", "forks"):
            assert parts(difference(stored(before), stored(after)))


def test_every_form_and_a_file(tmp_path: Path) -> None:
    two = stored("toy"), stored("twenty_breaks")
    text, markdown = (answer("diff", *two, "--format", form).stdout for form in ("text", "markdown"))
    assert markdown.startswith("# Worse: 19 graph breaks and 18 graphs more\n")
    assert text != markdown
    result = answer("diff", *two, "-o", tmp_path / "comment.md")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "comment.md").read_text() == markdown


@pytest.mark.parametrize(
    ("arguments", "exit_code", "says"),
    [
        (["nowhere", "."], 123, "no such recording: nowhere"),
        ([".", "."], 121, "is no recording"),
        (["notes.txt", "notes.txt"], 121, "notes.txt"),
        (["nowhere"], 2, "AFTER"),
        ([], 2, "BEFORE"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], exit_code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("loss 2.5\n")
    result = answer("diff", *arguments, cwd=tmp_path)
    assert (result.exit_code, result.stdout) == (exit_code, "")
    assert says in result.stderr and result.stderr.count("\n") == 1


def locked(file: Path, name: str, program: str = "toy_example.py") -> Path:
    """A lock file with a stored recording's facts, under the name of a program."""
    assert answer("check", "--update", "--lock", file, "--name", program, stored(name)).exit_code == 0
    return file


def test_a_recording_beside_a_lock_file(tmp_path: Path) -> None:
    lock = locked(tmp_path / "dynamo.lock", "toy")
    same = answer("diff", lock, stored("toy"), "--exit-code")
    assert (same.exit_code, same.stdout.splitlines()[0]) == (0, "Nothing differs (1 program compared)")
    fewer = edited("toy", tmp_path, SEEDED_BY_NAME["a break fewer"])
    page = answer("diff", fewer, lock).stdout
    assert page.startswith("Worse: toy_example.py\n")
    assert "- worse: new: graph break in toy_example.py toy_example: if b.sum() < 0:" in page
    assert "- worse: graph-breaks: 0 → 1" in page
    assert answer("diff", lock, fewer, "--exit-code").exit_code == 1
    assert answer("diff", lock, fewer).stdout.startswith("Better: toy_example.py\n")


def test_a_lock_file_without_a_count_is_no_equal(tmp_path: Path) -> None:
    lock = tmp_path / "dynamo.lock"
    lock.write_text("version = 1\n[a]\n")
    result = answer("diff", lock, stored("training"), "--exit-code")
    assert (result.exit_code, result.stdout.splitlines()[0][:26]) == (1, "Nothing can be compared: n")


def test_two_lock_files_and_their_document(tmp_path: Path) -> None:
    before = locked(tmp_path / "before.lock", "toy")
    after = locked(tmp_path / "after.lock", "twenty_breaks")
    locked(after, "training", "train.py")
    document = json.loads(answer("diff", before, after, "--format", "json").stdout)
    validate(document)
    assert (document["verdict"], document["only_after"], document["only_before"]) == (
        "different",
        ["train.py"],
        [],
    )
    (program,) = document["programs"]
    assert {"direction": "worse", "text": "graph-breaks: 1 → 20", "identity": None} in program["differences"]
    page = answer("diff", before, after, "--format", "markdown").stdout
    assert page.startswith("# Different: toy\\_example.py, 1 program came\n")


@pytest.mark.parametrize(
    ("text", "exit_code", "says"),
    [
        ("version = 1\n[a]\ngraphs = 1\n[b]\ngraphs = 1\n", 109, "Say it with --name: a, b"),
        ("version = 1\n<<<<<<< ours\n", 109, "a merge is not resolved"),
        ("version = 9\n", 109, "has version 9"),
        ("not toml", 109, "is no TOML"),
    ],
)
def test_a_lock_file_that_cannot_be_compared_is_one_line(
    text: str, exit_code: int, says: str, tmp_path: Path
) -> None:
    lock = tmp_path / "dynamo.lock"
    lock.write_text(text)
    result = answer("diff", lock, stored("toy"))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (exit_code, "", 1)
    assert says in result.stderr
