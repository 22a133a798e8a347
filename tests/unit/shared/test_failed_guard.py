"""What a failed guard is on, in words of the program."""

import pytest

from dynamo_core.shared.failed_guard import failed_guard, source_words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x", "`x`"),
        ("self.__dict__['_modules']['a']._modules['0']._parameters['w']", "`self.a.0.w`"),
        ("G['Layer'].calls", "`Layer.calls`"),
        ("G['flipped'].__closure__[0].cell_contents.data", "what `flipped` keeps"),
        ("___stack0.shape", "`shape` of a value made at the graph break"),
        ("(___stack0 + 0.1*___stack2)", "`(value_at_break_0 + 0.1*value_at_break_2)`"),
    ],
)
def test_no_internal_name_is_shown(source: str, words: str) -> None:
    assert source_words(source) == words


@pytest.mark.parametrize(
    ("check", "kind", "source", "expected"),
    [
        ("n <= 5", "comparison", "n", None),
        ("3 < self.n", "comparison", "self.n", None),  # the name may stand on either side
        ("2 <= n <= 5", "comparison", "n", None),
        ("n < m", "other", None, None),
        ("mode == 'train'", "value", "mode", "'train'"),
        ("mask is None", "value", "mask", "None"),
        ("mask is not None", "value", "mask", "not None"),
        ("not hasattr(self, 'cache')", "attribute", "self", "without cache"),
        ("hasattr(self, 'cache') == False", "attribute", "self", "without cache"),
        ("hasattr(self, 'cache')", "attribute", "self", "with cache"),
        ("2 <= x.size()[0]", "relation of sizes", "x", None),
        ("x.size()[0] == y.size()[0]", "relation of sizes", None, None),
    ],
)
def test_what_a_failed_check_is_on(check: str, kind: str, source: str | None, expected: str | None) -> None:
    found = failed_guard(check)
    assert (found.kind, found.source, found.expected) == (kind, source, expected)
