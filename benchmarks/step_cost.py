"""CPU time of a steady training step of a compiled model, plain beside recorded."""

from pairs import (
    PROGRAMS,
    plain_and_recorded,
    print_comparison,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

BOUND = 1.005


def main() -> None:
    """Run the program both ways in turn and compare the step that each prints."""
    repeats = repeats_from_arguments(__doc__, default=15)
    with workplace() as folder:
        sides = plain_and_recorded(PROGRAMS / "train_steps.py", recording=folder / "recording")
        run_in_turn(sides, 1)  # fills Inductor's cache
        runs = run_in_turn(sides, repeats)
        steps = {name: [float(run.stdout) / 1e6 for run in of_side] for name, of_side in runs.items()}
        print_comparison("Steady training step", "ms", steps, f"ratio <= {BOUND}")


if __name__ == "__main__":
    main()
