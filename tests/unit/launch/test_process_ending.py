"""How a process ended, from its return code."""

import pytest

from dynamo_core.launch.process import Ending


@pytest.mark.parametrize(
    ("code", "ending"),
    [(0, Ending(0, None)), (3, Ending(3, None)), (-15, Ending(None, 15)), (-9, Ending(None, 9))],
)
def test_a_negative_return_code_is_a_signal(code: int, ending: Ending) -> None:
    assert Ending.of_return_code(code) == ending
