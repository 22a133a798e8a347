"""What `dynamo ranks` of a large job costs: 10,000 ranks with digests, 1,024 whose streams must be read."""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.many_ranks import make_job, recorded, streams_of

WITH_DIGESTS, WITHOUT = 10_000, 1_024
BOUNDS = {True: "<= 10 s", False: "<= 60 s, <= 1 GB"}


def measure(folder: Path) -> tuple[float, float, int, str]:
    """Wall and CPU seconds, the most bytes that all of its processes had at once, and the first line."""
    command = [str(Path(sys.executable).with_name("dynamo")), "ranks", str(folder)]
    before, began, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, _memory(process.pid))
            time.sleep(0.05)
        assert process.stdout is not None
        first = process.stdout.readline().strip()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu, peak, first


def _memory(pid: int) -> int:
    """Of a process and those that it started: what they share counts once."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0
    own = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return (int(own[1]) * 1024 if own else 0) + sum(_memory(int(child)) for child in children)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--of", type=Path, metavar="RECORDING", help="of two ranks, larger than the stored one"
    )
    given = parser.parse_args()
    rounds = given.rounds
    with tempfile.TemporaryDirectory() as place:
        two = recorded(Path(place)) if given.of is None else streams_of(given.of)
        jobs = {
            True: make_job(Path(place, "with"), WITH_DIGESTS, two, with_digests=True),
            False: make_job(Path(place, "without"), WITHOUT, two, with_digests=False),
        }
        for _ in range(rounds):
            for with_digests, folder in jobs.items():
                wall, cpu, peak, first = measure(folder)
                what = f"{WITH_DIGESTS:,} digests" if with_digests else f"{WITHOUT:,} streams"
                print(f"{what}: {wall:.1f} s, CPU {cpu:.1f} s, {peak / 1e6:.0f} MB ({BOUNDS[with_digests]})")
                print(f"  {first[:150]}")


if __name__ == "__main__":
    main()
