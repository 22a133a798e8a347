"""README.md and docs/: examples give what is shown, commands exist, links lead somewhere."""

import contextlib
import io
import os
import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import click
import pytest

from dynamo_cli.help_pages import DOCUMENTATION
from dynamo_cli.main import dynamo
from support.answering import answer
from support.doc_examples import PAGES, READING, REPOSITORY, Block, blocks, executed, laid_out

BLOCKS = list(blocks())
ON_RECORDINGS = [block for block in BLOCKS if block.recording and block.language == "console"]
COMMANDS = [
    (block, command)
    for block in BLOCKS
    if block.language != "python"
    for command in block.commands
    if "dynamo " in command
]
_GROUP = click.Context(dynamo, info_name="dynamo", auto_envvar_prefix="DYNAMO")
_LINK = re.compile(r"\]\((?!#)([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", ON_RECORDINGS, ids=str)
def test_an_example_gives_what_is_shown(block: Block) -> None:
    """Where it does not: `./dev examples` writes what it gives now."""
    assert executed(block) == block.output


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=str)
def test_an_example_in_python_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(laid_out("toy"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, str(block), "exec"), {})
    if "dynamo_core" in block.text:  # the others are parts of programs
        assert printed.getvalue().startswith("graph break")


@pytest.mark.parametrize(("block", "command"), COMMANDS, ids=lambda value: str(value)[:60])
def test_a_command_that_is_shown_exists_with_its_options(block: Block, command: str) -> None:
    """Its command line is parsed; what only reads is executed as well."""
    words = shlex.split(command)
    words = words[words.index("dynamo") + 1 :]
    words = words[: words.index("|")] if "|" in words else words
    if words[0] == "help" or words[0].startswith("-"):
        return
    subcommand = dynamo.get_command(_GROUP, words[0])
    assert subcommand is not None, block
    if {"--help", "COMMAND"} & set(words):
        return
    subcommand.make_context(words[0], words[1:], parent=_GROUP)
    of_another_recording = {"--rank", "FOLDER"} & set(words) or any(
        word.endswith(".py") for word in words[1:2]
    )
    if block.language == "sh" and words[0] in READING and not of_another_recording:
        result = answer(*words, cwd=laid_out("toy"))
        assert result.exit_code == 0, result.stderr


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def _links(page: Path) -> list[str]:
    return _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))


def _home(name: str = "Source") -> str:
    found = re.search(rf'^{name} = "(.*)"$', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_help_names_the_address_of_the_documentation() -> None:
    assert _home("Documentation") == DOCUMENTATION


@pytest.mark.parametrize("page", sorted({*PAGES, *REPOSITORY.glob("*.md")}), ids=lambda page: page.name)
def test_no_link_is_dead(page: Path) -> None:
    """Those to other sites are not asked; `mkdocs build --strict` looks at anchors."""
    for link in _links(page):
        path = unquote(link.partition("#")[0])
        raw = _home().replace("github.com", "raw.githubusercontent.com")
        for prefix in (f"{_home()}/blob/main/", f"{_home()}/tree/main/", f"{raw}/main/"):
            path = path.replace(prefix, f"{REPOSITORY}/")
        if not path.startswith("http"):
            assert os.path.exists(page.parent / path), link


def test_the_links_of_the_readme_work_on_the_package_index() -> None:
    assert [link for link in _links(REPOSITORY / "README.md") if not link.startswith("https://")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_two_versions_of_a_line(page: Path) -> None:
    """As a merge leaves them where it needs a person."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith(("<<<<<<< ", ">>>>>>> "))]
