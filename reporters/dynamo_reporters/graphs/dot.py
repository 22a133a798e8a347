"""An FX graph in Graphviz's language, to be drawn by `dot`."""

from dynamo_core.analysis.drawing.graph_boxes import Box, BoxKind, Drawing

# Fill colours of Graphviz's default scheme that print well; inputs and outputs have round corners, too.
_LOOKS: dict[BoxKind, str] = {
    "input": 'style="filled,rounded", fillcolor="lightblue"',
    "op": 'fillcolor="white"',
    "output": 'style="filled,rounded", fillcolor="lightpink"',
}


def dot_text(drawing: Drawing, number: int, title: str) -> str:
    """The drawing of graph `number` as a `digraph`."""
    names = [_quoted(box.name) for box in drawing.boxes]
    return "\n".join(
        [
            f"digraph graph_{number} {{",
            f"  label={_quoted(title)}; labelloc=t;",
            '  node [shape=box, style="filled", fontname="monospace", fontsize=10];',
            *(f"  {name} [{_attributes(box)}];" for name, box in zip(names, drawing.boxes, strict=True)),
            *(f"  {names[giver]} -> {names[reader]};" for giver, reader in drawing.arrows),
            "}",
        ]
    )


def _attributes(box: Box) -> str:
    # Each line ends in `\l`: it is set to the left.
    label = "".join(f"{_escaped(line)}\\l" for line in box.lines)
    return f'label="{label}", tooltip={_quoted(box.whole)}, {_LOOKS[box.kind]}'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """What may stand in double quotes; a backslash would begin one of Graphviz's escapes (`\\N`, `\\l`)."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
