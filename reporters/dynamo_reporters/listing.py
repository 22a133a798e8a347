"""`dynamo ls`: the recordings in a folder."""

import shlex
from collections.abc import Sequence

from dynamo_core.analysis.verdict import ending
from dynamo_core.analysis.words import memory, number
from dynamo_core.opening.listed import Listed

from .page.blocks import Block, Paragraph, table

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"))  # below so many seconds, in units of so many


def listing_blocks(recordings: Sequence[Listed], now_ns: int, left_out: int = 0) -> list[Block]:
    """A line for each: name, age, size, counts, how it ended, what ran; newest and running are marked."""
    if not recordings:
        return [Paragraph("no recordings")]
    rows = [_row(each, now_ns) for each in recordings]
    told: list[Block] = [table("recording|age>|size>|graphs>|breaks>|recompiles>|program|command", rows)]
    if left_out:
        told.insert(0, Paragraph(f"{number(left_out, 'older recording')}: --all shows all.", "dim"))
    return told


def age_text(seconds: float) -> str:
    """`12 s`, `5 min`, `3 h`, `41 d`."""
    for limit, unit_seconds, unit in _STEPS:
        if seconds < limit:
            return f"{max(0, int(seconds // unit_seconds))} {unit}"
    return f"{int(seconds // 86400):,} d"


def _row(each: Listed, now_ns: int) -> list[str]:
    age = "" if each.started_ns is None else age_text((now_ns - each.started_ns) / 1e9)
    size = "" if each.size is None else memory(each.size)
    if each.run is None:
        return [str(each.path), age, size, "", "", "", f"cannot be read: {each.problem}", ""]
    program = "running" if each.is_running else ending(each.run)
    if each.is_newest:
        program = f"newest, {program}"
    return [str(each.path), age, size, *_counts(each), program, shlex.join(each.run.command or [])]


def _counts(each: Listed) -> list[str]:
    if each.summary is None:
        return ["", "", ""]
    counts = (each.summary.graphs, each.summary.graph_breaks, each.summary.recompiles)
    return ["" if count is None else f"{count:,}" for count in counts]
