"""What a failed guard is on, in words of the program."""

import pytest

from dynamo_core.shared.failed_guard import source_words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x", "`x`"),
        ("self.__dict__['_modules']['a']._modules['0']._parameters['w']", "`self.a.0.w`"),
        ("G['Layer'].calls", "`Layer.calls`"),
        ("G['flipped'].__closure__[0].cell_contents.data", "what `flipped` keeps"),
        ("___stack0.shape", "`shape` of a value made at the graph break"),
    ],
)
def test_no_internal_name_is_shown(source: str, words: str) -> None:
    assert source_words(source) == words
