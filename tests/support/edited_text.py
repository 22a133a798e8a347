"""Edits of `dynamo fix`, made in a piece of text."""

import textwrap

from dynamo_core.fix.edits import EDITS
from dynamo_core.fix.edits.parts import decided_outside, made_first


def edited(edit: str, text: str, operand: str | None = None) -> str | None:
    """The body behind `import torch`, edited on the line that ends in `# here`."""
    source = "import torch\n" + textwrap.dedent(text)
    (line,) = (n for n, each in enumerate(source.splitlines(), 1) if each.rstrip().endswith("# here"))
    if operand is None:
        changed = EDITS[edit](source, line)
    else:
        changed = {"decided outside": decided_outside, "made first": made_first}[edit](source, line, operand)
    if changed is None:
        return None
    compile(changed, "edited", "exec")
    return changed.removeprefix("import torch\n").lstrip("\n")


def text(body: str) -> str:
    return textwrap.dedent(body).lstrip("\n")
