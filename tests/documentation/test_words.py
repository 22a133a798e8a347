"""README, docs, help, reports and schemas say things in words that a newcomer understands at once."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.doc_examples import PAGES, REPOSITORY

# A word that was once written here, and what to say in its place: plain English, in the field's own terms.
INSTEAD_OF = {
    r"unrest|restless": "noise, noisy",
    r"heirs?": "forked child",
    r"mend(s|ed|ing)?": "fix",
    r"told": "said, reported",
    r"tells? (it|them|us|you)? ?apart": "distinguish, how they differ",
    r"(gave|given|gives) (\w+ )?up": "fell back to eager; could not be compiled",
    r"left open": "dynamic",
    r"(?<!compiled )(?<!defined )anew": "again",  # `compiled anew` is the name of a kind of finding
    r"(the|since) begin": "the start",
    r"began again": "restarted",
    r"mores": "more",
    r"torch remarks": "notes from torch",
    r"lest|whence|thence|thereof|hitherto|albeit|befallen": "words of today",
}
_PATTERN = re.compile("|".join(rf"\b(?:{pattern})\b" for pattern in INSTEAD_OF), re.IGNORECASE)
_ROOTS = ("dynamo_cli", "core/dynamo_core", "reporters/dynamo_reporters")
_FILES = sorted(path for root in _ROOTS for path in (REPOSITORY / root).rglob("*.py"))
_SCHEMAS = sorted((REPOSITORY / "reporters" / "dynamo_reporters" / "schemas").glob("*.json"))
_PAGES = sorted({*PAGES, *REPOSITORY.glob("*.md")})


def _odd_words(text: str) -> list[str]:
    return [found[0] for found in _PATTERN.finditer(" ".join(text.split()))]


def _said(file: Path) -> Iterator[str]:
    """What the code may print: its texts, and of commands the docstrings, which are their help."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    is_of_commands = "dynamo_cli" in file.parts
    texts = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    for text in texts:
        if is_of_commands or id(text) not in docstrings:
            yield str(text.value)


# Words in names that say nothing of what is named, and how a docstring begins that cannot stand alone.
_ODD_NAMES = {"told", "said", "befell", "anew", "misfits", "glued", "thrown"}
# A field of a JSON document, which is as it is.
_NAMES_KEPT = {"thrown_away"}
_LEANS_ON_ANOTHER = re.compile(r"(The same|Those|Of|As|That|They|It)\b")


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg


def test_names_and_docstrings_are_in_plain_words() -> None:
    found = {}
    for file in _FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        odd = {name for name in _defined(tree) if _ODD_NAMES & set(name.lower().split("_"))}
        documented = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
        docstrings = (ast.get_docstring(node) or "" for node in documented)
        wrong = [*(odd - _NAMES_KEPT), *filter(_LEANS_ON_ANOTHER.match, docstrings)]
        if wrong:
            found[str(file.relative_to(REPOSITORY))] = wrong
    assert found == {}


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_a_page_has_no_odd_word(page: Path) -> None:
    assert _odd_words(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("schema", _SCHEMAS, ids=lambda schema: schema.name)
def test_a_schema_has_no_odd_word(schema: Path) -> None:
    assert _odd_words(json.dumps(json.loads(schema.read_text(encoding="utf-8")))) == []


def test_nothing_that_the_code_prints_has_an_odd_word() -> None:
    """Where it has one: INSTEAD_OF has the words to use."""
    found = {
        f"{file.relative_to(REPOSITORY)}: {text.strip()[:80]}": words
        for file in _FILES
        for text in _said(file)
        if (words := _odd_words(text))
    }
    assert found == {}
