"""The page, without a browser: what is in the file, and that nothing of a recording can act in it."""

import base64
import functools
import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from dynamo_core.case import Case
from dynamo_core.model import CompileId, GraphBreak, Place, StackFrame
from dynamo_core.recording.read import read
from dynamo_reporters.html import CONTENTS, page
from dynamo_reporters.html.document import asset
from support.answering import answer
from support.cases import one_in
from support.documents import document
from support.made import compiled, of_one_process
from support.page_reader import Page, elements_of, links_of, text_of
from support.stored import NAMES, edited, plain, stored

RECORDINGS = [*NAMES, "plain recompiling"]
REPORTS = {
    "explain": "",
    "breaks": "breaks",
    "recompiles": "recompiles",
    "graphs": "graphs",
    "guards": "guards",
    "profile": "time",
    "bytecode": "bytecode",
    "ops": "ops",
}
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|"
    r"createContextualFragment|setHTML|\bfetch\b|XMLHttpRequest|WebSocket|importScripts|\bimport\b[^:]*\("
)


def path_of(recording: str) -> Path:
    return plain(recording.removeprefix("plain ")) if recording.startswith("plain ") else stored(recording)


@functools.cache
def page_of(path: Path) -> Page:
    return Page(page(Case(read(path, CONTENTS))).decode("utf-8"))


def allowed(what: str) -> set[str]:
    """The names that the page's own script builds: of what is not there, it would build nothing."""
    found = re.search(rf"const {what} = new Set\((.*?)\);", asset("page.mjs"), re.DOTALL)
    assert found is not None
    return set(re.findall(r"[A-Za-z][\w-]*", re.sub(r"\.split\(.*", "", found[1], flags=re.DOTALL)))


@pytest.mark.parametrize("recording", ["toy", "profiled", "forks", "plain recompiling"])
def test_the_same_recording_gives_the_same_bytes(recording: str, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        result = answer("report", path_of(recording), "-o", tmp_path / name)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.startswith(f"dynamo: wrote {tmp_path / name}, ")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize("recording", one_in(4, RECORDINGS))
def test_a_page_holds_only_what_its_script_builds_and_its_links_lead_somewhere(recording: str) -> None:
    found = page_of(path_of(recording))
    blocks = found.blocks()
    tags, svg, attributes = allowed("TAGS"), allowed("SVG_TAGS"), allowed("ATTRIBUTES")
    for route, tree in blocks.items():
        if route == "index":
            continue
        for tag, own in elements_of(tree):
            assert tag in tags | svg, (route, tag)
            unknown = (
                {name for name in own if not name.startswith(("data-", "aria-"))} - attributes - {"href"}
            )
            assert not unknown, (route, tag)
    findings = {tag.attributes["id"].removeprefix("/") for tag in found.all("article")}
    for route in links_of(found):
        is_section = route in blocks or route in findings or route == ""
        line = route.rpartition("/")
        is_line = line[0] in blocks and any(
            own.get("data-at") == line[2] for _, own in elements_of(blocks[line[0]])
        )
        assert is_section or is_line, route
    for _, _, route in blocks["index"]:
        assert route in blocks or route in findings or route.rpartition("/")[0] in blocks, route


def test_the_policy_lets_only_the_page_s_own_script_and_style_run() -> None:
    found = page_of(stored("toy"))
    (policy,) = found.all("meta", http_equiv="Content-Security-Policy")
    (script,), (style,) = found.all("script", type="module"), found.all("style")
    for tag, name in ((script, "script-src"), (style, "style-src")):
        digest = base64.b64encode(hashlib.sha256(tag.text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy.attributes["content"]
    assert policy.attributes["content"].startswith("default-src 'none'; ")
    others = [tag for tag in found.all("script") if tag is not script]
    assert {tag.attributes["type"] for tag in others} == {"application/gzip"}
    names = {name for tag in found.tags for name in tag.attributes}
    assert not [name for name in names if name == "style" or name.startswith("on")]


def test_script_and_style_are_small_and_never_make_markup_of_text() -> None:
    assert len(asset("page.mjs").encode()) <= 40_000
    assert len(asset("page.css").encode()) <= 15_000
    assert FORBIDDEN.findall(asset("page.mjs")) == []


@pytest.mark.parametrize("recording", one_in(4, RECORDINGS))
def test_the_first_screen_has_the_numbers_of_explain(recording: str) -> None:
    path = path_of(recording)
    told = document("explain", path)
    found = page_of(path)
    (title,) = found.all("h1")
    assert title.text == told["verdict"]
    shown = {
        tag.attributes["data-name"]: tag.attributes["data-value"]
        for tag in found.all("span")
        if "data-name" in tag.attributes
    }
    assert {"graphs", "ops", "graph_breaks", "recompiles", "compile_time_s"} <= shown.keys()
    for name, value in shown.items():
        assert value == ("null" if told["summary"][name] is None else repr(told["summary"][name]))
    cards = [tag.attributes["id"] for tag in found.all("article", class_="card")]
    assert cards == [f"/action/{each['number']}" for each in told["actions"]]
    inside = [tag.attributes["id"] for tag in found.all("article", class_="finding")]
    in_order = [*(identity for each in told["actions"] for identity in each["cures"]), *told["context"]]
    assert inside == [f"/finding/{identity}" for identity in in_order]
    assert sorted(in_order) == sorted(each["identity"] for each in told["findings"]), "each of them once"


def rows_of(tree: Any) -> dict[str, str]:
    """The text of each line of a source view, by its number."""
    found = {}
    if isinstance(tree, list):
        if isinstance(tree[1], dict) and "data-at" in tree[1]:
            found[tree[1]["data-at"]] = " ".join(map(text_of, tree[2:]))
        for child in tree[2:]:
            found |= rows_of(child)
    return found


def details_of(tree: Any, line: int) -> str:
    """What a source view tells of a line when its number is chosen."""
    rows = list(_of_tag(tree, "tr"))
    (at,) = (number for number, row in enumerate(rows) if (row[1] or {}).get("data-at") == str(line))
    return text_of(rows[at + 1])


def _of_tag(tree: Any, tag: str) -> Iterator[Any]:
    if isinstance(tree, list):
        if tree[0] == tag:
            yield tree
        for child in tree[2:]:
            yield from _of_tag(child, tag)


def test_each_line_of_source_says_what_became_of_it() -> None:
    rows = rows_of(page_of(stored("toy")).blocks()["source/toy_example.py"])
    assert rows["7"].split() == ["7", "1", "x", "=", "a", "/", "(torch.abs(a)", "+", "1)"]
    assert rows["8"].startswith("8 1eager     if b.sum() < 0: ✗ break: Data-dependent branching; ")
    assert "ran 100 times, 1.9 ms in all" in rows["8"]
    assert rows["9"].startswith("9 2 ")
    assert rows["9"].endswith("↪ goes on here as [1/0]")
    assert "1" not in rows["10"].split()[1:2]
    assert rows["22"].endswith("↓ a break below, at toy_example.py:8")
    rows = rows_of(page_of(stored("recompiling")).blocks()["source/recompiling.py"])
    assert "↻ 8 recompiles, 8.07 s: self.step was 0 when it was compiled, and then 1, 2, " in rows["17"]
    assert "✗ runs eager" in rows["16"]


def test_the_timeline_goes_to_the_end_of_the_program_with_a_mark_for_each_break() -> None:
    blocks = page_of(stored("twenty_breaks")).blocks()
    said = text_of(blocks["time"])
    assert said.count("graph break: Failed to trace builtin operator, ") == 20
    assert "interpreter shutdown: " in said
    ends = document("profile", stored("twenty_breaks"))["processes"][0]["wall_time"]
    (drawing,) = [own for _, own in elements_of(blocks["time"]) if own.get("class") == "timeline"]
    assert float(drawing["data-seconds"]) == pytest.approx(ends["seconds"], abs=0.01)


def test_ranks_that_wait_for_each_other_are_on_the_first_screen_with_both_lines() -> None:
    found = page_of(stored("ranks_in_another_order"))
    (short,) = found.all("section", aria_label="Ranks")
    told = document("ranks", stored("ranks_in_another_order"))
    whole = text_of(found.blocks()["ranks"])
    for said in (told["waiting"][0][1:], told["differences"][0]["title"][1:]):
        assert said in short.text and said in whole
    assert "1 more difference" in short.text
    assert told["differences"][1]["title"][1:] in whole
    for side in told["differences"][0]["sides"]:
        line = f"#/source/ranks.py/{side['place']['line']}"
        assert any(own.get("href") == line for _, own in elements_of(found.blocks()["ranks"]))
    assert "0 and 1" in short.text and "killed" in short.text


def test_ranks_that_only_differ_have_a_section_and_one_process_has_none() -> None:
    found = page_of(stored("ranks_that_recompile"))
    assert found.all("section", aria_label="Ranks") == []
    assert "The 1st recompile is not the same on all ranks" in text_of(found.blocks()["ranks"])
    assert "ranks" not in page_of(stored("toy")).blocks()
    assert "ranks" not in page_of(stored("forks")).blocks()


def test_ranks_are_compared_where_their_report_is_asked_for(tmp_path: Path) -> None:
    answer("ranks", stored("ranks_in_another_order"), "-o", tmp_path / "ranks.html")
    found = Page((tmp_path / "ranks.html").read_text(encoding="utf-8"))
    assert found.all("html")[0].attributes["data-opened"] == "ranks"
    assert "0 and 1" in text_of(found.blocks()["ranks"])


def test_what_is_seen_in_several_processes_links_to_the_compile_of_none() -> None:
    line = StackFrame(Place("/home/me/train.py", 7), "forward", "print(x)")
    met = GraphBreak("print", (line,), CompileId(0, 0))
    one = of_one_process(breaks=[met], compiles=[compiled(0)])
    both = replace(one, processes=[replace(one.processes[0], stream=Path(f"{n}.log")) for n in range(2)])
    for recording, has_link in ((one, True), (both, False)):
        source = page(Case(recording)).decode("utf-8")
        (seen,) = re.findall(r"seen in .*?</p>", source)
        assert "[0/0]" in seen and ("<a " in seen) is has_link


def test_in_the_source_of_ranks_each_link_leads_to_its_own_rank() -> None:
    blocks = page_of(stored("ranks_that_recompile")).blocks()
    view = blocks["source/ranks.py"]
    links = {text_of(tree): tree[1]["href"] for tree in _of_tag(view, "a")}
    assert links["[0/1] of rank 1"] == "#/compile/rank-1/0-1"
    assert links["graph 1 of rank 0"] == "#/graph/rank-0/1"
    assert links["graph 1 of rank 1"] == "#/graph/rank-1/1"
    assert "graph 1 of rank" not in text_of(page_of(stored("toy")).blocks()["source/toy_example.py"])
    found = [route for text, kind, route in blocks["index"] if kind == "compile" and "rank 1" in text]
    assert found and all(route.startswith("compile/rank-1/") for route in found)


def test_what_a_library_makes_of_a_call_is_at_the_program_s_line() -> None:
    view = page_of(stored("ranks_in_another_order")).blocks()["source/ranks.py"]
    assert "torch.ops._c10d_functional.all_reduce" in details_of(view, 24)
    assert "torch.ops._c10d_functional.all_gather_into_tensor" in details_of(view, 27)
    assert "all_gather" not in details_of(view, 28)
    assert "_functional_collectives.py:" in details_of(view, 24)


def test_a_model_of_a_package_is_at_the_line_that_calls_it() -> None:
    blocks = page_of(stored("transformer")).blocks()
    said = details_of(blocks["source/tiny.py"], 11)
    assert "torch.nn.functional.embedding" in said and "modeling_gpt2.py:567" in said
    graph = document("graphs", stored("transformer"))["graphs"][0]
    places = [node["place"] for node in graph["nodes"] if node["op"].startswith("call_")]
    made = [place for place in places if "/site-packages/" in place["file"]]
    assert f"… and {len(made) - 40} more" in said


def test_a_selected_part_is_a_page_of_that_part(tmp_path: Path) -> None:
    answer("explain", stored("recompiling"), "--frame", "forward", "-o", tmp_path / "part.html")
    blocks = Page((tmp_path / "part.html").read_text(encoding="utf-8")).blocks()
    assert "compile/2-0" in blocks
    assert "compile/0-0" not in blocks


def test_no_findings_is_no_all_clear_where_something_was_not_recorded() -> None:
    told = document("explain", stored("killed"))
    assert told["actions"] == []
    source = page_of(stored("killed")).source
    assert "The recording is partial: what it lacks may hold some." in source


def test_open_shows_it_in_the_browser(tmp_path: Path) -> None:
    with mock.patch("webbrowser.open") as opened:
        result = answer("report", stored("toy"), "--open", cwd=tmp_path)
    assert result.stderr.startswith("dynamo: wrote dynamo-report.html, ")
    opened.assert_called_once_with((tmp_path / "dynamo-report.html").as_uri())


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    result = answer("report", stored("toy"), "-o", tmp_path / "no" / "such" / "folder.html")
    assert result.exit_code != 0
    assert f"cannot write {tmp_path / 'no' / 'such' / 'folder.html'}" in result.stderr


@pytest.mark.parametrize("report", REPORTS)
def test_every_report_can_be_a_page_that_opens_at_its_section(report: str, tmp_path: Path) -> None:
    result = answer(report, stored("toy"), "-o", tmp_path / "it.html")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    found = Page((tmp_path / "it.html").read_text(encoding="utf-8"))
    (whole,) = found.all("html")
    assert whole.attributes.get("data-opened", "") == REPORTS[report]
    assert answer(report, stored("toy"), "--format", "html").stdout == found.source


def test_the_options_of_a_report_hold_in_its_section(tmp_path: Path) -> None:
    answer("guards", stored("toy"), "--all", "-o", tmp_path / "all.html")
    every = text_of(Page((tmp_path / "all.html").read_text()).blocks()["guards"])
    usual = text_of(page_of(stored("toy")).blocks()["guards"])
    assert "Not listed without --all" in usual
    assert "Not listed without --all" not in every
    assert len(every) > len(usual)


def test_a_report_of_no_one_recording_is_a_page_too(tmp_path: Path) -> None:
    result = answer("diff", stored("toy"), stored("frozen"), "-o", tmp_path / "diff.html")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    found = Page((tmp_path / "diff.html").read_text(encoding="utf-8"))
    text = answer("diff", stored("toy"), stored("frozen")).stdout
    assert found.all("h1")[0].text in text
    assert found.all("script") == []


HOSTILE = "</script><img src=x onerror=alert(1)><a href=javascript:alert(1)>\u202etxt\u200b\u2066"


def test_a_hostile_recording_leaves_no_markup_of_its_own(tmp_path: Path) -> None:
    written = HOSTILE.replace("/", "\\/").encode("unicode_escape").decode().replace("\\\\/", "/")

    def edit(head: str, payload: str) -> str:
        return payload.replace("toy_example", written)

    found = page_of(edited("toy", tmp_path, edit))
    usual = page_of(stored("toy"))
    assert {tag.name for tag in found.tags} <= {tag.name for tag in usual.tags}
    assert [tag.name for tag in found.tags if tag.name in ("script", "img", "a")].count("img") == 0
    everything = found.source + "".join(
        map(text_of, (tree for route, tree in found.blocks().items() if route != "index"))
    )
    assert not re.search("[\u202e\u200b\u2066]", everything)
    assert "\\x202etxt\\x200b\\x2066" in everything
    targets = [tag.attributes["href"] for tag in found.tags if "href" in tag.attributes]
    targets += [
        own["href"]
        for route, tree in found.blocks().items()
        if route != "index"
        for _, own in elements_of(tree)
        if "href" in own
    ]
    assert all(
        target.startswith(("#", "https://meta-pytorch.github.io/compile-graph-break-site/"))
        for target in targets
    )


def test_a_name_without_end_does_not_fill_the_page(tmp_path: Path) -> None:
    found = page_of(
        edited("toy", tmp_path, lambda head, payload: payload.replace("toy_example", "N" * 100_000))
    )
    assert len(found.source) < 2 * len(page_of(stored("toy")).source)
    assert f"{'N' * 500}… (" in found.source


def test_what_does_not_fit_is_left_out_in_a_fixed_order_and_told() -> None:
    recording = read(stored("recompiling"), CONTENTS)
    whole = page(Case(recording))
    smaller = Page(page(Case(recording), largest=len(whole) - 40_000).decode())
    smallest = Page(page(Case(recording), largest=0).decode())
    assert "Left out" in [tag.text for tag in smaller.all("h2")]
    assert [tag.text for tag in smaller.all("code") if "--stage output-code" in tag.text]
    assert "guards" in smaller.blocks()
    assert "graph/1/output-code" not in smaller.blocks()
    assert {"guards", "bytecode", "graph/1"}.isdisjoint(smallest.blocks())
    assert {"recompiles", "source", "time", "compile/0-0"} <= smallest.blocks().keys()
