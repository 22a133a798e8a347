"""Steps under the backend `autotuned` beside the same under each backend that it chose from."""

import subprocess
import sys
from pathlib import Path

from blocks import blocks_in_turn
from pairs import PROGRAMS, Side, environment, print_comparison, repeats_from_arguments, workplace

CANDIDATES = ("eager", "inductor", "inductor:max-autotune", "ofi,eager")
MEASURED = ("transformer", "bert", "mixed")
BLOCKS = 60  # of five steps, in each process
PROGRAM = PROGRAMS / "sample_steps.py"


def main() -> None:
    """For each program: autotune it, then let one process of each backend work in turn."""
    repeats = repeats_from_arguments(__doc__, default=5)
    for program in MEASURED:
        with workplace() as folder:
            surroundings = {
                "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
                "DYNAMO_AUTOTUNE_FILE": str(folder / "autotuned.json"),
                # One thread: what is measured is code, not how two threads share a noisy machine's cores.
                "OMP_NUM_THREADS": "1",
            }
            _autotune(program, folder, surroundings)
            sides = [
                Side(backend, _served(program, folder / f"recording-{number}", backend), surroundings)
                for number, backend in enumerate(("autotuned", *CANDIDATES))
            ]
            blocks_in_turn(sides, repeats=1, blocks=1)  # fills Inductor's cache
            taken = blocks_in_turn(sides, repeats, BLOCKS)
            steps = {name: [nanoseconds / 1e6 for nanoseconds in of_side] for name, of_side in taken.items()}
            best = min(CANDIDATES, key=lambda name: sum(steps[name]))
            others = [name for name in CANDIDATES if name != best]
            shown = {name: steps[name] for name in (best, "autotuned", *others)}
            print_comparison(
                f"A step of {program}, beside the best single backend", "ms", shown, "ratio <= 1"
            )


def _served(program: str, recording: Path, backend: str) -> list[str]:
    run = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-f", "-o", str(recording)]
    return [*run, "--backend", backend, str(PROGRAM), program]


def _autotune(program: str, folder: Path, surroundings: dict[str, str]) -> None:
    """Run the program once and measure its graphs; what came of it is printed as it is."""
    command = [sys.executable, "-m", "dynamo_cli", "autotune", "--recording", str(folder / "autotuned-run")]
    candidates = ["--candidates", ",".join(CANDIDATES).removesuffix(",eager")]
    side = Side("autotune", [], surroundings)
    subprocess.run(
        [*command, *candidates, str(PROGRAM), program], env=environment(side), input="", text=True, check=True
    )


if __name__ == "__main__":
    main()
