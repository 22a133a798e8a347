"""CPU time of one call of a tiny compiled graph, plain beside recorded, with two backends."""

from pairs import (
    PROGRAMS,
    plain_and_recorded,
    print_comparison,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

BOUND_US = 1.0


def main() -> None:
    """Run the program both ways in turn and compare the call that each prints."""
    repeats = repeats_from_arguments(__doc__, default=10)
    with workplace() as folder:
        for backend in ("eager", "inductor"):
            program = PROGRAMS / "tiny_calls.py"
            sides = plain_and_recorded(program, "--backend", backend, recording=folder / "recording")
            run_in_turn(sides, 1)  # fills Inductor's cache
            runs = run_in_turn(sides, repeats)
            calls = {name: [float(run.stdout) / 1e3 for run in of_side] for name, of_side in runs.items()}
            title = f"One call of a graph, backend {backend}"
            print_comparison(title, "us", calls, f"difference <= {BOUND_US} us")


if __name__ == "__main__":
    main()
