"""The public API: the example that README and docs give, on a stored recording."""

import io
import json
import re
import shutil
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

import dynamo_core
from dynamo_core.shared.errors import DynamoError, NoRecording
from dynamo_core.shared.names import RUN_FILE
from support.answering import answer
from support.documents import document
from support.stored import plain, stored

DOCS = Path(__file__).resolve().parents[2] / "docs/findings.md"


def test_the_example_in_the_docs_prints_what_explain_shows() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    path = str(stored("toy"))
    example = re.sub(r"open\(\)", lambda _: f"open({path!r})", example)
    with redirect_stdout(io.StringIO()) as printed:
        exec(example, {})
    first, *others = printed.getvalue().splitlines()
    assert first.startswith("graph break /home/user/project/toy_example.py:8 2.24")
    told = document("explain", stored("toy"))
    ends = [f" {finding['title']}" for finding in told["findings"]]
    ends += [str(tuple(action["cures"])) for action in told["actions"]]
    assert [line for line, end in zip([first, *others], ends, strict=True) if not line.endswith(end)] == []


def test_counts_and_findings_are_those_of_the_document() -> None:
    recording = dynamo_core.open(stored("recompile_limit"))
    told = document("explain", stored("recompile_limit"))
    assert recording.summary.recompiles == told["summary"]["recompiles"]
    assert [f.identity for f in recording.findings] == [f["identity"] for f in told["findings"]]
    assert recording.findings[0].kind == "recompile limit"
    assert recording.findings is recording.findings


def test_what_is_no_recording_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DynamoError, match="no such recording"):
        dynamo_core.open(tmp_path / "nowhere")
    with pytest.raises(AttributeError, match="no attribute 'close'"):
        dynamo_core.close  # noqa: B018


def test_without_a_path_the_newest_is_opened_or_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("dynamo_core.capture.arm.recorded_to", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoRecording, match=r"no recording in \.dynamo"):
        dynamo_core.open()
    for name in ("recompiling", "toy"):
        shutil.copytree(stored(name), tmp_path / ".dynamo" / name)
    newest = max(
        ("recompiling", "toy"),
        key=lambda name: json.loads((stored(name) / RUN_FILE).read_text())["started_ns"],
    )
    assert dynamo_core.open().recording.path.name == newest
    monkeypatch.setattr("dynamo_core.capture.arm.recorded_to", str(stored("training")))
    assert dynamo_core.open().recording.path == stored("training")


def test_a_notebook_shows_a_recording_and_its_findings() -> None:
    case = dynamo_core.open(stored("toy"))
    shown = case._repr_html_()
    assert shown.startswith("<p><strong>3 graphs, 8 ops, 1 graph break, 0 recompiles; compiling took")
    assert "<pre>if b.sum() &lt; 0:</pre>" in shown and "<code>b.sum() &lt; 0</code>" in shown
    assert case.findings[0]._repr_html_() in shown
    assert repr(case).startswith(f"<Case of {stored('toy')}: 3 graphs, 8 ops")


def test_what_was_recorded_is_text_in_a_notebook() -> None:
    finding = replace(
        dynamo_core.open(stored("toy")).findings[0], title="<script>", source="</pre><b>", cause="`<i>`"
    )
    shown = finding._repr_html_()
    assert not re.search(r"<script|<b>|<i>", shown)
    assert "<code>&lt;i&gt;</code>" in shown


def test_what_a_recording_lacks_is_said_in_a_notebook() -> None:
    shown = dynamo_core.open(plain("toy"))._repr_html_()
    assert "not recorded" in shown


@pytest.mark.parametrize("name", ["toy", "recompiling", "training", "frozen", "profiled", "killed"])
def test_explain_and_profile_have_the_same_findings(name: str) -> None:
    explain = document("explain", stored(name))["findings"]
    profile = document("profile", stored(name))["findings"]
    assert explain == profile
    page = answer("explain", "--all", stored(name)).stdout
    in_full = page.partition("\nFindings\n")[2]
    places = [in_full.index(finding["title"]) for finding in explain]
    assert places == sorted(places)
