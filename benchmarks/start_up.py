"""How long `dynamo --help` and `dynamo explain` take to answer, and what importing the engine takes."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pairs import (
    PROGRAMS,
    Side,
    print_comparison,
    progress,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

HELP_BOUND_MS = 40
EXPLAIN_BOUND_MS = 250
ENGINE_BOUND_MS = 10
LAYERS = 6  # of the transformer, for a recording of about 4 MB
PYTHON = Side("python -c pass", [sys.executable, "-c", "pass"])
# A full garbage collection goes through all of torch's objects, for 2 ms and more. One is due some 11,000
# objects after torch's import, whoever makes them: our import only brings it forward.
IMPORTS_TORCH = "import gc\n{}import torch\n"
WITHOUT_FULL_COLLECTIONS = "gc.set_threshold(*gc.get_threshold()[:2], 10**6)\n"


def make_recording(folder: Path) -> float:
    """Record a cold compile into `folder` / recording; its size in MB."""
    recording = folder / "recording"
    command = recorded(PROGRAMS / "compile_transformer.py", "--layers", str(LAYERS), recording=recording)
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    subprocess.run(command, env=os.environ | cache, check=True, stdout=subprocess.DEVNULL)
    return sum(file.stat().st_size for file in recording.iterdir()) / 1e6


def measure(title: str, bound: str, sides: Sequence[Side], repeats: int) -> None:
    """Run the sides in turn and print their wall times; then say whether torch was imported."""
    runs = run_in_turn(sides, repeats)
    wall = {name: [1e3 * run.wall_s for run in of_side] for name, of_side in runs.items()}
    print_comparison(title, "ms", wall, bound)
    for side in sides[1:]:
        print(f"  {side.name} imports torch: {'YES' if imports_torch(side.command) else 'no'}")


def imports_torch(command: Sequence[str]) -> bool:
    """Whether this Python command imports torch, by what `-X importtime` lists."""
    result = subprocess.run(
        [command[0], "-X", "importtime", *command[1:]], check=True, capture_output=True, text=True
    )
    modules = [line.rpartition("|")[2].strip() for line in result.stderr.splitlines()]
    return any(module.partition(".")[0] == "torch" for module in modules)


def import_times(command: Sequence[str]) -> dict[str, float]:
    """What each module took by itself that the last Python process of a command imported, in ms."""
    result = subprocess.run(
        command, env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}, check=True, capture_output=True, text=True
    )
    of_last: dict[str, float] = {}
    for line in result.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        module = rest.rpartition("|")[2].strip()
        if module == "zipimport":  # the first of a process
            of_last = {}
        if own.strip().isdecimal():
            of_last[module] = int(own) / 1e3
    return of_last


def measure_engine(folder: Path, repeats: int) -> None:
    """Print what importing our modules takes a program that imports torch: of each the quickest round.

    Most of them take a tenth of a millisecond, and any may be held up: in each round several are.
    """
    without, with_them = folder / "without_full_collections.py", folder / "imports_torch.py"
    without.write_text(IMPORTS_TORCH.format(WITHOUT_FULL_COLLECTIONS))
    with_them.write_text(IMPORTS_TORCH.format(""))
    quickest: dict[Path, dict[str, float]] = {without: {}, with_them: {}}
    for _ in range(repeats):
        progress("the engine's import")
        for program, of_program in quickest.items():
            for module, ms in import_times(recorded(program, recording=folder / "imports")).items():
                of_program[module] = min(ms, of_program.get(module, ms))
    progress("")
    plain = import_times([sys.executable, str(with_them)])
    ours = {module for module in quickest[without] if module.startswith("dynamo_core")}
    standard = {module for module in quickest[without] if not module.startswith("dynamo_")} - plain.keys()
    took, with_collections = (
        sum(ms for module, ms in of_program.items() if module in ours | standard)
        for of_program in quickest.values()
    )
    print(f"\nThe engine's import, {repeats} rounds")
    print(f"  {len(ours)} modules of ours, {len(standard)} that the program would not import")
    print(f"  {took:.1f} ms, the quickest of each          sum <= {ENGINE_BOUND_MS} ms")
    print(
        f"  {with_collections:.1f} ms with the full garbage collections that fall into it, "
        "and else into what follows",
        flush=True,
    )


def main() -> None:
    """Measure them."""
    repeats = repeats_from_arguments(__doc__, default=20)
    dynamo = str(Path(sys.executable).with_name("dynamo"))
    sides = [
        PYTHON,
        Side("dynamo --help", [sys.executable, dynamo, "--help"]),
        Side("python -m … --help", [sys.executable, "-m", "dynamo_cli", "--help"]),
    ]
    with workplace() as folder:
        measure_engine(folder, repeats)
        measure("Help", f"difference <= {HELP_BOUND_MS} ms", sides, repeats)
        size = make_recording(folder)
        explain = [sys.executable, dynamo, "explain", str(folder / "recording")]
        sides = [
            PYTHON,
            Side("dynamo explain", explain),
            Side("… --format json", [*explain, "--format", "json"]),
        ]
        title = f"Explain a recording of {size:.1f} MB"
        measure(title, f"median <= {EXPLAIN_BOUND_MS} ms", sides, repeats)


if __name__ == "__main__":
    main()
