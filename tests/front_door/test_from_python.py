"""The public API: the example that README and docs give, on a stored recording."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import dynamo_core
from answering import answer
from documents import document
from dynamo_core.shared.errors import DynamoError
from stored import stored

DOCS = Path(__file__).resolve().parents[2] / "docs/findings.md"


def test_the_example_in_the_docs_prints_what_explain_shows() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    path = str(stored("toy"))
    example = re.sub(r'open\(".*?"\)', lambda _: f"open({path!r})", example)
    with redirect_stdout(io.StringIO()) as printed:
        exec(example, {})
    first, *others = printed.getvalue().splitlines()
    assert first.startswith("graph break /home/user/project/toy_example.py:8 0.00")
    titles = [finding["title"] for finding in document("explain", stored("toy"))["findings"]]
    assert [first, *others] == [
        line for line, title in zip([first, *others], titles, strict=True) if line.endswith(f" {title}")
    ]


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


@pytest.mark.parametrize("name", ["toy", "recompiling", "training", "frozen", "profiled", "killed"])
def test_explain_and_profile_have_the_same_findings(name: str) -> None:
    explain = document("explain", stored(name))["findings"]
    profile = document("profile", stored(name))["findings"]
    assert explain == profile
    page = answer("explain", stored(name)).stdout
    places = [page.index(finding["title"]) for finding in explain[:8] if finding["title"] in page]
    assert places == sorted(places)
    assert len(places) == len(explain[:8])
