"""Original and modified bytecode, aligned under the source lines that they come from."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Literal

from dynamo_core.analysis.bytecode.resume_chain import is_resume_function
from dynamo_core.analysis.bytecode.rewritten import (
    Rewritten,
    Statement,
    instruction_text,
    is_noise,
    plain_argument,
    prologue,
    read_rewritten,
    without_marks,
)
from dynamo_core.analysis.words import number
from dynamo_core.model import Bytecode, Instruction
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Change

_MOST_ARGUMENTS = 6
_OPCODE_WIDTH = 26
_MARK = "record_pregraph_bytecode"
# What Dynamo calls in torch/_dynamo/utils.py, and why.
_HELPERS = {
    f"{_MARK}_enter": "tells a profiler that Dynamo's code before a graph begins",
    f"{_MARK}_exit": "tells a profiler that Dynamo's code before a graph ends",
    "object_setattr_ignore_descriptor": "sets an attribute that the frame sets, which tracing only noted",
}
_OWN_CALL = re.compile(r"__compiled_fn_|__resume_at_")


@dataclass(frozen=True)
class Aligned:
    """An instruction on one side or on both, by its index there."""

    kind: Annotated[
        Literal["kept", "removed", "inserted"], "kept: same opcode, argument and line on both sides"
    ]
    original: Annotated[int | None, "index in original; null where it is inserted"]
    modified: Annotated[int | None, "index in modified; null where it is removed"]


def align(bytecode: Bytecode, is_whole: bool = False) -> list[Aligned]:
    """Every instruction of both sides, in order. Those that mean nothing are left out unless `is_whole`.

    Kept is what has its opcode, argument and line; offsets and the targets of jumps may differ. Dynamo's own
    code carries lines of the program too, so what is known to be its own is never taken for the program's.
    """
    before = _minded(bytecode.original, is_whole)
    after = _minded(bytecode.modified, is_whole)
    gone = prologue(bytecode.original) if is_resume_function(bytecode) else range(0)
    own = _dynamos_own(bytecode)
    matcher = difflib.SequenceMatcher(
        None,
        [_key(bytecode.original[i]) if i not in gone else ("gone", i) for i in before],
        [_key(bytecode.modified[i]) if i not in own else ("own", i) for i in after],
        autojunk=False,
    )
    rows: list[Aligned] = []
    for operation, b0, b1, a0, a1 in matcher.get_opcodes():
        if operation == "equal":
            rows += [Aligned("kept", b, a) for b, a in zip(before[b0:b1], after[a0:a1], strict=True)]
        else:
            rows += [Aligned("removed", b, None) for b in before[b0:b1]]
            rows += [Aligned("inserted", None, a) for a in after[a0:a1]]
    return rows


def changes(
    bytecode: Bytecode, explanations: Mapping[str, str], graph_names: Mapping[str, str], show_all: bool
) -> list[Change]:
    """The rows of a comparison: each inserted run that does one thing is one row, unless `show_all`.

    `explanations` says of Dynamo's globals what they stand for, `graph_names` what to call the graphs.
    """
    return list(_Rows(bytecode, explanations, graph_names, show_all).changes())


def shortened(text: str) -> str:
    """A call of many arguments with the first ones only, and how many there are."""
    head, parenthesis, rest = text.partition("(")
    arguments = rest[:-1].split(", ")
    is_call = parenthesis and rest.endswith(")") and re.search(r"graph_\d+$", head)
    if not is_call or len(arguments) <= _MOST_ARGUMENTS + 1:
        return text
    return f"{head}({', '.join(arguments[:_MOST_ARGUMENTS])}, … {len(arguments) - _MOST_ARGUMENTS} more)"


def _minded(instructions: Sequence[Instruction], is_whole: bool) -> list[int]:
    return [i for i, instruction in enumerate(instructions) if is_whole or not is_noise(instruction)]


def _dynamos_own(bytecode: Bytecode) -> set[int]:
    """The modified instructions that call a graph or a resume function, return, or mark a place."""
    own: set[int] = set()
    rewritten = read_rewritten(bytecode.modified, {})
    statements = without_marks(rewritten)
    for statement in rewritten.statements:
        is_own_call = _OWN_CALL.match(statement.calls or "") is not None
        if is_own_call or statement not in statements or statement.text.startswith("return "):
            own.update(range(statement.start, statement.end))
    return {i for i in own if bytecode.modified[i].opcode != "RESUME"}  # both sides begin with it


def _key(instruction: Instruction) -> tuple[str, str, int | None]:
    argument = "" if instruction.jump is not None else plain_argument(instruction)
    return instruction.opcode, argument, instruction.line


class _Rows:
    """Makes the rows of one comparison."""

    def __init__(
        self,
        bytecode: Bytecode,
        explanations: Mapping[str, str],
        graph_names: Mapping[str, str],
        show_all: bool,
    ) -> None:
        self._bytecode = bytecode
        self._explanations = {**_HELPERS, **explanations}
        self._show_all = show_all
        self._line: int | None = None
        rewritten = read_rewritten(bytecode.modified, graph_names)
        self._owners = _owners(rewritten, len(bytecode.modified))
        is_folded = is_resume_function(bytecode) and not show_all
        self._prologue = prologue(bytecode.original) if is_folded else range(0)

    def changes(self) -> Iterator[Change]:
        for kind, rows in groupby(align(self._bytecode, self._show_all), key=lambda row: row.kind):
            if kind == "inserted":
                yield from self._inserted([row.modified for row in rows if row.modified is not None])
                continue
            for is_prologue, run in groupby(rows, key=lambda row: row.original in self._prologue):
                if is_prologue:
                    yield self._prologue_note()
                    continue
                for row in run:
                    yield from self._from_source(row)

    def _prologue_note(self) -> Change:
        count = number(len(self._prologue), "instruction")
        return Change("note", f"      {count} that led to the break, over what had run before: gone")

    def _from_source(self, row: Aligned) -> Iterator[Change]:
        before = self._bytecode.original[row.original or 0]
        if before.line is not None and before.line != self._line:
            self._line = before.line
            yield Change("note", f"{before.line:>4}  {self._bytecode.source.get(before.line, '')}".rstrip())
        yield Change(row.kind, _text(before))

    def _inserted(self, run: Sequence[int]) -> Iterator[Change]:
        """Instructions of Dynamo's that stand together, by the statement that they make up."""
        if self._show_all:
            for i in run:
                instruction = self._bytecode.modified[i]
                yield Change("inserted", _text(instruction))
                yield from self._notes(plain_argument(instruction))
            return
        for statement, group in groupby(run, key=self._owners.__getitem__):
            indices = list(group)
            names = [plain_argument(self._bytecode.modified[i]) for i in indices]
            count = number(len(indices), "instruction")
            if statement is None:
                summary = f"…  # {count} that could not be read as Python; see --all"
            elif statement.end - 1 not in indices:
                summary = f"# {count} to prepare: {shortened(statement.text)}"
            else:
                has_marks = any(name.startswith(_MARK) for name in names)
                marks = ", some for the profiler" if has_marks else ""
                summary = f"{shortened(statement.text)}  # {count}{marks}"
            yield Change("inserted", summary)
            for name in names:
                if not name.startswith(_MARK):
                    yield from self._notes(name)

    def _notes(self, name: str) -> Iterator[Change]:
        if name in self._explanations:
            yield Change("note", f"      ↑ {self._explanations[name]}")


def _owners(rewritten: Rewritten, count: int) -> list[Statement | None]:
    """For every instruction the statement that it is part of; marks for a profiler go with what follows."""
    owners: list[Statement | None] = [None] * count
    start = 0
    for statement in without_marks(rewritten):
        owners[start : statement.end] = [statement] * (statement.end - start)
        start = statement.end
    return owners


def _text(instruction: Instruction) -> str:
    return f"{instruction.offset:>5} {instruction_text(instruction, _OPCODE_WIDTH)}"
