"""Which compile each record belongs to, which compiles are in progress, and names of functions and cells.

`CompileContext` and `InProgressBuilder` follow the records as they are read. `use_def_lines` and `name_cells`
rewrite places in a process that has been read completely.
"""

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
# Stack lines that callers leave out: torch's and ours between the user's call and the compiled frame, and
# those of pytest above the test.
_PLUMBING = re.compile(
    r"/torch/_dynamo/|/torch/nn/modules/module\.py$|/dynamo_core/capture/|-packages/(?:_pytest|pluggy)/"
)


class CompileContext:
    """Gives the compile id of each record, and the frame that each compile began with.

    Torch's ids start again from 0 after `torch._dynamo.reset()`: a `generation` keeps them distinct.
    """

    def __init__(self, process: Process, file_names: dict[int, str]) -> None:
        """`file_names` are the interned file names that are known before the first record, by number."""
        self._process = process
        self.file_names = file_names
        self._plumbing = {number for number, file in file_names.items() if _PLUMBING.search(file)}
        self._frames: dict[CompileId | None, StackFrame] = {}
        self._autograds: dict[tuple[Any, Any], int] = {}
        self.generation = 0
        self._ids: dict[bytes, CompileId | None] = {}  # by record context; emptied when a compile begins

    def handlers(self) -> dict[str, Handler]:
        """The handler of each kind of record."""
        return {"str": self._intern, "dynamo_start": self._dynamo_start}

    def frame(self, compile_id: CompileId | None) -> StackFrame | None:
        """The frame that a compile began with."""
        return self._frames.get(compile_id)

    def id_of(self, record: Record) -> CompileId | None:
        """The compile that a record belongs to.

        Our own records do not name compiled autograd's number: it is added from torch's.
        """
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
        """A stack from a record of torch's, which gives file names as numbers."""
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
            self.generation += 1  # after torch._dynamo.reset() the ids start again
            self._ids.clear()
            compile_id = self.id_of(record)
        rank = record.metadata.get("rank")
        if isinstance(rank, int):
            self._process.rank = rank
        *callers, frame = record.metadata["dynamo_start"]["stack"]
        (self._frames[compile_id],) = self.stack([frame])
        plumbing = self._plumbing
        self._process.callers[compile_id] = tuple(
            self.stack(caller for caller in callers if caller["filename"] not in plumbing)
        )

    def called_from(self, compile_id: CompileId | None, line: StackFrame | None) -> None:
        """Add the line that called a compiled frame where torch's stack lacks it.

        Torch leaves off the innermost lines of some stacks: it counts more calls of its own than there are.
        """
        if compile_id is None or line is None or _PLUMBING.search(line.place.file):
            return
        callers = self._process.callers.get(compile_id, ())
        if line.place not in [caller.place for caller in callers]:
            self._process.callers[compile_id] = (*callers, line)

    def _note_autograd(self, metadata: Mapping[str, Any]) -> None:
        """Note compiled autograd's number of a compile that begins; forget an earlier one of this id."""
        compile_ = metadata.get("frame_id"), metadata.get("frame_compile_id")
        self._autograds.pop(compile_, None)
        if metadata.get("compiled_autograd_id") is not None:
            self._autograds[compile_] = metadata["compiled_autograd_id"]


class InProgressBuilder:
    """Keeps `Process.compiling`, the compiles that have begun and not ended.

    Such compiles are found in a process that is read while it runs, and in one that was killed.
    """

    def __init__(self, process: Process) -> None:
        self._process = process

    def began(self, compile_id: Any, frame: StackFrame | None, began_ns: int, is_backward: bool) -> None:
        """Torch begins to compile a frame or a backward; a restarted analysis is still the same compile."""
        if self._find(compile_id) is None:
            name, place = (None, None) if frame is None else (frame.function, frame.place)
            self._process.compiling.append(Compiling(compile_id, name, place, began_ns, is_backward))

    def handed_over(self, graph: Graph, backend_ns: int | None) -> None:
        """The backend begins to compile the graph."""
        begun = {"graph": graph.number, "ops": graph.ops, "backend": graph.backend, "backend_ns": backend_ns}
        self._change(graph.compile_id, begun)

    def returned(self, graph: Graph) -> None:
        """The backend has compiled the graph."""
        self._change(graph.compile_id, dict.fromkeys(("graph", "ops", "backend", "backend_ns")))

    def interrupted(self, compile_id: Any, ended_ns: int | None, by: str | None) -> None:
        """A compile was interrupted by Ctrl-C or the program's own exit: no error of the compiler."""
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

    def _change(self, compile_id: Any, changes: Mapping[str, Any]) -> None:
        at, compiling = self._find(compile_id), self._process.compiling
        if at is not None:
            compiling[at] = replace(compiling[at], **changes)

    def _find(self, compile_id: Any) -> int | None:
        ids = [each.compile_id for each in self._process.compiling]
        return ids.index(compile_id) if compile_id in ids else None


def use_def_lines(process: Process) -> None:
    """Give decorated functions the line of their `def`, wherever the process names them.

    Torch knows a function by the first line of its code, which is a decorator's. A call on that line keeps
    it: `@torch.compile` itself is one.
    """
    moved = {first: at_def for at_def, first in process.first_lines.items()}
    if not moved:
        return
    changed = process.interventions
    at_functions = (
        *(process.frames, process.compiles, process.compiling, process.interrupted, process.bytecodes),
        *(process.tracing, changed.not_compiled, changed.deferred),
    )
    for item in chain.from_iterable(at_functions):
        _move(item, "place", moved)
    for graph in process.graphs:
        _move(graph, "frame_place", moved)


def _move(item: object, name: str, moved: dict[Place, Place]) -> None:
    at_def = moved.get(getattr(item, name))
    if at_def is not None:
        object.__setattr__(item, name, at_def)  # frozen ones too: nobody has seen them yet


_IN_A_PATH = re.compile(r"[\w./\\-]")


def name_cells(process: Process, cells: Mapping[str, int]) -> None:
    """Call the cells of a notebook by their numbers, `In[3]`, wherever the process names them.

    IPython gives torch the name of a file that does not exist. `cells` has the number by that name.
    """
    if cells:
        _CellNames(cells).rename(process)


class _CellNames:
    """Replaces file names of cells in a tree of objects.

    Objects are changed in place, so that what two lists share stays shared. Strings and tuples are replaced.
    """

    def __init__(self, cells: Mapping[str, int]) -> None:
        self._cells = {
            os.path.basename(file): (os.path.dirname(file), number) for file, number in cells.items()
        }
        self._pattern = re.compile("|".join(map(re.escape, self._cells)))
        self._seen: set[int] = set()  # of objects that the process holds, so that no id is given twice

    def rename(self, value: Any) -> Any:
        """The value with the names of cells in it: the same object, unless it is a string or a tuple."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple):
            parts = [self.rename(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if id(value) in self._seen:
            return value
        if isinstance(value, list):
            self._seen.add(id(value))
            value[:] = [self.rename(part) for part in value]
        elif isinstance(value, dict):
            self._seen.add(id(value))
            changed = {self.rename(key): self.rename(part) for key, part in value.items()}
            value.clear()
            value.update(changed)
        elif is_dataclass(value) and not isinstance(value, type):
            self._seen.add(id(value))
            for field in fields(value):
                # Frozen ones too: nobody has seen them yet.
                object.__setattr__(value, field.name, self.rename(getattr(value, field.name)))
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
    """The longest end of the folder's path that the text ends with: torch truncates paths at the front."""
    return next((folder[start:] for start in range(len(folder)) if text.endswith(folder[start:])), "")
