"""Original and modified bytecode of a frame."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from dynamo_core.model import Bytecode, Instruction

from .detail import Detail
from .text import compile_label, frame_name, number, place


def render_bytecode(bytecode: Bytecode, detail: Detail) -> RenderableType:
    """Both versions one after the other; with MORE, under the source lines that they come from."""
    before, after = len(bytecode.original), len(bytecode.modified)
    title = Text(f"bytecode {compile_label(bytecode.compile_id)} ", style="bold")
    title.append(f"{frame_name(bytecode.name)} ({place(bytecode.place)}): ")
    title.append(f"{number(before, 'instruction')} became {after:,}")
    if detail is Detail.LESS:
        return title
    source = bytecode.source if detail is Detail.MORE else {}
    return Group(
        title,
        Text("ORIGINAL BYTECODE", style="bold"),
        *_listing(bytecode.original, source),
        Text("MODIFIED BYTECODE", style="bold"),
        *_listing(bytecode.modified, source),
        Text(),
    )


def _listing(instructions: Sequence[Instruction], source: dict[int, str]) -> list[Text]:
    lines: list[Text] = []
    targets = {instruction.jump for instruction in instructions if instruction.jump is not None}
    previous: int | None = None
    for instruction in instructions:
        changed = instruction.line is not None and instruction.line != previous
        previous = instruction.line if changed else previous
        if changed and instruction.line in source:
            lines.append(Text(f"    # {source[instruction.line]}", style="dim"))
        number_shown = str(instruction.line) if changed else ""
        mark = ">>" if instruction.offset in targets else "  "
        argument = f"({instruction.argument})" if instruction.argument else ""
        row = f"{number_shown:>6} {mark} {instruction.offset:>5} {instruction.opcode:<30} {argument}"
        lines.append(Text(row.rstrip()))
    return lines
