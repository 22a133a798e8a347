"""What a compile cost, and in which phase."""

from dynamo_core.analysis.words import compile_label, frame_name, place, seconds
from dynamo_core.model import Compile

from .detail import Detail
from .page.blocks import Block, Heading


def times_blocks(compile_: Compile, detail: Detail) -> list[Block]:
    """One line a compile; phases include those that they call (dynamo ⊃ backend ⊃ inductor)."""
    what = "" if compile_.is_forward else "backward of "
    line = f"compile {compile_label(compile_.compile_id)} {what}{frame_name(compile_.name, compile_.method)} "
    line += f"took {seconds(compile_.seconds)}"
    if detail is not Detail.LESS:
        phases = [f"{name} {seconds(value)}" for name, value in compile_.phases.items()]
        if phases:
            line += f" (cumulative: {', '.join(phases)})"
    if detail is Detail.MORE:
        line += f" at {place(compile_.place)}"
        if compile_.cache_hits is not None and compile_.cache_misses is not None:
            line += f"; caches: {compile_.cache_hits} hits, {compile_.cache_misses} misses"
    return [Heading(line, 3)]
