"""The breaks of a report that has nothing else, in the order in which the findings have them."""

from ..break_costs import BreakCost
from ..figures import Figures
from .breaks import breaks
from .identity import as_findings, by_identity
from .ranking import ranked


def ranked_breaks(figures: Figures) -> list[BreakCost]:
    """Every distinct break with its cost, as `find` ranks them: what is one finding stands together."""
    drafts = list(breaks(figures))
    costs = {id(draft): cost for draft, cost in zip(drafts, figures.breaks, strict=True)}
    same = by_identity(drafts)
    return [costs[id(draft)] for each in ranked(as_findings(drafts)) for draft in same[each.identity]]
