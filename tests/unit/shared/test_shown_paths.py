"""Paths as they are shown: by the folder that was named, wherever the process stands."""

from collections.abc import Iterator

import pytest

from dynamo_core.shared.shown_paths import path_below, relative_path, show_paths_from, shown_path


@pytest.fixture(autouse=True)
def from_the_folder_of_a_project() -> Iterator[None]:
    show_paths_from("/home/me/project")
    yield
    show_paths_from(None)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me/project/train.py", "train.py"),
        ("/home/me/project2/train.py", "/home/me/project2/train.py"),
        ("/home/me/project/.venv/lib/python3.11/site-packages/timm/vit.py", "timm/vit.py"),
        ("train.py", "train.py"),
    ],
)
def test_what_is_below_the_folder_is_relative_to_it(path: str, shown: str) -> None:
    assert shown_path(path) == shown


def test_a_command_gets_a_path_that_leads_there() -> None:
    path = "/home/me/project/lib/site-packages/recording"
    assert path_below(path) == "lib/site-packages/recording"


def test_an_annotation_gets_no_whole_path() -> None:
    assert relative_path("/home/me/other/train.py") == "../other/train.py"
    assert relative_path("train.py") == "train.py"


def test_where_no_folder_is_named_paths_are_as_recorded() -> None:
    show_paths_from(None)
    assert shown_path("/home/me/project/train.py") == "/home/me/project/train.py"
