"""What a bundle has beside the recording: a page to read, versions, and what is in which file."""

from collections.abc import Mapping
from typing import Any

from dynamo_core import __version__
from dynamo_core.analysis.words import number
from dynamo_core.model import Recording

from . import html
from .explain.report import report as explain
from .exported import json_text
from .page.markdown import to_markdown
from .report import page

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
    readme = _README.format(version=__version__) + replaced_text(replaced, left_out)
    texts = {
        "README.txt": readme,
        "explain.md": to_markdown(page(explain(), recording)),
        "versions.json": json_text(_versions(recording), indent=2) + "\n",
    }
    files = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    return {**files, "report.html": html.page(recording)}


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
                "devices": process.state.devices,
            }
            for process in recording.processes
        ],
    }
