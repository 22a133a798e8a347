"""What was measured of one backend on one graph, as `dynamo autotune` and `dynamo bench` have it in JSON."""

from typing import Annotated

from dynamo_core.shared.declared import Seconds
from dynamo_core.shared.quick_dataclass import dataclass
from dynamo_core.tuned.measurement import Verdict

# A `Round`: there are many, so it is a list and not an object.
RoundValue = tuple[float, float | None, float | None, bool]


@dataclass(frozen=True)
class Measured:
    """What came of it, and every round: `Measurement.as_json`, which has the names and rounds the numbers."""

    candidate: Annotated[str, "as --backend takes it"]
    verdict: Verdict
    reason: Annotated[str | None, "why it does not agree, or was not timed"]
    seconds: Annotated[
        Seconds | None,
        "of a call in a typical round (the median), forward and backward; null if no round counts",
    ]
    forward_seconds: Seconds | None
    backward_seconds: Annotated[Seconds | None, "null where nothing flows back"]
    compile_seconds: Annotated[Seconds | None, "with the first call, in which backwards are compiled"]
    rounds: Annotated[
        list[RoundValue],
        "on average over a batch of calls, the candidates in turn: seconds of the forward and of the "
        "backward, the share of the time in which something waited for a processor, whether the round counts",
    ]
