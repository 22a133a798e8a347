"""What of a run's stderr is the program's own: not torch's log, not warnings, and nothing of ours.

Where torch compiles otherwise it also logs and warns otherwise, and an edit moves the lines that are named.
"""

import re
from collections.abc import Iterator

# Level, month and day, time: TorchLogsFormatter of torch/_logging/_internal.py, and c10/util/Logging.cpp.
_LOGGED = re.compile(r"^\[?(?:rank\d{1,6}\]:)?\[?[VDIWEC]\d{4} \d\d:\d\d:\d\d")
_WARNING = re.compile(r":\d{1,9}: \w{0,60}Warning: ")
_LINE_NUMBER = re.compile(r"(\bline |\.py:)\d{1,9}")


def own_lines(stderr: str) -> str:
    """Those lines, without the numbers of lines of source."""
    return "\n".join(_LINE_NUMBER.sub(r"\1…", line) for line in _own(stderr.splitlines()))


def _own(lines: list[str]) -> Iterator[str]:
    warned = False
    for line in lines:
        if warned and line.startswith("  "):  # the source that a warning shows
            warned = False
            continue
        warned = _WARNING.search(line) is not None
        if not (warned or _LOGGED.match(line) or line.startswith("dynamo: ")):
            yield line
