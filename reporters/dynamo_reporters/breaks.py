"""Graph breaks: where, why, and what torch says to do."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from dynamo_core.model import GraphBreak

from .detail import Detail
from .text import compile_label, number, place


def render_break(graph_break: GraphBreak, detail: Detail, times: int = 1) -> RenderableType:
    """One break: place and kind; the user's line, explanation and hints; with MORE, the whole user stack."""
    title = Text(f"graph break {compile_label(graph_break.compile_id)} ", style="bold yellow")
    title.append(f"{place(graph_break.place)} ", style="bold")
    title.append(graph_break.kind)
    explanation = graph_break.explanation
    if explanation and explanation.registry_id:
        title.append(f" ({explanation.registry_id})")
    if times > 1:
        title.append(f", met {number(times, 'time')}")
    if detail is Detail.LESS:
        return title
    lines: list[Text] = []
    stack = graph_break.stack if detail is Detail.MORE else graph_break.stack[-1:]
    for where, name, text in stack:
        if detail is Detail.MORE:
            lines.append(Text(f"{place(where)} in {name}", style="dim"))
        if text:
            lines.append(Text(f"  {text.strip()}"))
    if explanation is not None:
        if explanation.explanation:
            lines.append(Text(explanation.explanation.partition("\n\n")[0]))
        lines += [Text(f"hint: {hint}", style="green") for hint in explanation.hints]
    if detail is Detail.MORE:
        lines.append(Text(f"torch's reason: {graph_break.reason}", style="dim"))
    return Group(title, Padding(Group(*lines), (0, 0, 0, 2)))
