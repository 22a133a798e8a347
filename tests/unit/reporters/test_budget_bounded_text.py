"""A page within a budget: its first lines, and of what to do next as much as there is room for."""

import re

import pytest

from dynamo_reporters.budget import bounded_text

ACTION = "  1. pad the input.\n"
PLACE = "     at train.py:3, 8 times\n"
NEXT = "- next: dynamo breaks\n", "- next: dynamo fix train.py\n"


def test_a_place_that_belongs_to_an_action_comes_before_the_second_command() -> None:
    page = ACTION + PLACE + "  2. another one\n" * 9
    room = len(ACTION + PLACE + NEXT[0]) + len(
        "… 99 lines are left out for --budget; without it, all are shown\n"
    )
    text = bounded_text(page, -(-room // 4), "".join(NEXT))
    assert text.startswith(ACTION + PLACE)
    assert text.endswith(NEXT[0])


def test_where_the_page_is_cut_one_command_stays_and_all_where_it_fits() -> None:
    page = "a line of the page\n" * 20
    text = bounded_text(page, 50, "".join(NEXT))
    assert text.endswith(f"all are shown\n{NEXT[0]}") and "lines are left out" in text
    assert len(text) <= 200
    assert bounded_text(page, 110, "".join(NEXT)).endswith("".join(NEXT))


def test_a_page_that_fits_is_whole() -> None:
    assert bounded_text(ACTION + PLACE, 50, "".join(NEXT)) == ACTION + PLACE + "".join(NEXT)


def test_the_longest_line_is_cut_for_the_place_of_the_action() -> None:
    action = f"  1. pad the input{', and so on' * 20}.\n"
    page = "8 graphs\n" + action + PLACE + "  2. another one\n" * 9
    text = bounded_text(page, 70, NEXT[0])
    assert len(text) <= 280
    assert text.startswith("8 graphs\n  1. pad the input, and so on")
    assert f"…\n{PLACE}" in text
    assert text.endswith(NEXT[0])


_CURED = """\
1 graph, 4 ops, 0 graph breaks, 0 recompiles.
Findings beside the run before (train-1): 1 gone (graph break at train.py:16), none new, none still there.

Run
  python train.py ended with exit code 0 after 9 s.

Also
  - compiling took 5 s, the compiled graphs ran 1 s in all
  - 1 call compared
"""


@pytest.mark.parametrize("tokens", range(64, len(_CURED) // 4))
def test_a_later_part_is_left_out_before_an_earlier_line_is_cut(tokens: int) -> None:
    found = bounded_text(_CURED, tokens)
    assert "none new, none still there." in found
    assert not re.search(r"Also\n…", found)


def test_the_first_action_is_cut_where_its_place_would_not_fit() -> None:
    text = (
        "verdict\n  - a note\nDo first\n  1. " + "do this " * 40 + "\n     at train.py:7\nRun\n  it ended\n"
    )
    found = bounded_text(text, 60)
    assert "  1. do this" in found and "at train.py:7" in found and "a note" in found
