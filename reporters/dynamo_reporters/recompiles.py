"""Recompiles: which frame, and the guard that failed."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from dynamo_core.model import Compile

from .detail import Detail
from .text import compile_label, frame_name, place, seconds


def render_recompile(compile_: Compile, detail: Detail) -> RenderableType:
    """One recompile and torch's reason for it."""
    reason = (compile_.recompile_reason or "").strip()
    title = Text(f"recompile {compile_label(compile_.compile_id)} ", style="bold yellow")
    title.append(f"{frame_name(compile_.name)} ({place(compile_.place)})")
    if detail is Detail.LESS:
        return title
    lines = [Text(reason)]
    if detail is Detail.MORE:
        lines.append(Text(f"it took {seconds(compile_.seconds)}", style="dim"))
    return Group(title, Padding(Group(*lines), (0, 0, 0, 2)))
