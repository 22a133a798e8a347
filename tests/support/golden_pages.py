"""Golden pages: what reports say of the stored recordings, word for word, in tests/data/golden/.

    ./dev examples        # writes them again; what changed is then read in the diff

A page is named after its command and recording: `profile/training.txt`, `graphs/toy --style code.md`.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.answering import answer
from support.stored import NAMES, plain, stored

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "golden"
_TEXT, _MARKDOWN = ".txt", ".md"
# By command: the recordings of which it has something to say, with options where it takes some.
_PAGES = {
    "explain": (
        *NAMES,
        "plain_recompiling",
        "toy --all",
        "training --all",
        "verified --all",
        "planted --all",
    ),
    "breaks": ("toy", "twenty_breaks", "hugging_face_breaks", "planted", "recompile_limit"),
    "recompiles": ("recompiling", "recompile_limit", "planted", "ranks_that_recompile", "plain_recompiling"),
    "graphs": ("toy", "training", "verified", "toy --style code", "training --training"),
    "guards": ("toy", "training", "planted"),
    "bytecode": ("training --diff", "toy --source"),
    "ops": ("toy", "transformer", "forks"),
    "profile": ("toy", "training", "profiled", "frozen", "killed", "forks", "plain_recompiling"),
    "ranks": ("ranks_in_another_order", "ranks_that_recompile", "toy"),
    "cache": ("cache_first", "cache_changed", "toy"),
    "diff": ("cache_first cache_changed", "toy twenty_breaks"),
}
# `dynamo cache` compares a recording with those beside it.
_BESIDE = {"cache": ("cache_first", "cache_changed", "toy")}
_IN_MARKDOWN = (
    "explain/training --all",
    "breaks/toy",
    "recompiles/recompiling",
    "profile/training",
    "ops/toy",
)


@dataclass(frozen=True)
class GoldenPage:
    """A command on stored recordings, and the form of what it prints."""

    command: str
    arguments: str
    suffix: str

    @property
    def file(self) -> Path:
        """Where it is stored."""
        return GOLDEN / self.command / f"{self.arguments}{self.suffix}"

    def now(self) -> str:
        """What the command prints now. It runs beside the recordings, so that no page names a folder."""
        words = self.arguments.split()
        form = ("--format", "markdown") if self.suffix == _MARKDOWN else ()
        with tempfile.TemporaryDirectory() as folder:
            for name in _BESIDE.get(self.command, [word for word in words if _is_recording(word)]):
                shutil.copytree(_path(name), Path(folder) / name)
            result = answer(self.command, *words, *form, cwd=Path(folder))
        assert (result.exit_code, result.stderr) == (0, ""), (
            f"{self.command} {self.arguments}: {result.stderr}"
        )
        return result.stdout


def golden_pages() -> Iterator[GoldenPage]:
    """All of them."""
    for command, many in _PAGES.items():
        for arguments in many:
            yield GoldenPage(command, arguments, _TEXT)
            if f"{command}/{arguments}" in _IN_MARKDOWN:
                yield GoldenPage(command, arguments, _MARKDOWN)


def main() -> None:
    """Write all, and take away what no page is any more."""
    pages = list(golden_pages())
    for file in set(GOLDEN.rglob("*.*")) - {page.file for page in pages}:
        file.unlink()
    for page in pages:
        page.file.parent.mkdir(parents=True, exist_ok=True)
        page.file.write_text(page.now(), encoding="utf-8")


def _path(name: str) -> Path:
    return plain(name.removeprefix("plain_")) if name.startswith("plain_") else stored(name)


def _is_recording(word: str) -> bool:
    return word.removeprefix("plain_") in NAMES


if __name__ == "__main__":
    main()
