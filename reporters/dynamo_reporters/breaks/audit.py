"""What `--fullgraph` says at the end of a run: each break, and the verdict in a line."""

from collections.abc import Iterable

from dynamo_core.analysis.fullgraph_audit import Audit
from dynamo_core.analysis.words import number
from dynamo_core.model import Recording

from ..page.blocks import Block
from .report import problem_blocks


def audit_blocks(recording: Recording) -> Iterable[Block]:
    """Every distinct break and every frame that Dynamo gave up, as `dynamo breaks` shows them."""
    return problem_blocks(recording)


def audit_sentence(found: Audit) -> str:
    """The verdict."""
    seen = f"{number(found.frames, 'frame')}, {number(found.graphs, 'graph')}"
    if found.is_clean:
        return f"no graph breaks in {seen}"
    parts = []
    if found.breaks:
        distinct = f" ({found.distinct_breaks} distinct)" if found.distinct_breaks != found.breaks else ""
        parts.append(number(found.breaks, "graph break") + distinct)
    if found.given_up:
        parts.append(f"{number(found.given_up, 'frame')} that could not be compiled")
    if parts:
        return f"{' and '.join(parts)} in {seen}"
    return f"{found.unseen}, so nothing can be said of graph breaks"
