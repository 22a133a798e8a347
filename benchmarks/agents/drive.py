"""Lets a coding agent cure the tasks, with and without the tool, and grades what it leaves.

    python drive.py --agent 'AGENT --print {prompt}' --results results.jsonl [TASK ...]

The agent is any command line: it is started in a copy of the program, with {prompt} as one word.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grade import Task, problems, task, task_names

_PROMPT = (
    "{symptom} Find the cause, and change the program so that the compiler sees it whole. It must print the "
    "same, its tests must pass unchanged, and torch.compile must go on compiling what it compiles now. "
    "Nothing may be deleted that others could use."
)
_WITH_TOOL = " The command dynamo-cli is installed; AGENTS.md says how it is used."
_ABSENT = '#!/bin/sh\necho "$0: not installed" >&2\nexit 127\n'


def attempt(
    given: Task, agent: str, *, has_tool: bool, seconds: float, tokens: re.Pattern[str]
) -> dict[str, Any]:
    """One attempt at a task, and how it was graded; `tokens` finds how many the agent says that it used."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(given.program, Path(scratch, given.name)))
        environment = _prepared(folder, Path(scratch, "absent"), has_tool=has_tool)
        prompt = _PROMPT.format(symptom=given.symptom) + (_WITH_TOOL if has_tool else "")
        words = [word.replace("{prompt}", prompt) for word in shlex.split(agent)]
        begun = time.monotonic()
        output = _output(words, folder, environment, seconds)
        took = time.monotonic() - begun
        found = problems(given, folder)
    used = tokens.search(output)
    return {
        "task": given.name,
        "agent": agent,
        "has_tool": has_tool,
        "cured": not found,
        "problems": found,
        "seconds": round(took, 1),
        "tokens": int(used[1].replace(",", "")) if used else None,
    }


def _prepared(folder: Path, absent: Path, *, has_tool: bool) -> dict[str, str]:
    """The agent's environment: with the tool and its skill, or with commands that are not there."""
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    if has_tool:
        install = [sys.executable, "-m", "dynamo_cli", "skill", "--install", "agents"]
        subprocess.run(install, cwd=folder, check=True, stderr=subprocess.DEVNULL)
        return {**os.environ}
    absent.mkdir()
    for name in ("dynamo", "dynamo-cli"):
        (absent / name).write_text(_ABSENT)
        (absent / name).chmod(0o755)
    return {**os.environ, "PATH": f"{absent}{os.pathsep}{os.environ['PATH']}"}


def _output(words: list[str], folder: Path, environment: dict[str, str], seconds: float) -> str:
    try:
        ended = subprocess.run(
            words,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        return str(error.stdout or "")
    return ended.stdout + ended.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tasks", nargs="*", choices=[*task_names(), []], metavar="TASK", help="default: all")
    parser.add_argument("--agent", required=True, help="its command line, with {prompt}")
    parser.add_argument(
        "--results", type=Path, required=True, help="a file to which a line is added for each"
    )
    parser.add_argument("--tool", choices=("with", "without", "both"), default="both")
    parser.add_argument("--seconds", type=float, default=1800, help="time limit of an attempt")
    parser.add_argument(
        "--tokens", type=re.compile, default=re.compile(r"tokens:\s*([\d,]+)"), metavar="REGEX"
    )
    given = parser.parse_args()
    for name in given.tasks or task_names():
        for has_tool in {"with": [True], "without": [False], "both": [True, False]}[given.tool]:
            row = attempt(
                task(name), given.agent, has_tool=has_tool, seconds=given.seconds, tokens=given.tokens
            )
            with given.results.open("a") as results:
                results.write(json.dumps(row) + "\n")
            print(
                f"{name}, {'with' if has_tool else 'without'}: {'cured' if row['cured'] else row['problems']}"
            )


if __name__ == "__main__":
    main()
