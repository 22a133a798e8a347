"""Words and numbers, the same in every report."""

import os
import re
from collections.abc import Sequence

from tabulate import tabulate

from dynamo_core.model import CompileId, Place

_RESUME = re.compile(r"torch_dynamo_resume_in_(.+)_at_(\d+)$")


def number(value: int | None, singular: str, plural: str | None = None) -> str:
    """`3 graphs`, `1 graph`, `graphs: not recorded`."""
    plural = plural or singular + "s"
    if value is None:
        return f"{plural}: not recorded"
    return f"{value:,} {singular if value == 1 else plural}"


def seconds(value: float | None) -> str:
    """A duration in the unit that suits it."""
    if value is None:
        return "not recorded"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.2f} s" if value < 100 else f"{value:,.0f} s"


def frame_name(name: str | None) -> str:
    """A frame as the user knows it: a resume function is the rest of the user's function."""
    if name is None:
        return "unknown frame"
    resumed = _RESUME.match(name)
    return f"{resumed[1]} (resumed at line {resumed[2]})" if resumed else name


def place(value: Place | None) -> str:
    """`file:line`; below the working directory relative to it, in a package relative to site-packages."""
    if value is None:
        return "unknown place"
    file = value.file
    _, in_package, rest = file.rpartition("/site-packages/")
    if in_package:
        file = rest
    else:
        try:
            file = file.removeprefix(os.getcwd() + os.sep)
        except OSError:  # the working directory is gone
            pass
    return f"{file}:{value.line}"


def compile_label(compile_id: CompileId | None) -> str:
    """`[0/1]`, as torch's own logs write it."""
    return f"[{compile_id}]" if compile_id is not None else "[-/-]"


def plain_table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as `torch.fx.Graph.print_tabular` lays it out; no cell is cut."""
    cells = [[str(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headers, disable_numparse=True)
