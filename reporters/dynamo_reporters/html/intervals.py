"""Ratios with their intervals on one axis: a line at 1, what is better on its right."""

from math import log2

from ..page.blocks import Estimate, Intervals
from ..parts.speed_ups import factor, interval
from .element import Element, h

_WIDTH, _HEIGHT = 600, 16  # of the box of a drawing, which is stretched to the width that there is
_MARGIN = 1.25  # the axis goes this factor beyond each estimate and 1
_FURTHEST = 4.0  # an interval that goes further beyond all estimates ends at the edge
_TICK = 5


def drawn_intervals(block: Intervals) -> Element:
    """A row each: the name, the drawing, and the same in figures."""
    axis = _Axis(block)
    rows = [
        h(
            "tr",
            h("th", each.name, scope="row"),
            h("td", axis.drawing(each), class_="interval"),
            h("td", f"{factor(each.value)} ({interval(each.low, each.high)})", class_="number"),
        )
        for each in block.estimates
    ]
    head = h("thead", h("tr", [h("th", text, scope="col") for text in ("", axis.label, block.of)]))
    return h("div", h("table", head, h("tbody", rows), class_="intervals"), class_="scroll", tabindex="0")


class _Axis:
    """Ratios on a logarithmic axis from `low` to `high`."""

    def __init__(self, block: Intervals) -> None:
        values = [1.0, *(each.value for each in block.estimates)]
        least, most = min(values) / _MARGIN, max(values) * _MARGIN
        self.low = max(least / _FURTHEST, min([least, *(each.low for each in block.estimates)]))
        self.high = min(most * _FURTHEST, max([most, *(each.high for each in block.estimates)]))

    @property
    def label(self) -> str:
        """What the drawing shows, for a reader who cannot see it."""
        return f"{factor(self.low)} to {factor(self.high)}, the line is at 1"

    def drawing(self, estimate: Estimate) -> Element:
        """A line from end to end, and a tick where the estimate is."""
        begin, end, at, one = map(self._at, (estimate.low, estimate.high, estimate.value, 1.0))
        kind = "better" if estimate.low > 1 else "worse" if estimate.high < 1 else "open"
        said = f"{estimate.name}: {factor(estimate.value)} ({interval(estimate.low, estimate.high)})"
        middle = _HEIGHT / 2
        return h(
            "svg",
            h("line", x1=one, x2=one, y1=0, y2=_HEIGHT, class_="one"),
            h("line", x1=begin, x2=end, y1=middle, y2=middle, class_=kind),
            h("line", x1=at, x2=at, y1=middle - _TICK, y2=middle + _TICK, class_=kind),
            viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
            preserveAspectRatio="none",
            role="img",
            aria_label=said,
        )

    def _at(self, ratio: float) -> float:
        inside = min(max(ratio, self.low), self.high)
        return round(_WIDTH * log2(inside / self.low) / log2(self.high / self.low), 2)
