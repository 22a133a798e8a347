"""Speed-ups by `dynamo bench` beside those by torch.utils.benchmark, of the same steps, on ten programs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from pairs import PROGRAMS, progress, repeats_from_arguments, workplace

SUITE = Path(__file__).resolve().parents[1] / "sample_scripts" / "suite"
STEPS = (
    *("convolution.py", "convolution.py --train", "transformer.py", "transformer.py --train", "lstm.py"),
    *("gnn.py", "hugging_face.py bert", "recommender.py", "mixer.py", "autoencoder.py"),
)


def main() -> None:
    """Measure each program both ways, and print what either says."""
    repeats = repeats_from_arguments(__doc__, default=5)
    print(f"  {'':<24}{'dynamo bench':<26}{'torch.utils.benchmark':<26}")
    for step in STEPS:
        progress(step)
        script, *arguments = step.split()
        with workplace() as folder:
            program = [str(SUITE / script), *arguments]
            by_bench = bench(program, folder / "bench.json", repeats)
            by_torch = timed_by_torch(program, folder)
        progress("")
        low, middle, high = by_torch
        agree = by_bench["low"] <= high and low <= by_bench["high"]
        print(
            f"  {step:<24}{_interval(by_bench['low'], by_bench['mean'], by_bench['high']):<26}"
            f"{_interval(low, middle, high):<26}{'agree' if agree else 'DIFFER'}",
            flush=True,
        )


def bench(program: list[str], output: Path, repeats: int) -> dict[str, Any]:
    """The speed-up of Inductor by steps, with its interval."""
    command = [sys.executable, "-m", "dynamo_cli", "bench", "--verify=off", "--repeat", str(repeats)]
    subprocess.run([*command, "-o", str(output), *program], check=True, stderr=subprocess.DEVNULL)
    (row,) = (row for row in json.loads(output.read_text())["backends"] if row["backend"] == "inductor")
    if row["basis"] != "step":
        sys.exit(f"{program}: compared by {row['basis']}, not by steps: {row['why_run']}")
    speed_up: dict[str, Any] = row["speed_up"]
    return speed_up


def timed_by_torch(program: list[str], folder: Path) -> tuple[float, float, float]:
    """The same by torch.utils.benchmark: the least, the middle and the largest of its rounds."""
    environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, str(PROGRAMS / "timed_by_torch.py"), *program]
    output = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
    seconds = json.loads(output.splitlines()[-1])
    ratios = [eager / other for eager, other in zip(seconds["eager"], seconds["inductor"], strict=True)]
    return min(ratios), median(ratios), max(ratios)


def _interval(low: float, middle: float, high: float) -> str:
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
