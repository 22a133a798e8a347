"""What the lists of analyses and of kinds say of one another, on stored recordings."""

from dynamo_core.analysis.findings import ANALYSES_OF_THE_COMPILER, CONTENTS, OF_THE_COMPILER, find
from dynamo_core.recording.read import read
from stored import NAMES, stored


def test_analyses_of_the_compiler_give_the_kinds_of_the_compiler_and_only_those() -> None:
    recordings = [read(stored(name), CONTENTS) for name in NAMES]
    everything = {each.kind for recording in recordings for each in find(recording)}
    analyses = ANALYSES_OF_THE_COMPILER
    of_the_compiler = {each.kind for recording in recordings for each in find(recording, analyses=analyses)}
    assert of_the_compiler == everything & set(OF_THE_COMPILER)
    assert len(of_the_compiler) >= 4 and everything - of_the_compiler
