"""Keep one process of each side alive and let them work in turn, a few milliseconds each.

For a step or a call that costs microseconds more, whole runs in turn are too far apart: this way two
neighbouring figures are milliseconds apart, and what the processes do while they start is not measured.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from statistics import median

from pairs import PROGRAMS, Side, environment, print_comparison, progress, steady_sides, workplace

_BLOCKS = 200  # of steps, in each process


def compare_steps(title: str, program: str, repeats: int, bound: float) -> None:
    """Let processes of a program do its steps in turn, plain and recorded, and print what a step takes."""
    with workplace() as folder:
        sides = steady_sides(folder, PROGRAMS / program)
        blocks_in_turn(sides, repeats=1, blocks=1)  # fills Inductor's cache
        taken = blocks_in_turn(sides, repeats, _BLOCKS)
    steps = {name: [nanoseconds / 1e6 for nanoseconds in of_side] for name, of_side in taken.items()}
    print_comparison(title, "ms", steps, f"ratio <= {bound}")


def blocks_in_turn(sides: Sequence[Side], repeats: int, blocks: int) -> Mapping[str, list[float]]:
    """For each side and each of `repeats` sets of fresh processes, the median of what its blocks took.

    The programs end in `serve` of `programs/serving.py`.
    """
    figures: dict[str, list[float]] = {side.name: [] for side in sides}
    for repeat in range(repeats):
        progress(f"processes {repeat + 1} of {repeats}")
        workers = {side.name: _start(side) for side in _beginning_at(repeat, sides)}
        taken: dict[str, list[float]] = {side.name: [] for side in sides}
        for block in range(blocks):
            for side in _beginning_at(block, sides):
                taken[side.name].append(_one_block(side.name, workers[side.name]))
        for name, worker in workers.items():
            worker.communicate()
            figures[name].append(median(taken[name]))
    progress("")
    return figures


def _beginning_at(number: int, sides: Sequence[Side]) -> list[Side]:
    """Each side comes first as often as the others: what runs before it is not part of it."""
    first = number % len(sides)
    return [*sides[first:], *sides[:first]]


def _start(side: Side) -> subprocess.Popen[str]:
    """Start a side's program, and wait until it has warmed up."""
    worker = subprocess.Popen(
        side.command,
        env=environment(side),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    _one_block(side.name, worker)
    return worker


def _one_block(name: str, worker: subprocess.Popen[str]) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    answer = worker.stdout.readline()
    if not answer:
        sys.exit(f"{name} ended early")
    return float(answer)
