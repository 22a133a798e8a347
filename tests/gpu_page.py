"""Runs on a GPU what the tests on a CPU cannot see, and writes what came of it as a page, `build/gpu.md`.

    ./dev gpu               the tests that need a GPU, then each command below
    ./dev gpu --on cpu      the same commands on the CPU, to see that they run at all

Each command runs to its end or for ten minutes, with caches of its own. The exit code is 1 where a test or a
command ended otherwise than it should.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "build" / "gpu.md"
LINES_SHOWN = 150
LIMIT_S = 600

# A sample script as it is, with its tensors on the device.
ON_DEVICE = """
import os, runpy, sys, torch
torch.set_default_device(os.environ["DEVICE"])
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
TRAINS = """
import os, torch
device = os.environ["DEVICE"]
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(40):
    loss = model(torch.ones(64, 256, device=device)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
print(f"{loss.item():.4f}")
"""
# CUDA graphs: one that is skipped because it writes into its input, one that is recorded for each size.
CUDA_GRAPHS = """
import os, torch
device = os.environ["DEVICE"]

@torch.compile(mode="reduce-overhead")
def writes(x):
    x.add_(1)
    return x.sin()

@torch.compile(mode="reduce-overhead", dynamic=True)
def of_any_size(x):
    return (x * 2).cos().sum()

held = torch.zeros(1024, device=device)
for step in range(20):
    torch.compiler.cudagraph_mark_step_begin()
    writes(held)
    of_any_size(torch.ones(64 + step, 64, device=device))
print(f"{held.sum().item():.1f}")
"""
WRONG = """
import os, torch
device = os.environ["DEVICE"]

def off_by_a_little(gm, example_inputs):
    for node in list(gm.graph.nodes):
        if getattr(node.target, "__name__", "") == "gelu":
            with gm.graph.inserting_after(node):
                wrong = gm.graph.call_function(torch.add, (node, 1e-2))
            node.replace_all_uses_with(wrong)
            wrong.args = (node, 1e-2)
    gm.recompile()
    return gm.forward

torch.manual_seed(0)
layers = [torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 4)]
model = torch.compile(torch.nn.Sequential(*layers).to(device), backend=off_by_a_little)
with torch.no_grad():
    print(f"{model(torch.ones(2, 64, device=device)).sum().item():.2f}")
"""
PROGRAMS = {"on_device.py": ON_DEVICE, "trains.py": TRAINS, "cuda_graphs.py": CUDA_GRAPHS, "wrong.py": WRONG}


@dataclass(frozen=True)
class Command:
    """What is run (arguments of `dynamo`), what it is to show, and the exit code that is right."""

    shows: str
    arguments: str
    exit_code: int = 0


SAMPLE = "on_device.py {samples}/"
COMMANDS = (
    Command("the toy of the documentation: one graph break", f"run -o toy {SAMPLE}toy_example.py"),
    Command("its report", "explain toy"),
    Command("graphs that a backend prints", f"run --backend eager {SAMPLE}printing_backend.py"),
    Command("backends in turn for each graph", f"run --backend ofi,inductor {SAMPLE}relu_cos_module.py"),
    Command("training: graphs and backward", "run -o trains trains.py"),
    Command("the same with torch.profiler around some steps", "run --profile -o window trains.py"),
    Command("where its time goes, with the device's own time", "profile window"),
    Command("CUDA graphs: a step that is recorded", "run --mode reduce-overhead -o recorded trains.py"),
    Command("their calls", "explain recorded --all"),
    Command("CUDA graphs: what is skipped, and what is recorded again", "run -o cuda cuda_graphs.py"),
    Command("their reasons", "explain cuda --all"),
    Command("max-autotune", "run --mode max-autotune -o tuned trains.py"),
    Command("what was tuned", "explain tuned --all"),
    Command("backends measured on the program's own graphs", "autotune recorded"),
    Command("eager beside Inductor", "bench --backends eager,inductor --repeat 3 trains.py"),
    Command("the step beside plain Python", "run --verify -o verified trains.py"),
    Command("what was compared", "explain verified"),
    Command("a wrong backend is found", "run --verify=error -o wrong wrong.py", 117),
    Command("its stage and line", "explain wrong"),
    Command("the wrong graph, shrunk", "repro --yes wrong -o repro.py --budget 5m"),
    Command("its page", "report recorded -o page.html"),
)


def main() -> int:
    """Run the tests and the commands, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--on", default="cuda", metavar="DEVICE", help="[%(default)s]")
    device = parser.parse_args().on
    if device != "cpu" and not _has(device):
        print(
            f"./dev gpu: torch sees no device {device!r} here; --on cpu tries the commands", file=sys.stderr
        )
        return 2
    PAGE.parent.mkdir(exist_ok=True)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder, PAGE.open("w", encoding="utf-8") as page:
        environment = os.environ | {
            "DEVICE": device,
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
            "COLUMNS": "100",
            "PYTHONPATH": str(ROOT / "tests/integration"),
        }
        for name, text in PROGRAMS.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        print(f"# What ran on {_named(device)}\n", file=page)
        if device != "cpu":
            tests = [sys.executable, "-m", "pytest", "-q", "-m", "gpu", str(ROOT / "tests/integration")]
            if _run("the tests that need a GPU", tests, folder, environment, page) != 0:
                wrong.append("the tests")
        for command in COMMANDS:
            arguments = command.arguments.format(samples=ROOT / "sample_scripts").split()
            line = [sys.executable, "-m", "dynamo_cli", *arguments]
            if _run(command.shows, line, folder, environment, page) != command.exit_code:
                wrong.append(command.arguments)
        print("\n## Ended otherwise than they should\n", file=page)
        print("\n".join(f"- `{each}`" for each in wrong) or "Nothing.", file=page)
    print(f"{len(wrong)} of {len(COMMANDS)} commands and the tests ended otherwise than they should: {PAGE}")
    return 1 if wrong else 0


def _run(shows: str, command: Sequence[str], folder: str, environment: dict[str, str], page: TextIO) -> int:
    """Run one command, and add what it printed to the page."""
    print(f"{shows} …", file=sys.stderr)
    began = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
        code, printed = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        code, printed = 124, (error.stdout or b"").decode(errors="replace")
    lines = printed.splitlines()
    left = f"\n… {len(lines) - LINES_SHOWN} more lines" if len(lines) > LINES_SHOWN else ""
    shown = "\n".join(lines[:LINES_SHOWN])
    typed = " ".join(command[2:]).replace(str(ROOT) + "/", "")
    text = f"## {shows[0].upper()}{shows[1:]}\n\n```console\n$ {typed}\n{shown}{left}\n```\n\n"
    print(f"{text}Exit code {code}, {time.perf_counter() - began:.0f} s.\n", file=page, flush=True)
    return code


def _has(device: str) -> bool:
    code = f"import torch; torch.ones(1, device={device!r}) + 1"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def _named(device: str) -> str:
    code = (
        "import sys, torch; name = torch.cuda.get_device_name() if sys.argv[1] != 'cpu' else 'the CPU'; "
        "python = sys.version.split()[0]; "
        "print(f'{name}, torch {torch.__version__}, CUDA {torch.version.cuda}, Python {python}')"
    )
    return subprocess.run(
        [sys.executable, "-c", code, device], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
