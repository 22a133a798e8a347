"""The drawing of when what happened: where a slice is, how deep, how it looks, what is too much to draw."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dynamo_core.model import Process, ProcessInfo, Recording, Run
from dynamo_reporters.html import timeline
from dynamo_reporters.html.element import Element, to_html
from dynamo_reporters.html.timeline import Span, Timeline
from dynamo_reporters.profile.exports.tracks import Slice, Track
from support.made import S

BEGIN = 100 * S
RUN = Run(started_ns=BEGIN, ended_ns=BEGIN + 10 * S)


def slice_(name: str, begin: float, end: float, **details: str) -> Slice:
    return Slice(name, BEGIN + int(begin * S), BEGIN + int(end * S), name, details=details)


OUTER, INNER, NEXT = slice_("outer", 1, 6), slice_("inner", 2, 3), slice_("next", 3, 4, op="sin")
LATER = slice_("later", 6, 6)
GRAPHS = Track("graphs", (OUTER, INNER, NEXT, LATER))


def drawn(
    monkeypatch: pytest.MonkeyPatch, *tracks: Track, run: Run | None = RUN, processes: int = 1
) -> Timeline:
    monkeypatch.setattr(timeline, "_all_tracks", lambda process, recording: [*tracks])
    known = [Process(Path(f"{pid}.log"), info=ProcessInfo(pid=pid)) for pid in range(1, processes + 1)]
    return Timeline(Recording(Path("r"), run, known, processes, []))


def root(element: Element | None) -> ElementTree.Element:
    assert element is not None
    return ElementTree.fromstring(to_html(element))


def rects(element: Element | None) -> dict[str, dict[str, str]]:
    """By what is said of it, without when it began."""
    return {
        (rect.findtext("title") or "").partition(", ")[0]: rect.attrib for rect in root(element).iter("rect")
    }


def test_a_moment_is_drawn_by_its_share_of_the_whole() -> None:
    assert [Span(10, 20).at(moment) for moment in (10, 15, 20)] == [0, 50_000, 100_000]
    assert Span(10, 10).at(10) == 0, "no time passed"


def test_a_slice_is_as_long_as_it_took_and_below_what_it_is_within(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rects(drawn(monkeypatch, GRAPHS).whole())
    assert [*found] == ["outer: 5.00 s", "inner: 1.00 s", "next: 1.00 s", "later"]
    outer, inner, following, later = found.values()
    assert (outer["x"], outer["width"], outer["y"], outer["height"]) == ("10000.0", "50000.0", "1", "12")
    assert (inner["x"], inner["width"], inner["y"]) == ("20000.0", "10000.0", "15")
    assert following["y"] == "15", "the one before it had ended"
    assert (later["x"], later["y"], later["width"]) == ("60000.0", "1", "125.0"), "thin, but to be seen"
    assert [each["class"] for each in found.values()] == [
        *("graphs level0", "graphs level1", "graphs level1", "graphs level0")
    ]


def test_what_is_said_of_a_slice_has_its_length_its_begin_and_its_details(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = [each.text for each in root(drawn(monkeypatch, GRAPHS).whole()).iter("title")]
    assert said == [
        "outer: 5.00 s, 1.00 s after the start",
        "inner: 1.00 s, 2.00 s after the start",
        "next: 1.00 s, 3.00 s after the start; op: sin",
        "later, 6.00 s after the start",
    ]


def test_the_small_drawing_has_the_outermost_slices_only(monkeypatch: pytest.MonkeyPatch) -> None:
    made = drawn(monkeypatch, GRAPHS)
    assert [*rects(made.small())] == ["outer: 5.00 s", "later"]
    heights = [
        [svg.attrib["height"] for svg in root(each).iter("svg")] for each in (made.small(), made.whole())
    ]
    assert heights == [["14"], ["28"]]
    assert root(made.small()).attrib["class"] == "timeline small"
    assert root(made.whole()).attrib["class"] == "timeline"


def test_the_axis_has_the_quarters_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    element = root(drawn(monkeypatch, GRAPHS).whole())
    (axis,) = (each for each in element.iter("div") if each.attrib.get("class") == "axis")
    assert [each.text for each in axis] == ["0 s", "2.50 s", "5.00 s", "7.50 s", "10.00 s"]
    assert element.attrib["data-seconds"] == "10.000000"


@pytest.mark.parametrize(
    ("end", "seconds"), [(BEGIN + 4 * S, "6.000000"), (None, "6.000000"), (BEGIN + 20 * S, "20.000000")]
)
def test_it_ends_with_the_run_or_with_the_last_slice(
    monkeypatch: pytest.MonkeyPatch, end: int | None, seconds: str
) -> None:
    run = Run(started_ns=BEGIN, ended_ns=end)
    assert root(drawn(monkeypatch, GRAPHS, run=run).whole()).attrib["data-seconds"] == seconds


def test_nothing_is_drawn_where_nothing_has_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    made = drawn(monkeypatch, Track("graphs", ()))
    assert (made.small(), made.whole()) == (None, None)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("compiling", "compiling"),
        ("compiling graphs", "compiling"),
        ("start-up", "start"),
        ("process", "start"),
        ("breaks and refused compiles", "mark"),
        ("calls of graphs", "graphs"),
        ("profiler", "other"),
    ],
)
def test_a_track_has_the_colour_of_its_kind(monkeypatch: pytest.MonkeyPatch, name: str, kind: str) -> None:
    (rect,) = rects(drawn(monkeypatch, Track(name, (OUTER,))).whole()).values()
    assert rect["class"] == f"{kind} level0"


def test_colours_come_again_after_four_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    nested = Track("graphs", tuple(slice_(f"s{n}", n / 10, 9 - n / 10) for n in range(6)))
    found = rects(drawn(monkeypatch, nested).whole()).values()
    assert [each["class"][-1] for each in found] == ["0", "1", "2", "3", "0", "1"]


def test_of_very_many_slices_the_longest_are_drawn_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [slice_(f"s{n}", n / 1000, n / 1000 + (0.0001 if n in (5, 7) else 0.0005)) for n in range(2002)]
    element = root(drawn(monkeypatch, Track("graphs", tuple(many))).whole())
    titles = [(each.text or "").partition(":")[0] for each in element.iter("title")]
    assert titles == [f"s{n}" for n in range(2002) if n not in (5, 7)]
    names = [each.text for each in element.iter("span") if each.attrib.get("class") == "track-name"]
    assert names[0] == "graphs (the longest 2,000 of 2,002)"
    assert {each.attrib["aria-label"] for each in element.iter("svg")} == {"graphs: 2,002 slices"}
    few = root(drawn(monkeypatch, Track("graphs", tuple(many[:2000]))).whole())
    assert next(few.iter("span")).text == "graphs"


def test_processes_are_named_where_there_are_several_and_those_beyond_32_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def headings(processes: int) -> list[str | None]:
        return [
            each.text for each in root(drawn(monkeypatch, GRAPHS, processes=processes).whole()).iter("h4")
        ]

    assert headings(1) == []
    assert headings(2) == ["process 1", "process 2"]
    assert len(headings(34)) == 32
    rest = [each.text for each in root(drawn(monkeypatch, GRAPHS, processes=34).whole()).iter("p")]
    assert rest == ["… and 2 more processes"]
    assert [*root(drawn(monkeypatch, GRAPHS, processes=32).whole()).iter("p")] == []
