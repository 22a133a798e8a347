"""Reports say of the stored recordings, word for word, what was read and found good."""

import pytest

from support.golden_pages import GOLDEN, GoldenPage, golden_pages

PAGES = list(golden_pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.file.relative_to(GOLDEN)}")
def test_a_page_says_what_it_said(page: GoldenPage) -> None:
    assert page.now() == page.file.read_text(encoding="utf-8"), (
        f"read what changed; if it is wanted, `./dev examples` writes {page.file.name} again"
    )


def test_each_golden_page_is_compared() -> None:
    assert {page.file for page in PAGES} == {file for file in GOLDEN.rglob("*") if file.is_file()}
