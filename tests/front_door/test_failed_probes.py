"""What a probe that failed would have recorded is "not recorded" on every page: never 0, never "none"."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from dynamo_core.shared import names
from support.answering import answer
from support.cases import one_in
from support.documents import document
from support.stored import FAILURE, with_failed_probe

PAGES: tuple[tuple[str, ...], ...] = (
    ("explain",),
    ("graphs",),
    ("graphs", "--style", "code"),
    ("graphs", "--style", "svg"),
    ("graphs", "--training"),
    ("ops",),
    ("ops", "--aot"),
    ("guards",),
    ("breaks",),
    ("recompiles",),
    ("bytecode",),
    ("bytecode", "--source"),
    ("profile",),
    ("cache",),
    ("ranks",),
)


class Case(NamedTuple):
    """A probe, the records that are its, what no page may say without it, and where its loss must be said."""

    probe: str
    records: tuple[str, ...]
    all_clear: str
    said_on: tuple[str, ...]
    recording: str = "planted"


CASES = [
    Case(
        "graphs",
        (names.FX_GRAPH, names.GRAPH_COMPILED),
        r"\b0 (?:graph|op)s?\b|[Nn]o graph (?:was|has|is|after|before)|→ no graph|none was called|\b0 calls"
        r"|inside compiled graphs +\d|graphs of its parent|is not captured",
        ("explain", "graphs", "ops", "bytecode", "profile"),
    ),
    Case(
        "graphs",
        (names.FX_GRAPH, names.GRAPH_COMPILED),
        r"No graph has a backward|\b0 graphs|[Nn]o graph (?:was|is)|graphs of its parent|is not captured"
        r"|Run time of the graphs: \d",
        ("explain", "graphs", "ops", "bytecode", "profile"),
        "training",
    ),
    Case(
        "graph calls",
        (names.GRAPH_COMPILED,),
        r"\b0 graphs|declined|none was called|never called|\b0 calls|inside compiled graphs +\d",
        ("explain", "ops", "profile"),
    ),
    Case(
        "guards",
        (names.GUARDS, "dynamo_cpp_guards_str"),
        r"\b0 cache entries|nothing was compiled",
        ("guards",),
    ),
    Case(
        "graph breaks",
        (names.GRAPH_BREAK,),
        r"\b0 graph breaks|[Nn]o graph breaks?\b(?! \()|`dynamo run` records them",
        ("explain", "breaks", "bytecode"),
    ),
    Case("frames", (names.FRAME,), r"\b0 frames|fell back to eager +0|\b0 \(", ("explain", "breaks")),
    Case("bytecode", (names.BYTECODE,), r"\b0 compiled frames|no frame was compiled", ("bytecode",)),
    Case("resume functions", (names.RESUME_FUNCTION,), "no graph after it", ("bytecode",)),
    Case(
        "forward and backward graphs",
        (names.AOT_PAIR,),
        "No graph has a backward",
        ("explain",),
        "training",
    ),
    Case(
        "backward calls",
        (names.BACKWARD_COMPILED,),
        r"graphs of its parent|the compiled graphs ran|inside compiled graphs +\d",
        ("explain", "profile"),
        "training",
    ),
]


@pytest.mark.parametrize("case", one_in(4, CASES), ids=lambda case: f"{case.probe} of {case.recording}")
def test_no_page_takes_it_for_none(case: Case, tmp_path: Path) -> None:
    path = with_failed_probe(case.recording, case.probe, case.records, tmp_path)
    told = {words: answer(words[0], path, *words[1:]) for words in PAGES}
    for words, result in told.items():
        assert (result.exit_code, result.stderr) == (0, ""), words
        assert re.findall(f".*(?:{case.all_clear}).*", result.stdout) == [], words
    for command in case.said_on:
        pages = [result.stdout for words, result in told.items() if words[0] == command]
        assert any("not recorded" in page or FAILURE in page for page in pages), command


@pytest.mark.parametrize("case", one_in(2, CASES), ids=lambda case: f"{case.probe} of {case.recording}")
def test_every_document_names_it(case: Case, tmp_path: Path) -> None:
    path = with_failed_probe(case.recording, case.probe, case.records, tmp_path)
    for report in dict.fromkeys(words[0] for words in PAGES if words[0] != "cache"):
        assert document(report, path)["unrecorded"][case.probe] == FAILURE, report


def test_counts_are_null_without_their_probe(tmp_path: Path) -> None:
    lost = (names.FX_GRAPH, names.GRAPH_COMPILED)
    summary = document("explain", with_failed_probe("planted", "graphs", lost, tmp_path))["summary"]
    counts = ("graphs", "ops", "graph_calls", "graph_host_seconds")
    assert [summary[each] for each in counts] == [None] * 4
    assert (summary["graph_breaks"], summary["recompiles"]) == (7, 4)


def test_graphs_whose_calls_were_not_counted_are_counted_themselves(tmp_path: Path) -> None:
    """torch's metrics say whether the backend took a graph where our record of it is missing."""
    path = with_failed_probe("planted", "graph calls", (names.GRAPH_COMPILED,), tmp_path)
    summary = document("explain", path)["summary"]
    assert (summary["graphs"], summary["ops"], summary["graph_calls"]) == (8, 22, None)


def test_graphs_that_one_side_did_not_record_did_not_go(tmp_path: Path) -> None:
    lost = (names.FX_GRAPH, names.GRAPH_COMPILED)
    after = with_failed_probe("planted", "graphs", lost, tmp_path / "after")
    before = with_failed_probe("planted", "tracing time", (), tmp_path / "before")
    page = answer("diff", before, after).stdout
    assert "graph fewer" not in page and "graphs changed" not in page
    assert "not recorded after: graphs, ops" in page


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.probe in ("graph breaks", "frames")], ids=lambda case: case.probe
)
def test_findings_that_could_not_be_seen_are_not_gone(case: Case, tmp_path: Path) -> None:
    whole = with_failed_probe("planted", "tracing time", (), tmp_path / "whole")
    blind = with_failed_probe("planted", case.probe, case.records, tmp_path / "blind")
    for before, after in ((whole, blind), (blind, whole)):
        assert answer("diff", before, after).stdout.startswith("Nothing differs")
    lock = tmp_path / "dynamo.lock"
    assert answer("check", whole, "--update", "--lock", lock).exit_code == 0
    checked = answer("check", blind, "--lock", lock).stdout
    assert "gone:" not in checked and "not recorded" in checked
