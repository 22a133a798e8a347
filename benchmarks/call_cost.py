"""CPU time of one call of a tiny compiled graph, plain beside recorded, with two backends."""

from blocks import blocks_in_turn
from pairs import PROGRAMS, print_comparison, repeats_from_arguments, steady_sides, workplace

BOUND_US = 0.5
BLOCKS = 200  # of a thousand calls, in each process


def main() -> None:
    """Let the processes call in turn and compare their calls."""
    repeats = repeats_from_arguments(__doc__, default=10)
    with workplace() as folder:
        for backend in ("eager", "inductor"):
            sides = steady_sides(folder, PROGRAMS / "tiny_calls.py", "--backend", backend)
            blocks_in_turn(sides, repeats=1, blocks=1)  # fills Inductor's cache
            taken = blocks_in_turn(sides, repeats, BLOCKS)
            calls = {name: [nanoseconds / 1e3 for nanoseconds in of_side] for name, of_side in taken.items()}
            title = f"One call of a graph, backend {backend}"
            print_comparison(title, "us", calls, f"difference <= {BOUND_US} us")


if __name__ == "__main__":
    main()
