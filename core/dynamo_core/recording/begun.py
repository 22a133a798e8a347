"""Which compile a record belongs to, and the frame that each compile began with."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any

from ..model import UNKNOWN_FILE, CompileId, Compiling, Graph, Place, Process, StackFrame
from .structured import Handler
from .trace_format import Damaged, Record

_LARGEST_ID = 2**63
_MOST_CONTEXTS = 256  # the records of a compile have a few
# Lines around the user's calls that are nobody's business: between the last and the frame that is compiled,
# and those of pytest, which called the first.
_PLUMBING = re.compile(
    r"/torch/_dynamo/|/torch/nn/modules/module\.py$|/dynamo_core/capture/|-packages/(?:_pytest|pluggy)/"
)


class CompileContext:
    """Tells compiles apart, though torch's ids begin anew after `torch._dynamo.reset()`."""

    def __init__(self, process: Process, file_names: dict[int, str]) -> None:
        """`file_names` are those that are known before the first record, by their numbers."""
        self._process = process
        self.file_names = file_names
        self._plumbing = {number for number, file in file_names.items() if _PLUMBING.search(file)}
        self._frames: dict[CompileId | None, StackFrame] = {}
        self._autograds: dict[tuple[Any, Any], int] = {}
        self.generation = 0
        self._ids: dict[bytes, CompileId | None] = {}  # of contexts since the last compile began

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {"str": self._intern, "dynamo_start": self._dynamo_start}

    def frame(self, compile_id: CompileId | None) -> StackFrame | None:
        """The frame that a compile began with."""
        return self._frames.get(compile_id)

    def id_of(self, record: Record) -> CompileId | None:
        """The compile that a record belongs to. Records of ours lack compiled autograd's number of it."""
        context = record.context
        if context is None:
            return self._id_in(record.metadata)
        if context not in self._ids:
            if len(self._ids) >= _MOST_CONTEXTS:
                self._ids.clear()
            self._ids[context] = self._id_in(record.metadata)
        return self._ids[context]

    def _id_in(self, metadata: Mapping[str, Any]) -> CompileId | None:
        frame, compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
        autograd = metadata.get("compiled_autograd_id")
        for number in (frame, compile_, autograd):
            if number is not None and not (type(number) is int and 0 <= number <= _LARGEST_ID):
                raise Damaged("a compile id that torch would not give")
        if frame is None or compile_ is None:
            return None if autograd is None else CompileId(None, None, autograd, self.generation)
        if autograd is None:
            autograd = self._autograds.get((frame, compile_))
        return CompileId(frame, compile_, autograd, self.generation)

    def stack(self, frames: Iterable[Mapping[str, Any]]) -> list[StackFrame]:
        """A stack of torch's, whose file names are numbers."""
        return [
            StackFrame(Place(self._file_of(frame), frame["line"]), frame["name"], frame.get("loc") or "")
            for frame in frames
        ]

    def _file_of(self, frame: Mapping[str, Any]) -> str:
        return self.file_names.get(frame["filename"], UNKNOWN_FILE)

    def _intern(self, record: Record) -> None:
        text, number = record.metadata["str"]
        self.file_names[number] = text
        (self._plumbing.add if _PLUMBING.search(text) else self._plumbing.discard)(number)

    def _dynamo_start(self, record: Record) -> None:
        self._ids.clear()
        self._note_autograd(record.metadata)
        compile_id = self.id_of(record)
        if compile_id in self._frames and not record.metadata.get("attempt"):
            self.generation += 1  # torch._dynamo.reset() lets the ids begin anew
            self._ids.clear()
            compile_id = self.id_of(record)
        rank = record.metadata.get("rank")
        if isinstance(rank, int):
            self._process.rank = rank
        *callers, frame = record.metadata["dynamo_start"]["stack"]
        (self._frames[compile_id],) = self.stack([frame])
        plumbing = self._plumbing
        self._process.callers[compile_id] = tuple(
            self.stack(each for each in callers if each["filename"] not in plumbing)
        )

    def _note_autograd(self, metadata: Mapping[str, Any]) -> None:
        """Whether the compile that begins is one of compiled autograd's; ids can begin anew without it."""
        compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
        self._autograds.pop(compile_, None)
        if metadata.get("compiled_autograd_id") is not None:
            self._autograds[compile_] = metadata["compiled_autograd_id"]


# Which compiles have begun and not ended, from the records that are written at both moments.


class InProgressBuilder:
    """Keeps `compiling` of a process, whether it is read while it runs or after it was killed."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def began(self, compile_id: Any, frame: StackFrame | None, began_ns: int, is_backward: bool) -> None:
        """torch has begun to compile a frame or a backward; analysis that begins anew is the same compile."""
        if self._find(compile_id) is None:
            name, place = (None, None) if frame is None else (frame.function, frame.place)
            self._process.compiling.append(Compiling(compile_id, name, place, began_ns, is_backward))

    def handed_over(self, graph: Graph, backend_ns: int | None) -> None:
        """The backend has the graph now."""
        at = self._find(graph.compile_id)
        if at is not None:
            compiling = self._process.compiling
            compiling[at] = replace(
                compiling[at], graph=graph.number, ops=graph.ops, backend=graph.backend, backend_ns=backend_ns
            )

    def returned(self, graph: Graph) -> None:
        """The backend is done with the graph."""
        at = self._find(graph.compile_id)
        if at is not None:
            compiling = self._process.compiling
            compiling[at] = replace(compiling[at], graph=None, ops=None, backend=None, backend_ns=None)

    def interrupted(self, compile_id: Any, ended_ns: int | None, by: str | None) -> None:
        """By what is no error, and so goes on to the program."""
        at = self._find(compile_id)
        if at is not None:
            compiling = self._process.compiling[at]
            self._process.interrupted.append(
                replace(compiling, interrupted_ns=ended_ns, interrupted_by=(by or "an exit").strip(": "))
            )

    def ended(self, compile_id: Any) -> None:
        """A compile is over, whether it succeeded or not."""
        at = self._find(compile_id)
        if at is not None:
            del self._process.compiling[at]

    def _find(self, compile_id: Any) -> int | None:
        ids = [each.compile_id for each in self._process.compiling]
        return ids.index(compile_id) if compile_id in ids else None


# Has a decorated function stand at its `def`: torch knows it by its code's first line, a decorator's.


def use_def_lines(process: Process) -> None:
    """Put the line of the `def` in place of the first one, wherever a function stands that Dynamo was given.

    A call on the decorator's line stays there: `@torch.compile` itself is one.
    """
    moved = {first: at_def for at_def, first in process.first_lines.items()}
    if not moved:
        return
    at_functions = (
        *(process.frames, process.compiles, process.compiling, process.interrupted),
        *(process.not_compiled, process.deferred, process.bytecodes, process.tracing),
    )
    for each in chain.from_iterable(at_functions):
        _move(each, "place", moved)
    for graph in process.graphs:
        _move(graph, "frame_place", moved)


def _move(item: object, name: str, moved: dict[Place, Place]) -> None:
    at_def = moved.get(getattr(item, name))
    if at_def is not None:
        object.__setattr__(item, name, at_def)  # frozen ones too: nobody has seen them yet


# Calls the cells of a notebook by their numbers, `In[3]`; torch knows them by made-up names of files.


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
        """The value with the names of notebook cells put in; the same object unless a text or a tuple."""
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
