"""Read the dumps of torch's flight recorder that lie in a recording's folder, one for each rank.

Source: torch/distributed/flight_recorder/components (loader.py: a prefix and the rank make a file's name;
types.py: the keys), 2.13; run with the dumps that Gloo's recorder gives there (`_dump_fr_trace`). A dump is a
pickle of plain values: one that asks for anything else, as a stranger's may, is not read.
"""

import json
import pickle
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from ..model import CalledCollective, Place
from ..shared.untrusted import printable
from .plain_files import read_plain

FLIGHT_RECORDER = "flight recorder"  # in `contents`: its dumps are wanted
_NAME = re.compile(r"(?!dynamo_)[\w-]{1,100}_(\d{1,7})(?:\.json)?", re.ASCII)
_LARGEST = 64 << 20  # bytes
_MOST_SIZES = 16  # of a tensor, and tensors of a call
# Lines of torch's own, of which the innermost ones are in every stack.
_TORCHS = re.compile(r"/torch/(?:distributed|_dynamo|_ops|utils|nn)\b")


class _PlainValues(pickle.Unpickler):
    """Of lists, dictionaries, texts and numbers; nothing is imported and nothing called."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def dumps_in(folder: Path) -> tuple[dict[int, tuple[CalledCollective, ...]], list[str]]:
    """The calls of each rank of which there is a dump, and which dumps cannot be read."""
    found: dict[int, tuple[CalledCollective, ...]] = {}
    problems = []
    for file in sorted(folder.iterdir()):
        named = _NAME.fullmatch(file.name)
        if named is None:
            continue
        try:
            found[int(named[1])] = tuple(_calls(_content(file)))
        except Exception as error:  # a pickle may fail in any way
            problems.append(printable(f"{file.name}, a flight recorder's dump, cannot be read: {error}"))
    return found, problems


def _content(file: Path) -> Mapping[str, Any]:
    data = read_plain(file, _LARGEST)
    content = json.loads(data) if data[:1] in b"{[" else _PlainValues(BytesIO(data)).load()
    if not isinstance(content, dict) or not isinstance(content.get("entries"), list):
        raise ValueError("it has no entries")
    return content


def _calls(content: Mapping[str, Any]) -> Iterator[CalledCollective]:
    for entry in content["entries"]:
        number = entry["collective_seq_id"]
        if entry.get("is_p2p") or not isinstance(number, int):
            continue
        group = entry["process_group"]
        yield CalledCollective(
            group=printable(str(group[0])),
            number=number,
            name=printable(str(entry["profiling_name"]).rpartition(":")[2]),
            value=_value(entry.get("input_dtypes") or (), entry.get("input_sizes") or ()),
            place=_place(entry.get("frames") or ()),
            is_done=entry.get("retired") is True or entry.get("state") == "completed",
        )


def _value(dtypes: Any, sizes: Any) -> str:
    tensors = [
        f"{printable(str(dtype)).lower()}[{', '.join(str(int(size)) for size in shape[:_MOST_SIZES])}]"
        for dtype, shape in zip(dtypes[:_MOST_SIZES], sizes[:_MOST_SIZES], strict=False)
    ]
    return ", ".join(tensors)


def _place(frames: Any) -> Place | None:
    for frame in frames[:100]:
        file, line = str(frame["filename"]), frame["line"]
        if isinstance(line, int) and file.startswith("/") and not _TORCHS.search(file):
            return Place(printable(file), line)
    return None
