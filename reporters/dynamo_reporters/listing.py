"""`dynamo ls`: the recordings in a folder."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from dynamo_core import __version__
from dynamo_core.analysis.verdict import ending_words
from dynamo_core.analysis.words import memory, number
from dynamo_core.case import Case
from dynamo_core.model import Recording
from dynamo_core.opening import Listed

from . import html
from .documents import json_text
from .explain.report import report as explain
from .page.blocks import Block, Paragraph, table
from .page.markdown import to_markdown
from .report import page

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"))  # below so many seconds, in units of so many


def listing_blocks(recordings: Sequence[Listed], now_ns: int, left_out: int = 0) -> list[Block]:
    """A line for each: name, age, size, counts, how it ended, what ran; newest and running are marked."""
    if not recordings:
        return [Paragraph("no recordings")]
    rows = [_row(each, now_ns) for each in recordings]
    parts: list[Block] = [table("recording|age>|size>|graphs>|breaks>|recompiles>|program|command", rows)]
    if left_out:
        parts.insert(0, Paragraph(f"{number(left_out, 'older recording')}: --all shows all.", "dim"))
    return parts


def age_text(seconds: float) -> str:
    """`12 s`, `5 min`, `3 h`, `41 d`."""
    for limit, unit_seconds, unit in _STEPS:
        if seconds < limit:
            return f"{max(0, int(seconds // unit_seconds))} {unit}"
    return f"{int(seconds // 86400):,} d"


def _row(each: Listed, now_ns: int) -> list[str]:
    age = "" if each.started_ns is None else age_text((now_ns - each.started_ns) / 1e9)
    size = "" if each.size is None else memory(each.size)
    if each.run is None:
        return [str(each.path), age, size, "", "", "", f"cannot be read: {each.problem}", ""]
    program = "running" if each.is_running else ending_words(each.run)
    if each.is_newest:
        program = f"newest, {program}"
    return [str(each.path), age, size, *_counts(each), program, shlex.join(each.run.command or [])]


def _counts(each: Listed) -> list[str]:
    if each.summary is None:
        return ["", "", ""]
    counts = (each.summary.graphs, each.summary.graph_breaks, each.summary.recompiles)
    return ["" if count is None else f"{count:,}" for count in counts]


# What a bundle has beside the recording: a page to read, versions, and what is in which file.


CONTENTS = explain().contents | html.CONTENTS

_OF_PROCESS = ("python", "torch_git", "cuda_build", "hip_build")
_README = """\
A recording of what torch.compile made of a program, written by `dynamo bundle` (dynamo-cli {version}).

  report.html     the recording to look at, in a browser: nothing in it is fetched or run
  explain.md      what happened, what it cost and what to fix first, to paste
  versions.json   versions and devices, as the program's processes had them
  recording/      the recording: a TORCH_TRACE folder, which tlparse reads as well

`dynamo explain FILE.zip` reads it as it is, and so do `dynamo graphs`, `breaks`, `guards` and the others.
Nothing in it is ever run.
"""


def bundle_pages(
    recording: Recording, replaced: Mapping[str, int] | None, left_out: Mapping[str, int]
) -> dict[str, bytes]:
    """Each file by its name; `replaced` counts the placeholders by kind, where the source was taken out."""
    case = Case(recording)
    readme = _README.format(version=__version__) + replaced_text(replaced, left_out)
    texts = {
        "README.txt": readme,
        "explain.md": to_markdown(page(explain(show_all=True), case)),
        "versions.json": json_text(_versions(recording), indent=2) + "\n",
    }
    files = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    return {**files, "report.html": html.page(case)}


def replaced_text(replaced: Mapping[str, int] | None, left_out: Mapping[str, int]) -> str:
    """What is not in it as it was recorded: how much of each kind, and never what."""
    if replaced is None:
        return ""
    counts = ", ".join(number(count, kind) for kind, count in replaced.items())
    missing = ", ".join(f"{name} ({count})" for name, count in sorted(left_out.items()))
    return (
        "\nMade without source: lines of source have placeholders for texts, numbers and names (but for "
        "those of torch and Python), and no comments; so have paths, command lines and values of "
        "environment variables. name1, text1, file1.py, N and numbers from 1000001 on are placeholders.\n"
        f"Replaced: {counts or 'nothing'}.\n"
        f"Records left out: {missing or 'none'}.\n"
    )


def _versions(recording: Recording) -> dict[str, Any]:
    run = recording.run
    return {
        "dynamo": __version__,
        "recorded_by_dynamo": None if run is None else run.dynamo,
        "processes": [
            {
                "rank": process.rank,
                **{name: getattr(process.info, name) for name in _OF_PROCESS},
                "torch": process.torch_version,
                "devices": process.runtime.state.devices,
            }
            for process in recording.processes
        ],
    }
