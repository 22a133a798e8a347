"""Steps under `dynamo run --profile` beside the same under a plain torch.profiler, and without any."""

from collections.abc import Mapping, Sequence

from pairs import (
    PROGRAMS,
    Runs,
    Side,
    plain,
    print_comparison,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

BOUND = 1.15
PROGRAM = PROGRAMS / "profiled_steps.py"


def main() -> None:
    """Run both in turn and compare the steps amid the window, and all steps with what opens and closes it."""
    repeats = repeats_from_arguments(__doc__, default=10)
    with workplace() as folder:
        inductor = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
        profiled = inductor | {"DYNAMO_PROFILE": "1"}
        sides = [
            Side("torch.profiler", plain(PROGRAM, str(folder / "trace.json")), inductor),
            Side("dynamo run --profile", recorded(PROGRAM, recording=folder / "recording"), profiled),
            Side("no profiler", plain(PROGRAM), inductor),
        ]
        run_in_turn(sides, 1)  # fills Inductor's cache
        runs = run_in_turn(sides, repeats)
        print_comparison("A step amid the window", "ms", _printed(runs, 0), f"ratio <= {BOUND}")
        print_comparison("All 198 steps", "ms", _printed(runs, 1), f"ratio <= {BOUND}")


def _printed(runs: Runs, index: int) -> Mapping[str, Sequence[float]]:
    return {name: [float(run.stdout.split()[index]) for run in of_side] for name, of_side in runs.items()}


if __name__ == "__main__":
    main()
