"""What to do about the recompiles of a frame."""

from dynamo_core.analysis.recompile_causes import causes_of
from dynamo_core.analysis.recompiles import FrameRecompiles
from dynamo_core.analysis.remedies.recompiles import recompile_advice
from dynamo_core.analysis.words import alternatives


def advice_for(frame: FrameRecompiles) -> list[str]:
    """What to do about each cause, the most frequent first."""
    causes = sorted(causes_of(frame), key=lambda cause: -len(cause.met))
    texts = [alternatives(advice.text for advice in recompile_advice(cause)) for cause in causes]
    return list(dict.fromkeys(text for of_cause in texts for text in of_cause))
