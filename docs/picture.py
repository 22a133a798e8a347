"""Draws the terminal that README.md shows, from a real run: `.venv/bin/python docs/picture.py`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

REPOSITORY = Path(__file__).resolve().parents[1]
WIDTH = 100
COMMANDS = ("dynamo run sample_scripts/toy_example.py", "dynamo explain")
LINES = 24  # of the report; what follows is figures


def _answers(recording: str) -> list[str]:
    """What each command prints on a terminal, in colour."""
    settings = {
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
        "DYNAMO_RECORDING": recording,
        "TERM": "xterm-256color",
    }
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    answers = []
    for command in COMMANDS:
        arguments = command.split()[1:] + ([recording] if "explain" in command else [])
        done = subprocess.run(
            [sys.executable, "-m", "dynamo_cli", *arguments],
            cwd=REPOSITORY,
            env=kept | settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        answers.append(done.stdout.replace(f"{REPOSITORY}/", ""))
    return answers


def main() -> None:
    """Run, and write docs/images/explain.svg."""
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        console = Console(
            record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        for command, answer in zip(COMMANDS, _answers(f"{folder}/toy"), strict=True):
            console.print(f"[bold green]$[/] [bold]{command}[/]", highlight=False)
            shown = answer.replace(f"{folder}/toy", ".dynamo/toy_example").splitlines()[:LINES]
            console.print(Text.from_ansi("\n".join(shown).rstrip()), soft_wrap=True)
            console.print()
        console.save_svg(str(REPOSITORY / "docs" / "images" / "explain.svg"), title="dynamo")


if __name__ == "__main__":
    main()
