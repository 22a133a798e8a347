"""Ratios with their intervals: where the drawing has them, and that text leaves them to the table."""

import re

import pytest

from dynamo_reporters.html.document import page_of_blocks
from dynamo_reporters.page.blocks import Estimate, Heading, Intervals
from dynamo_reporters.page.markdown import to_markdown

Line = tuple[str, float, float]


def lines(*estimates: Estimate) -> list[Line]:
    """The horizontal lines and the line at 1: class, begin, end."""
    content = page_of_blocks([Heading("bench", 1), Intervals("speed-up", estimates)]).decode()
    found = re.findall(
        r'<line x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)" y2="([\d.]+)" class="(\w+)"', content
    )
    return [(kind, float(x1), float(x2)) for x1, x2, y1, y2, kind in found if y1 == y2 or kind == "one"]


def test_what_is_sure_is_told_from_what_is_open() -> None:
    better, worse, either = (
        Estimate("a", 2, 1.5, 3),
        Estimate("b", 0.5, 0.4, 0.7),
        Estimate("c", 1.1, 0.9, 1.3),
    )
    kinds = [kind for kind, _, _ in lines(better, worse, either) if kind != "one"]
    assert kinds == ["better", "worse", "open"]


def test_all_share_an_axis_on_which_twice_is_as_far_as_half() -> None:
    one, twice, other, half = lines(Estimate("a", 2, 2, 2), Estimate("b", 0.5, 0.5, 0.5))
    assert (one[0], other[0]) == ("one", "one")
    assert one[1:] == other[1:]
    assert twice[1] - one[1] == pytest.approx(one[1] - half[1], abs=0.1)


def test_an_interval_without_bounds_ends_at_the_edge() -> None:
    _, whole = lines(Estimate("a", 0.74, 1e-300, 1e300))
    assert whole == ("open", 0, 600)


def axis(*estimates: Estimate) -> str:
    """What the drawing shows, in words."""
    content = page_of_blocks([Intervals("speed-up", estimates)]).decode()
    (told,) = re.findall(r">([\d.<> ]+ to [\d.<> ]+), the line is at 1<", content.replace("&gt;", ">"))
    return str(told)


def test_the_axis_goes_a_quarter_beyond_every_estimate_and_one() -> None:
    assert axis(Estimate("a", 2, 2, 2)) == "0.80 to 2.50"
    assert axis(Estimate("a", 0.5, 0.5, 0.5)) == "0.40 to 1.25"


def test_the_axis_holds_an_interval_up_to_four_times_as_far_as_the_estimates() -> None:
    assert axis(Estimate("a", 2, 0.5, 8)) == "0.50 to 8.00"
    assert axis(Estimate("a", 2, 0.1, 20)) == "0.20 to 10.00"


def test_text_leaves_them_out() -> None:
    assert to_markdown([Heading("Time"), Intervals("speed-up", [Estimate("a", 2, 1, 3)])]) == "## Time\n"
