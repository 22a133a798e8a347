"""A page within a budget: its first lines, and of what to do next as much as there is room for."""

from dynamo_reporters.budget import bounded_text

ACTION = "  1. pad the input.\n"
PLACE = "     at train.py:3, 8 times\n"
NEXT = "- next: dynamo breaks\n", "- next: dynamo fix train.py\n"


def test_a_place_that_belongs_to_an_action_comes_before_the_second_command() -> None:
    page = ACTION + PLACE + "  2. another one\n" * 9
    room = len(ACTION + PLACE + NEXT[0]) + len("… 99 more lines: without --budget\n")
    text = bounded_text(page, -(-room // 4), "".join(NEXT))
    assert text.startswith(ACTION + PLACE)
    assert text.endswith(NEXT[0])


def test_where_no_line_is_torn_off_all_commands_stay_that_fit_in_a_third() -> None:
    page = "a line of the page\n" * 20
    text = bounded_text(page, 50, "".join(NEXT))
    assert text.endswith("".join(NEXT))
    assert len(text) <= 200


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
