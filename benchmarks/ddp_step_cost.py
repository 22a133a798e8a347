"""Wall time of a steady training step of two ranks (DistributedDataParallel, gloo), plain beside recorded."""

from blocks import blocks_in_turn
from pairs import PROGRAMS, print_comparison, repeats_from_arguments, steady_sides, workplace

BOUND = 1.01  # of wall time, in which one rank waits for the other
BLOCKS = 200  # of three steps, in each process


def main() -> None:
    """Let the jobs train in turn and compare their steps."""
    repeats = repeats_from_arguments(__doc__, default=10)
    with workplace() as folder:
        sides = steady_sides(folder, PROGRAMS / "ddp_steps.py")
        blocks_in_turn(sides, repeats=1, blocks=1)  # fills Inductor's cache
        taken = blocks_in_turn(sides, repeats, BLOCKS)
        steps = {name: [nanoseconds / 1e6 for nanoseconds in of_side] for name, of_side in taken.items()}
        print_comparison("Steady training step of two ranks", "ms", steps, f"ratio <= {BOUND}")


if __name__ == "__main__":
    main()
