"""Which compile a record belongs to, and the frame that each compile began with."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..model import UNKNOWN_FILE, CompileId, Place, Process, StackFrame
from .payloads import Handler
from .records import Damaged, Record

_LARGEST_ID = 2**63
_MOST_CONTEXTS = 256  # the records of a compile have a few
# Lines around the user's calls that are nobody's business: between the last and the frame that is compiled,
# and those of pytest, which called the first.
_PLUMBING = re.compile(
    r"/torch/_dynamo/|/torch/nn/modules/module\.py$|/dynamo_core/capture/|-packages/(?:_pytest|pluggy)/"
)


class BegunCompiles:
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
