"""A file run alone: in a new process, with empty caches, without anything of the user's project."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..launch.process import Unattended
from ..shared.errors import NotMeasured
from ..shared.quick_dataclass import dataclass
from ..shared.text import by_its_name
from .failure import Failure, normalized
from .result import OfVersion, Proof

_ROUNDS = 2
_FURTHER_ROUNDS = 4  # where it fails in some only
_START = 60.0  # seconds for importing torch on a busy machine
_LEAST_START, _TIMES_AS_LONG = 15.0, 4.0  # seconds, and beside the run in plain Python, where that is known
_MOST_OUTPUT = 1 << 20
_INSTALLED_WITHIN = 900.0
_NOT_INHERITED = ("DYNAMO_", "TORCH_TRACE", "TORCH_LOGS", "TORCHDYNAMO_", "PYTHONPATH", "PYTHONSTARTUP")


@dataclass(frozen=True)
class Alone:
    """The text of a program, and the file of values that it loads, if it needs one."""

    text: str
    values: str | None

    def write(self, file: Path) -> None:
        """Write the program to `file`, and its values beside it."""
        file.write_text(self.text, encoding="utf-8")
        if self.values is not None:
            shutil.copyfile(self.values, f"{file}.pt")


def prove(
    python: str, file: Alone, failure: Failure, limit: float, deadline: float, *, is_steady: bool = True
) -> Proof:
    """Run the file twice alone, compiled and in plain Python; more often where it fails in some runs only.

    What has failed each time so far is run again only if that ends before the deadline (`time.monotonic()`).
    """
    rounds: list[tuple[bool, bool, str]] = []
    began = time.monotonic()
    wanted = _ROUNDS
    while len(rounds) < wanted:
        a_round = (time.monotonic() - began) / max(len(rounds), 1)
        if rounds and is_steady and time.monotonic() + a_round > deadline:
            break
        rounds.append(_round(python, file, failure, limit))
        failing = sum(fails for fails, _, _ in rounds)
        if len(rounds) == _ROUNDS and (not is_steady or 0 < failing < _ROUNDS):
            wanted += _FURTHER_ROUNDS
    others = [ended for fails, _, ended in rounds if not fails]
    return Proof(
        rounds=len(rounds),
        failed=sum(fails for fails, _, _ in rounds),
        passed_plain=sum(passes for _, passes, _ in rounds),
        ended=others[0] if others else None,
    )


@contextmanager
def scratch_folder() -> Iterator[str]:
    """A new folder, which goes at the end; also where copies of this process end in it."""
    folder, process = tempfile.mkdtemp(prefix="dynamo-repro-"), os.getpid()
    try:
        yield folder
    finally:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)


def _round(python: str, file: Alone, failure: Failure, limit: float) -> tuple[bool, bool, str]:
    """Whether it fails compiled, whether it passes in plain Python, and how the compiled run ended."""
    began = time.monotonic()
    in_python = run_alone(python, file, limit, plain=True)
    start = _START
    if failure.kind == "hang":  # it is waited for to the end each time
        start = min(_START, max(_LEAST_START, _TIMES_AS_LONG * (time.monotonic() - began)))
    compiled = run_alone(python, file, limit, plain=False, start=start)
    return is_failure(compiled, failure), in_python["ending"] == "passed", in_words(compiled)


def run_alone(
    python: str, alone: Alone, limit: float, *, plain: bool, start: float = _START
) -> dict[str, Any]:
    """How the file ends: `passed`, `failed` with the end of what it wrote to stderr, `signal` or `hang`.

    It is taken to hang after `limit` seconds beyond those that its `start` may take.
    """
    with scratch_folder() as folder:
        file = Path(folder, "repro.py")
        alone.write(file)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_INHERITED)}
        # In another place torch's caches are empty as well.
        environment |= {"TORCHINDUCTOR_CACHE_DIR": str(Path(folder, "cache"))}
        environment |= {"TORCHDYNAMO_DISABLE": "1"} if plain else {}
        unattended = Unattended(
            Path(folder, "stdout"), Path(folder, "stderr"), {}, start + limit, _MOST_OUTPUT
        )
        ending = unattended.run(python, [python, str(file)], environment)
        stderr = Path(folder, "stderr").read_text(encoding="utf-8", errors="backslashreplace")
        stderr = by_its_name(stderr, file.name)  # as in the messages of trials
    if unattended.timed_out:
        return {"ending": "hang", "stderr": stderr}
    if ending.signal is not None:
        return {"ending": "signal", "stderr": str(ending.signal)}
    return {"ending": "passed" if ending.exit_code == 0 else "failed", "stderr": stderr}


def is_failure(ran: Mapping[str, Any], failure: Failure) -> bool:
    """Whether a run alone ended by this failure, by the last lines that Python writes of an exception."""
    if failure.kind in ("hang", "crash"):
        return bool(ran["ending"] == {"hang": "hang", "crash": "signal"}[failure.kind])
    if ran["ending"] != "failed":
        return False
    lines = ran["stderr"].splitlines()
    starts = [index for index, line in enumerate(lines) if _names(line, failure.type)]
    return any(_begins_with(lines[index:], failure) for index in starts)


def _names(line: str, kind: str) -> bool:
    return line.partition(":")[0].rpartition(".")[2] == kind


def _begins_with(lines: Sequence[str], failure: Failure) -> bool:
    message = normalized("\n".join([lines[0].partition(":")[2], *lines[1:]]))
    return message.startswith(failure.message) or failure.message.startswith(message)


def in_words(ran: Mapping[str, Any]) -> str:
    """How a run alone ended, in a line."""
    if ran["ending"] == "signal":
        return f"ended by signal {ran['stderr']}"
    lines = [line for line in ran["stderr"].splitlines() if line.strip()]
    return str(ran["ending"] if ran["ending"] in ("passed", "hang") or not lines else lines[-1][:200])


def with_versions(
    versions: Sequence[str], own: tuple[str, str], file: Alone, failure: Failure, limit: float
) -> tuple[list[OfVersion], str | None]:
    """The file with other versions of torch, each in an environment that uv makes; and why not, where not.

    `own` is the Python of the program and its version of torch, which needs no environment.
    """
    found: list[OfVersion] = []
    problems: list[str] = []
    for version in versions:
        with scratch_folder() as folder:
            try:
                is_own = f"{own[1]}.".startswith((f"{version}.", f"{version}+"))
                python = own[0] if is_own else _environment(own[0], version, folder)
            except NotMeasured as error:
                problems.append(f"torch {version}: {error}")
                continue
            compiled, plain = (run_alone(python, file, limit, plain=each) for each in (False, True))
            ended = "fails" if is_failure(compiled, failure) else in_words(compiled)
            found.append(OfVersion(version, ended.replace("passed", "passes"), in_words(plain)))
    return found, "; ".join(problems) or None


def _environment(own: str, version: str, folder: str) -> str:
    """The Python of a new environment with this torch; NotMeasured where it cannot be installed."""
    uv = shutil.which("uv")
    if uv is None:
        raise NotMeasured("--torch needs uv, which is not installed: `pip install uv`")
    python = str(Path(folder, "bin", "python"))
    wanted = (
        ["--pre", "--index-url", "https://download.pytorch.org/whl/nightly/cpu", "torch"]
        if version == "nightly"
        else [f"torch=={version}" if version.count(".") > 1 else f"torch=={version}.*"]
    )
    for command in (
        ["venv", "-q", "--python", own, folder],
        ["pip", "install", "-q", "--python", python, *wanted],
    ):
        try:
            done = subprocess.run([uv, *command], capture_output=True, text=True, timeout=_INSTALLED_WITHIN)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotMeasured(f"uv did not install it: {error}") from error
        if done.returncode:
            lines = [line.strip().partition(": ")[2] for line in done.stderr.splitlines() if ": " in line]
            raise NotMeasured(f"uv could not install it: {': '.join(lines[:2])[:200] or done.returncode}")
    return python
