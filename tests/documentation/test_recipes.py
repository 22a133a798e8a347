"""CONTRIBUTING.md and ARCHITECTURE.md: a recipe has few places, and every file that is named exists."""

import re

import pytest

from support.doc_examples import REPOSITORY

CONTRIBUTING = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
_MOST_PLACES = {
    "Add a report": 5,
    "Add a kind of finding": 4,
    "Add a probe": 6,
    "Add a remedy": 5,
    "Add an option of `dynamo run`": 5,
}
_ROOTS = (".github", "core", "reporters", "dynamo_cli", "dynamo_pytest", "tests", "docs", "benchmarks")
_OF_A_USER = {"NAME.cured.py", "json.py"}
_FILE = re.compile(r"`((?:[\w.]+/)*[\w.]+\.(?:py|md|mjs|toml|yml)|(?:[\w.]+/)+)`")


@pytest.mark.parametrize("title", _MOST_PLACES)
def test_a_recipe_has_few_places(title: str) -> None:
    (recipe,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", CONTRIBUTING, re.M | re.S)
    places = re.findall(r"^(\d+)\. ", recipe, re.M)
    assert places == [str(number) for number in range(1, len(places) + 1)]
    assert 0 < len(places) <= _MOST_PLACES[title]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_files_that_are_named_exist(page: str) -> None:
    named = set(_FILE.findall((REPOSITORY / page).read_text(encoding="utf-8"))) - _OF_A_USER
    below = (path for root in _ROOTS for path in (REPOSITORY / root).rglob("*"))
    paths = [
        f"/{path.relative_to(REPOSITORY)}{'/' * path.is_dir()}" for path in (*REPOSITORY.iterdir(), *below)
    ]
    assert sorted(name for name in named if not any(path.endswith(f"/{name}") for path in paths)) == []
