"""A recording with as many recompiles as a test wants: the last of a stored one, over and over."""

import re
import shutil
from pathlib import Path

from support.stored import stored

_RECORD = re.compile(r"^(?=V\d{4} )", re.MULTILINE)
_FRAME = '"frame_id": 2, "frame_compile_id": 7'  # the eighth compile of `forward`, whose step counter varies
# What a recompile is read from; graphs and guards would have numbers of their own.
_KEPT = ("recompile_reasons", "dynamo_start", "dynamo_compile_begun", "compilation_metrics", "dynamo_frame")


def many_recompiles(folder: Path, further: int) -> Path:
    """A copy of the recording `recompiling` with so many recompiles more, in a folder of the test's."""
    copy = folder / "many_recompiles"
    shutil.copytree(stored("recompiling"), copy)
    (stream,) = copy.glob("*.log")
    records = _RECORD.split(stream.read_text(encoding="utf-8"))
    repeated = [record for record in records if _FRAME in record and _is_kept(record)]
    end = next(at for at, record in enumerate(records) if '"frame_compile_id": 8' in record)
    added = [
        record.replace(_FRAME, _FRAME.replace("7", str(number))).replace('"2/7"', f'"2/{number}"')
        for number in range(100, 100 + further)
        for record in repeated
    ]
    stream.write_text("".join([*records[:end], *added, *records[end:]]), encoding="utf-8")
    return copy


def _is_kept(record: str) -> bool:
    head = record.partition("\n")[0]
    return any(f'"{name}"' in head for name in _KEPT)
