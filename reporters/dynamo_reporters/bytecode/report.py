"""The report of bytecode: what Dynamo made of every frame."""

from collections.abc import Iterator, Sequence
from typing import Literal

from dynamo_core.analysis.bytecode.resume_chain import Links, Step, chain_text, explanations
from dynamo_core.analysis.bytecode.rewritten import instruction_text
from dynamo_core.analysis.words import compile_label, frame_name, number, place, process_title
from dynamo_core.case import Case
from dynamo_core.model import Bytecode, CompileId, Instruction, Process, Recording
from dynamo_core.shared import names

from ..page.blocks import Block, Code, Comparison, Heading, Paragraph
from ..parts.sections import also_missing
from ..report import Detail, Report
from .diff import changes
from .document import LEGEND, annotated_blocks, bytecodes_of, rewritten_blocks

View = Literal["listing", "diff", "source"]

_NOT_RECORDED = "bytecode was not recorded: this is a plain torch trace; `dynamo run` records it"


def report(view: View = "listing", show_all: bool = False) -> Report[Case]:
    """The report of `dynamo bytecode`: listings, a comparison, or annotated source."""
    return Report(
        "bytecode",
        lambda case: _page(case.recording, view, show_all),
        lambda case: bytecodes_of(case.recording),
        frozenset({names.BYTECODE, names.FX_GRAPH}),
    )


def bytecode_blocks(bytecode: Bytecode, detail: Detail) -> list[Block]:
    """Both versions one after the other; with MORE, under the source lines that they come from."""
    blocks: list[Block] = [Heading(_title(bytecode), 3)]
    if detail is Detail.LESS:
        return blocks
    source = bytecode.source if detail is Detail.MORE else {}
    for heading, instructions in (
        ("ORIGINAL BYTECODE", bytecode.original),
        ("MODIFIED BYTECODE", bytecode.modified),
    ):
        blocks.append(Code("\n".join([heading, *_listing(instructions, source)]), "text"))
    return blocks


def _title(bytecode: Bytecode) -> str:
    before, after = len(bytecode.original), len(bytecode.modified)
    return (
        f"bytecode {compile_label(bytecode.compile_id)} {frame_name(bytecode.name, bytecode.method)} "
        f"({place(bytecode.place)}): {number(before, 'instruction')} became {after:,}"
    )


def _listing(instructions: Sequence[Instruction], source: dict[int, str]) -> list[str]:
    lines: list[str] = []
    targets = {instruction.jump for instruction in instructions if instruction.jump is not None}
    previous: int | None = None
    for instruction in instructions:
        changed = instruction.line is not None and instruction.line != previous
        previous = instruction.line if changed else previous
        if changed and instruction.line in source:
            lines.append(f"    # {source[instruction.line]}")
        number_shown = str(instruction.line) if changed else ""
        mark = ">>" if instruction.offset in targets else "  "
        lines.append(f"{number_shown:>6} {mark} {instruction.offset:>5} {instruction_text(instruction, 30)}")
    return lines


def _page(recording: Recording, view: View, show_all: bool) -> Iterator[Block]:
    for process in recording.processes:
        yield Heading(f"{_count(process)}{process_title(process, recording)}", 1)
        yield from also_missing(process, "graphs", "graph breaks", "resume functions")
        if not process.bytecodes:
            yield Paragraph(_why_none(process))
            continue
        if view == "source":
            yield Paragraph(LEGEND, "dim")
        links = Links(process)
        shown: set[CompileId | None] = set()
        for chain in links.chains():
            yield from _chain_blocks(chain, links, view, show_all, shown)


def _count(process: Process) -> str:
    if not process.is_ours:
        return "bytecode"
    if not process.bytecodes and "bytecode" in process.health.failed_probes:
        return "compiled frames: not recorded"
    return number(len(process.bytecodes), "compiled frame")


def _why_none(process: Process) -> str:
    if not process.is_ours:
        return _NOT_RECORDED
    if "bytecode" in process.health.failed_probes:
        return f"bytecode was not recorded: {process.health.failed_probes['bytecode']}"
    return "no frame was compiled"


def _chain_blocks(
    chain: Step, links: Links, view: View, show_all: bool, shown: set[CompileId | None]
) -> Iterator[Block]:
    """One frame with its resume functions; those that several compiles of it share are `shown` once."""
    if chain.continuations or view == "source":
        name = frame_name(chain.bytecode.name, chain.bytecode.method)
        yield Heading(f"{name} {compile_label(chain.bytecode.compile_id)} ({place(chain.bytecode.place)})", 2)
        yield Code(chain_text(chain, links), "text")
    if view == "source":
        yield from annotated_blocks(chain)
    for step in chain.all_steps():
        if step.bytecode.compile_id in shown:
            continue
        shown.add(step.bytecode.compile_id)
        if view == "source":
            yield from rewritten_blocks(step.bytecode, links, show_all)
        elif view == "listing":
            yield from bytecode_blocks(step.bytecode, Detail.MORE)
        else:
            yield Heading(_title(step.bytecode), 3)
            yield _comparison(step.bytecode, links, show_all)


def _comparison(bytecode: Bytecode, links: Links, show_all: bool) -> Comparison:
    rows = changes(bytecode, explanations(links, bytecode), links.graph_names, show_all)
    return Comparison("original bytecode", "modified bytecode", rows)
