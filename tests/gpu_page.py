"""Runs on a GPU what the tests on a CPU cannot see, and writes what came of it as a page, `build/gpu.md`.

    ./dev gpu               the tests that need a GPU, then each command below
    ./dev gpu --on cpu      the same commands on the CPU, to see that they run at all

    ./dev gpu --jobs 4      four of the groups below at once: quicker, but their times mean little

Each command runs to its end or for ten minutes, with caches of its own. The programs of `gpu_programs/` run
in plain Python, too: what they print is to be the same. The exit code is 1 where a test or a command ended
otherwise than it should.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "gpu_programs"
PAGE = ROOT / "build" / "gpu.md"
LINES_SHOWN = 150
LIMIT_S = 600


@dataclass(frozen=True)
class Command:
    """What is run (arguments of `dynamo`), what it is to show, and the exit code that is right."""

    shows: str
    arguments: str
    exit_code: int = 0
    needs_gpu: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """What a command left: its part of the page, and whether it ended as it should."""

    text: str
    typed: str
    is_right: bool


SAMPLE = "on_device.py {samples}/"
IN_PROCESS = {"DYNAMO_VERIFY_IN_PROCESS": "1"}
NEED_GPU = ("captured_by_hand.py", "triton_kernel.py")
# Commands of a group read what the one before them wrote.
GROUPS = (
    (
        Command("the toy of the documentation: one graph break", f"run -o toy {SAMPLE}toy_example.py"),
        Command("its report", "explain toy"),
        Command("graphs that a backend prints", f"run --backend eager {SAMPLE}printing_backend.py"),
        Command("backends in turn for each graph", f"run --backend ofi,inductor {SAMPLE}relu_cos_module.py"),
    ),
    (
        Command("training: graphs and backward", "run -o trains trains.py"),
        Command("the same with torch.profiler around some steps", "run --profile -o window trains.py"),
        Command("where its time goes, with the device's own time", "profile window"),
        Command("eager beside Inductor", "bench --backends eager,inductor --repeat 3 trains.py"),
    ),
    (
        Command("CUDA graphs: gradients are held", "run --mode reduce-overhead -o held_back trains.py"),
        Command("what to do about it", "explain held_back"),
        Command("a step that is recorded", "run --mode reduce-overhead -o recorded trains_in_steps.py"),
        Command("their calls", "explain recorded --all"),
        Command("its page", "report recorded -o page.html"),
        Command("backends measured on the program's own graphs", "autotune recorded"),
    ),
    (
        Command("CUDA graphs: what is skipped, and what is recorded again", "run -o cuda cuda_graphs.py"),
        Command("their reasons", "explain cuda --all"),
        Command(
            "CUDA graphs: writing into an input that stays in place", "run -o held cuda_graphs_in_place.py"
        ),
        Command("one is recorded, and one again for each weight", "explain held --all"),
        Command(
            "the backend of CUDA graphs alone", "run --backend cudagraphs -o alone trains.py", needs_gpu=True
        ),
    ),
    (
        Command("max-autotune", "run --mode max-autotune -o tuned trains.py"),
        Command("what was tuned", "explain tuned --all"),
    ),
    (
        Command("autocast, a gradient scaler, pinned memory and workers", "run -o mixed mixed_precision.py"),
        Command("its report", "explain mixed"),
        Command("Triton kernels of the program's own", "run -o kernel triton_kernel.py", needs_gpu=True),
        Command("its report", "explain kernel", needs_gpu=True),
        Command("FlexAttention", "run -o flex flex.py"),
        Command("its report", "explain flex"),
    ),
    (
        Command("two graph breaks", "run -o breaks breaks.py"),
        Command("what to do about them", "explain breaks"),
        Command("the same, tried", "run --try -o tried breaks.py"),
        Command("what came of the trials", "explain tried"),
        Command("cures, proved by whole runs", "fix --yes breaks.py"),
    ),
    (
        Command("the graphs beside plain Python", "run --verify -o verified trains.py"),
        Command("what was compared", "explain verified"),
        Command(
            "CUDA graphs beside plain Python",
            "run --verify --mode reduce-overhead -o replayed trains_in_steps.py",
        ),
        Command("what was compared", "explain replayed"),
        Command(
            "a kernel of the program's own beside plain Python",
            "run --verify triton_kernel.py",
            needs_gpu=True,
        ),
    ),
    (
        Command("a wrong backend is found", "run --verify=error -o wrong wrong.py", 117),
        Command("its stage and line", "explain wrong"),
        Command("the wrong graph, shrunk", "repro --yes wrong -o repro.py --budget 5m"),
        Command(
            "a value that no guard holds",
            "run --verify=error -o stale stale.py",
            117,
            environment=IN_PROCESS,
        ),
        Command("its stage and line", "explain stale"),
    ),
)


def main() -> int:
    """Run the tests and the commands, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--on", default="cuda", metavar="DEVICE", help="[%(default)s]")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="groups at once [%(default)s]")
    asked = parser.parse_args()
    if asked.on != "cpu" and not _has(asked.on):
        print(
            f"./dev gpu: torch sees no device {asked.on!r} here; --on cpu tries the commands", file=sys.stderr
        )
        return 2
    PAGE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROGRAMS, folder, dirs_exist_ok=True)
        environment = os.environ | {
            "DEVICE": asked.on,
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
            "COLUMNS": "100",
            "PYTHONPATH": str(ROOT / "tests/integration"),
        }
        page = Page(_named(asked.on), 2 + len(GROUPS))
        with ThreadPoolExecutor(asked.jobs) as pool:
            begun = [pool.submit(_run_plainly, page, 0, folder, environment)]
            if asked.on != "cpu":
                begun.append(pool.submit(_run_tests, page, 1, folder, environment))
            for part, group in enumerate(GROUPS, 2):
                begun.append(pool.submit(_run_group, group, page, part, folder, environment))
        for each in begun:
            each.result()
    print(f"{len(page.wrong)} of {len(page.done)} commands ended otherwise than they should: {PAGE}")
    return 1 if page.wrong else 0


class Page:
    """The page, which is written anew after each command, in parts that are made at once."""

    def __init__(self, machine: str, parts: int) -> None:
        self._machine = machine
        self._parts: list[list[Done]] = [[] for _ in range(parts)]
        self._lock = threading.Lock()

    @property
    def done(self) -> list[Done]:
        """What has been run by now."""
        return [each for part in self._parts for each in part]

    @property
    def wrong(self) -> list[str]:
        """What ended otherwise than it should."""
        return [f"- `{each.typed}`" for each in self.done if not each.is_right]

    def add(self, part: int, done: Done) -> None:
        """Add a command to the end of a part."""
        with self._lock:
            self._parts[part].append(done)
            texts = [f"# What ran on {self._machine}", *(each.text for each in self.done)]
            texts += ["## Ended otherwise than they should", "\n".join(self.wrong) or "Nothing."]
            PAGE.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def _run_tests(page: Page, part: int, folder: str, environment: dict[str, str]) -> None:
    options = ["-m", "pytest", "-q", "--tb=short", "-m", "gpu"]
    command = [sys.executable, *options, str(ROOT / "tests/integration")]
    page.add(part, _run("the tests that need a GPU", command, 0, folder, environment))


def _run_plainly(page: Page, part: int, folder: str, environment: dict[str, str]) -> None:
    """Run our programs without dynamo; what they print is to be what they print with it."""
    names = sorted(each.name for each in PROGRAMS.glob("*.py") if each.name != "on_device.py")
    for name in names if environment["DEVICE"] != "cpu" else [each for each in names if each not in NEED_GPU]:
        command = [sys.executable, "-X", "utf8", name]
        page.add(part, _run("without dynamo", command, 0, folder, environment))


def _run_group(
    group: Sequence[Command], page: Page, part: int, folder: str, environment: dict[str, str]
) -> None:
    for command in group:
        if command.needs_gpu and environment["DEVICE"] == "cpu":
            continue
        arguments = command.arguments.format(samples=ROOT / "sample_scripts").split()
        line = [sys.executable, "-m", "dynamo_cli", *arguments]
        with_its_own = environment | dict(command.environment)
        page.add(part, _run(command.shows, line, command.exit_code, folder, with_its_own))


def _run(shows: str, command: Sequence[str], right: int, folder: str, environment: dict[str, str]) -> Done:
    """Run one command; its part of the page has what it printed."""
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
    typed = " ".join(each for each in command[1:] if each not in ("-m", "-X", "utf8")).replace(
        str(ROOT) + "/", ""
    )
    text = f"## {shows[0].upper()}{shows[1:]}\n\n```console\n$ {typed}\n{shown}{left}\n```\n\n"
    text += f"Exit code {code}, {time.perf_counter() - began:.0f} s."
    return Done(text, typed, code == right)


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
