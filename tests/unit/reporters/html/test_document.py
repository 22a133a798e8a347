"""The HTML file as a whole: what a browser may run of it, and where it opens."""

import json
import re

from dynamo_core.case import Case
from dynamo_core.model import ProcessInfo, Run
from dynamo_reporters.explain.report import report as explain
from dynamo_reporters.graphs.report import report as graphs
from dynamo_reporters.html.document import page, page_of_blocks
from dynamo_reporters.page.blocks import Heading, Paragraph
from dynamo_reporters.profile.report import report as profile
from dynamo_reporters.report import Report
from support.made import of_one_process
from support.page_reader import Page

RECORDING = of_one_process()


def opened_at(report: Report[Case] | None) -> str | None:
    found = re.match(
        r'<!DOCTYPE html>\n<html lang="en"(?: data-opened="(\w+)")?>', page(Case(RECORDING), report).decode()
    )
    assert found is not None
    return found[1]


def test_a_page_opens_at_the_section_of_the_report_that_was_asked_for() -> None:
    assert (opened_at(None), opened_at(explain())) == (None, None)
    assert (opened_at(graphs()), opened_at(profile())) == ("graphs", "time")


def test_a_page_of_a_recording_has_one_script_and_blocks_alone_have_none() -> None:
    text = page(Case(RECORDING)).decode()
    assert len(re.findall(r'<script type="module">', text)) == 1
    assert text.count("<style>") == 1
    assert "<script" not in page_of_blocks([Heading("a", 1), Paragraph("b")]).decode()


def test_a_browser_runs_nothing_else_and_loads_nothing() -> None:
    (policy,) = re.findall(
        r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page(Case(RECORDING)).decode()
    )
    assert "default-src &#x27;none&#x27;" in policy or "default-src 'none'" in policy
    assert len(re.findall(r"sha256-[A-Za-z0-9+/]{43}=", policy)) == 2
    assert "unsafe" not in policy and "http" not in policy


def test_lists_and_settings_are_written_out() -> None:
    run = Run.of({"exit_code": 0, "command": ["python", "a b.py"], "settings": {"override": ["x=1", "y=2"]}})
    info = ProcessInfo(pid=1, argv=["a b.py", "-v"], environment={"OMP": "2"})
    read = Page(page(Case(of_one_process(run, info=info, record_counts={"one": 1, "two": 2}))).decode())
    text = json.dumps([*read.blocks().values(), *(tag.text for tag in read.tags)], ensure_ascii=False)
    for told in ("python 'a b.py'", "override = x=1, y=2", "'a b.py' -v", "OMP = 2", "two = 2", "one = 1"):
        assert told in text, told
    assert text.index("two = 2") < text.index("one = 1")


def test_the_title_is_the_first_heading_or_says_that_it_is_a_report() -> None:
    titled = page_of_blocks([Heading("a < b", 1), Paragraph("text")]).decode()
    assert "<title>dynamo: a &lt; b</title>" in titled and titled.count("a &lt; b") == 2
    untitled = page_of_blocks([Paragraph("text")]).decode()
    assert "<title>dynamo: Report</title>" in untitled and "<h1>Report</h1>" in untitled
    assert "text" in untitled
    assert "<h1>Report</h1>" in page_of_blocks([]).decode()
