"""Calls the cells of a notebook by their numbers, `In[3]`; torch knows them by made-up names of files."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from ..model import Process

_IN_A_PATH = re.compile(r"[\w./\\-]")


def name_cells(process: Process, cells: Mapping[str, int]) -> None:
    """Put the cell's name in place of its file, wherever the process has it."""
    if cells:
        _Renaming(cells).renamed(process)


class _Renaming:
    """Changes objects in place, so that what two lists share stays shared; not texts and tuples."""

    def __init__(self, cells: Mapping[str, int]) -> None:
        self._cells = {
            os.path.basename(file): (os.path.dirname(file), number) for file, number in cells.items()
        }
        self._pattern = re.compile("|".join(map(re.escape, self._cells)))
        self._seen: set[int] = set()  # of objects that the process holds, so that no id is given twice

    def renamed(self, value: Any) -> Any:
        """The same with the cells' names; it is the same object unless it is a text or a tuple."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple):
            parts = [self.renamed(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if id(value) in self._seen:
            return value
        if isinstance(value, list):
            self._seen.add(id(value))
            value[:] = [self.renamed(part) for part in value]
        elif isinstance(value, dict):
            self._seen.add(id(value))
            changed = {self.renamed(key): self.renamed(part) for key, part in value.items()}
            value.clear()
            value.update(changed)
        elif is_dataclass(value) and not isinstance(value, type):
            self._seen.add(id(value))
            for field in fields(value):
                # Frozen ones too: nobody has seen them yet.
                object.__setattr__(value, field.name, self.renamed(getattr(value, field.name)))
        return value

    def _text(self, text: str) -> str:
        changed, position = "", 0
        for found in self._pattern.finditer(text):
            folder, number = self._cells[found[0]]
            before = text[position : found.start()]
            rest = before.removesuffix(_common_end(before, f"{folder}/" if folder else ""))
            if rest and _IN_A_PATH.match(rest[-1]):
                continue  # another file of this name
            changed += f"{rest}In[{number}]"
            position = found.end()
        return changed + text[position:]


def _common_end(text: str, folder: str) -> str:
    """The longest end of the folder's path that the text ends with: torch cuts paths short."""
    return next((folder[start:] for start in range(len(folder)) if text.endswith(folder[start:])), "")
