"""What a report has that is about one subject alone, in the order in which the findings have it."""

from collections.abc import Iterable
from typing import TypeVar

from ..break_costs import BreakCost
from ..figures import Figures
from ..given_up import GivenUp
from ..recompiles import FrameRecompiles
from .breaks import breaks
from .draft import Draft
from .fallbacks import of_frame, to_be_cured
from .identity import as_findings, by_identity
from .ranking import ranked
from .recompiles import of_frame as recompiles_of_frame

_Subject = TypeVar("_Subject")


def ranked_breaks(figures: Figures) -> list[BreakCost]:
    """Every distinct break with its cost: what is one finding stands together."""
    return _in_order(_breaks(figures))


def ranked_problems(figures: Figures) -> list[BreakCost | GivenUp]:
    """Every distinct break, and every frame that was given up for something else that can be cured."""
    frames = [(given_up, of_frame(figures, given_up)) for given_up in to_be_cured(figures)]
    return _in_order([*frames, *_breaks(figures)])


def ranked_recompiles(figures: Figures) -> list[FrameRecompiles]:
    """Every frame that was compiled again, each where the first of its findings stands."""
    return _in_order(
        (frame, draft) for frame in figures.recompiled for draft in recompiles_of_frame(figures, frame)
    )


def _breaks(figures: Figures) -> Iterable[tuple[BreakCost, Draft]]:
    return zip(figures.breaks, breaks(figures), strict=True)


def _in_order(told: Iterable[tuple[_Subject, Draft]]) -> list[_Subject]:
    known = list(told)
    drafts = [draft for _, draft in known]
    subjects = {id(draft): subject for subject, draft in known}
    same = by_identity(drafts)
    in_order = (subjects[id(draft)] for each in ranked(as_findings(drafts)) for draft in same[each.identity])
    return list({id(subject): subject for subject in in_order}.values())
