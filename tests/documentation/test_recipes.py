"""CONTRIBUTING.md and ARCHITECTURE.md: a recipe has few places and names all tables; what is named exists."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from dynamo_cli.main import COMMANDS
from dynamo_cli.run_command import run_command
from dynamo_core.capture import probes
from dynamo_core.findings import KINDS
from dynamo_core.fix.edits import EDITS
from dynamo_core.shared.settings import Settings
from dynamo_reporters.registry import OF_RECORDINGS
from support.doc_examples import REPOSITORY

CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
_SOURCE = ("core", "reporters", "dynamo_cli", "dynamo_pytest")
_ROOTS = (".github", *_SOURCE, "tests", "docs", "benchmarks")
_OF_A_USER = {"NAME.cured.py", "json.py"}
_FILE = re.compile(r"`((?:[\w.]+/)*[\w.]+\.(?:py|md|mjs|toml|yml)|(?:[\w.]+/)+)`")
_NAME = re.compile(r"`@?([A-Za-z_][\w.]*)(?:\([^`]*\)|\[[^`]*\])?`")


class Recipe(NamedTuple):
    """How many places it may have, and the names of all things of its sort: a table lists most of them."""

    most_places: int
    things: Iterable[str]


_PROBES = [path for path in Path(probes.__path__[0]).glob("*.py") if "\ndef install(" in path.read_text()]
RECIPES = {
    "Add a report": Recipe(5, [f'"{name}"' for name in OF_RECORDINGS]),
    "Add a kind of finding": Recipe(4, [f'"{kind}"' for kind in KINDS]),
    "Add a probe": Recipe(6, [path.stem for path in _PROBES]),
    "Add a remedy": Recipe(4, [f'"{edit}"' for edit in EDITS]),
    "Add an option of `dynamo run`": Recipe(5, Settings._fields),
}


@cache
def source() -> dict[str, str]:
    """The text of each module, and of pyproject.toml, by its path."""
    modules = (path for root in _SOURCE for path in (REPOSITORY / root).rglob("*.py"))
    return {
        str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8")
        for path in (*modules, REPOSITORY / "pyproject.toml")
    }


def text_of(title: str) -> str:
    (recipe,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", CONTRIBUTING, re.M | re.S)
    return str(recipe)


@cache
def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def lists_most(text: str, things: Iterable[str]) -> bool:
    found = [thing in (words_of(text) if thing.isidentifier() else text) for thing in things]
    return sum(found) >= 0.8 * len(found)


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_has_few_places(title: str) -> None:
    places = re.findall(r"^(\d+)\. ", text_of(title), re.M)
    assert places == [str(number) for number in range(1, len(places) + 1)]
    assert 0 < len(places) <= RECIPES[title].most_places


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_names_every_table_that_lists_the_things_of_its_sort(title: str) -> None:
    tables = [path for path, text in source().items() if lists_most(text, RECIPES[title].things)]
    named = _FILE.findall(text_of(title))
    assert tables
    unnamed = [
        table
        for table in tables
        if not any(f"/{table}".endswith(f"/{name}") or (name[-1] == "/" and name in table) for name in named)
    ]
    assert unnamed == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_files_that_are_named_exist(page: str) -> None:
    named = set(_FILE.findall((REPOSITORY / page).read_text(encoding="utf-8"))) - _OF_A_USER
    below = (path for root in _ROOTS for path in (REPOSITORY / root).rglob("*"))
    paths = [
        f"/{path.relative_to(REPOSITORY)}{'/' * path.is_dir()}" for path in (*REPOSITORY.iterdir(), *below)
    ]
    assert sorted(name for name in named if not any(path.endswith(f"/{name}") for path in paths)) == []


def test_the_architecture_names_every_room() -> None:
    page = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (REPOSITORY / "core/dynamo_core").glob("*/__init__.py")]
    assert rooms and [room for room in rooms if f"`{room}/`" not in page] == []


@pytest.mark.parametrize("title", RECIPES)
def test_functions_and_tables_that_a_recipe_names_exist(title: str) -> None:
    words = set().union(*map(words_of, source().values()))
    named = set(_NAME.findall(text_of(title))) - set(_FILE.findall(text_of(title))) - _OF_A_USER
    assert sorted(name for name in named if not words >= set(name.split("."))) == []


def test_every_command_and_every_option_of_a_run_is_in_the_docs() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (REPOSITORY / "docs").glob("*.md"))
    options = [option.opts for option in run_command.params if isinstance(option, click.Option)]
    unnamed = [name for name in COMMANDS if not re.search(rf"dynamo(-cli)? {name}\b", pages)]
    unnamed += [
        str(each)
        for each in options
        if not any(re.search(rf"(?<![\w-]){name}(?![\w-])", pages) for name in each)
    ]
    assert unnamed == []
