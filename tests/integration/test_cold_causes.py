"""Why a warm start was cold: planted causes, each named in the first line of `dynamo cache`."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from launching import Runner
from recordings import PROGRAMS
from support.cases import nightly, one_in

PROGRAM = PROGRAMS / "planted_causes.py"
UNSTABLE = "The key is unstable, custom pass post_grad_custom_post_pass"
CAUSES = {
    "setting": "max_fusion_size: 64 → 32 (2 misses",
    "autograd_setting": "activation_memory_budget: 1.0 → 0.5 (",
    "mode_option": "cpp.simdlen: None → 256 (2 misses",
    "tag": "cache_key_tag: '' → v2 (2 misses",
    "threads": "CPU threads: 2 → 1 (2 misses",
    "default_dtype": "Default dtype: torch.float32 → torch.float64 (2 misses",
    "deterministic": "Deterministic algorithms: False → True; ",
    "grad_mode": "Grad mode: True → False (",
    "autocast": "Autocast on cpu: none → torch.bfloat16 (2 misses",
    "shape": "Input 0: shape [4, 4] → [8, 8] (2 misses",
    "dtype": "Input 0: dtype float32 → float64 (2 misses",
    "stride": "Input 0: stride (4, 1) → (1, 4) (2 misses",
    "requires_grad": "Input 0: requires_grad False → True (",
    "edited": "The source of edited was edited, planted_causes.py:",
    "process_group": "Process-group name: '",
    "pass_changed": "Custom pass post_grad_custom_post_pass: version 1 → version 2 (2 misses",
    "pass_with_address": f"{UNSTABLE} holds a memory address: 0x",
    "pass_with_time": f"{UNSTABLE} holds a time: 1",
    "pass_without_id": "A custom pass (post grad) has no stable id (2 bypasses",
    "unknown_function": "AOTAutograd's cache does not know __main__.not_known_to_torch (",
    "checked_operator": "`torch.linalg.inv` raises an error for some inputs, and no graph that checks for "
    "one is kept (",
    "freezing": "Freezing puts the weights into the graph (",
}


PLANTED = one_in(6, [*CAUSES])


@dataclass(frozen=True)
class Runs:
    """A folder of recordings, and how to make another."""

    folder: Path
    environment: dict[str, str]

    def record(self, name: str, *arguments: str, **variables: str) -> Path:
        path = self.folder / name
        command = [sys.executable, "-m", "dynamo_cli", "run", "-o", path, PROGRAM, *arguments]
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(self.folder / "inductor"), "OMP_NUM_THREADS": "2"}
        subprocess.run(command, env=self.environment | caches | variables, check=True, capture_output=True)
        return path


@pytest.fixture(scope="module")
def runs(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Two runs of the functions: as they are, and then each with its cause planted."""
    runs = Runs(tmp_path_factory.mktemp("runs"), environment)
    runs.record("before", "unchanged", *PLANTED)
    runs.record("planted", "planted", "unchanged", *PLANTED)
    return runs


def first_line(read: Runner, *arguments: str | Path) -> str:
    result = read("cache", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.partition("\n")[0]


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_cause_is_named_first(runs: Runs, read: Runner, name: str) -> None:
    line = first_line(read, runs.folder / "before", runs.folder / "planted", "--frame", name)
    assert line.startswith(CAUSES[name])
    assert "more reason" not in line


def test_what_was_left_as_it_was_is_found(runs: Runs, read: Runner) -> None:
    before, planted = runs.folder / "before", runs.folder / "planted"
    assert first_line(read, before, planted, "--frame", "unchanged") == "Nothing differs, 2 hits."


@nightly
def test_the_surroundings_of_a_run(runs: Runs, read: Runner, tmp_path: Path) -> None:
    before, caches, others = runs.folder / "before", runs.folder / "inductor", tmp_path / "other"
    elsewhere = runs.record("elsewhere", "unchanged", TORCHINDUCTOR_CACHE_DIR=str(others))
    assert first_line(read, before, elsewhere).startswith(
        f"The key is the same, but the cache folder is another: {caches} → {others} ("
    )
    off = runs.record("off", "unchanged", TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
    assert first_line(read, before, off).startswith(
        "All caches are off, by the environment variable TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 ("
    )
    shutil.rmtree(caches)
    gone = runs.record("gone", "unchanged")
    assert first_line(read, before, gone).startswith(
        f"The key is the same, but its entry is not there any more in {caches}"
    )
