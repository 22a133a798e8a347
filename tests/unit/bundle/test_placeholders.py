"""Texts of a bundle where it matters how they stand: empty quotes, arguments of several words."""

import pytest

from dynamo_core.bundle.placeholders import Placeholders, known_sentences
from dynamo_core.bundle.texts import Texts


@pytest.fixture
def texts() -> Texts:
    return Texts(Placeholders())


@pytest.mark.parametrize("text", ["''", '""', "key ''"])
def test_quotes_with_nothing_in_them_stay(texts: Texts, text: str) -> None:
    assert texts.text(text) == text


def test_a_quoted_word_is_a_name_and_a_quoted_sentence_one_text(texts: Texts) -> None:
    assert texts.text("'zircon' 'gneiss'") == "'name1' 'name2'"
    assert texts.text("'zircon gneiss'") == "'text1'"
    assert texts.text("'zircon.gneiss'") == "'name1.name2'"


def test_the_name_of_a_python_stays_without_its_folders(texts: Texts) -> None:
    assert texts.path("/home/zircon/python3.11") == "/folder1/folder2/python3.11"
    assert texts.path("/home/pythonista") == "/folder1/folder3"


def test_an_argument_of_several_words_goes_whole_and_of_one_word_by_word(texts: Texts) -> None:
    assert texts.argument("--zircon=3") == "--name1=3"
    assert texts.argument("zircon --gneiss") == "text1"
    assert texts.argument("a\tb") == "text2"


def test_what_we_say_in_two_words_is_known_and_nothing_of_one_word(texts: Texts) -> None:
    twice = "a Backward graph, Backward graph"
    assert [*known_sentences(twice)] == [(2, "Backward graph"), (18, "Backward graph")]
    assert not [*known_sentences("Backward zircon")]
    found = [text for _, text in known_sentences("gives dtype int8, where its fake kernel says uint8")]
    assert found == ["gives dtype", ", where its fake kernel says"]


def test_below_a_place_of_a_stack_what_is_deeper_is_source_and_what_is_not_ends_it(texts: Texts) -> None:
    stack = [
        '  File "/home/mallory/a.py", line 3, in forward',
        "    zircon = 31.25  # gneiss",
        "      ~~~~^^^^",
    ]
    found = texts.text("\n".join([*stack, "  Explanation: torch.float32", "    Hint: torch.float32"]))
    place, source, *rest = found.split("\n")
    assert place.startswith('  File "/folder') and ", line 3, in " in place
    assert source.endswith(" = N") and "zircon" not in source
    assert rest == ["  Explanation: torch.float32", "    Hint: torch.float32"]


def test_switches_stay_as_they_are_and_nothing_else_does(texts: Texts) -> None:
    assert [texts.whole(text) for text in ("", "0", "1", "2", "01")] == ["", "0", "1", "text1", "text2"]
