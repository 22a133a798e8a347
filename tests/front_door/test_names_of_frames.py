"""A frame has one name in every report: that of the module's method, also behind a wrapper."""

import re

import pytest

from support.answering import answer
from support.stored import stored

REPORTS = (("explain", "--all"), ("graphs",), ("profile", "--all"), ("cache",), ("bytecode",))


@pytest.mark.parametrize("words", REPORTS, ids=" ".join)
def test_a_modules_method_is_named_so_everywhere(words: tuple[str, ...]) -> None:
    page = answer(words[0], stored("hugging_face_breaks"), *words[1:]).stdout
    assert "Watched.forward" in page
    assert not re.search(r"\[0/0\] +forward\b(?! graph)", page)


def test_the_name_that_is_shown_selects_the_frame() -> None:
    result = answer("bytecode", stored("hugging_face_breaks"), "--frame", "Watched.forward")
    assert result.exit_code == 0
    assert result.stdout.count("instructions became") == 1
