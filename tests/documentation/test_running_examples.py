"""Examples in README.md and docs/ that run a program, and the site that is built of the pages.

A sixth of them is run; `ALL_CASES=1` runs all, and `./dev examples` writes them anew.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from support.cases import one_in
from support.doc_examples import REPOSITORY, Block, blocks, comparable, executed, in_a_shell

BLOCKS = list(blocks())
# They take programs of any kind, so that one without torch shows that the command is right, in a moment.
QUICK = ("dynamo run",)


RUNNING = [block for block in BLOCKS if block.is_executed_by_a_shell]


@pytest.mark.parametrize("block", one_in(9, RUNNING), ids=str)
def test_an_example_that_runs_a_program_gives_what_is_shown(block: Block) -> None:
    assert comparable(executed(block)) == comparable(block.output)


def test_every_run_that_is_shown_without_output_ends_well(tmp_path: Path) -> None:
    """With programs that import no torch: that the commands exist as they are shown."""
    runs = {
        command
        for block in BLOCKS
        if block.language == "sh" and not block.comment
        for command in block.commands
        if command.startswith(QUICK) and ".ipynb" not in command  # test_notebook.py runs one
    }
    for number, command in enumerate(one_in(2, sorted(runs))):
        folder = tmp_path / str(number)
        folder.mkdir()
        in_a_shell([command], folder, {})


@pytest.mark.skipif(not importlib.util.find_spec("material"), reason="mkdocs-material is not installed")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "recipes.html").is_file()
