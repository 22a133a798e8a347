"""The page in a browser: it opens, shows every section, is walked by keyboard, and nothing recorded acts."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from read_logs import make_log

from dynamo_core.case import Case
from dynamo_core.recording.read import read
from dynamo_reporters.html import CONTENTS
from dynamo_reporters.html import page as page_of
from support.cases import one_in
from support.documents import document
from support.many_recompiles import many_recompiles
from support.opened_page import Opened
from support.stored import edited, plain, stored

Open = Callable[..., Opened]
SECTIONS = ("source", "breaks", "recompiles", "graphs", "guards", "time", "bytecode", "ops", "run")
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><a href=javascript:alert(3)>z</a>"
    "{{x}}<svg onload=alert(4)>\u202egnp\u200b"
)


def overflow(page: Opened) -> int:
    """By how many pixels the page is wider than the window."""
    return int(
        page.tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


@pytest.mark.parametrize(
    "recording",
    one_in(
        2,
        [
            "toy",
            "recompiling",
            "training",  # layers of a perceptron, forward and backward, by Inductor
            "transformer",  # GPT-2 of the package transformers, in training, by aot_eager
            "hugging_face_breaks",  # layers of a Hugging Face BERT in training, 20 breaks between them
            "twenty_breaks",
            "ranks_in_another_order",
            "forks",
            "killed",
            "plain recompiling",
        ],
    ),
)
def test_each_section_opens_and_nothing_is_asked_of_the_network(recording: str, open_page: Open) -> None:
    name = recording.removeprefix("plain ")
    page = open_page(plain(name) if recording.startswith("plain") else stored(name))
    sections = [tab.get_attribute("href")[2:] for tab in page.tab.locator("nav a").all()][1:]
    assert set(SECTIONS) <= set(sections)
    for route in sections:
        page.go(route)
        assert page.tab.locator("nav a[aria-current]").count() == 1
        assert page.tab.locator(f"nav a[href='#/{route}'][aria-current]").count() == 1
        assert page.tab.locator("#view h2").first.is_visible()
        assert overflow(page) <= 0, route


def test_deep_links_go_to_what_they_name_and_back_leads_back(open_page: Open) -> None:
    page = open_page(stored("toy"), "source/toy_example.py/8")
    page.settled()
    line = page.tab.locator("tr.target")
    assert "if b.sum() < 0:" in line.inner_text()
    assert "Data-dependent branching" in line.inner_text()
    more = page.tab.locator("tr.target + tr.more")
    assert "torch.where(b.sum() < 0, then, else)" in more.inner_text()
    assert "Bytecode of the line" in more.inner_text()
    page.go("graph/1/post-grad")
    assert "torch.ops.aten.abs.default" in page.text
    page.go("compile/0-0")
    assert "Compile [0/0] of toy_example" in page.text
    page.tab.go_back()
    page.settled()
    assert "torch.ops.aten.abs.default" in page.text
    page.go("nowhere/at/all")
    assert "This page has nothing at nowhere/at/all." in page.text


def test_recompiles_begin_with_what_differed_and_what_to_do(open_page: Open) -> None:
    page = open_page(stored("recompiling"), "recompiles")
    page.settled()
    headings = page.tab.locator("#view table").first.locator("th").all_inner_texts()
    assert headings[-3:] == ["what differed", "expected", "got"]
    first = page.tab.locator("#view .advice").first
    assert first.is_visible() and "one version serves all of them" in first.inner_text()


def test_the_only_file_of_a_program_is_shown_at_once(open_page: Open) -> None:
    page = open_page(stored("toy"), "source")
    page.settled()
    page.tab.locator("#view tr[data-at='8'] button.line").click()
    assert (
        "torch.where(b.sum() < 0, then, else)" in page.tab.locator("tr[data-at='8'] + tr.more").inner_text()
    )


def test_ranks_lead_to_the_lines_in_which_they_differ(open_page: Open) -> None:
    page = open_page(stored("ranks_in_another_order"))
    short = page.tab.locator("section[aria-label=Ranks]")
    assert "Rank 0 and rank 1 wait for each other" in short.inner_text()
    short.locator("h2 a").click()
    page.settled()
    page.tab.locator("#view a", has_text="ranks.py:27").first.click()
    page.settled()
    assert "functional.all_gather_tensor" in page.tab.locator("tr.target").inner_text()
    more = page.tab.locator("tr.target + tr.more")
    assert "torch.ops._c10d_functional.all_gather_into_tensor" in more.inner_text()


def test_a_finding_is_a_link_of_its_own(open_page: Open) -> None:
    findings = document("explain", stored("twenty_breaks"))["findings"]
    page = open_page(stored("twenty_breaks"), f"finding/{findings[11]['identity']}")
    page.settled()
    card = page.tab.locator("article.target")
    assert card.is_visible()  # it is among those that are folded away at first
    assert findings[11]["title"].rpartition("/")[2] in card.inner_text()


def test_search_finds_lines_ops_and_graphs(open_page: Open) -> None:
    page = open_page(stored("toy"))
    keyboard = page.tab.keyboard
    keyboard.press("/")
    keyboard.type("b.sum() source")
    page.tab.locator("#results a").first.wait_for()
    assert "if b.sum() < 0:" in page.tab.locator("#results").inner_text()
    keyboard.press("Enter")
    page.settled()
    assert "if b.sum() < 0:" in page.tab.locator("tr.target").inner_text()
    keyboard.press("/")
    page.tab.locator("#query").fill("truediv")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    page.settled()
    assert page.tab.locator("#view h2").inner_text() == "Graph 1"
    assert page.tab.locator("dialog[open]").count() == 0


def test_the_page_is_walked_by_keyboard_alone(open_page: Open) -> None:
    page = open_page(stored("recompiling"))
    keyboard = page.tab.keyboard
    focused = "document.activeElement.closest('article')?.id"
    first = page.tab.locator("article.card").first.get_attribute("id")
    keyboard.press("j")
    assert page.tab.evaluate(focused) == first
    keyboard.press("j")
    assert page.tab.evaluate(focused) not in (None, first)
    keyboard.press("k")
    assert page.tab.evaluate(focused) == first


def test_lines_of_source_are_walked_by_keyboard_alone(open_page: Open) -> None:
    page = open_page(stored("twenty_breaks"))
    keyboard = page.tab.keyboard
    keyboard.press("2")
    page.settled()
    page.tab.locator(".files a").first.focus()
    keyboard.press("Enter")
    page.settled()
    keyboard.press("j")
    keyboard.press("Enter")
    assert "Graph break: Failed to trace builtin operator" in page.tab.locator("tr.more:visible").inner_text()
    keyboard.press("?")
    assert page.tab.locator("#help").is_visible()
    keyboard.press("Escape")
    assert not page.tab.locator("#help").is_visible()


def test_the_first_screen_has_the_numbers_of_explain(open_page: Open) -> None:
    for recording in ("toy", "recompiling", "forks"):
        told = document("explain", stored(recording))
        page = open_page(stored(recording))
        assert page.tab.locator("h1").inner_text() == told["verdict"]
        for name in ("graphs", "ops", "graph_breaks", "recompiles", "guards", "graph_calls", "processes"):
            shown = page.tab.locator(f"[data-name={name}]").inner_text()
            value = told["summary"][name]
            assert shown == ("not recorded" if value is None else f"{value:,}")


BROKEN_WORDS = """() => {
  const broken = new Set();
  for (const cell of document.querySelectorAll('main .scroll td, main .scroll th')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const word of text.textContent.matchAll(/[A-Za-z]{2,20}/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const tops = new Set([...range.getClientRects()].map((rectangle) => Math.round(rectangle.top)));
        if (tops.size > 1) broken.add(word[0]);
      }
    }
  }
  return [...broken];
}"""


@pytest.mark.parametrize("name", ["hugging_face_breaks", "many recompiles"])
def test_a_page_with_much_on_it_fits_every_width(name: str, open_page: Open, tmp_path: Path) -> None:
    path = many_recompiles(tmp_path, 288) if name == "many recompiles" else stored(name)
    told = document("explain", path)
    assert (told["summary"]["graph_breaks"], told["summary"]["recompiles"]) in ((20, 0), (0, 300))
    page = open_page(path)
    assert page.tab.locator("h1").inner_text() == told["verdict"]
    for count in ("graphs", "ops", "graph_breaks", "recompiles", "guards", "graph_calls"):
        assert page.tab.locator(f"[data-name={count}]").inner_text() == f"{told['summary'][count]:,}"
    assert page.tab.locator("article.finding").count() == len(told["findings"])
    (file,) = {finding["place"]["file"] for finding in told["findings"] if finding["place"]}
    line = told["findings"][0]["place"]["line"]
    for width in (1440, 800, 390):
        page.tab.set_viewport_size({"width": width, "height": 800})
        for route in ("", *SECTIONS, f"source/{Path(file).name}/{line}"):
            page.go(route)
            assert overflow(page) <= 0, (width, route)
            assert page.tab.evaluate(BROKEN_WORDS) == [], (width, route)


def test_the_page_of_a_large_log_is_small_and_opens(open_page: Open, tmp_path: Path) -> None:
    (stream,) = plain("transformer").glob("*.log")
    log = make_log(tmp_path / "large.log", stream.read_bytes(), megabytes=150)
    content = page_of(Case(read(log, CONTENTS)))
    log.unlink()
    assert len(content) < 15e6
    page = open_page(content)
    assert int(page.tab.locator("[data-name=graphs]").inner_text().replace(",", "")) > 100
    for route in SECTIONS:
        page.go(route)
        assert page.tab.locator("#view h2").first.is_visible()
        assert overflow(page) <= 0, route


def test_without_javascript_the_first_screen_is_complete(open_page: Open) -> None:
    told = document("explain", stored("twenty_breaks"))
    page = open_page(stored("twenty_breaks"), java_script_enabled=False)
    assert told["verdict"] in page.text
    assert page.tab.locator("article.finding").count() == len(told["findings"])
    assert page.tab.locator("svg.bar rect").count() > 3
    assert "a browser with JavaScript shows them" in page.text
    assert not page.tab.locator("nav").is_visible()
    page.tab.locator("details summary").first.click()
    assert "20 graph breaks at twenty_breaks.py:11, 13" in page.text.replace("\n", " ")


def test_names_in_a_recording_are_text_wherever_they_are_shown(open_page: Open, tmp_path: Path) -> None:
    written = HOSTILE.encode("unicode_escape").decode()

    def edit(head: str, payload: str) -> str:
        return payload.replace("toy_example", written).replace("b.sum() <", f"{written} <")

    page = open_page(edited("toy", tmp_path, edit))
    for route in ("", *SECTIONS, "compiles", "compile/0-0", "graph/1", "graph/1/post-grad"):
        page.go(route)
        assert page.tab.locator("img, iframe, object, embed, a[href^=javascript]").count() == 0
        assert not re.search("[\u202e\u200b]", page.text)
    files = page.tab.locator(".files a")
    page.go("source")
    files.first.click()
    page.settled()
    assert "<img src=x onerror=alert(2)>" in page.text
    assert "\\x202egnp\\x200b" in page.text


def test_filter_theme_and_processes(open_page: Open) -> None:
    page = open_page(stored("forks"), "guards")
    page.settled()
    parts = page.tab.locator("#view [data-process]")
    assert parts.count() == 2
    page.tab.locator("#process").select_option(index=1)
    assert parts.nth(0).is_visible()
    assert not parts.nth(1).is_visible()
    page.tab.locator("#process").select_option(index=0)
    page.go("ops")
    rows = page.tab.locator("#view tbody tr:visible")
    before = rows.count()
    page.tab.keyboard.press("f")
    page.tab.keyboard.type("no such op")
    assert rows.count() < before
    assert "hidden" in page.tab.locator("#filtered").inner_text()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    was = page.tab.evaluate(ground)
    page.tab.locator("#theme").click()
    assert page.tab.evaluate(ground) != was


def test_paper_is_white_and_has_no_tools_on_it(open_page: Open) -> None:
    page = open_page(stored("toy"), color_scheme="dark")
    page.tab.locator("#theme").click()
    page.tab.locator("#theme").click()
    page.tab.emulate_media(media="print")
    light = page.tab.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert light == "rgb(255, 255, 255)"
    assert not page.tab.locator("nav").is_visible()
    assert not page.tab.locator(".tools").is_visible()


CONTRASTS = """() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let up = element; up; up = up.parentElement) {
      const colour = getComputedStyle(up).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const low = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest('svg') || !element.checkVisibility()) continue;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(ground(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) low.push(`${element.tagName}.${element.className} ${contrast.toFixed(2)}`);
  }
  return [...new Set(low)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground_and_fits_every_width(scheme: str, open_page: Open) -> None:
    page = open_page(stored("recompiling"), color_scheme=scheme)
    for width in (1440, 800, 390):
        page.tab.set_viewport_size({"width": width, "height": 800})
        for route in ("", "source/recompiling.py/17", "recompiles", "graph/1", "time"):
            page.go(route)
            assert page.tab.evaluate(CONTRASTS) == [], (width, route)
            assert overflow(page) <= 0, (width, route)
