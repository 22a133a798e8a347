"""What a compile cost, and in which phase."""

from rich.console import RenderableType
from rich.text import Text

from dynamo_core.model import Compile

from .detail import Detail
from .text import compile_label, frame_name, place, seconds


def render_times(compile_: Compile, detail: Detail) -> RenderableType:
    """One line a compile; phases include those that they call (dynamo ⊃ backend ⊃ inductor)."""
    what = "" if compile_.is_forward else "backward of "
    line = Text(f"compile {compile_label(compile_.compile_id)} ", style="bold")
    line.append(f"{what}{frame_name(compile_.name)} took {seconds(compile_.seconds)}")
    if detail is Detail.LESS:
        return line
    phases = [f"{name} {seconds(value)}" for name, value in compile_.phases.items()]
    if phases:
        line.append(f" (cumulative: {', '.join(phases)})")
    if detail is Detail.MORE:
        line.append(f" at {place(compile_.place)}")
        if compile_.cache_hits is not None and compile_.cache_misses is not None:
            line.append(f"; caches: {compile_.cache_hits} hits, {compile_.cache_misses} misses")
    return line
