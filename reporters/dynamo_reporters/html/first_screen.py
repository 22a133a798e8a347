"""The first screen: what happened, what it cost and what to fix first, for people without JavaScript too."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from dynamo_core.analysis.summary import Summary
from dynamo_core.analysis.time.wall import WallTime
from dynamo_core.analysis.verdict import (
    command_words,
    ending,
    origin_sentence,
    verdict,
    versions,
)
from dynamo_core.analysis.words import alternatives, count_text, number, seconds
from dynamo_core.case import Case
from dynamo_core.compare.node_changes import SourceLines
from dynamo_core.findings import Action, Finding
from dynamo_core.findings.build import via_line
from dynamo_core.findings.finding import Figure, Remedy
from dynamo_core.model import Process, Recording

from ..documents import shares_of
from ..explain.sections import SECTIONS, Section
from ..parts.actions import (
    ACTIONS_TITLE,
    headline,
    what_else_it_changes,
    what_is_cured,
    what_it_saves,
    what_to_do,
)
from ..parts.sections import tests_line
from ..profile.exports.tracks import process_name
from ..ranks import in_short
from .blocks import elements
from .element import Child, Element, cut, h
from .links import Links, link

# The ranks on the first screen, where they keep each other from going on, or would.


def ranks_in_short(case: Case, links: Links) -> Iterator[Element]:
    """Nothing where no rank waits for another and all call the same collectives."""
    if not case.has_ranks:
        return
    ranks = case.ranks
    if not ranks.waiting and all(finding.kind != "ranks differ" for finding in case.findings):
        return
    more = len(ranks.differences) - 1
    yield h(
        "section",
        h("h2", link("ranks", "Ranks")),
        elements(in_short(ranks, SourceLines(case.recording)), links),
        h("p", link("ranks", f"… and {number(more, 'more difference')}"), class_="dim") if more > 0 else None,
        aria_label="Ranks",
    )


_OPEN_CARDS = 8  # actions that are shown at once; the others are one click away
_MOST_CARDS = 200
_MOST_ALTERNATIVES = 3
_MOST_LINES = 50
_LONGEST_SOURCE = 500  # characters of the line that a finding is on
_MOST_BARS = 8  # processes whose wall time is drawn
_COUNTS = (
    # name in the summary, what it is called, the section that has more
    ("graphs", "graphs", "graphs"),
    ("ops", "ops", "ops"),
    ("graph_breaks", "graph breaks", "breaks"),
    ("recompiles", "recompiles", "recompiles"),
    ("frames_fell_back", "frames that fell back to eager", "breaks"),
    ("frames_raised", "frames that raised in the compiler", "breaks"),
    ("guards", "guards", "guards"),
    ("graph_calls", "calls of graphs", "time"),
    ("frames", "frames traced", "bytecode"),
    ("processes", "processes with torch", "run"),
)
_TIMES = (
    ("graph_host_seconds", "in compiled graphs (host)", "time"),
    ("compile_time_s", "compiling", "time"),
)


def first_screen(case: Case, links: Links, drawing: Element | None) -> list[Element]:
    """The elements of its sections, in the order of `SECTIONS`; `drawing` is the small timeline."""
    made: dict[str, Callable[[], Iterable[Element]]] = {
        "verdict": lambda: [h("h1", verdict(case.recording, case.summary))],
        "run": lambda: _about(case.recording),
        "partial": lambda: _partial(case),
        "counts in short": lambda: [_counts(case.summary)],
        "wall time": lambda: _wall(case),
        "findings": lambda: (
            *(() if case.actions else _no_findings(case)),
            *(_findings(case, links) if case.findings else ()),
        ),
        "ranks in short": lambda: ranks_in_short(case, links),
        "timeline": lambda: [h("h2", link("time", "Timeline")), drawing] if drawing is not None else [],
    }
    return [
        element
        for section in SECTIONS
        for element in (made[section.name]() if section.name in made else _list(section, case))
    ]


def _about(recording: Recording) -> Iterator[Element]:
    if recording.run is not None:
        yield h(
            "p",
            h("code", command_words(recording.run)),
            f" {ending(recording)}.",
            class_="about",
        )
    if not recording.processes:
        return
    yield h("p", " ".join(filter(None, [origin_sentence(recording), versions(recording)])), class_="dim")


def _partial(case: Case) -> Iterator[Element]:
    """What makes the rest of the page say less than it seems to."""
    if case.is_partial:
        why = "This recording is partial: the run still goes on, was killed, or records are lost or damaged."
        yield h("p", h("strong", "Partial. "), why, " What is missing is listed below.", class_="warning")


def _list(section: Section, case: Case) -> Iterator[Element]:
    """A section that is a list, if it is one and has items."""
    items = [] if section.items is None else section.items(case)
    if not items:
        return
    yield h("h2", section.title)
    yield h("ul", (h("li", item) for item in items[:_MOST_LINES]), class_="warning")
    if len(items) > _MOST_LINES:
        more = f"… and {len(items) - _MOST_LINES:,} more; "
        yield h("p", more, command("explain --format json", case.recording), class_="dim")


def _counts(summary: Summary) -> Element:
    """Each count as a link to what has been counted, with the value as JSON documents have it."""
    items = []
    for name, what, section in _COUNTS:
        value = getattr(summary, name)
        if value == 0 and name in ("frames_raised",):
            continue
        items.append(_count(name, value, count_text(value), what, section))
    for name, what, section in _TIMES:
        value = getattr(summary, name)
        items.append(_count(name, value, seconds(value), what, section))
    return h("ul", items, class_="counts", aria_label="Counts")


def _count(name: str, value: object, shown: str, what: str, section: str) -> Element:
    written = "null" if value is None else repr(value)
    is_bad = name in ("graph_breaks", "recompiles", "frames_fell_back", "frames_raised") and bool(value)
    number_ = h("span", shown, class_="count bad" if is_bad else "count", data_name=name, data_value=written)
    return h("li", link(section, number_, h("span", what, class_="what")))


def _wall(case: Case) -> Iterator[Element]:
    walls = [(process, case.wall(process)) for process in case.processes]
    known = [(process, wall) for process, wall in walls if wall is not None]
    if not walls:
        return
    yield h("h2", "Where the time went")
    if not known:
        text = "The wall time was not recorded: a plain torch trace does not tell when the process began. "
        yield h("p", text, h("code", "dynamo run"), " records it.", class_="dim")
    for process, wall in known[:_MOST_BARS]:
        yield _bar(process, wall, len(walls) > 1)
    if len(known) > _MOST_BARS:
        yield h("p", link("time", f"… and {len(known) - _MOST_BARS:,} more processes"), class_="dim")


def _bar(process: Process, wall: WallTime, is_one_of_many: bool) -> Element:
    """One bar that adds up, and the same as a table: nothing is told by colour alone."""
    of = f" of {process_name(process)}" if is_one_of_many else ""
    rects, items, left = [], [], 0.0
    parts = [part for part in wall.parts if part.seconds]
    whole = sum(part.seconds or 0.0 for part in parts)
    shares = shares_of([part.seconds for part in parts], wall.seconds)
    for part, share in zip(parts, shares, strict=True):
        width = (part.seconds or 0.0) / whole * 1000
        title = h("title", f"{part.name}: {seconds(part.seconds)}")
        kind = wall_class(part.name)
        rects.append(h("rect", title, x=round(left, 2), y=0, width=round(width, 2), height=28, class_=kind))
        left += width
        key = h("svg", h("rect", width=10, height=10, class_=kind), width=10, height=10, aria_hidden="true")
        known = h("span", f" {share} ", part.basis, class_="dim")
        items.append(h("li", key, " ", part.name, " ", h("strong", seconds(part.seconds)), known))
    label = f"Wall time{of}, {seconds(wall.seconds)}, in its parts"
    # Guards are sampled and calls overlap, so that parts may be a little more than the whole.
    over = h(
        "p", "The parts overlap, or are extrapolated: together they are more than the whole.", class_="dim"
    )
    cut = h("p", "It goes on or was cut off: this is up to the last that was noted.", class_="warning")
    return h(
        "section",
        h("p", h("strong", seconds(wall.seconds)), f" of wall time{of}", class_="wall-title"),
        h(
            "svg",
            rects,
            viewBox="0 0 1000 28",
            preserveAspectRatio="none",
            class_="bar",
            role="img",
            aria_label=label,
        ),
        h("ul", items, class_="legend"),
        over if whole > wall.seconds * 1.001 else None,
        None if wall.saw_end else cut,
        class_="wall",
    )


_WALL_CLASSES = {
    "before torch": "start",
    "importing torch": "import",
    "setting up this recording": "tool",
    "importing the compiler": "import-compiler",
    "compiling": "compiling",
    "inside compiled graphs": "graphs",
    "guards and cache look-ups": "guards",
    "torch.profiler, for --profile": "tool",
    "interpreter shutdown": "exit",
    "eager code and the rest": "eager",
}


def wall_class(part: str) -> str:
    """How a part of the wall time looks."""
    return _WALL_CLASSES.get(part, "other")


def _findings(case: Case, links: Links) -> Iterator[Element]:
    """A card for each action, with its findings folded inside; then what is true of any short run."""
    recording, actions = case.recording, case.actions
    if actions:
        yield h("h2", ACTIONS_TITLE)
    cards = [_action_card(action, case, links) for action in actions[:_MOST_CARDS]]
    yield h("div", cards[:_OPEN_CARDS], class_="cards")
    if len(cards) > _OPEN_CARDS:
        rest = number(len(cards) - _OPEN_CARDS, "more action")
        yield h("details", h("summary", rest), h("div", cards[_OPEN_CARDS:], class_="cards"))
    if len(actions) > _MOST_CARDS:
        left_out = number(len(actions) - _MOST_CARDS, "more action")
        yield h("p", f"… and {left_out}; ", command("explain --format json", recording), class_="dim")
    if case.context:
        yield h("h2", "Also")
        yield from (_folded(finding.title, [finding], case, links) for finding in case.context)


def _action_card(action: Action, case: Case, links: Links) -> Element:
    """What to do, what that cures and saves, what else would do; the findings are folded."""
    cured = case.cured_by(action)
    saves = what_it_saves(action)
    others = [f"or {what_to_do(each.remedy)}" for each in action.alternatives[:_MOST_ALTERNATIVES]]
    more = len(action.alternatives) - len(others)
    others += [f"… and {number(more, 'other way', 'other ways')}"] if more else []
    return h(
        "article",
        h("h3", h("span", str(action.number), class_="rank"), " ", links.text(headline(action))),
        h("p", links.text(what_is_cured(action, cured))),
        h("p", saves, class_="dim") if saves else None,
        h("p", besides, class_="dim") if (besides := what_else_it_changes(action)) else None,
        h("ul", (h("li", links.text(each)) for each in others), class_="remedies") if others else None,
        _folded(number(len(cured), "finding"), cured, case, links),
        id=f"/action/{action.number}",
        class_="card",
        tabindex="-1",
    )


def _folded(title: str, findings: Sequence[Finding], case: Case, links: Links) -> Element:
    """Findings behind a line, the first of them if there are very many."""
    cards = [card(finding, case.recording, links) for finding in findings[:_MOST_CARDS]]
    more = len(findings) - len(cards)
    rest = h("p", f"… and {number(more, 'more finding')}; ", command("explain --format json", case.recording))
    return h("details", h("summary", links.text(title)), cards, rest if more else None)


def _no_findings(case: Case) -> Iterator[Element]:
    """What was not recorded is no all-clear."""
    missing = [what for name, what, _ in _COUNTS if getattr(case.summary, name) is None]
    yield h("h2", "Nothing to do first" if case.findings else "No findings")
    text = "Nothing in the way was found in what was recorded."
    if missing:
        text += f" Not recorded, so that nothing is known of it: {', '.join(missing)}."
    if case.is_partial:
        text += " The recording is partial: what it lacks may hold some."
    yield h("p", text, class_="warning" if missing or case.is_partial else "dim")


def card(finding: Finding, recording: Recording, links: Links) -> Element:
    """A finding: where, why, what it costs, what to do, and the command that shows whether it worked."""
    source: list[Child] = [h("code", cut(finding.source, _LONGEST_SOURCE))] if finding.source else []
    lines = [links.place(finding.place), " ", *source] if finding.place is not None else source
    return h(
        "article",
        h("h4", links.text(finding.title)),
        h("p", lines, class_="line") if lines else None,
        h("p", links.text(finding.cause)) if finding.cause and finding.cause not in finding.title else None,
        h("p", links.text(finding.effect), class_="dim") if finding.effect else None,
        h("p", links.text(via_line(finding)), class_="dim") if finding.via is not None else None,
        _cost(finding),
        h("ul", _remedies(finding, recording, links), class_="remedies"),
        h("p", links.text(tests_line(finding)), class_="dim") if finding.evidence.tests else None,
        _evidence(finding, recording, links),
        id=f"/finding/{finding.identity}",
        class_="finding",
        tabindex="-1",
    )


def _cost(finding: Finding) -> Element | None:
    cost = finding.cost
    figures = (
        ("lost so far", cost.lost),
        ("each step", cost.per_step),
        ("fixing saves at most", cost.saves_at_most),
    )
    parts = [(name, figure) for name, figure in figures if figure.seconds is not None]
    if not parts:
        return h("p", "What it costs was not recorded.", class_="dim")
    return h("dl", (part for name, figure in parts for part in _figure(name, figure)), class_="cost")


def _figure(name: str, figure: Figure) -> Iterator[Element]:
    yield h("dt", name)
    yield h("dd", h("strong", seconds(figure.seconds)), f" {figure.known}")


def _remedies(finding: Finding, recording: Recording, links: Links) -> Iterator[Element]:
    texts = alternatives(remedy.text for remedy in finding.remedies)
    for text, remedy in zip(texts, finding.remedies, strict=True):
        yield _remedy(text, remedy, recording, links)


def _remedy(text: str, remedy: Remedy, recording: Recording, links: Links) -> Element:
    proof = f"tried: {remedy.tried}" if remedy.tried else None
    return h(
        "li",
        links.text(text),
        h("span", f" It may also change: {remedy.may_change}", class_="dim") if remedy.may_change else None,
        h("span", f" ({proof})", class_="dim") if proof else None,
        h(
            "div",
            h("span", "shown by ", class_="dim"),
            command(remedy.check.removeprefix("dynamo "), recording),
        ),
    )


def command(what: str, recording: Recording) -> Element:
    """A command on this recording, or a run of its program; the page's script puts a copy button to it."""
    words = ["dynamo", *shlex.split(what)]
    if words[1] == "run":  # of the program, not of the recording
        words += (
            shlex.split(shlex.join((recording.run.command or [])[1:])) if recording.run is not None else []
        )
    else:
        words.append(recording.address)
    return h("code", shlex.join(words), class_="command")


def _evidence(finding: Finding, recording: Recording, links: Links) -> Element | None:
    evidence = finding.evidence
    # The same id is another compile in another process.
    met_in = [process for process in recording.processes if process.stream.name in finding.processes]
    named = [f"[{each}]" for each in evidence.compile_ids[:20]] + [
        f"graph {each}" for each in evidence.graphs[:20]
    ]
    more = len(evidence.compile_ids) + len(evidence.graphs) - len(named)
    if not named:
        return None
    text = ", ".join(named) + (f" and {more:,} more" if more else "")
    process = met_in[0] if len(met_in) == 1 else None
    return h("p", "seen in ", links.text(text, process), class_="dim evidence")
