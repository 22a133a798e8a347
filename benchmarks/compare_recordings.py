"""What `dynamo diff` of two recordings of 150 MB costs: where nothing differs, and where every graph does."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from pairs import (
    PROGRAMS,
    Side,
    environment,
    print_comparison,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

MEGABYTES = 150
WALL_BOUND_S, PEAK_BOUND_MB = 3.0, 300
_RECORD = re.compile(rb"^(?=[VDIWEC]\d{4} )", re.MULTILINE)
_FRAME_ID = re.compile(rb'("frame_id": )(\d+)')
_ENTRY = re.compile(rb'"(\d+)(/\d+: )')  # in the reasons of a recompile, the one that could not be used
_CHECKSUM = re.compile(rb'("has_payload": ")\w{32}')
_GRAPH = re.compile(rb'"graph": (\d+)')
_OF_A_GRAPH = (
    b'"dynamo_fx_graph"',
    b'"dynamo_graph_compiled"',
    b'"dynamo_graph_taken"',
    b'"dynamo_aot_pair"',
)
_OF_THE_PROCESS = (b'"dynamo_process_start"', b'"dynamo_process_state"', b'{"str"')
Change = Callable[[bytes, int], bytes]


def repeated(stream: bytes, change: Change) -> Iterator[bytes]:
    """The stream again and again, each time as the compiles of further frames of the same process.

    The first part is what it has once.
    """
    records = _RECORD.split(stream)
    once = [each for each in records if any(name in each.partition(b"\n")[0] for name in _OF_THE_PROCESS)]
    rest = [each for each in records if each not in once]
    frames = 1 + max((int(found[2]) for found in _FRAME_ID.finditer(stream)), default=0)
    graphs = max((int(found[1]) for found in _GRAPH.finditer(stream)), default=1)
    yield b"".join(once)
    for copy in count():
        yield b"".join(_of_other_frames(each, copy, copy * frames, copy * graphs, change) for each in rest)


def _of_other_frames(record: bytes, copy: int, frames: int, graphs: int, change: Change) -> bytes:
    """The record with so many frames and graphs before its own."""
    head, _, rest = record.partition(b"\n")
    of_graph, of_reasons = any(name in head for name in _OF_A_GRAPH), b'"recompile_reasons"' in head
    head = _FRAME_ID.sub(lambda found: b"%s%d" % (found[1], int(found[2]) + frames), head)
    if of_graph:
        rest = change(_GRAPH.sub(lambda found: b'"graph": %d' % (int(found[1]) + graphs), rest), copy)
    if of_reasons:
        rest = _ENTRY.sub(lambda found: b'"%d%s' % (int(found[1]) + frames, found[2]), rest)
    if of_graph or of_reasons:
        payload = b"\n".join(line.removeprefix(b"\t") for line in rest.removesuffix(b"\n").split(b"\n"))
        digest = hashlib.md5(payload, usedforsecurity=False).hexdigest().encode()
        head = _CHECKSUM.sub(rb"\g<1>" + digest, head)
    return head + b"\n" + rest


def as_it_is(payload: bytes, copy: int) -> bytes:
    """Every graph is its own, by its key, and the same on both sides."""
    return re.sub(rb'"key": "\w+"', b'"key": "k%d"' % copy, payload)


def all_different(payload: bytes, copy: int) -> bytes:
    """Every graph has another op, and so another key."""
    other = payload.replace(b"scaled_dot_product_attention", b"another_attention", 1)
    return re.sub(rb'"key": "\w+"', b'"key": "other%d"' % copy, other)


def make_recording(folder: Path, stream: bytes, change: Change) -> Path:
    """A recording of this size and a little more."""
    folder.mkdir()
    with (folder / "dedicated_log_torch_trace_1_0.log").open("wb") as log:
        for part in repeated(stream, change):
            log.write(part)
            if log.tell() >= MEGABYTES * 1e6:
                return folder
    raise AssertionError("unreachable")


def diff(before: Path, after: Path, name: str) -> Side:
    """`dynamo diff` of two recordings."""
    return Side(name, [sys.executable, "-m", "dynamo_cli", "diff", str(before), str(after)])


def main() -> None:
    """Record, build both, and measure."""
    repeats = repeats_from_arguments(__doc__, default=5)
    with workplace() as folder:
        program = PROGRAMS / "compile_transformer.py"
        side = Side(
            "recorded",
            recorded(program, recording=folder / "once"),
            {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")},
        )
        subprocess.run(side.command, env=environment(side), check=True, stdout=subprocess.DEVNULL)
        (log,) = (folder / "once").glob("*.log")
        stream = log.read_bytes()
        before, same, other = (
            make_recording(folder / name, stream, change)
            for name, change in (("before", as_it_is), ("same", as_it_is), ("other", all_different))
        )
        runs = run_in_turn(
            [diff(before, same, "nothing differs"), diff(before, other, "all graphs differ")], repeats
        )
        for title, unit, attribute, bound in (
            ("Wall time", "s", "wall_s", f"median <= {WALL_BOUND_S} s"),
            ("CPU time", "s", "cpu_s", ""),
            ("Memory at its peak", "MB", "peak_mb", f"median <= {PEAK_BOUND_MB} MB"),
        ):
            figures = {name: [getattr(run, attribute) for run in of_side] for name, of_side in runs.items()}
            print_comparison(f"{title}, two of {MEGABYTES} MB", unit, figures, bound)


if __name__ == "__main__":
    main()
