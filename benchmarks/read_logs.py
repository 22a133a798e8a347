"""What reading a large TORCH_TRACE log costs: `tlparse`, `dynamo explain` and `profile`, and how it grows."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from statistics import median

from pairs import PROGRAMS, Run, Runs, Side, environment, plain, print_comparison, run_in_turn, workplace

SMALL, MIDDLE, LARGE = 15, 150, 600  # MB
WALL_BOUND = "median <= 0.7 s"  # of explain, at MIDDLE
PEAK_BOUND = "median <= 60 MB"
# In the first line of a record only: payloads stay as they are, and so do their checksums.
_FRAME_ID = re.compile(rb'^(V[^\n]*"frame_id": )(\d+)', re.MULTILINE)


def make_trace(folder: Path) -> bytes:
    """What TORCH_TRACE writes of a cold compile of the small transformer."""
    trace = folder / "trace"
    side = Side(
        "TORCH_TRACE",
        plain(PROGRAMS / "compile_transformer.py"),
        {"TORCH_TRACE": str(trace), "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")},
    )
    subprocess.run(side.command, env=environment(side), check=True, stdout=subprocess.DEVNULL)
    (log,) = trace.iterdir()
    return log.read_bytes()


def repeated(trace: bytes) -> Iterator[bytes]:
    """The trace again and again, each time as the compiles of further frames of the same process."""
    pieces = _FRAME_ID.split(trace)  # text, what stands before a frame id, the id, text, …
    heads = [text + before for text, before in zip(pieces[:-1:3], pieces[1::3], strict=True)]
    ids = [int(frame_id) for frame_id in pieces[2::3]]
    frames = max(ids) + 1
    for first in count(0, frames):
        numbers = (b"%d" % (first + frame_id) for frame_id in ids)
        yield b"".join(chain.from_iterable(zip(heads, numbers, strict=True))) + pieces[-1]


def make_log(path: Path, trace: bytes, megabytes: int) -> Path:
    """A log of this size and a little more."""
    with path.open("wb") as log:
        for copy in repeated(trace):
            log.write(copy)
            if log.tell() >= megabytes * 1e6:
                return path
    raise AssertionError("unreachable")


def report(command: str, log: Path, name: str = "") -> Side:
    """A report on a log: `dynamo explain`, say."""
    dynamo = str(Path(sys.executable).with_name("dynamo"))
    return Side(name or f"dynamo {command}", [sys.executable, dynamo, command, str(log)])


def tlparse(log: Path) -> Side:
    """`tlparse` of a log, into a folder that is not there yet."""
    program = shutil.which(
        "tlparse", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if program is None:
        sys.exit("tlparse is not installed; pip install 'tlparse>=0.4.3'")
    output = log.with_suffix(".tlparse")
    return Side(
        "tlparse",
        [program, str(log), "-o", str(output), "--no-browser"],
        prepare=lambda: shutil.rmtree(output, ignore_errors=True),
    )


def compare(log: Path, repeats: int, wall_bound: str = "", peak_bound: str = "") -> None:
    """Run them on one log and print wall time, CPU time and memory."""
    runs = run_in_turn([tlparse(log), report("explain", log), report("profile", log)], repeats)
    what = f"{log.stat().st_size / 1e6:.0f} MB"
    print_comparison(f"Wall time, {what}", "s", figures(runs, "wall_s"), wall_bound)
    print_comparison(f"CPU time, {what}", "s", figures(runs, "cpu_s"), "")
    print_comparison(f"Memory at its peak, {what}", "MB", figures(runs, "peak_mb"), peak_bound)


def figures(runs: Runs, attribute: str) -> dict[str, list[float]]:
    """One figure of every run, side by side."""
    return {side: [getattr(run, attribute) for run in of_side] for side, of_side in runs.items()}


def print_growth(sizes: Mapping[str, float], runs: Mapping[str, Sequence[Run]]) -> None:
    """A line for each size, and what 100 MB more cost than the size above. Linear: always the same."""
    print(f"\nGrowth of `dynamo explain`, {len(next(iter(runs.values())))} rounds")
    print(f"  {'':<12}{'wall, s':>10}{'CPU, s':>10}{'peak, MB':>10}   CPU of 100 MB more, s")
    before: tuple[float, float] | None = None
    for name, of_size in runs.items():
        wall, cpu, peak = (
            median(run.wall_s for run in of_size),
            median(run.cpu_s for run in of_size),
            median(run.peak_mb for run in of_size),
        )
        more = f"{(cpu - before[1]) / (sizes[name] - before[0]) * 100:.3f}" if before is not None else ""
        print(f"  {name:<12}{wall:>10.3f}{cpu:>10.3f}{peak:>10.0f}   {more}".rstrip())
        before = sizes[name], cpu


def main() -> None:
    """Build the logs and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="rounds [%(default)s]")
    parser.add_argument("--large", action="store_true", help=f"compare at {LARGE} MB as well, one round")
    options = parser.parse_args()
    repeats = max(1, options.repeats)
    with workplace() as folder:
        trace = make_trace(folder)
        logs = {size: make_log(folder / f"{size}.log", trace, size) for size in (SMALL, MIDDLE, LARGE)}
        del trace
        compare(logs[MIDDLE], repeats, WALL_BOUND, PEAK_BOUND)
        sides = [report("explain", log, f"{size} MB") for size, log in logs.items()]
        sizes = {side.name: log.stat().st_size / 1e6 for side, log in zip(sides, logs.values(), strict=True)}
        print_growth(sizes, run_in_turn(sides, repeats))
        if options.large:
            compare(logs[LARGE], 1)


if __name__ == "__main__":
    main()
