"""Probe: the cells of a notebook: the execution number of each file name under which a cell is compiled.

Source: IPython/core/compilerop.py (CachingCompiler.cache, _filename_map) of IPython 9.17, and
ipykernel/compiler.py (XCachingCompiler.get_code_name) of ipykernel 7.3, which makes the name from a hash of
the cell: /tmp/ipykernel_<pid>/<hash>.py. Where IPython runs a notebook's file, it gives each cell the number
1 (IPython/core/interactiveshell.py, safe_execfile_ipy): there the number is the one that a kernel would give.
"""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import NotebookCell
from ..frames.program_files import cells_of_program

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


def install(torch: ModuleType, parts: "EngineParts") -> None:
    """Record the cells that have run, and each later one; do nothing where no notebook runs."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    compiler = shell.compile
    numbers = {cell: number for number, cell in enumerate(cells_of_program(), 1)}

    @parts.probes.guarded("cells of a notebook")
    def note(file: str, number: int) -> None:
        parts.stream.record(NotebookCell(file=file, number=number))

    original = compiler.cache
    of_running_cell = 0  # in a notebook's file; code that a cell has compiled is the cell's

    def cache(transformed_code: str, number: int = 0, raw_code: str | None = None, **kwargs: Any) -> Any:
        nonlocal of_running_cell
        file = original(transformed_code, number, raw_code, **kwargs)
        of_running_cell = numbers.get(raw_code or transformed_code, of_running_cell)
        note(file, of_running_cell or number)
        return file

    by_file = dict(_cells_by_file(shell, numbers))
    for file, number in dict(getattr(compiler, "_filename_map", {})).items():
        note(file, by_file.get(file, number))
    compiler.cache = cache


def _cells_by_file(shell: Any, numbers: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The numbers of a notebook's cells by the names that IPython has compiled them under, or would."""
    for cell, number in numbers.items():
        try:
            code = shell.transform_cell(cell)
        except SyntaxError:  # such a cell has not run
            continue
        yield shell.compile.get_code_name(cell, code, shell.execution_count), number
