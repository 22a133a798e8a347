"""CPU time of programs with loops under whole-program capture, beside plain python; caches are empty."""

import shutil

from pairs import (
    PROGRAMS,
    Side,
    plain,
    print_comparison,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

RATIO_BOUND, ALLOWANCE_S = 3, 60
PROGRAM = PROGRAMS / "loops.py"


def main() -> None:
    """Run each program both ways in turn; print the times, and whether the outputs are the same."""
    repeats = repeats_from_arguments(__doc__, default=1)
    with workplace() as folder:
        cache = folder / "cache"
        for name in ("generation", "recurrence", "helper"):
            inductor = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
            sides = [
                Side("plain", plain(PROGRAM, name), inductor),
                Side(
                    "dynamo run",
                    recorded(PROGRAM, name, recording=folder / "recording"),
                    inductor,
                    lambda: shutil.rmtree(cache, ignore_errors=True),
                ),
            ]
            runs = run_in_turn(sides, repeats)
            cpu = {side: [run.cpu_s for run in of_side] for side, of_side in runs.items()}
            bound = f"<= {RATIO_BOUND} x plain + {ALLOWANCE_S} s"
            print_comparison(f"Capturing {name}", "s of CPU", cpu, bound)
            outputs = {run.stdout for of_side in runs.values() for run in of_side}
            print("  the same output" if len(outputs) == 1 else f"  the outputs differ: {outputs}")


if __name__ == "__main__":
    main()
