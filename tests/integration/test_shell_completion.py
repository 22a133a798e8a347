"""Completion in the real shells: what stands on the line after TAB, and what is offered."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.stored import stored

_PATIENCE = 60.0  # seconds, on a machine that is busy
_PROMPT = "READY> "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a script, a module, a file of data, and recordings; `dynamo` is on PATH there."""
    (tmp_path / "train_it.py").write_text("")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "modul_e.py").write_text("")
    (tmp_path / "data set.txt").write_text("")
    shutil.copytree(stored("toy"), tmp_path / ".dynamo" / "toy-1")
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "dynamo").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dynamo_cli "$@"\n')
    (binaries / "dynamo").chmod(0o755)
    return tmp_path


class Shell:
    """An interactive shell on a terminal of its own."""

    def __init__(self, command: list[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, dict(environment))
        self._unread = ""

    def line_after(self, typed: str, expected: str) -> None:
        """Type, TAB included, until what is expected stands on the screen; then clear the line."""
        self._unread = ""
        os.write(self._terminal, typed.encode())
        self.wait_for(expected)
        os.write(self._terminal, b"\x15\n")
        self.wait_for(_PROMPT)

    def wait_for(self, expected: str) -> None:
        """Read on until it was written."""
        until = time.monotonic() + _PATIENCE
        while expected not in self._plain() and time.monotonic() < until:
            if select.select([self._terminal], [], [], 0.2)[0]:
                self._unread += os.read(self._terminal, 65536).decode(errors="replace")
        assert expected in self._plain(), self._plain()

    def _plain(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[=>]|\x07", "", self._unread)

    def end(self) -> None:
        """However it is."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._terminal)


def _environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    path = f"{folder / 'bin'}{os.pathsep}{environment['PATH']}"
    return {
        **environment,
        "PATH": path,
        "HOME": str(folder),
        "TERM": "dumb",
        "PS1": _PROMPT,
        "LC_ALL": "C.UTF-8",
    }


_LINES = [
    ("dynamo expl\t", "dynamo explain "),
    ("dynamo run train_it.py --backend tra\t", "--backend train_it.py "),  # the program's own
    ("dynamo run --backend=aot\t", "--backend=aot_eager"),
    ("dynamo run --backend inductor:reduce\t", "inductor:reduce-overhead"),
    ("dynamo explain .dyn\t", "dynamo explain .dynamo/toy-1"),
    ("dynamo graphs -o dat\t", "-o data\\ set.txt "),
]


@pytest.fixture(params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, environment: Mapping[str, str], folder: Path) -> Iterator[Shell]:
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    commands = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
    started = Shell(commands[name], folder, _environment(environment, folder))
    try:
        started.wait_for(_PROMPT)
        before = "autoload -Uz compinit && compinit -i; " if name == "zsh" else ""
        ready = f'{before}eval "$(_DYNAMO_COMPLETE={name}_source dynamo)"; echo is-$((1+1))-ready\n'
        started.line_after(ready, "is-2-ready")
        yield started
    finally:
        started.end()


def test_in_bash_and_zsh(shell: Shell) -> None:
    for typed, expected in _LINES:
        shell.line_after(typed, expected)


def test_in_fish(environment: Mapping[str, str], folder: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    lines = [(typed.rstrip("\t"), expected.split()[-1]) for typed, expected in _LINES]
    asked = "\n".join(f"echo '> {typed}'; complete -C '{typed}'" for typed, _ in lines)
    script = f"_DYNAMO_COMPLETE=fish_source dynamo | source\n{asked}\n"
    command = ["fish", "--no-config", "-c", script]
    told = subprocess.run(
        command, env=_environment(environment, folder), cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    for typed, expected in lines:
        offered = told.split(f"> {typed}\n", 1)[1].split("\n> ")[0]
        assert expected in offered, (typed, told)
