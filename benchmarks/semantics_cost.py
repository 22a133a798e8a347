"""CPU time of a captured training step, with eager's semantics kept (the default) and without."""

from collections.abc import Sequence

from blocks import blocks_in_turn
from pairs import PROGRAMS, Side, print_comparison, recorded, repeats_from_arguments, workplace

BLOCKS = 200  # of three steps, in each process
_MODELS = {"one output": "used", "an output that no loss uses": "unused", "dropout and batch norm": "random"}


def main() -> None:
    """Let the processes train in turn and compare their steps, for each model."""
    repeats = repeats_from_arguments(__doc__, default=5)
    with workplace() as folder:
        for name, model in _MODELS.items():
            sides: Sequence[Side] = [
                Side(
                    label,
                    recorded(PROGRAMS / "captured_steps.py", model, recording=folder / f"recording-{number}"),
                    {"DYNAMO_SEMANTICS": semantics, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")},
                )
                for number, (label, semantics) in enumerate(
                    (
                        ("torch.compile's", "compiled"),
                        ("eager's", "eager"),
                        ("torch.compile's again", "compiled"),
                    )
                )
            ]
            blocks_in_turn(sides, repeats=1, blocks=1)  # fills Inductor's cache
            taken = blocks_in_turn(sides, repeats, BLOCKS)
            steps = {side: [nanoseconds / 1e6 for nanoseconds in of_side] for side, of_side in taken.items()}
            print_comparison(f"Captured training step, {name}", "ms", steps, "stated, not bounded")


if __name__ == "__main__":
    main()
