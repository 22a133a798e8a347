"""How the cost of reports grows with what was recorded: graphs, breaks, recompiles, training.

One recording, again and again in one stream, each time as the compiles of further frames.
"""

import subprocess
import sys
from itertools import islice
from pathlib import Path
from statistics import median

from compare_recordings import as_it_is, repeated
from pairs import PROGRAMS, Side, environment, recorded, repeats_from_arguments, run_in_turn, workplace

COPIES = (50, 100, 200, 400)  # of some fifteen graphs each
COMMANDS = ("explain", "breaks", "recompiles", "guards", "graphs", "profile", "cache")
BOUND = 2.6  # times the CPU time of half as many, without what starting takes: linear is 2, quadratic 4


def recordings(folder: Path) -> list[Path]:
    """One for each number of copies."""
    program = PROGRAMS / "breaks_and_recompiles.py"
    side = Side("recorded", recorded(program, recording=folder / "once"))
    subprocess.run(side.command, env=environment(side), check=True)
    (stream,) = (folder / "once").glob("*.log")
    once = stream.read_bytes()
    made = []
    for copies in COPIES:
        log = folder / str(copies) / "dedicated_log_torch_trace_1_0.log"
        log.parent.mkdir()
        with log.open("wb") as file:
            file.writelines(islice(repeated(once, as_it_is), copies + 1))
        made.append(log.parent)
    return made


def main() -> None:
    """Record, repeat, and measure."""
    repeats = repeats_from_arguments(__doc__, default=3)
    with workplace() as folder:
        made = recordings(folder)
        print(f"\nCPU time in s, the median of {repeats}; bound: twice as much costs <= {BOUND} times")
        print(f"{'':12}" + "".join(f"{copies:>9}" for copies in COPIES) + "   the last two")
        for command in COMMANDS:
            arguments = [sys.executable, "-m", "dynamo_cli", command]
            sides = [Side(each.name, [*arguments, str(each)]) for each in made]
            runs = run_in_turn(sides, repeats)
            took = [median(run.cpu_s for run in runs[side.name]) for side in sides]
            grown, before = took[-1] - took[-2], took[-2] - took[-3]
            figures = "".join(f"{each:9.2f}" for each in took)
            verdict = "" if grown <= BOUND * before else "  over the bound"
            print(f"{command:12}{figures}   {grown / before:.2f}{verdict}", flush=True)


if __name__ == "__main__":
    main()
