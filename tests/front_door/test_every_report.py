"""Every report, in every form, on every stored recording of ours and on a plain torch trace."""

import itertools
import json
import shutil
from pathlib import Path

import pytest

from dynamo_reporters.budget import bounded_json, bounded_text
from dynamo_reporters.registry import OF_RECORDINGS
from support.answering import answer
from support.cases import one_in
from support.documents import document
from support.schemas import validate
from support.stored import NAMES, plain, stored

OPTIONS = {
    "explain": (("--all",),),
    "graphs": (
        ("--all",),
        ("--style", "code"),
        ("--style", "dot"),
        ("--style", "svg"),
        ("--training",),
        ("--stage", "all"),
    ),
    "bytecode": (("--diff",), ("--source",)),
    "guards": (("--all",),),
    "recompiles": (("--all",),),
    "profile": (("--all",),),
}
RECORDINGS = [*NAMES, "plain recompiling"]


def path_of(recording: str) -> Path:
    return plain(recording.removeprefix("plain ")) if recording.startswith("plain ") else stored(recording)


@pytest.mark.parametrize(("recording", "report"), one_in(8, [*itertools.product(RECORDINGS, OF_RECORDINGS)]))
def test_each_report_in_each_form(report: str, recording: str) -> None:
    path = path_of(recording)
    told = document(report, path)
    assert told["recording"] == str(path)
    assert told["is_partial"] == (recording in ("killed", "ranks_in_another_order"))
    pages = {}
    for form in ("text", "markdown"):
        result = answer(report, path, "--format", form)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.strip()
        assert "\x1b" not in result.stdout
        pages[form] = result.stdout
    assert pages["markdown"] != pages["text"]
    for tokens in (500, 1000, 4000):
        assert all(len(bounded_text(page, tokens)) <= 4 * tokens for page in pages.values())
        bounded = bounded_json(told, tokens)
        assert len(bounded) <= 4 * tokens
        validate(json.loads(bounded))


@pytest.mark.parametrize("recording", ["toy", "training"])
@pytest.mark.parametrize("report", OPTIONS)
def test_each_option_of_a_report(report: str, recording: str) -> None:
    path = path_of(recording)
    usual = answer(report, path).stdout
    for options in OPTIONS[report]:
        result = answer(report, path, *options)
        assert (result.exit_code, result.stderr) == (0, ""), options
        assert result.stdout.strip()
        document(report, path, *options)
        if options == ("--all",):
            assert len(result.stdout) >= len(usual)
        else:
            assert result.stdout != usual, options


def test_a_report_goes_to_a_file_in_the_form_that_its_name_says(tmp_path: Path) -> None:
    for name in ("report.md", "report.json", "report.txt"):
        result = answer("breaks", stored("toy"), "-o", tmp_path / name)
        assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "report.md").read_text().startswith("# 1 graph break\n")
    assert json.loads((tmp_path / "report.json").read_text())["count"] == 1
    assert (tmp_path / "report.txt").read_text() == answer("breaks", stored("toy")).stdout


def test_the_environment_may_give_the_options(tmp_path: Path) -> None:
    in_json = answer("breaks", stored("toy"), env={"DYNAMO_FORMAT": "json"})
    assert json.loads(in_json.stdout) == document("breaks", stored("toy"))
    to_file = answer("breaks", stored("toy"), cwd=tmp_path, env={"DYNAMO_REPORT": "report.md"})
    assert (to_file.exit_code, to_file.stdout) == (0, "")
    assert (tmp_path / "report.md").read_text().startswith("# 1 graph break\n")


def test_colour_only_where_it_is_asked_for() -> None:
    toy = stored("toy")
    assert "\x1b" not in answer("explain", toy, env={"NO_COLOR": ""}).stdout
    coloured = answer("explain", toy, env={"NO_COLOR": "", "FORCE_COLOR": "1"}).stdout
    assert "\x1b[" in coloured
    assert max(len(line) for line in coloured.splitlines()) < 1000


def test_selectors() -> None:
    path = stored("recompiling")
    scale = document("explain", path, "--frame", "scale")
    assert {graph["frame"] for graph in scale["processes"][0]["graphs"]} == {"scale"}
    first = document("ops", "--compile-id", "0/0", path)
    assert [graph["compile_id"] for graph in first["graphs"]] == ["0/0"]
    whole_frame = document("ops", "--compile-id", "0", path)
    assert [graph["compile_id"] for graph in whole_frame["graphs"]] == ["0/0", "0/1", "0/2", "0/3"]
    second = document("graphs", path, "--graph", "2")
    assert [graph["number"] for graph in second["graphs"]] == [2]
    elsewhere = answer("graphs", path, "--file", "*/other.py")
    assert elsewhere.exit_code == 119


def test_ranks_are_told_apart(tmp_path: Path) -> None:
    for rank, program in enumerate(("twenty_breaks", "recompiling")):
        (stream,) = plain(program).iterdir()
        shutil.copy(stream, tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log")
    told = document("explain", tmp_path)
    assert [process["rank"] for process in told["processes"]] == [0, 1]
    assert "The ranks differ in: " in answer("explain", "--all", tmp_path).stdout
    one = document("explain", tmp_path, "--rank", "1")
    assert one["summary"] == document("explain", plain("recompiling"))["summary"]


def test_the_newest_recording_is_meant_where_none_is_named(tmp_path: Path) -> None:
    for name in ("recompiling", "toy"):
        shutil.copytree(stored(name), tmp_path / ".dynamo" / name)
    assert document("explain", cwd=tmp_path)["recording"] == ".dynamo/recompiling"  # it began 48 s later
