"""What an export failed at: torch's words, and the line of the program's that it was at.

Source: torch/_dynamo/exc.py (TorchDynamoException.real_stack), torch/export/_draft_export.py (FailureReport:
`user_stack` names files by number); read in 2.13. Where Dynamo does not trace (`strict=False`), the program's
own frames are in the traceback.
"""

import linecache
import os
import traceback
from collections.abc import Iterable
from typing import Any

from ..probes.breaks import described_break

_LONGEST_ERROR = 6000  # characters
_MOST_OBSTACLES = 50
_STACK_IN_ERROR = "User stack:"


def described_error(error: BaseException) -> dict[str, Any]:
    """The fields of a failed trial's record."""
    text = str(error)[:_LONGEST_ERROR]
    broke = described_break(text, _stack_of(error))
    return {
        "error": text,
        "error_kind": type(error).__qualname__,
        "user_stack": broke.user_stack,
        "around": broke.around,
    }


def obstacles_of(report: Any) -> list[dict[str, Any]]:
    """What torch.export.draft_export found, each thing once."""
    found = []
    for failure in report.failures[:_MOST_OBSTACLES]:
        files = report.str_to_filename
        frames = [
            {
                "file": files[frame["filename"]],
                "line": frame["line"],
                "name": frame["name"],
                "text": frame["loc"],
            }
            for frame in failure.data.get("user_stack") or failure.data.get("stack") or ()
            if frame["filename"] in files and not _is_of_torch(files[frame["filename"]])
        ]
        said = failure.data.get("expr") or failure.data.get("op") or failure.data.get("reason") or ""
        found.append({"kind": str(failure.failure_type), "text": str(said), "user_stack": frames})
    return found


def _stack_of(error: BaseException) -> list[traceback.FrameSummary]:
    """The program's frames, outermost first: as Dynamo knows them, else those of the traceback."""
    traced: Iterable[traceback.FrameSummary] = getattr(error, "real_stack", None) or ()
    stack = [frame for frame in traced if not _is_of_torch(frame.filename)]
    if not stack:
        stack = _stack_in_words(str(error))
    seen: BaseException | None = error
    while seen is not None and not stack:
        frames = traceback.extract_tb(seen.__traceback__)
        stack = [frame for frame in frames if not _is_ours(frame.filename)]
        stack = [frame for frame in stack if not _is_of_torch(frame.filename)]
        seen = seen.__cause__ or seen.__context__
    return stack if not all(_is_of_python(frame.filename) for frame in stack) else []


def _stack_in_words(text: str) -> list[traceback.FrameSummary]:
    """The frames that stand in the error's text, where torch writes them there."""
    stack = []
    for line in text.partition(_STACK_IN_ERROR)[2].splitlines():
        file, _, rest = line.strip().removeprefix('File "').partition('", line ')
        number, _, name = rest.partition(", in ")
        if number.isdigit() and not _is_of_torch(file):
            stack.append(
                traceback.FrameSummary(
                    file, int(number), name, line=linecache.getline(file, int(number)).strip()
                )
            )
    return stack


def _is_of_torch(file: str) -> bool:
    import torch

    return file.startswith((os.path.dirname(torch.__file__) + os.sep, "<"))


def _is_of_python(file: str) -> bool:
    return file.startswith(os.path.dirname(os.__file__) + os.sep) and "-packages" not in file


def _is_ours(file: str) -> bool:
    return file.startswith(str(__spec__.origin).rpartition(f"{os.sep}capture{os.sep}")[0])
