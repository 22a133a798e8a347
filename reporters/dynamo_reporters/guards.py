"""The guards of a cache entry."""

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from dynamo_core.model import GuardSet

from .detail import Detail
from .text import compile_label, number, place, plain_table


def render_guards(guard_set: GuardSet, detail: Detail) -> RenderableType:
    """The guards of one cache entry, by type and source; with MORE, the code and the user's line too."""
    guards = guard_set.guards
    by_type = Counter(guard.type for guard in guards)
    title = Text(f"guards {compile_label(guard_set.compile_id)} ", style="bold")
    title.append(number(len(guards), "guard"))
    if detail is Detail.LESS:
        title.append(": " + ", ".join(f"{count} {kind}" for kind, count in by_type.most_common()))
        return title
    headers = ["guard", "source"]
    rows = [[guard.type, guard.source] for guard in guards]
    if detail is Detail.MORE:
        headers += ["line", "check"]
        rows = [
            [*row, place(guard.place) if guard.place else "", " and ".join(guard.code)]
            for row, guard in zip(rows, guards, strict=True)
        ]
    return Group(title, Text(plain_table(headers, rows)), Text())
