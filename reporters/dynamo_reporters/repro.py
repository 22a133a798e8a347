"""`dynamo repro`: the page, issue.md, and the JSON document."""

import re
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from textwrap import shorten

from dynamo_core.analysis.words import number, seconds
from dynamo_core.repro.result import Repro, Tried, issue_beside
from dynamo_core.shared.declared import INLINE
from dynamo_core.shared.quick_dataclass import dataclass

from .next_commands import to_run_alone
from .page.blocks import Block, Bullets, Code, Heading, Paragraph, table
from .report import Report

_LONGEST_MESSAGE = 1500  # characters of a message in an issue
_OWN_OPERATORS = re.compile(r"\btorch\.library\.|\bcustom_op\(")
_FORM = "https://github.com/pytorch/pytorch/issues/new/choose"


def report(file: str) -> Report[Repro]:
    """The report of `dynamo repro`, whose program was written to `file`."""
    return Report(
        "repro",
        lambda found: repro_blocks(found, file),
        lambda found: ReproDocument(found, found.lines, found.is_proven),
        then=lambda found: to_run_alone(found, file),
    )


def repro_blocks(found: Repro, file: str) -> Iterator[Block]:
    """The page as blocks."""
    yield Heading(_verdict(found, file), 1)
    yield Paragraph(f"{_failure_text(found)}{_stage_text(found)}.")
    if found.own_passes:
        yield Paragraph(f"It is no error of PyTorch's: {_passes_text(found, file)}.", "warning")
    yield Paragraph(_size_text(found))
    if found.values:
        yield Paragraph(_values_text(found, file))
    if found.stopped is not None:
        yield Paragraph(f"It may not be the smallest: {found.stopped}.", "warning")
    if _OWN_OPERATORS.search(found.text):
        yield Paragraph("Operators that it defines have their own names and code: look before you send it.")
    yield Code(found.text.rstrip())
    if found.versions:
        yield table(
            "torch|compiled|plain Python", [[row.torch, row.compiled, row.plain] for row in found.versions]
        )
    if found.problem is not None:
        yield Paragraph(found.problem, "warning")
    if found.is_proven:
        yield Bullets([_tried_text(each) for each in found.tried], "dim")
    issue = issue_beside(Path(file)).name
    yield Paragraph(f"{issue} beside it has the program, what is expected and what comes, and the versions.")


def _verdict(found: Repro, file: str) -> str:
    proof = found.proof
    if proof is None:
        return f"{file} was not run alone"
    if proof.holds:
        return f"{file}: {number(found.lines, 'line')}, fails alone"
    if not proof.failed:
        return f"{file} does not fail in this way when it is run alone: {proof.ended}"
    if proof.passed_plain < proof.rounds:
        return f"{file} fails alone, but does not pass in plain Python each time"
    return f"{file} fails in {proof.failed} of {proof.rounds} runs alone"


def _failure_text(found: Repro) -> str:
    failure = found.failure
    what = (
        f"{failure.type}: {_first_line(failure.full_message)}"
        if failure.type
        else _first_line(failure.full_message)
    )
    return f"{failure.kind.capitalize()} of {found.of}: {what}".rstrip(": .")


def _stage_text(found: Repro) -> str:
    if found.stage is not None and found.is_proven:
        return f"; it fails so from {found.stage} on (backend {found.backend})"
    return "" if found.backend is None else f"; backend {found.backend}"


def _passes_text(found: Repro, file: str) -> str:
    passes = "pass" if len(found.own_passes) == 1 else "passes"
    named = ", ".join(f"`{each.name}` ({file}:{each.line}, {each.setting})" for each in found.own_passes)
    return f"without the program's own Inductor {passes} {named} it does not fail"


def _size_text(found: Repro) -> str:
    tried = sum(not each.is_earlier for each in found.trials)
    earlier = len(found.trials) - tried
    known = f", beside {earlier} of an earlier search" if earlier else ""
    took = f"{number(tried, 'trial')}{known}, {seconds(found.seconds)} in all"
    return f"{found.size}, from {found.first_size}: {took}."


def _values_text(found: Repro, file: str) -> str:
    """How many inputs have values of the program's own, and where those are that are not in the text."""
    which = number(found.values, "input has", "inputs have")
    return f"{which} the program's own values" + (f", some in {file}.pt." if found.values_file else ".")


def _tried_text(each: Tried) -> str:
    return f"{each.setting}: {'avoids it' if each.avoids else 'does not avoid it, or fails otherwise'}"


def _first_line(text: str) -> str:
    """The first line of a message, with the next where it ends in a colon."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])


def issue_text(found: Repro, file_name: str) -> str:
    """The text for an issue, of PyTorch or of a backend's author, on the program in the file of this name."""
    return "\n\n".join(_issue_parts(found, file_name)) + "\n"


def _issue_parts(found: Repro, file_name: str) -> Iterator[str]:
    failure = found.failure
    yield f"# torch.compile: {_title(found)}"
    if not found.is_proven:
        yield f"Not to be sent as it is: {_verdict(found, file_name)}. What makes it fail is not known."
    avoided = any(each.avoids and 'backend="eager"' in each.setting for each in found.tried)
    is_torchs = found.stage is not None or (found.origin == "source" and not avoided)
    if found.own_passes:
        yield f"For the author of the pass, not for PyTorch: {_passes_text(found, file_name)}."
    elif is_torchs and _OWN_OPERATORS.search(found.text):
        yield (
            "It defines operators: `torch.library.opcheck` says whether they do what they declare. "
            f"If one does not, it is for that operator's author; else for {_FORM}."
        )
    elif is_torchs:
        yield f"For {_FORM}."
    else:
        named = f", `{found.backend}` in the program" if found.backend else ""
        yield f'For the author of the backend{named}: with `backend="eager"` it does not fail.'
    yield f"```python\n{found.text.rstrip()}\n```"
    if found.values_file is not None:
        yield "It loads values from a file of its name with `.pt` behind it, which is to be attached."
    right = "it runs without an error" if failure.kind != "wrong result" else "it gives what is right"
    yield f"Expected: in plain Python {right} (`TORCHDYNAMO_DISABLE=1 python {file_name}`)."
    message = failure.full_message[:_LONGEST_MESSAGE].strip() or failure.kind
    yield f"Got, compiled:\n\n```\n{failure.type + ': ' if failure.type else ''}{message}\n```"
    if found.stage is not None and found.is_proven:
        yield f'First stage with which it fails so: {found.stage} (`backend="{found.backend}"`).'
    if found.tried and found.is_proven:
        yield "\n".join(
            ["Settings that were tried:", "", *(f"- {_tried_text(each)}" for each in found.tried)]
        )
    if found.versions:
        rows = [f"| {row.torch} | {row.compiled} | {row.plain} |" for row in found.versions]
        yield "\n".join(["| torch | compiled | plain Python |", "|---|---|---|", *rows])
    if found.proof is not None:
        proof = found.proof
        yield (
            f"Run alone {number(proof.rounds, 'time')}: failed {number(proof.failed, 'time')} compiled, "
            f"passed {number(proof.passed_plain, 'time')} in plain Python."
        )
    machine = found.machine or f"torch {found.torch}, Python {found.python}"
    yield f"## Versions\n\n```\n{machine.strip()}\n```"


def _title(found: Repro) -> str:
    failure = found.failure
    since = f" since {found.stage}" if found.stage is not None and found.is_proven else ""
    if failure.kind == "wrong result":
        return f"wrong result{since}"
    first = _first_line(failure.full_message)
    message = f"{failure.type}{': ' if failure.type and first else ''}{first}"
    return shorten(f"{failure.kind}{since}: {message}", 120, placeholder=" …").rstrip(": ")


@dataclass(frozen=True)
class ReproDocument:
    """What `dynamo repro` has found, and each trial."""

    found: Repro = field(metadata=INLINE)
    lines: int
    is_proven: bool
