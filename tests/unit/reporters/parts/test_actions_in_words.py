"""Actions in words."""

from dynamo_reporters.parts.actions import _counted


def test_kinds_are_counted_by_their_words() -> None:
    assert _counted({"graph break": 2, "recompile": 1}) == "2 graph breaks, 1 recompile"
    assert _counted({"slow loader": 1}) == "slow loader"
    assert _counted({"slow loader": 3}) == "slow loader (3 times)"
