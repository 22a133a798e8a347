"""How remedies name what varies in a recompile."""

import pytest

from dynamo_core.remedies.recompile_parts import what_varies
from support.made_causes import causes


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("0/0: tensor 'x' size mismatch at index 1. expected 4, actual 5", "the size of `x` at dimension 1"),
        ("0/0: x.size()[0] == y.size()[0]", "whether `x.size()[0] == y.size()[0]`"),
        ("0/0: n == 3", "`n`"),
        ("0/0: ___check_global_state()", "an input"),
    ],
)
def test_what_varies_is_named_as_its_check_has_it(reason: str, said: str) -> None:
    (cause,) = causes([reason])
    assert what_varies(cause) == said
