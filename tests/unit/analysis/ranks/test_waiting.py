"""How long a rank that came late was compiling before the call for which the others waited."""

from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.analysis.ranks.waiting import _CompilingBefore

ENDED = SimpleNamespace(noted=[SimpleNamespace(ended_ns=at) for at in (50, 10)])
COMPILING: list[tuple[int, int]] = [(60, 70), (0, 5), (20, 30)]


@pytest.mark.parametrize(
    ("began", "expected"),
    [
        pytest.param(4, 4, id="no call before, and it was compiling still"),
        pytest.param(25, 5, id="as far as the call"),
        pytest.param(45, 10, id="since the call before, not since the first compile"),
        pytest.param(80, 10, id="of three, what came after the last call"),
        pytest.param(58, 0, id="not in between"),
    ],
)
def test_compiling_counts_from_the_call_before(began: int, expected: int) -> None:
    calls: Any = ENDED
    call: Any = SimpleNamespace(began_ns=began)
    assert _CompilingBefore(COMPILING, calls).nanoseconds(call) == expected
