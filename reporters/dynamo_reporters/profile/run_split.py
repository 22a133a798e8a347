"""Where the wall time of each process went, as a table that adds up."""

from collections.abc import Iterator

from dynamo_core.analysis.time.wall import Part, WallTime, wall_time
from dynamo_core.analysis.words import process_title, seconds
from dynamo_core.model import Recording

from ..page.bar import bar
from ..page.blocks import Block, Bullets, Heading, Paragraph, table
from ..shares import shares_of

_LEAST_SHARE = 0.01  # of the wall time, for a part of a part to be listed
_LEAST_REST = 0.005  # of a part, for what its own parts leave of it to be listed
_NO_BEGIN = "When this process began was not recorded: a plain torch trace does not tell. `dynamo run` does."


def run_split_blocks(recording: Recording, show_all: bool) -> Iterator[Block]:
    """A table for each process."""
    for process in recording.processes:
        wall = wall_time(process, recording)
        which = process_title(process, recording)
        if wall is None:
            yield Heading(f"Wall time{which}: not recorded")
            yield Paragraph(_NO_BEGIN)
            continue
        yield Heading(f"Wall time{which}: {seconds(wall.seconds)}")
        if not wall.saw_end:
            yield Paragraph("It was cut off: this is up to the last that was noted of it.", "warning")
        yield table("spent on|time>|share>|known by|", list(_rows(wall, show_all)))
        notes = [f"{part.name}: {part.note}." for part in wall.parts if part.note and part.seconds]
        if notes:
            yield Bullets(notes, "dim")
        forked = process.info.forked
        if forked:
            yield Paragraph("It was forked: what came before the fork is its parent's.", "dim")


def _rows(wall: WallTime, show_all: bool) -> Iterator[list[str]]:
    shares = shares_of([part.seconds for part in wall.parts], wall.seconds)
    for part, share in zip(wall.parts, shares, strict=True):
        drawn = bar(part.seconds or 0.0, wall.seconds, 20)
        yield [part.name, seconds(part.seconds), share, part.basis, drawn]
        yield from _inner(part, wall, show_all, 1)


def _inner(part: Part, wall: WallTime, show_all: bool, depth: int) -> Iterator[list[str]]:
    listed = [p for p in part.parts if show_all or (p.seconds or 0.0) >= _LEAST_SHARE * wall.seconds]
    rest = (part.seconds or 0.0) - sum(p.seconds or 0.0 for p in listed)
    has_rest = rest >= _LEAST_REST * (part.seconds or 0.0)
    if len(listed) == 1 and not has_rest:
        return  # it is all of it
    for inner in sorted(listed, key=lambda p: -(p.seconds or 0.0)):
        yield _inner_row(inner.name, inner.seconds, wall, depth)
        yield from _inner(inner, wall, show_all, depth + 1)
    if listed and has_rest:
        yield _inner_row("the rest", rest, wall, depth)


def _inner_row(name: str, spent: float | None, wall: WallTime, depth: int) -> list[str]:
    (share,) = shares_of([spent], wall.seconds)
    return ["  " * depth + "· " + name, seconds(spent), share, "", ""]
