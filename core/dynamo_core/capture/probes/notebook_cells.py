"""Probe: the cells of a notebook: the execution number of each file name under which a cell is compiled.

Source: IPython/core/compilerop.py (CachingCompiler.cache, _filename_map) of IPython 9.17, and
ipykernel/compiler.py (XCachingCompiler.get_code_name) of ipykernel 7.3, which makes the name from a hash of
the cell: /tmp/ipykernel_<pid>/<hash>.py.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...shared.records import NotebookCell

if TYPE_CHECKING:
    from ..engine_parts import EngineParts


def install(torch: ModuleType, parts: "EngineParts") -> None:
    """Record the cells that have run, and each later one; do nothing where no notebook runs."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    compiler = shell.compile

    @parts.probes.guarded("cells of a notebook")
    def note(file: str, number: int) -> None:
        parts.stream.record(NotebookCell(file=file, number=number))

    original = compiler.cache

    def cache(transformed_code: str, number: int = 0, *args: Any, **kwargs: Any) -> Any:
        file = original(transformed_code, number, *args, **kwargs)
        note(file, number)
        return file

    for file, number in dict(getattr(compiler, "_filename_map", {})).items():
        note(file, number)
    compiler.cache = cache
